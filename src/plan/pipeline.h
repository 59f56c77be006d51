/* Run whose copies overlap with computing, on three streams: copies in, computing, copies out. The caller's
 * thread and its team copy panels into pinned memory and enqueue their transfer. A block is enqueued as soon
 * as its panels are enqueued. Blocks are copied out when all panels are in. The device computes meanwhile.
 *
 *   threads   A0 B0 A1 B1 A2 B2 ..         C00 C10 C01 C11 C20 ..
 *   in           A0 B0 A1 B1 A2 B2 ..
 *   compute            00 10 01 11 20 21 02 ..
 *   out                               C00 C10 C01 C11 .. */
#ifndef TSL_PLAN_PIPELINE_H
#define TSL_PLAN_PIPELINE_H

#include "plan/block_grid.h"
#include "plan/plan.h"
#include "plan/run_slot.h"

/* State of an overlapped run. */
typedef struct tsl_overlap {
  const tsl_plan *plan;
  tsl_run_slot *slot;
  const tsl_operands *caller_operands; /* operands in host memory */
  tsl_operand bias;                    /* bias on the device, if the problem has one */
  tsl_staging *staging;
  tsl_team team;
} tsl_overlap;

/* Returns true if a run of the plan copies enough bytes to be overlapped. */
bool tsl_overlap_suits(const tsl_plan *plan);
/* Runs the plan with the staging memory that the caller took and gives back. After TESELA_DEVICE_FAILED
 * C may hold a part of the result. `phases` may be NULL. Its member compute is the time from the first
 * block's start to the last block's end, waits for panels included. Its member copy_in is the time
 * before that, copy_out the time after it. */
tesela_status tsl_overlap_run(const tsl_overlap *run, tsl_phases *phases);

#endif
