/* Arguments as given; integers have the program's width (width.h). */
#ifndef TSL_SCALAPACK_SCALAPACK_ARGUMENTS_H
#define TSL_SCALAPACK_SCALAPACK_ARGUMENTS_H

/* sub(X): submatrix from row IX and column JX on, counted from 1. */
typedef struct tsl_scalapack_part {
  const void *data; /* local part of the whole matrix; C's is written */
  const void *i, *j, *desc;
} tsl_scalapack_part;

/* sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C): m x n, sums over k. */
typedef struct tsl_scalapack_multiply {
  char trans_a, trans_b; /* N, T or C in either case */
  const void *m, *n, *k;
  const void *alpha, *beta; /* of the symbol's type */
  tsl_scalapack_part a, b, c;
} tsl_scalapack_multiply;

/* sub(C) = alpha op(sub(A)) + beta sub(C): m x n. */
typedef struct tsl_scalapack_add {
  char trans;
  const void *m, *n;
  const void *alpha, *beta;
  tsl_scalapack_part a, c;
} tsl_scalapack_add;

#endif
