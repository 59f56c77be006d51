/* Run whose copies overlap with computing, on three streams. The caller's thread and its team copy panels
 * into pinned memory, and enqueue their transfer and each block after its panels. A computed block is copied
 * out between the chunks of later panels. If the device cannot tell whether it is computed, it waits until
 * all panels are in.
 *
 *   threads   A0 B0 A1 B1 C00 A2 B2 C10 C01 ..   C11 C20 ..
 *   in           A0 B0 A1 B1    A2 B2 ..
 *   compute            00 10 01 11 20 21 02 ..
 *   out                      C00    C10 C01 ..   C11 C20 .. */
#ifndef TSL_PLAN_PIPELINE_H
#define TSL_PLAN_PIPELINE_H

#include "plan/block_grid.h"
#include "plan/plan.h"
#include "plan/run_slot.h"

typedef struct tsl_overlap {
  const tsl_plan *plan;
  tsl_run_slot *slot;
  const tsl_operands *caller_operands; /* operands in host memory */
  tsl_operand bias;                    /* bias on the device, if the problem has one */
  tsl_staging *staging;
  tsl_team team;
} tsl_overlap;

/* Returns true if a run copies enough bytes to be overlapped. */
bool tsl_overlap_suits(const tsl_plan *plan);
/* Runs the plan with the caller's staging. After TESELA_DEVICE_FAILED C may hold a part of the result.
 * `phases` may be NULL: compute lasts from the first block's start to the last block's end, with waits for
 * panels; copy_in is the time before, copy_out the time after. */
tesela_status tsl_overlap_run(const tsl_overlap *run, tsl_phases *phases);

#endif
