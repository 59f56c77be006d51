/* What complex_real.cl is given, as host and kernel both know it. The includer has TSL_INDEX, a signed 64-bit
 * integer. */
#ifndef TSL_STRATEGY_GEMM_COMPLEX_REAL_SHARED_H
#define TSL_STRATEGY_GEMM_COMPLEX_REAL_SHARED_H

/* Complex numbers across and down that a group turns at a time; its items lie along the first. */
#define COMPLEX_REAL_SIDE 32
#define COMPLEX_REAL_LINES 8

/* What becomes of a number that is copied: it stays; it makes two lines, (re, sign[0] im), and below it
 * (sign[1] im, sign[2] re); its parts go to matrices of their own, the imaginary one's as many lines below.
 */
#define COMPLEX_REAL_AS_IT_IS 0
#define COMPLEX_REAL_EXPANDED 1
#define COMPLEX_REAL_APART 2

/* lines x places complex numbers of each of `products` matrices: strides and offset of what is read in
 * complex numbers, of what is written in real ones, where the places of a line are side by side. `is_across`:
 * neighbours in memory are of different lines. */
typedef struct complex_real_copy {
  TSL_INDEX lines, places, products;
  TSL_INDEX offset, line_stride, place_stride, step;
  TSL_INDEX to, to_line, to_step;
  int becomes, is_across;
  int sign[3], unused;
} complex_real_copy;

/* C = alpha S + beta C of so many products: C's strides count complex numbers, those of the sums S real ones.
 * Where those of imaginary parts are `apart`, as many numbers behind those of real ones, S = (re S0 - sign[0]
 * im S1, sign[1] im S0 + sign[2] re S1). */
typedef struct complex_real_result {
  TSL_INDEX rows, cols, products;
  TSL_INDEX sums, sums_row, sums_step, apart;
  TSL_INDEX offset, row_stride, col_stride, step;
  int is_empty, reads; /* there are no sums; C is read */
  int sign[3], unused;
} complex_real_result;

#endif
