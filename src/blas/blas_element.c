#include "blas/blas_element.h"

#include "core/memory.h"

typedef tsl_blas_element element;
typedef tsl_blas_wide_complex wide_complex;

static wide_complex blas_element_load_f32(const void *src) {
  return *(const float *)src;
}
static wide_complex blas_element_load_f64(const void *src) {
  return *(const double *)src;
}
static wide_complex blas_element_load_c64(const void *src) {
  const float *components = src;
  return CMPLX(components[0], components[1]);
}
static wide_complex blas_element_load_c128(const void *src) {
  const double *components = src;
  return CMPLX(components[0], components[1]);
}
static void blas_element_store_f32(void *data, wide_complex value) {
  *(float *)data = (float)creal(value);
}
static void blas_element_store_f64(void *data, wide_complex value) {
  *(double *)data = creal(value);
}
static void blas_element_store_c64(void *data, wide_complex value) {
  float *components = data;
  components[0] = (float)creal(value);
  components[1] = (float)cimag(value);
}
static void blas_element_store_c128(void *data, wide_complex value) {
  double *components = data;
  components[0] = creal(value);
  components[1] = cimag(value);
}

static const element elements[] = {
    {TESELA_F32, sizeof(float), false, blas_element_load_f32, blas_element_store_f32},
    {TESELA_F64, sizeof(double), false, blas_element_load_f64, blas_element_store_f64},
    {TESELA_C64, 2 * sizeof(float), true, blas_element_load_c64, blas_element_store_c64},
    {TESELA_C128, 2 * sizeof(double), true, blas_element_load_c128, blas_element_store_c128},
};

const tsl_blas_element *tsl_blas_element_of(tesela_type type) {
  const element *found = elements;
  while (found->type != type)
    found++;
  return found;
}

size_t tsl_blas_size(tesela_type type) {
  return tsl_blas_element_of(type)->size;
}
bool tsl_blas_is_complex(tesela_type type) {
  return tsl_blas_element_of(type)->complex_type;
}
bool tsl_blas_is(tesela_type type, const void *scalar, double value) {
  return tsl_blas_element_of(type)->load(scalar) == value;
}
void tsl_blas_doubles(tesela_type type, const void *scalar, double out[2]) {
  const wide_complex value = tsl_blas_element_of(type)->load(scalar);
  out[0] = creal(value);
  out[1] = cimag(value);
}

static const void *blas_element_address(const element *state, const tsl_call_matrix *view, int64_t i,
                                        int64_t j) {
  return (const char *)view->data + (i * view->row + j * view->col) * (int64_t)state->size;
}

tsl_blas_wide_complex tsl_blas_load(const element *state, const tsl_call_matrix *view, int64_t i, int64_t j) {
  const wide_complex value = state->load(blas_element_address(state, view, i, j));
  return view->conjugate ? conj(value) : value;
}

void tsl_blas_store(const element *state, const tsl_call_matrix *view, int64_t i, int64_t j,
                    wide_complex value) {
  state->store(tsl_writable(blas_element_address(state, view, i, j)), value);
}
