/* Small traces for the page of an exploration: each measured rung, step by step. */
#ifndef TSL_TOOL_PAGE_PAGE_TRACES_H
#define TSL_TOOL_PAGE_PAGE_TRACES_H

#include "explore/explore.h"

#include <jansson.h>

/* Adds `traces` of the data's `ideas`, by their names. `traces_why` is the reason why a rung has none, or "".
 */
void tsl_page_add_traces(const tsl_exploration *all, json_t *data);

#endif
