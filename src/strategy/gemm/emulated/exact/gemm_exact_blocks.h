#ifndef TSL_STRATEGY_GEMM_EXACT_GEMM_EXACT_BLOCKS_H
#define TSL_STRATEGY_GEMM_EXACT_GEMM_EXACT_BLOCKS_H

#include "strategy/exact_sums/sum.h"
#include "strategy/gemm/emulated/exact/exact_near.h"
#include "strategy/strategy.h"

/* State of a run. Blocks have whole tiles except at C's edges, and at most TSL_NEAR_COLUMNS columns. */
typedef struct tsl_exact_run {
  const tsl_operands *operands;
  tesela_type a_type, b_type;
  tsl_exact_store store;
  int64_t m, n, k;              /* k: terms that are read */
  int64_t height, width;        /* rows and columns of a block */
  const tsl_near_kernels *near; /* NULL: all elements are undecided */
  tsl_near_lines a, b;          /* magnitudes of all lines, if `near` is not NULL */
  bool is_scaled;               /* the scale of some line is not 1 */
} tsl_exact_run;

/* Returns the doubles of the memory of tsl_exact_decide() or of tsl_exact_measure(). */
size_t tsl_exact_block_doubles(const tsl_exact_run *run);
size_t tsl_exact_lines_doubles(const tsl_exact_run *run);
/* Computes all lines' magnitudes. `memory` has tsl_exact_lines_doubles() doubles and must outlive the run. */
void tsl_exact_measure(tsl_exact_run *run, double *memory, tsl_team team);

/* Stores the decided elements of the block at (row, column), and sets undecided[i * columns + j] to 1 for the
 * others. Returns true if any is undecided. `memory` has tsl_exact_block_doubles() doubles. */
bool tsl_exact_decide(const tsl_exact_run *run, int64_t row, int64_t column, int64_t rows, int64_t columns,
                      double *memory, unsigned char *undecided);

/* Returns the address of element (i, j) of an operand in host memory. */
static inline unsigned char *tsl_exact_element(const tsl_operand *operand, tesela_type type, int64_t i,
                                               int64_t j) {
  return (unsigned char *)operand->host +
         (i * operand->row_stride + j * operand->col_stride) * (int64_t)tsl_type(type)->size;
}

#endif
