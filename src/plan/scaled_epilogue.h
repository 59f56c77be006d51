/* Runs of products whose scales are not fused: first the sums, in separate memory or in C, then C from
 * the sums. */
#ifndef TSL_PLAN_SCALED_EPILOGUE_H
#define TSL_PLAN_SCALED_EPILOGUE_H

#include "plan/plan.h"

/* Enqueues the product and its epilogue. On the cpu, and for strategies that split, both are done at
 * return, by the operands' team. The operands have strides. Separate sums are in the operands' scratch
 * memory on a device, else in host memory of tsl_problem_sums_bytes(). TESELA_OUT_OF_MEMORY leaves C
 * unchanged. The specification needs no memory: it works tile by tile. */
tesela_status tsl_scaled_run(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream);

#endif
