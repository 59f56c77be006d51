/* Makes the page of an exploration or of a trace: page.html, with the data as JSON and as text. The page
 * needs no other file. Its script draws the JSON; without scripts the text is shown. */
#ifndef TSL_TOOL_PAGE_PAGE_H
#define TSL_TOOL_PAGE_PAGE_H

#include "cli/tool.h"
#include "inventory/measured.h"
#include "io/output.h"
#include "page/page_data.h"

/* Writes the page of one object: its data has heading, command_line and the object as `name`. Takes the
 * object's reference. `report`: the object as plain text. */
tesela_status tsl_page_write_object(const tsl_command_call *call, const char *locale, const char *heading,
                                    const char *name, json_t *object, const tsl_text *report,
                                    tsl_output *output);
/* Opens the page's file; an interrupt removes its temporary file. */
tesela_status tsl_page_open(const char *path, tsl_output *output);
/* Writes the page and lets the file appear. */
tesela_status tsl_page_write(const tsl_text *text, tsl_output *output);
/* Appends text with `&` and `<` escaped, for the inside of an element. Bytes that are no UTF-8, and control
 * characters but line ends and tabs, become U+FFFD. */
void tsl_page_escape(const char *text, tsl_text *out);

/* The file of --html; starts as {0}. */
typedef struct tsl_page_file {
  const char *locale; /* of the page; NULL: by the environment */
  tsl_output output;
  tsl_measured_list roofs;
  double measured; /* the time (tsl_clock()) when the roofs were last measured */
} tsl_page_file;

/* Opens the file and measures roofs, before the work, so that an unwritable file is reported first.
 * A NULL path does nothing; the functions below then do nothing either. */
tesela_status tsl_page_begin(const char *path, const tsl_exploration *all, tsl_page_file *file);
/* Measures the roofs again after the work, unless the last measurement ended less time ago than a
 * measurement takes. */
tesela_status tsl_page_measure(const tsl_exploration *all, tsl_page_file *file);
/* Makes the page and lets the file appear, also if some results are wrong. `report`: the exploration as plain
 * text. Returns tsl_explore_conclude()'s status, or its own if that is TESELA_OK. */
tesela_status tsl_page_end(const tsl_command_call *call, const tsl_exploration *all, tsl_devices *devices,
                           const char *report, tsl_page_file *file);
/* Removes a file that did not appear, and frees the roofs. */
void tsl_page_close(tsl_page_file *file);

#endif
