/* Properties of the factors of a product, from a few of their elements. */
#ifndef TSL_CORE_CALL_SAMPLE_H
#define TSL_CORE_CALL_SAMPLE_H

#include "core/call_table.h"

/* Factors of op(A) op(B) in host memory: strides in elements; sizes > 0. */
typedef struct tsl_calls_factors {
  tesela_type type;
  int64_t size[TSL_CALLS_SIZES]; /* m, n, k */
  const void *a, *b;
  int64_t a_row, a_col, b_row, b_col;
} tsl_calls_factors;

/* Returns TSL_SEEN_... of a tsl_calls_factors; 0 for types other than f32 and f64. */
unsigned tsl_calls_sample(const void *factors);

#endif
