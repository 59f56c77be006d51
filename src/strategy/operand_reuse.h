/* Reuse of a prepared operand by successive runs.
 *
 *   C0 = A B0, C1 = A B1, ...      A is shared: each run uses its own plan, or the same plan
 *
 * The caller passes one tsl_operand_reuse to each run (tsl_operands.stays). By that it guarantees that the
 * runs follow each other on one stream with one workspace. Until the last run is done, only these runs write
 * the workspace, and nothing writes the shared operand.
 *
 * Reuse is advisory. A strategy may leave its prepared form of the operand in the workspace, and record a
 * hash. The hash covers the form's kind, the operand's memory, and the place in the workspace. A later run
 * with an equal hash skips the preparation. The result has the same bits.
 *
 * Each run starts with a cleared hash: strategies without support do no harm. A failure needs a new start. */
#ifndef TSL_STRATEGY_OPERAND_REUSE_H
#define TSL_STRATEGY_OPERAND_REUSE_H

#include "core/hash.h"

#include <stdbool.h>

typedef struct tsl_operand_reuse {
  int operand;           /* TSL_OPERAND_A or TSL_OPERAND_B */
  tsl_hash before, left; /* hashes of the forms that the previous run and this run left; zero: none */
  int kept;              /* number of runs that skipped the preparation */
} tsl_operand_reuse;

/* Starts the reuse: before the first run, and when another operand is shared or its numbers change. */
void tsl_operand_reuse_start(tsl_operand_reuse *reuse, int operand);
/* Makes the hash of this run the previous hash. Callers use it before each run. */
void tsl_operand_reuse_turn(tsl_operand_reuse *reuse);
/* Returns true, and counts a hit, if the previous run left the form with this hash. `reuse` may be NULL. */
bool tsl_operand_reuse_has(tsl_operand_reuse *reuse, tsl_hash hash);
/* Records the form that this run leaves, after the work that makes it is enqueued. `reuse` may be NULL. */
void tsl_operand_reuse_leave(tsl_operand_reuse *reuse, tsl_hash hash);

#endif
