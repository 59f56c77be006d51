/* Arguments of the kernels on the sm_80 base: read by C and by CUDA C++. All counts are in elements. */
#ifndef TSL_SM80_SHARED_H
#define TSL_SM80_SHARED_H

/* alpha and beta in the type of the sums. Complex numbers have two parts. Kernels of f64 see no union: it
 * would hide from their compiler that stores to C leave the arguments alone. */
#if defined(C_FORM) && C_FORM >= 4
typedef struct sm80_scalars {
#else
typedef union sm80_scalar {
  float real;
  int integer;
} sm80_scalar;
typedef union sm80_scalars {
  struct {
    sm80_scalar alpha, beta;
  } narrow;
#endif
  struct {
    double alpha[2], beta[2];
  } f64;
} sm80_scalars;

typedef struct sm80_matrix {
  long long offset, row, col; /* first element; strides between rows and between columns */
  /* A and B: bytes of a copy, 16, 8, 4, or 0 for single elements; C: 1 if vectors are stored: a complex
   * element, a pair of f64, or four narrower elements; 2: pairs of c64, too */
  int width;
} sm80_matrix;

typedef struct sm80_arguments {
  int m, n, k;
  int tiles_m, tiles_n;                 /* tiles in a column and in a row of C */
  int parts, part_panels, longer_parts; /* split-k parts, panels of a part, parts with one more panel */
  int fold_panels;                      /* panels of each part of k that a block adds in order; 0: one part */
  long long totals;                     /* address of the blocks' totals of these parts */
  long long partials,
      flags; /* addresses of the sums of parts that the last part's block adds, and a flag each */
  unsigned long long ticket; /* value of a flag in this run */
  sm80_matrix a, b, c;
  long long c_part;                 /* stride between the sums of split-k parts */
  long long a_step, b_step, c_step; /* strides between products of a batch */
  sm80_scalars scalars;
  long long wanted, wanted_above; /* address of an int, or 0: the result is unused if it is <= wanted_above */
} sm80_arguments;

/* Split-k reduction: adds `parts` matrices to C = m x n. */
typedef struct sm80_reduce_arguments {
  long long m, n;
  long long pitch, part; /* elements between rows of a matrix of sums, and between these matrices */
  long long c_step;      /* stride between products of a batch, which is never split */
  sm80_matrix c;
  int parts; /* 0: sums are 0, because k is 0 */
  sm80_scalars scalars;
  long long wanted, wanted_above; /* address of an int, or 0: nothing is done if it is <= wanted_above */
} sm80_reduce_arguments;

#endif
