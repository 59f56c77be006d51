/* Elements of any type as double complex, for slow generic loops. */
#ifndef TSL_BLAS_BLAS_ELEMENT_H
#define TSL_BLAS_BLAS_ELEMENT_H

#include "blas/blas_view.h"

#include <complex.h>

typedef double complex tsl_blas_wide_complex;

typedef struct tsl_blas_element {
  tesela_type type;
  size_t size;
  bool complex_type;
  tsl_blas_wide_complex (*load)(const void *src);
  void (*store)(void *data, tsl_blas_wide_complex value);
} tsl_blas_element;

const tsl_blas_element *tsl_blas_element_of(tesela_type type);
/* Loads element (i, j) of a view, conjugated if the view is. */
tsl_blas_wide_complex tsl_blas_load(const tsl_blas_element *element, const tsl_call_matrix *view, int64_t i,
                                    int64_t j);
/* Stores element (i, j) without conjugation. */
void tsl_blas_store(const tsl_blas_element *element, const tsl_call_matrix *view, int64_t i, int64_t j,
                    tsl_blas_wide_complex value);
/* Multiplies; real types use real parts only, because infinity times an imaginary 0 is NaN. */
static inline tsl_blas_wide_complex tsl_blas_times(const tsl_blas_element *element, tsl_blas_wide_complex a,
                                                   tsl_blas_wide_complex b) {
  return element->complex_type ? a * b : creal(a) * creal(b);
}

#endif
