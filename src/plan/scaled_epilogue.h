/* Runs of products with scales: their sums first, in memory of their own or in C, and from these C. */
#ifndef TSL_PLAN_SCALED_EPILOGUE_H
#define TSL_PLAN_SCALED_EPILOGUE_H

#include "plan/plan.h"

/* Queues both behind each other, on the cpu and of strategies that split does them at once, by the operands'
 * team. Operands have the strides of the run. Sums that lie apart are in the operands' scratch memory on a
 * device, and else take tsl_problem_sums_bytes() of the host's: TESELA_OUT_OF_MEMORY, with C as it was. The
 * specification takes none: it goes tile by tile. */
tesela_status tsl_scaled_run(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream);

#endif
