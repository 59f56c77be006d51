/* The page of an exploration: one HTML file with tables, pictures and the machine's description, which needs
 * nothing from elsewhere and no scripts. */
#ifndef TSL_TOOL_PAGE_PAGE_H
#define TSL_TOOL_PAGE_PAGE_H

#include "cli/tool.h"
#include "io/output.h"
#include "page/contents.h"

/* Appends the page. Where gnuplot is missing, the page says so in place of its pictures. Where it fails, too,
 * and its sentence is the call's: the page is whole all the same, and may be written. */
tesela_status tsl_page_make(const tsl_page *page, tsl_text *out);

/* --html FILE of a call; start with {0}. */
typedef struct tsl_page_file {
  tsl_output output;
  tsl_measured_list roofs;
  double measured; /* tsl_clock() when the roofs had been */
} tsl_page_file;

/* Before the work: opens the file, so that one that cannot be written is reported first, and measures roofs.
 * A NULL path does nothing, and the calls below take what it left. */
tesela_status tsl_page_begin(const char *path, const tsl_exploration *all, tsl_page_file *file);
/* After the work: measures the roofs again, for the page and for what is printed, if that was longer ago than
 * measuring takes. */
tesela_status tsl_page_measure(const tsl_exploration *all, tsl_page_file *file);
/* After that: makes the page and lets the file appear, also where some results are wrong or gnuplot fails.
 * Returns tsl_explore_conclude()'s status, or if that is TESELA_OK its own. */
tesela_status tsl_page_end(const tsl_call *call, const tsl_exploration *all, tsl_devices *devices,
                           tsl_page_file *file);
/* Removes what did not become the file. */
void tsl_page_close(tsl_page_file *file);

#endif
