/* For host and kernel. The including file defines TSL_INDEX, a signed 64-bit integer. */
#ifndef TSL_STRATEGY_GEMM_STRUCTURED_SHARED_H
#define TSL_STRATEGY_GEMM_STRUCTURED_SHARED_H

/* Elements in each direction that a group copies at a time; items lie along the first. */
#define STRUCTURED_SIDE 32
#define STRUCTURED_LINES 8

/* Treatment of elements outside the triangle. */
#define STRUCTURED_SKIP 0   /* not written */
#define STRUCTURED_ZERO 1   /* written as 0 */
#define STRUCTURED_MIRROR 2 /* mirrored from across the diagonal */

/* Treatment of the diagonal: copied, only its real part, or written as 1 without being read. */
#define STRUCTURED_AS_STORED 0
#define STRUCTURED_REAL 1
#define STRUCTURED_ONES 2

/* Source or destination of a copy: position of the first block, and strides. */
typedef struct tsl_structured_side {
  TSL_INDEX offset, row_stride, col_stride, step;
} tsl_structured_side;

/* Copy of blocks of rows x cols elements. `triangle`: stored part: 0 all, 1 on and below the diagonal, 2 on
 * and above. The flags negate imaginary parts of stored and of mirrored elements. */
typedef struct tsl_structured_copy {
  TSL_INDEX rows, cols, blocks;
  tsl_structured_side from, to;
  int triangle, outside, diagonal, conjugates_stored, conjugates_mirrored, unused;
} tsl_structured_copy;

#endif
