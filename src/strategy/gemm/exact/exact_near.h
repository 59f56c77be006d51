/* Sums that are nearly exact and know how nearly, tile by tile: where all that an element may be rounds to
 * one number of C's type, that is the element (Ziv 1991), and no superaccumulator is needed.
 *
 * Products of f32 and narrower numbers are exact in f64, and so are summed in f64. Sums of f64's products are
 * pairs: `high` starts at a power of two so large that it stays in its binade, so that what each multiply-add
 * takes off it, and what that loses, cost three instructions more:
 *
 *   next = high + a b, rounded once     high moves by a multiple of its last place, which is the same all the
 * time low += a b - (next - high)          the difference is exact, what is left is rounded in its own last
 * place
 *
 * A line (a row of A, a column of B) has a largest and a total magnitude; no sum of products of two lines is
 * larger than the largest of the one times the total of the other. Where that has few bits above the last
 * ones that are set in either line, as with whole numbers, nothing was rounded at all, and elements that lie
 * halfway between two numbers are decided, too. */
#ifndef TSL_STRATEGY_GEMM_EXACT_EXACT_NEAR_H
#define TSL_STRATEGY_GEMM_EXACT_EXACT_NEAR_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Terms of a panel, and most columns of a row that is told what lies around it. */
enum { TSL_NEAR_DEPTH = 256, TSL_NEAR_COLUMNS = 512 };

/* Lines' magnitudes: a line with a NaN has NaN for both, one with an infinity infinity. `grain`: all numbers
 * are multiples of it, a power of two; infinity where all are 0. */
typedef struct tsl_near_lines {
  double *largest, *total, *grain;
  double *scale; /* powers of two, at least 1, that the lines and the magnitudes above are multiplied by */
} tsl_near_lines;

/* What encloses a row of elements, alpha and beta applied, but not yet rounded to C's type. */
typedef struct tsl_near_row {
  int count;
  int64_t k;
  const double *high, *low;     /* its sums; low: of f64 */
  double largest, total, grain; /* of A's line */
  tsl_near_lines b;             /* of B's, from the first column on */
  double alpha, beta;
  const double *before; /* what C holds; nothing is read where beta is 0 */
} tsl_near_row;

/* Tiles of rows x columns sums, from micro-panels in which a step's numbers lie side by side. */
typedef struct tsl_near_of {
  int rows, columns;
  /* Adds the products of `depth` steps, at most TSL_NEAR_DEPTH, to a tile's sums, whose rows are `row`
   * numbers apart. */
  void (*add)(int depth, const double *a, const double *b, double *high, double *low, int64_t row);
  /* Sums of a row before the first step. */
  void (*begin)(const tsl_near_row *row, double *high, double *low);
  /* The exact elements lie between lower[j] and upper[j]: where both round alike, so do they. NaN: nobody
   * knows. */
  void (*enclose)(const tsl_near_row *row, double *lower, double *upper);
} tsl_near_of;

/* f64.add is NULL where an instruction set does not fuse multiply-adds. */
typedef struct tsl_near {
  tsl_near_of f32, f64;
} tsl_near;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_near tsl_near_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
