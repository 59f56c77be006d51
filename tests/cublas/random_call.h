/* Random calls of cuBLAS with results that are exact in every type: small integers. */
#ifndef TESELA_TESTS_RANDOM_CALL_H
#define TESELA_TESTS_RANDOM_CALL_H

#include "cublas/standin.h"

/* Operands of a call: `expected` begins as a copy of `c`. */
typedef struct random_call {
  standin_product product; /* its addresses point to the members below; c to `expected` */
  void *a, *b, *c, *expected;
  size_t c_bytes;
  double alpha[2], beta[2]; /* in the scalar's type */
} random_call;

enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_32I = 10, R_16BF = 14 };

/* Makes a call of a routine; `seed` selects sizes, operations and elements. */
void random_call_make(random_call *call, standin_routine routine, int type, int c_type, int scalar_type,
                      int64_t batch, unsigned seed);
void random_call_free(random_call *call);
/* Fails unless C is the expected result, gaps between columns included. */
void random_call_check(random_call *call, const char *name);

#endif
