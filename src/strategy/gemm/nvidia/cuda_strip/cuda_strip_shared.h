/* Arguments of cuda_strip's kernel, in elements. */
#ifndef TSL_CUDA_STRIP_SHARED_H
#define TSL_CUDA_STRIP_SHARED_H

/* alpha or beta in the type of the sums. */
typedef union cuda_strip_scalar {
  float real;
  int integer;
} cuda_strip_scalar;

/* Operand: rows of A or columns of B. */
typedef struct cuda_strip_factor {
  long long offset, line, step; /* first element; strides between lines, and along k */
  int words;                    /* 1: elements along k are loaded by words of four bytes */
} cuda_strip_factor;

typedef struct cuda_strip_arguments {
  int m, n, k;
  int strips, groups; /* strips of columns; blocks of a strip */
  cuda_strip_factor a, b;
  long long c_offset, c_row; /* first element of C, and the stride between its rows */
  cuda_strip_scalar alpha, beta;
} cuda_strip_arguments;

#endif
