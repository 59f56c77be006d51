/* Hints of a strategy for the runs of its sub-plans (tsl_operands.hints). All are advisory: a strategy may
 * ignore them, and C is the same where it is needed. They refer to the caller's scratch memory. */
#ifndef TSL_STRATEGY_RUN_HINTS_H
#define TSL_STRATEGY_RUN_HINTS_H

#include "core/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* Device-side predicate of a run, used when `is_set`: C is needed only if the int at byte `at` of scratch
 * memory is above `above` when the run starts; else the strategy may skip the work. */
typedef struct tsl_run_predicate {
  bool is_set;
  int64_t at; /* byte offset in scratch memory */
  int above;
} tsl_run_predicate;

/* Modular output of an integer product. A run may write bytes C mod p in place of C, and then sets
 * `is_written`. A row is `row` bytes, the first one at byte `at` of scratch memory; three bytes after a row
 * may be overwritten. `magic` divides: x * magic >> 39 is floor(x / p) for x <= 2^31. `bias`: multiple of p
 * that makes each sum non-negative. */
typedef struct tsl_modular_output {
  int64_t at, row; /* bytes */
  uint32_t p, magic, bias;
  bool is_written;
} tsl_modular_output;

/* Reuse of a prepared operand by successive runs.
 *
 *   C0 = A B0, C1 = A B1, ...      A is shared: each run uses its own plan, or the same plan
 *
 * The caller passes one tsl_operand_reuse to each run. By that it guarantees that the runs follow each other
 * on one stream with one workspace. Until the last run is done, only these runs write the workspace, and
 * nothing writes the shared operand. A strategy may leave its prepared form of the operand in the workspace,
 * and record a hash. The hash covers the form's kind, the operand's memory, and the place in the workspace. A
 * later run with an equal hash skips the preparation. The result has the same bits.
 *
 * Each run starts with a cleared hash: strategies without support do no harm. A failure needs a new start. */
typedef struct tsl_operand_reuse {
  int operand;           /* TSL_OPERAND_A or TSL_OPERAND_B */
  tsl_hash before, left; /* hashes of the forms that the previous run and this run left; zero: none */
  int kept;              /* number of runs that skipped the preparation */
} tsl_operand_reuse;

/* Output of sums of C's rows, for a verification (docs/VERIFY.md). A run may write them, and then sets
 * `columns`. Number t m + i is of row i and tile t, which has `columns` adjacent columns. It is the sum of
 * the elements with the weights of kernel/checksum_weights.h. Sums of magnitudes follow all of these. Numbers
 * are doubles, each with an error of at most `error` relative to the magnitudes. */
typedef struct tsl_row_sums {
  struct tsl_buffer *buffer; /* with room for tiles of TSL_ROW_SUMS_MIN columns */
  int64_t at;                /* byte of the first number */
  int columns;               /* divides TSL_ROW_SUMS_MAX; 0: not written */
  double error;
} tsl_row_sums;
enum { TSL_ROW_SUMS_MIN = 128, TSL_ROW_SUMS_MAX = 256 };

typedef struct tsl_run_hints {
  tsl_run_predicate wanted;
  tsl_modular_output *modular; /* NULL: C is written */
  tsl_operand_reuse *reuse;    /* operand that successive queued runs share; NULL: none */
  tsl_row_sums *row_sums;      /* NULL: not wanted */
} tsl_run_hints;

/* Starts the reuse: before the first run, and when another operand is shared or its numbers change. */
void tsl_operand_reuse_start(tsl_operand_reuse *reuse, int operand);
/* Makes the hash of the last run the previous hash. Callers use it before each run. */
void tsl_operand_reuse_turn(tsl_operand_reuse *reuse);
/* Returns true, and counts a hit, if the previous run left the form with this hash. `reuse` may be NULL. */
bool tsl_operand_reuse_has(tsl_operand_reuse *reuse, tsl_hash hash);
/* Records the form that this run leaves, after the work that makes it is enqueued. `reuse` may be NULL. */
void tsl_operand_reuse_leave(tsl_operand_reuse *reuse, tsl_hash hash);

#endif
