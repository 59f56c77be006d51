/* Runs of products whose scales are not fused: first the sums, then C from the sums. */
#ifndef TSL_PLAN_SCALED_EPILOGUE_H
#define TSL_PLAN_SCALED_EPILOGUE_H

#include "plan/plan.h"

/* Enqueues the product and its epilogue, which on the cpu, and for strategies that split, are done at return.
 * The operands have strides. Separate sums are in the operands' scratch memory on a device, else in host
 * memory of tsl_problem_sums_bytes(). TESELA_OUT_OF_MEMORY leaves C unchanged. */
tesela_status tsl_scaled_run(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream);

#endif
