/* A run whose copies overlap with computing. Three streams: copies in, computing, copies out. The caller's
 * thread leads: it copies panels into pinned memory with its team and enqueues them, enqueues a block as soon
 * as its panels are on their way, and brings blocks out when all panels are in; the device computes
 * meanwhile.
 *
 *   threads   A0 B0 A1 B1 A2 B2 ..         C00 C10 C01 C11 C20 ..
 *   in           A0 B0 A1 B1 A2 B2 ..
 *   compute            00 10 01 11 20 21 02 ..
 *   out                               C00 C10 C01 C11 ..
 */
#ifndef TSL_PLAN_PIPELINE_H
#define TSL_PLAN_PIPELINE_H

#include "plan/block_grid.h"
#include "plan/plan.h"
#include "plan/run_slot.h"

/* A run. */
typedef struct tsl_overlap {
  const tsl_plan *plan;
  tsl_run_slot *slot;
  const tsl_operands *given; /* in host memory */
  tsl_operand bias;          /* on the device, where the problem has one */
  tsl_staging *staging;
  tsl_team team;
} tsl_overlap;

/* Whether a run of a plan is worth it: its copies have enough bytes. */
bool tsl_overlap_suits(const tsl_plan *plan);
/* Runs, with the staging that was taken for it; who calls gives it back. On TESELA_DEVICE_FAILED C may hold
 * parts of the result. `phases` may be NULL; compute is from the begin of the first block to the end of the
 * last one, waits for panels included; copy_in is what goes before that, and copy_out what follows. */
tesela_status tsl_overlap_run(const tsl_overlap *run, tsl_phases *phases);

#endif
