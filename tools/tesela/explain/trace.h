/* Prints a recording: a drawing of each step, the life of one element of C, and JSON. */
#ifndef TSL_TOOL_EXPLAIN_TRACE_H
#define TSL_TOOL_EXPLAIN_TRACE_H

#include "explain/recording.h"

#include <jansson.h>

/* Appends the group's loads, step by step. Returns TESELA_UNSUPPORTED if the product is too large. */
tesela_status tsl_trace_draw(const tsl_recording *recording, tsl_text *out);
/* Appends loads, multiply-adds and stores of the item that stores element (row, col). */
void tsl_trace_element(const tsl_recording *recording, int64_t row, int64_t col, tsl_text *out);
/* Returns steps and events (docs/JSON_TRACE.md). `place` as it was recorded. */
json_t *tsl_trace_json(const tsl_recording *recording, const tsl_recording_place *place);

#endif
