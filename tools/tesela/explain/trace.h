/* Draws the loads of a rung's first work-group, step by step, for a product that fits a page. */
#ifndef TSL_TOOL_EXPLAIN_TRACE_H
#define TSL_TOOL_EXPLAIN_TRACE_H

#include "strategy/strategy.h"

/* One load from global memory, and the work-item that issues it. */
typedef struct tsl_trace_load {
  /* steps are separated by a barrier if the rung has barriers; else each work-item counts its own */
  int64_t step;
  int item_x, item_y;
  int operand; /* TSL_OPERAND_A, TSL_OPERAND_B */
  int64_t row, col;
} tsl_trace_load;
typedef void tsl_trace_visit(void *argument, const tsl_trace_load *load);

/* Visits the loads of work-group (group_x, group_y), ordered by step, then by work-item. Returns
 * false for a strategy without a description of its loads. */
bool tsl_trace_loads(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                     int64_t group_x, int64_t group_y, tsl_trace_visit *visit, void *argument);

/* Appends the drawing. Returns TESELA_UNSUPPORTED if there is no drawing or the product is too
 * large for one. */
tesela_status tsl_trace_draw(const tsl_strategy *strategy, const tsl_problem *problem,
                             const tsl_config *config, tsl_text *out);

#endif
