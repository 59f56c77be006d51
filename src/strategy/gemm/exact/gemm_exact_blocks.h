/* On the cpu: a block of C, most of whose elements are decided by nearly exact sums (exact_near.h), and what
 * is then left of it. */
#ifndef TSL_STRATEGY_GEMM_EXACT_GEMM_EXACT_BLOCKS_H
#define TSL_STRATEGY_GEMM_EXACT_GEMM_EXACT_BLOCKS_H

#include "strategy/exact/sum.h"
#include "strategy/gemm/exact/exact_near.h"
#include "strategy/strategy.h"

/* A run. Blocks have `height` rows and `width` columns but at C's edges; whole tiles, at most
 * TSL_NEAR_COLUMNS columns. */
typedef struct tsl_exact_run {
  const tsl_operands *at;
  tesela_type a_type, b_type;
  tsl_exact_store store;
  int64_t m, n, k; /* k: terms that are read */
  int64_t height, width;
  const tsl_near_of *near; /* NULL: all elements are left */
  tsl_near_lines a, b;     /* of all lines; where `near` is */
  bool is_scaled;          /* some line's scale is not 1 */
} tsl_exact_run;

/* Doubles that a worker needs for a block. */
size_t tsl_exact_block_doubles(const tsl_exact_run *run);
/* Doubles for magnitudes of all lines, and their making by a team. */
size_t tsl_exact_lines_doubles(const tsl_exact_run *run);
void tsl_exact_measure(tsl_exact_run *run, double *memory, tsl_team team);

/* Stores the elements of the block at (row, column) that are decided and sets left[i * columns + j] to
 * whether one is not; returns whether any is. `memory` is a worker's. */
bool tsl_exact_decide(const tsl_exact_run *run, int64_t row, int64_t column, int64_t rows, int64_t columns,
                      double *memory, unsigned char *left);

/* Element (i, j) of an operand in host memory. */
static inline unsigned char *tsl_exact_element(const tsl_operand *operand, tesela_type type, int64_t i,
                                               int64_t j) {
  return (unsigned char *)operand->host +
         (i * operand->row_stride + j * operand->col_stride) * (int64_t)tsl_type(type)->size;
}

#endif
