/* A factor that several runs have in common, so that what one of them made of it can do for the next one.
 *
 *   C0 = A B0, C1 = A B1, ...      A stays: each run is of a plan of its own, or of the same one
 *
 * Whoever queues such runs starts one of these and hands it to each of them (tsl_operands.stays), and so
 * says: they follow each other on one stream, with one workspace, and until the last of them is done nothing
 * but these runs writes the workspace, and nothing at all the factor. Nobody has to make anything of it. A
 * strategy may leave what it makes of the factor where it makes it, in the workspace, and say by a hash all
 * that this depends on: what it is, of which memory, where it lies now. A run that would make the same then
 * leaves that out. Bits are those of runs that know nothing of each other.
 *
 * Between two runs the hash is forgotten unless a strategy says it, so that one that knows nothing of this,
 * but writes the workspace, spoils nothing; and so is that of a run that fails before it is queued. One that
 * fails later has left anything: who hears of it starts anew. */
#ifndef TSL_STRATEGY_OPERAND_REUSE_H
#define TSL_STRATEGY_OPERAND_REUSE_H

#include "base/source.h"

#include <stdbool.h>

typedef struct tsl_operand_reuse {
  int operand;           /* TSL_OPERAND_A or TSL_OPERAND_B */
  tsl_hash before, left; /* what the run before left, and this one; zero: nothing */
  int kept;              /* runs that found what they would have made, since there is this */
} tsl_operand_reuse;

/* By who queues runs: before the first one, and wherever another factor stays, or other numbers. */
void tsl_operand_reuse_start(tsl_operand_reuse *stays, int operand);
/* By who has strategies run: before each run. */
void tsl_operand_reuse_turn(tsl_operand_reuse *stays);
/* By strategies: whether the run before left this, which counts; and that this one does, behind all that it
 * queues. NULL is allowed. */
bool tsl_operand_reuse_has(tsl_operand_reuse *stays, tsl_hash hash);
void tsl_operand_reuse_leave(tsl_operand_reuse *stays, tsl_hash hash);

#endif
