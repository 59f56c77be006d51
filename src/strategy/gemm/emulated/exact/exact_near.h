/* Nearly exact sums with error bounds, tile by tile. If all values within the bounds round to one number of
 * C's type, that is the element (Ziv 1991), and no superaccumulator is needed.
 *
 * Products of f32 and narrower numbers are exact in f64 and summed in f64. Sums of f64 products are pairs.
 * `high` starts at a power of two so large that it stays in its binade. So the amount that a multiply-add
 * takes off it, and its rounding error, cost three more instructions:
 *
 *   next = high + a b, rounded once     high moves by a multiple of its last place, which is constant
 *   low += a b - (next - high)          the difference is exact; the rest is rounded in low's last place
 *
 * No sum of products of two lines (row of A, column of B) exceeds the largest magnitude of one times the
 * total of the other. If that has few bits above the last bits set in either line, as with whole numbers,
 * nothing was rounded at all. Then elements halfway between two numbers are decided too. */
#ifndef TSL_STRATEGY_GEMM_EXACT_EXACT_NEAR_H
#define TSL_STRATEGY_GEMM_EXACT_EXACT_NEAR_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Terms of a panel, and maximum columns of a row for enclose(). */
enum { TSL_NEAR_DEPTH = 256, TSL_NEAR_COLUMNS = 512 };

/* Measures of lines. A line with a NaN has NaN for both magnitudes, a line with an infinity infinity. */
typedef struct tsl_near_lines {
  double *largest, *total; /* largest magnitude of each line, and sum of its magnitudes */
  double *grain;           /* power of two that divides all numbers; infinity if all are 0 */
  double *scale; /* powers of two, at least 1, by which the lines and the magnitudes above are multiplied */
} tsl_near_lines;

typedef struct tsl_near_row {
  int count; /* elements of the row */
  int64_t k;
  const double *high, *low;     /* sums of the row; `low` for f64 only */
  double largest, total, grain; /* of A's line */
  double least;                 /* least normal number times the scale of A's line; 0: no line is scaled */
  tsl_near_lines b;             /* of B's lines, from the first column on */
  double alpha, beta;
  const double *before; /* C's contents; not read if beta is 0 */
} tsl_near_row;

/* Kernels for tiles of rows x columns sums, from micro-panels in which a step's numbers are contiguous. */
typedef struct tsl_near_kernels {
  int rows, columns;
  /* Adds the products of `depth` steps, at most TSL_NEAR_DEPTH, to a tile's sums. `row`: their row stride. */
  void (*add)(int depth, const double *a, const double *b, double *high, double *low, int64_t row);
  /* Sets the initial sums of a row. */
  void (*begin)(const tsl_near_row *row, double *high, double *low);
  /* Computes bounds of the exact elements with alpha and beta, before rounding to C's type. If both bounds
   * round to one number, so does the element. NaN: unknown. */
  void (*enclose)(const tsl_near_row *row, double *lower, double *upper);
} tsl_near_kernels;

/* Kernels of an instruction set. f64.add is NULL if it has no fused multiply-add. */
typedef struct tsl_near {
  tsl_near_kernels f32, f64;
} tsl_near;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_near tsl_near_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
