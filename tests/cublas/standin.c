#include "cublas/standin.h"

#include <complex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_32I = 10, R_16BF = 14 };
enum { SUCCESS = 0, INVALID_VALUE = 7 };

typedef double complex number;

static atomic_int calls;
int standin_calls(void) {
  return atomic_load(&calls);
}

static size_t size_of(int type) {
  static const size_t sizes[] = {[R_32F] = 4, [R_64F] = 8,  [R_16F] = 2, [R_8I] = 1,
                                 [C_32F] = 8, [C_64F] = 16, [R_32I] = 4, [R_16BF] = 2};
  return sizes[type];
}

static number load(int type, const void *array, int64_t index) {
  const char *at = (const char *)array + index * (int64_t)size_of(type);
  float f[2];
  double d[2];
  _Float16 h;
  int32_t i;
  uint16_t upper;
  uint32_t word;
  switch (type) {
  case R_32F:
    memcpy(f, at, 4);
    return f[0];
  case R_64F:
    memcpy(d, at, 8);
    return d[0];
  case C_32F:
    memcpy(f, at, 8);
    return f[0] + f[1] * I;
  case C_64F:
    memcpy(d, at, 16);
    return d[0] + d[1] * I;
  case R_16F:
    memcpy(&h, at, 2);
    return (double)h;
  case R_8I:
    return *(const signed char *)at;
  case R_32I:
    memcpy(&i, at, 4);
    return i;
  default:
    memcpy(&upper, at, 2);
    word = (uint32_t)upper << 16;
    memcpy(f, &word, 4);
    return f[0];
  }
}

/* Rounds to the nearest; results of the tests have few digits. */
static void store(int type, void *array, int64_t index, number value) {
  char *at = (char *)array + index * (int64_t)size_of(type);
  const float f[2] = {(float)creal(value), (float)cimag(value)};
  const double d[2] = {creal(value), cimag(value)};
  const _Float16 h = (_Float16)creal(value);
  const int32_t i = (int32_t)creal(value);
  uint32_t word;
  switch (type) {
  case R_32F:
    memcpy(at, f, 4);
    break;
  case R_64F:
    memcpy(at, d, 8);
    break;
  case C_32F:
    memcpy(at, f, 8);
    break;
  case C_64F:
    memcpy(at, d, 16);
    break;
  case R_16F:
    memcpy(at, &h, 2);
    break;
  case R_32I:
    memcpy(at, &i, 4);
    break;
  default:
    memcpy(&word, f, 4);
    word = (word + 0x7fff + (word >> 16 & 1)) >> 16;
    const uint16_t upper = (uint16_t)word;
    memcpy(at, &upper, 2);
  }
}

/* Returns element (i, j) of op(X), where X is column-major. */
static number element(const void *x, int type, int64_t ld, int op, int64_t i, int64_t j) {
  const number value = load(type, x, op == 0 ? i + j * ld : j + i * ld);
  return op == 2 ? conj(value) : value;
}

/* Returns element (i, j) of the structured factor, as its routine defines it. */
static number structured(const standin_product *p, const void *a, int64_t i, int64_t j) {
  const bool is_triangular = p->routine == TRMM || p->routine == TRSM;
  const int64_t row = p->trans_a == 0 ? i : j, col = p->trans_a == 0 ? j : i;
  const bool is_stored = p->uplo == 0 ? row >= col : row <= col;
  if (is_triangular && row == col && p->diag == 1)
    return 1;
  if (is_triangular && !is_stored)
    return 0;
  if (p->routine == HEMM && row == col)
    return creal(load(p->a_type, a, row + col * p->lda));
  const number value = load(p->a_type, a, is_stored ? row + col * p->lda : col + row * p->lda);
  return (p->routine == HEMM && !is_stored) || p->trans_a == 2 ? conj(value) : value;
}

/* Returns element (i, j) of the product without scalars. */
static number sum(const standin_product *p, const void *a, const void *b, int64_t i, int64_t j) {
  const bool is_left = p->side == 0;
  const int64_t k = p->routine == GEMM || p->routine == SYRK || p->routine == HERK ? p->k
                    : is_left                                                      ? p->m
                                                                                   : p->n;
  const int turned = p->routine == HERK ? 2 : 1;
  number total = 0;
  for (int64_t l = 0; l < k; l++) {
    if (p->routine == GEMM)
      total +=
          element(a, p->a_type, p->lda, p->trans_a, i, l) * element(b, p->b_type, p->ldb, p->trans_b, l, j);
    else if (p->routine == SYRK || p->routine == HERK)
      total += p->trans_a == 0
                   ? element(a, p->a_type, p->lda, 0, i, l) * element(a, p->a_type, p->lda, turned, l, j)
                   : element(a, p->a_type, p->lda, turned, i, l) * element(a, p->a_type, p->lda, 0, l, j);
    else if (is_left)
      total += structured(p, a, i, l) * element(b, p->b_type, p->ldb, 0, l, j);
    else
      total += element(b, p->b_type, p->ldb, 0, i, l) * structured(p, a, l, j);
  }
  return total;
}

static void multiply(const standin_product *p, const void *a, const void *b, void *c, const void *bias) {
  const bool is_update = p->routine == SYRK || p->routine == HERK;
  const number alpha = load(p->alpha_type, p->alpha, 0), beta = p->beta ? load(p->beta_type, p->beta, 0) : 0;
  number *result = calloc((size_t)(p->m * p->n), sizeof *result); /* trmm may be in place */
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++)
      result[i + j * p->m] = sum(p, a, b, i, j);
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++) {
      if (is_update && (p->uplo == 0 ? i < j : i > j))
        continue;
      number value = alpha * result[i + j * p->m];
      number old = beta == 0 ? 0 : load(p->c_type, c, i + j * p->ldc);
      if (p->routine == HERK && i == j)
        old = creal(old);
      value += beta == 0 ? 0 : beta * old;
      if (p->routine == HERK && i == j)
        value = creal(value);
      value += bias ? load(p->bias_type, bias, p->bias_is_row ? j : i) : 0;
      store(p->c_type, c, i + j * p->ldc, p->relu && creal(value) < 0 ? 0 : value);
    }
  free(result);
}

/* Solves op(A) X = alpha B or X op(A) = alpha B in place, an unknown after the other. */
static void solve(const standin_product *p, const void *a, void *c) {
  const bool is_left = p->side == 0, is_lower = (p->uplo == 0) == (p->trans_a == 0);
  const int64_t order = is_left ? p->m : p->n, lines = is_left ? p->n : p->m;
  const number alpha = load(p->alpha_type, p->alpha, 0);
  const bool goes_up = is_lower == is_left;
  for (int64_t line = 0; line < lines; line++)
    for (int64_t step = 0; step < order; step++) {
      const int64_t i = goes_up ? step : order - 1 - step;
      number value = alpha * load(p->c_type, c, is_left ? i + line * p->ldc : line + i * p->ldc);
      for (int64_t s = 0; s < step; s++) {
        const int64_t l = goes_up ? s : order - 1 - s;
        const number known = load(p->c_type, c, is_left ? l + line * p->ldc : line + l * p->ldc);
        value -= (is_left ? structured(p, a, i, l) : structured(p, a, l, i)) * known;
      }
      store(p->c_type, c, is_left ? i + line * p->ldc : line + i * p->ldc, value / structured(p, a, i, i));
    }
}

void standin_compute(const standin_product *p) {
  for (int64_t i = 0; i < p->batch; i++) {
    const char *a = (const char *)p->a + i * p->a_step * (int64_t)size_of(p->a_type);
    const char *b = p->b ? (const char *)p->b + i * p->b_step * (int64_t)size_of(p->b_type) : NULL;
    char *c = (char *)p->c + i * p->c_step * (int64_t)size_of(p->c_type);
    if (p->routine == TRSM)
      solve(p, a, c);
    else
      multiply(p, a, b, c, p->bias);
  }
}

static _Atomic double sleep_seconds;
static atomic_bool writes_zeros;
void standin_sleep(double seconds) {
  atomic_store(&sleep_seconds, seconds);
}
void standin_writes_zeros(int on) {
  atomic_store(&writes_zeros, on != 0);
}

struct standin_handle {
  standin_stream stream;
  int pointer_mode, math_mode, sm_count;
};

/* Counts and computes a product. The only check is of sizes, so that a test can see a status. */
static int do_call(standin_handle handle, standin_product product) {
  standin_product *p = &product;
  atomic_fetch_add(&calls, 1);
  if (p->m < 0 || p->n < 0 || p->k < 0)
    return INVALID_VALUE;
  if (handle && handle->pointer_mode == 1) {
    p->alpha = standin_on_device(p->alpha);
    p->beta = p->beta ? standin_on_device(p->beta) : NULL;
  }
  const double seconds = atomic_load(&sleep_seconds);
  if (seconds > 0)
    usleep((useconds_t)(1e6 * seconds));
  if (atomic_load(&writes_zeros))
    memset(p->c, 0, (size_t)(p->ldc * p->n) * size_of(p->c_type));
  else
    standin_compute(p);
  return SUCCESS;
}

int cublasCreate_v2(standin_handle *handle) {
  *handle = calloc(1, sizeof **handle);
  return SUCCESS;
}
int cublasDestroy_v2(standin_handle handle) {
  free(handle);
  return SUCCESS;
}
int cublasSetWorkspace_v2(standin_handle handle, void *workspace, size_t bytes) {
  (void)handle, (void)workspace, (void)bytes;
  return SUCCESS;
}
#define MEMBER(Name, suffix, type, member)                                                                   \
  int cublasSet##Name##suffix(standin_handle handle, type value) {                                           \
    handle->member = value;                                                                                  \
    return SUCCESS;                                                                                          \
  }                                                                                                          \
  int cublasGet##Name##suffix(standin_handle handle, type *value) {                                          \
    *value = handle->member;                                                                                 \
    return SUCCESS;                                                                                          \
  }
MEMBER(Stream, _v2, standin_stream, stream)
MEMBER(PointerMode, _v2, int, pointer_mode)
MEMBER(MathMode, , int, math_mode)
MEMBER(SmCountTarget, , int, sm_count)

enum { TYPE_S = R_32F, TYPE_D = R_64F, TYPE_C = C_32F, TYPE_Z = C_64F, TYPE_H = R_16F };
enum { REAL_C = R_32F, REAL_Z = R_64F };
#define TYPES(type) .a_type = type, .b_type = type, .c_type = type
#define SCALARS(type) .alpha = alpha, .beta = beta, .alpha_type = type, .beta_type = type
#define MATRICES .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc
#define CALL(...)                                                                                            \
  { return do_call(handle, (standin_product){__VA_ARGS__}); }
#define OPS .trans_a = transa, .trans_b = transb, .m = m, .n = n, .k = k

#define GEMM_OF(name, integer, type)                                                                         \
  STANDIN_GEMM(name, integer) CALL(OPS, .batch = 1, MATRICES, TYPES(type), SCALARS(type))
#define UPDATE_OF(name, integer, kind, type, scalar)                                                         \
  STANDIN_UPDATE(name, integer)                                                                              \
  CALL(.routine = kind, .uplo = uplo, .trans_a = trans, .m = n, .n = n, .k = k, .batch = 1, .a = a,          \
       .lda = lda, .c = c, .ldc = ldc, TYPES(type), SCALARS(scalar))
#define SYMM_OF(name, integer, kind, type)                                                                   \
  STANDIN_SYMM(name, integer)                                                                                \
  CALL(.routine = kind, .side = side, .uplo = uplo, .m = m, .n = n, .batch = 1, MATRICES, TYPES(type),       \
       SCALARS(type))
#define TRIANGLE                                                                                             \
  .side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .m = m, .n = n, .batch = 1, .alpha = alpha
#define DEFINE(letter, v2, plain, integer)                                                                   \
  GEMM_OF(cublas##letter##gemm##v2, integer, TYPE_##letter)                                                  \
  STANDIN_STRIDED(cublas##letter##gemmStridedBatched##plain, integer)                                        \
  CALL(OPS, .batch = count, MATRICES, .a_step = a_step, .b_step = b_step, .c_step = c_step,                  \
       TYPES(TYPE_##letter), SCALARS(TYPE_##letter))                                                         \
  UPDATE_OF(cublas##letter##syrk##v2, integer, SYRK, TYPE_##letter, TYPE_##letter)                           \
  SYMM_OF(cublas##letter##symm##v2, integer, SYMM, TYPE_##letter)                                            \
  STANDIN_TRMM(cublas##letter##trmm##v2, integer)                                                            \
  CALL(.routine = TRMM, TRIANGLE, .alpha_type = TYPE_##letter, MATRICES, TYPES(TYPE_##letter))               \
  STANDIN_TRSM(cublas##letter##trsm##v2, integer)                                                            \
  CALL(.routine = TRSM, TRIANGLE, .alpha_type = TYPE_##letter, .a = a, .lda = lda, .c = b, .ldc = ldb,       \
       TYPES(TYPE_##letter))
#define DEFINE_COMPLEX(letter, v2, plain, integer)                                                           \
  GEMM_OF(cublas##letter##gemm3m##plain, integer, TYPE_##letter)                                             \
  UPDATE_OF(cublas##letter##herk##v2, integer, HERK, TYPE_##letter, REAL_##letter)                           \
  SYMM_OF(cublas##letter##hemm##v2, integer, HEMM, TYPE_##letter)
STANDIN_REAL_LIST(DEFINE)
STANDIN_COMPLEX_LIST(DEFINE)
STANDIN_COMPLEX_LIST(DEFINE_COMPLEX)
GEMM_OF(cublasHgemm, int, TYPE_H)
GEMM_OF(cublasHgemm_64, int64_t, TYPE_H)

static int scalar_of(int compute, int a_type) {
  const bool is_complex = a_type == C_32F || a_type == C_64F;
  return compute == 64   ? R_16F
         : compute == 72 ? R_32I
         : compute == 70 ? (is_complex ? C_64F : R_64F)
                         : (is_complex ? C_32F : R_32F);
}
#define EX_TYPES                                                                                             \
  .a_type = a_type, .b_type = b_type, .c_type = c_type, SCALARS(scalar_of(compute, a_type) + 0 * algo)
#define DEFINE_EX(plain, integer)                                                                            \
  STANDIN_GEMM_EX(cublasGemmEx##plain, integer)                                                              \
  CALL(OPS, .batch = 1, MATRICES, EX_TYPES)                                                                  \
  STANDIN_STRIDED_EX(cublasGemmStridedBatchedEx##plain, integer)                                             \
  CALL(OPS, .batch = count, MATRICES, .a_step = a_step, .b_step = b_step, .c_step = c_step, EX_TYPES)
DEFINE_EX(, int)
DEFINE_EX(_64, int64_t)
