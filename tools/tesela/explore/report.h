/* Reports of an exploration: tables for people, and JSON and CSV for other programs. */
#ifndef TSL_TOOL_EXPLORE_REPORT_H
#define TSL_TOOL_EXPLORE_REPORT_H

#include "cli/tool.h"
#include "explore/explore.h"
#include "inventory/measured.h"

/* The format of a report. */
typedef struct tsl_form {
  bool markdown, colour;
  int width; /* width of the terminal; 0: nothing is wrapped */
} tsl_form;

/* Returns the format for standard output. */
tsl_form tsl_form_for(bool markdown);
/* Appends a heading and a table. */
void tsl_form_add_table(const tsl_form *form, const char *title, const tsl_table *table, tsl_text *out);
/* Appends a wrapped paragraph, or an item of a list, and a newline. */
void tsl_form_add_line(const tsl_form *form, bool is_point, const char *text, tsl_text *out);

/* Appends "512 x 512 x 512", "4096 x 4096" or "1048576": as many sizes as the operation has. */
void tsl_explore_add_size(const tsl_exploration *all, int size, tsl_text *out);
/* Appends the vendor's library that a strategy calls, such as " (OpenBLAS 0.3.21)"; nothing if it
 * calls none or the library is missing. */
void tsl_explore_add_peer(const tsl_exploration *all, int strategy, tsl_text *out);
/* Appends the devices. If the user named none, also appends the missing device kinds and the
 * reasons. */
void tsl_explore_add_devices(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                             tsl_text *out);
/* Adds a cell with the number `value`, or with the result's name if the point has no number. */
void tsl_explore_add_result(const tsl_point *point, double value, tsl_table *table);
/* Appends "element, tile_local on cpu: ...": the strategies that share the reason why point number
 * `first` has no time. Appends nothing if the point has a time, or if an earlier point has an equal
 * reason. */
void tsl_explore_add_reason(const tsl_exploration *all, int first, tsl_text *line);
/* Append the reasons why points have no time, each once; and the placement of the operands with the
 * rounds that were discarded. */
void tsl_explore_add_reasons(const tsl_exploration *all, const tsl_form *form, tsl_text *out);
void tsl_explore_add_conditions(const tsl_exploration *all, const tsl_form *form, tsl_text *out);
/* Returns true if a strategy gets no row in a table. All devices refuse it for this type and size,
 * and it is a vendor's library; or the user did not name it and it is refused for all types and
 * sizes. */
bool tsl_explore_is_left_out(const tsl_exploration *all, int type, int size, int strategy);
/* Appends a sentence with the strategies that the user did not name and that have no result;
 * nothing if all have one. */
void tsl_explore_add_left_out(const tsl_exploration *all, tsl_text *line);
/* Appends the tables of explore: rates, speed-ups, errors, and factors over the partners. */
tesela_status tsl_explore_add_tables(const tsl_exploration *all, const tsl_form *form, tsl_text *out);

/* Returns the whole exploration with the measured roofs, as docs/JSON.md describes; NULL for lack
 * of memory. */
json_t *tsl_explore_json(const tsl_exploration *all, tsl_devices *devices, const tsl_measured_list *roofs);
/* Return the objects `machine` and `options` of tsl_explore_json(). */
json_t *tsl_explore_json_machine(const tsl_exploration *all);
json_t *tsl_explore_json_options(const tsl_exploration *all);
tesela_status tsl_explore_print_csv(const tsl_exploration *all);
/* Returns the call's status: a failure if a point is wrong or failed, or if nothing was measured. */
tesela_status tsl_explore_conclude(const tsl_exploration *all);

#endif
