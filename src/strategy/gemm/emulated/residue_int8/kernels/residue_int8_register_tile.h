/* A tile of 32 x 32 sums in tile registers, as an included text; an earlier tile's residues and prefetches
 * overlap its products. The including file defines REGISTER_LOAD(t, at, stride in bytes), REGISTER_LOAD_ONCE
 * (for data that is not used again soon), REGISTER_STORE(t, at, stride), REGISTER_ZERO(t) and REGISTER_DOT(c,
 * a, b) for register numbers.
 *          4        5        64 numbers of B: a register holds 16 columns
 *      +--------+--------+
 *   6  |   0    |   1    |   16 rows of A by 64 numbers
 *      +--------+--------+
 *   7  |   2    |   3    |   a step: four loads, four products of 16 clocks each; vectors reduce two rows in
 *      +--------+--------+   these 64 clocks
 * A's micro-panel, 32 KiB, stays in L1 while B's micro-panels are multiplied. */
#include "strategy/gemm/emulated/residue_int8/kernels/residue_int8_reduce.h"

/* Computes a tile. Reads *tile member by member: a vector copy would wait for the stores to it. */
static void register_tile(const tsl_residue_tile *tile) {
  enum { ROW = TSL_RESIDUE_STEP, HALF = TSL_RESIDUE_ROWS * ROW, SUMS = 4 * TSL_RESIDUE_LINES };
  const unsigned char *a = tile->a, *b = tile->b, *next_a = tile->next_a, *next_b = tile->next_b,
                      *next_rest = tile->next_rest;
  int32_t *const sums = tile->sums;
  const int64_t steps = tile->steps, lines_a = tile->lines_a, lines_b = tile->lines_b,
                lines_rest = tile->lines_rest, rows = tile->late.sums ? TSL_RESIDUE_LINES : 0,
                rows_each = tile->rows_each;
  int64_t row = 0;
  REGISTER_ZERO(0);
  REGISTER_ZERO(1);
  REGISTER_ZERO(2);
  REGISTER_ZERO(3);
  for (int64_t u = 0; u < steps; u++) {
    REGISTER_LOAD(6, a, ROW);
    REGISTER_LOAD_ONCE(4, b, ROW);
    REGISTER_DOT(0, 6, 4);
    REGISTER_LOAD(7, a + HALF, ROW);
    REGISTER_DOT(2, 7, 4);
    REGISTER_LOAD_ONCE(5, b + HALF, ROW);
    for (int64_t i = 0; i < lines_a; i++, next_a += ROW)
      __builtin_prefetch(next_a, 0, 2);
    for (int64_t i = 0; i < lines_b; i++, next_b += ROW)
      __builtin_prefetch(next_b, 0, 2);
    for (int64_t i = 0; i < lines_rest; i++, next_rest += ROW)
      __builtin_prefetch(next_rest);
    REGISTER_DOT(1, 6, 5);
    for (const int64_t end = tsl_min(rows, row + rows_each); row < end; row++)
      reduce_row(&tile->late, row);
    REGISTER_DOT(3, 7, 5);
    a += TSL_RESIDUE_STEP_BYTES;
    b += TSL_RESIDUE_STEP_BYTES;
  }
  REGISTER_STORE(0, sums, SUMS);
  REGISTER_STORE(1, sums + TSL_RESIDUE_ROWS, SUMS);
  REGISTER_STORE(2, sums + TSL_RESIDUE_ROWS * TSL_RESIDUE_LINES, SUMS);
  REGISTER_STORE(3, sums + TSL_RESIDUE_ROWS * TSL_RESIDUE_LINES + TSL_RESIDUE_ROWS, SUMS);
}
