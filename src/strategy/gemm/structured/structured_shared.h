/* What structured.cl is given, as host and kernel both know it. The includer has TSL_INDEX, a signed 64-bit
 * integer. */
#ifndef TSL_STRATEGY_GEMM_STRUCTURED_SHARED_H
#define TSL_STRATEGY_GEMM_STRUCTURED_SHARED_H

/* Elements across and down that a group copies at a time; its items lie along the first. */
#define STRUCTURED_SIDE 32
#define STRUCTURED_LINES 8

/* What becomes of elements beside the triangle. */
#define STRUCTURED_SKIP 0   /* they are not written */
#define STRUCTURED_ZERO 1   /* 0 is written */
#define STRUCTURED_MIRROR 2 /* what is stored across the diagonal is written */

/* The diagonal: as it is stored, its real part, or ones, and nothing is read. */
#define STRUCTURED_AS_STORED 0
#define STRUCTURED_REAL 1
#define STRUCTURED_ONES 2

/* One side of a copy: where its first block begins, and elements from row to row, from column to column, and
 * from block to block. */
typedef struct tsl_structured_side {
  TSL_INDEX offset, row_stride, col_stride, step;
} tsl_structured_side;

/* So many blocks of rows x cols elements. `triangle` is what is stored of each: 0 all, 1 on and below the
 * diagonal, 2 on and above. Imaginary parts of what is stored, and of what is mirrored, change their sign
 * where these say so. */
typedef struct tsl_structured_copy {
  TSL_INDEX rows, cols, blocks;
  tsl_structured_side from, to;
  int triangle, beside, diagonal, conjugates_stored, conjugates_mirrored, unused;
} tsl_structured_copy;

#endif
