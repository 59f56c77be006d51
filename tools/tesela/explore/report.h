/* Reports of an exploration: tables for people, and JSON and CSV for other programs. */
#ifndef TSL_TOOL_EXPLORE_REPORT_H
#define TSL_TOOL_EXPLORE_REPORT_H

#include "cli/measured.h"
#include "cli/tool.h"
#include "explore/explore.h"

/* What a report is written as. */
typedef struct tsl_form {
  bool markdown, colour;
  int width; /* of the terminal; 0: nothing is wrapped */
} tsl_form;

/* For standard output. */
tsl_form tsl_form_for(bool markdown);
/* A heading over a table, and the table. */
void tsl_form_add_table(const tsl_form *form, const char *title, const tsl_table *table, tsl_text *out);
/* A paragraph, or a point of a list, wrapped; the newline is added. */
void tsl_form_add_line(const tsl_form *form, bool is_point, const char *text, tsl_text *out);

/* "512 x 512 x 512", "4096 x 4096", "1048576": as many sizes as the operation has. */
void tsl_explore_add_size(const tsl_exploration *all, int size, tsl_text *out);
/* Behind a strategy: " (OpenBLAS 0.3.21)": the vendor's library that it calls, where it is one that does and
 * is there. */
void tsl_explore_add_peer(const tsl_exploration *all, int strategy, tsl_text *out);
/* Devices, and where nobody chose them, the kinds that are missing and why. */
void tsl_explore_add_devices(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                             tsl_text *out);
/* A result: its number, or what became of it. */
void tsl_explore_add_result(const tsl_point *point, double value, tsl_table *table);
/* "element, tile_local on cpu: ...": the strategies that share the reason why point number `first` has no
 * time; nothing where it has one, or an earlier point has the same reason. */
void tsl_explore_add_reason(const tsl_exploration *all, int first, tsl_text *line);
/* Why points have no time, each reason once; how the operands lay, and rounds that were thrown away. */
void tsl_explore_add_reasons(const tsl_exploration *all, const tsl_form *form, tsl_text *out);
void tsl_explore_add_conditions(const tsl_exploration *all, const tsl_form *form, tsl_text *out);
/* Whether a strategy is no row of a table: every device refuses it there, and it is a vendor's library, or
 * nobody named it and it is refused at all types and sizes. */
bool tsl_explore_is_left_out(const tsl_exploration *all, int type, int size, int strategy);
/* A sentence with the strategies that nobody named and that have no number here at all; nothing where all
 * have one. */
void tsl_explore_add_left_out(const tsl_exploration *all, tsl_text *line);
/* The tables of explore: rates, speed-ups, errors. */
void tsl_explore_add_tables(const tsl_exploration *all, const tsl_form *form, tsl_text *out);

/* All of it, with the roofs that were measured; docs/JSON.md says what is in it. NULL for a lack of memory.
 */
json_t *tsl_explore_json(const tsl_exploration *all, tsl_devices *devices, const tsl_measured_list *roofs);
/* Parts of it. */
json_t *tsl_explore_json_machine(const tsl_exploration *all);
json_t *tsl_explore_json_options(const tsl_exploration *all);
tesela_status tsl_explore_print_csv(const tsl_exploration *all);
/* "CUT SHORT by an interrupt: ..."; nothing where all was measured. */
void tsl_explore_add_cut(const tsl_exploration *all, tsl_text *out);
/* The call's status: wrong and failed points, and nothing measured at all, are failures. */
tesela_status tsl_explore_conclude(const tsl_exploration *all);

#endif
