/* Every routine for every type in plain loops: what is used where neither tesela nor another library takes a call.
 * Correct, not fast. Elements are read as double complex, sums are made there, and results are rounded once. */
#include "blas/loops.h"

#include <complex.h>

typedef double complex wide;

/* One type's reading and writing. */
typedef struct element {
  tesela_type type;
  size_t size;
  bool complex_type;
  wide (*load)(const void *at);
  void (*store)(void *at, wide value);
} element;

static wide load_f32(const void *at) {
  return *(const float *)at;
}
static wide load_f64(const void *at) {
  return *(const double *)at;
}
static wide load_c64(const void *at) {
  const float *components = at;
  return CMPLX(components[0], components[1]);
}
static wide load_c128(const void *at) {
  const double *components = at;
  return CMPLX(components[0], components[1]);
}
static void store_f32(void *at, wide value) {
  *(float *)at = (float)creal(value);
}
static void store_f64(void *at, wide value) {
  *(double *)at = creal(value);
}
static void store_c64(void *at, wide value) {
  float *components = at;
  components[0] = (float)creal(value);
  components[1] = (float)cimag(value);
}
static void store_c128(void *at, wide value) {
  double *components = at;
  components[0] = creal(value);
  components[1] = cimag(value);
}

static const element elements[] = {
    {TESELA_F32, sizeof(float), false, load_f32, store_f32},
    {TESELA_F64, sizeof(double), false, load_f64, store_f64},
    {TESELA_C64, 2 * sizeof(float), true, load_c64, store_c64},
    {TESELA_C128, 2 * sizeof(double), true, load_c128, store_c128},
};

static const element *element_of(tesela_type type) {
  const element *found = elements;
  while (found->type != type)
    found++;
  return found;
}

size_t tsl_blas_size(tesela_type type) {
  return element_of(type)->size;
}
bool tsl_blas_is_complex(tesela_type type) {
  return element_of(type)->complex_type;
}
bool tsl_blas_is(tesela_type type, const void *scalar, double value) {
  return element_of(type)->load(scalar) == value;
}
void tsl_blas_doubles(tesela_type type, const void *scalar, double out[2]) {
  const wide value = element_of(type)->load(scalar);
  out[0] = creal(value);
  out[1] = cimag(value);
}

static const void *address(const element *of, const tsl_blas_view *view, int64_t i, int64_t j) {
  return (const char *)view->data + (i * view->row + j * view->col) * (int64_t)of->size;
}

static wide load(const element *of, const tsl_blas_view *view, int64_t i, int64_t j) {
  const wide value = of->load(address(of, view, i, j));
  return view->conjugate ? conj(value) : value;
}

static void store(const element *of, const tsl_blas_view *view, int64_t i, int64_t j, wide value) {
  union {
    const void *read;
    void *written;
  } at = {address(of, view, i, j)};
  of->store(at.written, value);
}

/* A real type's product must not meet the zero imaginary components: infinity times them is no number. */
static wide times(const element *of, wide a, wide b) {
  return of->complex_type ? a * b : creal(a) * creal(b);
}

static wide product_at(const element *of, const tsl_blas_work *work, int64_t i, int64_t j, wide alpha,
                       wide beta) {
  wide sum = 0;
  if (alpha != 0)
    for (int64_t l = 0; l < work->k; l++)
      sum += times(of, load(of, &work->a, i, l), load(of, &work->b, l, j));
  wide result = alpha == 0 || work->k == 0 ? 0 : times(of, alpha, sum);
  if (beta != 0)
    result += times(of, beta, load(of, &work->c, i, j));
  return result;
}

static void gemm(const tsl_blas_work *work, int uplo) {
  const element *of = element_of(work->type);
  const wide alpha = of->load(work->alpha), beta = of->load(work->beta);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'U' ? j + 1 : work->m); i++)
      store(of, &work->c, i, j, product_at(of, work, i, j, alpha, beta));
}

void tsl_blas_loop_gemm(const tsl_blas_work *work) {
  gemm(work, 0);
}
void tsl_blas_loop_gemmt(const tsl_blas_work *work, int uplo) {
  gemm(work, uplo);
}

void tsl_blas_loop_dot(tesela_type type, const tsl_blas_sum *sum) {
  const element *of = element_of(type);
  const tsl_blas_view x = {sum->x, sum->incx, 0, sum->conjugate}, y = {sum->y, sum->incy, 0, false};
  const int64_t x0 = sum->incx < 0 ? sum->n - 1 : 0, y0 = sum->incy < 0 ? sum->n - 1 : 0;
  wide result = 0;
  /* From the far end backwards: element i lies at (i - (n - 1)) inc. */
  for (int64_t i = 0; i < sum->n; i++)
    result += times(of, load(of, &x, i - x0, 0), load(of, &y, i - y0, 0));
  element_of(sum->result_type)->store(sum->result, result);
}

void tsl_blas_loop_copy(tesela_type type, int64_t rows, int64_t cols, const void *alpha,
                        const tsl_blas_view *a, const tsl_blas_view *b) {
  const element *of = element_of(type);
  const wide factor = of->load(alpha);
  const bool plain = factor == 1;
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) {
      const wide value = factor == 0 ? 0 : load(of, a, i, j);
      store(of, b, i, j, plain || factor == 0 ? value : times(of, factor, value));
    }
}

void tsl_blas_loop_transpose(tesela_type type, int64_t n, const void *alpha, const tsl_blas_view *a) {
  const element *of = element_of(type);
  const wide factor = of->load(alpha);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++) {
      const wide upper = load(of, a, i, j), lower = load(of, a, j, i);
      store(of, a, j, i, factor == 0 ? 0 : times(of, factor, upper));
      store(of, a, i, j, factor == 0 ? 0 : times(of, factor, lower));
    }
}
