#ifndef TSL_BLAS_BLAS_VIEW_H
#define TSL_BLAS_BLAS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Matrix; strides in elements. */
typedef struct tsl_blas_view {
  const void *data;
  int64_t row, col;
  bool conjugate;
} tsl_blas_view;

bool tsl_blas_is(tesela_type type, const void *scalar, double value); /* true if the scalar is value + 0 i */
void tsl_blas_doubles(tesela_type type, const void *scalar, double out[2]);
size_t tsl_blas_size(tesela_type type);
bool tsl_blas_is_complex(tesela_type type);

#endif
