/* Arguments of complex_real.cl. The including file defines TSL_INDEX, a signed 64-bit integer. */
#ifndef TSL_STRATEGY_GEMM_COMPLEX_REAL_SHARED_H
#define TSL_STRATEGY_GEMM_COMPLEX_REAL_SHARED_H

/* Complex numbers in each direction that a group transposes at a time; items lie along the first. */
#define COMPLEX_REAL_SIDE 32
#define COMPLEX_REAL_LINES 8

/* Form of a copied number: unchanged; two lines, (re, sign[0] im) and below it (sign[1] im, sign[2] re); or
 * two separate matrices, the imaginary one `lines` lines below. */
#define COMPLEX_REAL_UNCHANGED 0
#define COMPLEX_REAL_EXPANDED 1
#define COMPLEX_REAL_SEPARATED 2

/* Copy of lines x length complex numbers of `products` matrices. Strides and offset of the source are in
 * complex numbers, of the destination in real ones; destination lines are contiguous. `is_across`: neighbours
 * in memory belong to different lines. */
typedef struct complex_real_copy {
  TSL_INDEX lines, length, products;                   /* lines; complex numbers of a line; matrices */
  TSL_INDEX offset, line_stride, element_stride, step; /* of the source; step: between products */
  /* destination, in real numbers: first number, line stride, step between products */
  TSL_INDEX to, to_line, to_step;
  int form, is_across; /* form of the copy, as defined above; is_across: source lines are not contiguous */
  int sign[3], unused;
  TSL_INDEX wanted, wanted_above; /* tsl_is_unwanted() */
} complex_real_copy;

/* C = alpha S + beta C for `products` products. C's strides are in complex numbers, the strides of the sums S
 * in real ones. If `imaginary_offset` is not 0, the sums of imaginary parts lie `imaginary_offset` numbers
 * after the sums of real parts: S = (re S0 - sign[0] im S1, sign[1] im S0 + sign[2] re S1). */
typedef struct complex_real_result {
  TSL_INDEX rows, cols, products;
  /* in real numbers; imaginary_offset: from real to imaginary sums, 0: interleaved */
  TSL_INDEX sums, sums_row, sums_step, imaginary_offset;
  TSL_INDEX offset, row_stride, col_stride, step;
  int is_empty, reads; /* no sums exist; C is read */
  int sign[3], unused;
  TSL_INDEX wanted, wanted_above; /* tsl_is_unwanted() */
} complex_real_result;

#endif
