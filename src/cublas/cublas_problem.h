/* Checks of calls, and keys of their kinds. */
#ifndef TSL_CUBLAS_CUBLAS_PROBLEM_H
#define TSL_CUBLAS_CUBLAS_PROBLEM_H

#include "cublas/cublas_call.h"

/* Everything by which calls differ, apart from addresses. Compared as bytes: no padding. */
typedef struct tsl_cublas_key {
  tsl_cublas_sizes size;
  int64_t lda, ldb, ldc, a_step, b_step, c_step, bias_step;
  double alpha[2], beta[2];
  int32_t device, routine, trans_a, trans_b, side, uplo, diag, in_place;
  int32_t a_type, c_type, bias_type, bias_axis; /* tesela_type, of B as of A; bias_type 0: no bias */
  int32_t activation, accuracy;                 /* accuracy: index of tsl_cublas_accuracy() */
} tsl_cublas_key;

/* Fills the key of a call; math_mode is the handle's. Returns false if an argument is wrong, if the product
 * is empty, or if tesela has no such product. */
bool tsl_cublas_key_fill(const tsl_cublas_call *call, int math_mode, int device, tsl_cublas_key *key);

/* Returns the hash of whole words. */
uint64_t tsl_cublas_hash(const void *words, size_t bytes);

/* Returns the accuracy that a plan is asked for; NULL: the default. */
const char *tsl_cublas_accuracy(int index);

#endif
