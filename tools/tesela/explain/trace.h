/* Prints a recording: a drawing of each step, the life of one element of C, and JSON. */
#ifndef TSL_TOOL_EXPLAIN_TRACE_H
#define TSL_TOOL_EXPLAIN_TRACE_H

#include "explain/recording.h"
#include "inventory/select.h"

#include <jansson.h>

/* Appends the group's loads, step by step. Returns TESELA_UNSUPPORTED if the product is too large. */
tesela_status tsl_trace_draw(const tsl_recording *recording, tsl_text *out);
/* Appends loads, multiply-adds and stores of the item that stores element (row, col). */
void tsl_trace_element(const tsl_recording *recording, int64_t row, int64_t col, tsl_text *out);
/* Appends the strategy's config, or the name of a plain program. */
void tsl_trace_add_name(const tsl_chosen_strategy *chosen, const tsl_recording *recording, tsl_text *out);
/* Returns steps and events (docs/JSON_TRACE.md). `place` as it was recorded. */
json_t *tsl_trace_json(const tsl_chosen_strategy *chosen, const tsl_recording *recording,
                       const tsl_recording_place *place);
/* Records the first group of a rung with few work-items, of 8 x 8 x 8 numbers (a dot: 16), and returns the
 * recording as JSON. */
tesela_status tsl_trace_small(const tsl_rung *rung, json_t **trace);

#endif
