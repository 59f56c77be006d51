/* Who loads what at which step: a rung's first work-group, drawn for a product that fits a page. */
#ifndef TSL_TOOL_EXPLAIN_TRACE_H
#define TSL_TOOL_EXPLAIN_TRACE_H

#include "strategy/strategy.h"

/* One load from global memory, by the item that asks for it. */
typedef struct tsl_trace_load {
  int64_t step; /* between two of them all items meet at a barrier, where the rung has some; else they are an
                   item's own */
  int item_x, item_y;
  int operand; /* TSL_OPERAND_A, TSL_OPERAND_B */
  int64_t row, col;
} tsl_trace_load;
typedef void tsl_trace_visit(void *argument, const tsl_trace_load *load);

/* The loads of work-group (group_x, group_y), step after step; within a step item after item. False for a
 * strategy of which nobody wrote this down. */
bool tsl_trace_loads(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                     int64_t group_x, int64_t group_y, tsl_trace_visit *visit, void *argument);

/* Draws it. TESELA_UNSUPPORTED where there is no drawing, or the product is too large for one. */
tesela_status tsl_trace_draw(const tsl_strategy *strategy, const tsl_problem *problem,
                             const tsl_config *config, tsl_text *out);

#endif
