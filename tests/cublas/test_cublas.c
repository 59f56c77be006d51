/* Every entry of libtesela_cublas on memory of the host, against the stand-in's loops. With
 * TESELA_CUBLAS_CALLS host, tesela must compute each call; with other, the stand-in. */
#include "cublas/random_call.h"
#include "unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static standin_handle handle;
static bool is_ours; /* tesela computes */

enum { SEEDS = 8 };

/* Fails unless the right library computed the calls since `before`. */
static void check_who(int before, int count, const char *name) {
  const int calls = standin_calls() - before;
  if (calls != (is_ours ? 0 : count))
    fail_msg("%s: the stand-in computed %d of %d calls", name, calls, count);
}

/* Calls an entry on random problems. `arguments` are after the handle; p is the problem, x its memory. */
#define TRY(entry, routine, type, c_type, scalar, batch_, ...)                                               \
  do {                                                                                                       \
    for (unsigned seed = 0; seed < SEEDS; seed++) {                                                          \
      random_call x;                                                                                         \
      random_call_make(&x, routine, type, c_type, scalar, batch_, seed);                                     \
      const standin_product *p = &x.product;                                                                 \
      const int before = standin_calls();                                                                    \
      assert_int_equal(entry(handle, __VA_ARGS__), 0);                                                       \
      check_who(before, 1, #entry);                                                                          \
      random_call_check(&x, #entry);                                                                         \
      random_call_free(&x);                                                                                  \
    }                                                                                                        \
  } while (0)

#define OPS(integer) p->trans_a, p->trans_b, (integer)p->m, (integer)p->n, (integer)p->k, p->alpha
#define LD(integer, x) (integer) p->ld##x
#define GEMM_ARGUMENTS(integer)                                                                              \
  OPS(integer), x.a, LD(integer, a), x.b, LD(integer, b), p->beta, x.c, LD(integer, c)
#define STRIDED_ARGUMENTS(integer)                                                                           \
  OPS(integer), x.a, LD(integer, a), p->a_step, x.b, LD(integer, b), p->b_step, p->beta, x.c,                \
      LD(integer, c), p->c_step, (integer)p->batch
#define UPDATE_ARGUMENTS(integer)                                                                            \
  p->uplo, p->trans_a, (integer)p->n, (integer)p->k, p->alpha, x.a, LD(integer, a), p->beta, x.c,            \
      LD(integer, c)
#define SYMM_ARGUMENTS(integer)                                                                              \
  p->side, p->uplo, (integer)p->m, (integer)p->n, p->alpha, x.a, LD(integer, a), x.b, LD(integer, b),        \
      p->beta, x.c, LD(integer, c)
#define TRIANGLE(integer)                                                                                    \
  p->side, p->uplo, p->trans_a, p->diag, (integer)p->m, (integer)p->n, p->alpha, x.a, LD(integer, a)

enum { S_TYPE = R_32F, D_TYPE = R_64F, C_TYPE = C_32F, Z_TYPE = C_64F, C_REAL = R_32F, Z_REAL = R_64F };
#define TEST_LETTER(letter, v2, plain, integer)                                                              \
  static void test_##letter##v2(void **unused) {                                                             \
    enum { T = letter##_TYPE };                                                                              \
    (void)unused;                                                                                            \
    TRY(cublas##letter##gemm##v2, GEMM, T, T, T, 1, GEMM_ARGUMENTS(integer));                                \
    TRY(cublas##letter##gemmStridedBatched##plain, GEMM, T, T, T, 3, STRIDED_ARGUMENTS(integer));            \
    TRY(cublas##letter##syrk##v2, SYRK, T, T, T, 1, UPDATE_ARGUMENTS(integer));                              \
    TRY(cublas##letter##symm##v2, SYMM, T, T, T, 1, SYMM_ARGUMENTS(integer));                                \
    TRY(cublas##letter##trmm##v2, TRMM, T, T, T, 1, TRIANGLE(integer), x.b, LD(integer, b), x.c,             \
        LD(integer, c));                                                                                     \
    TRY(cublas##letter##trsm##v2, TRSM, T, T, T, 1, TRIANGLE(integer), x.c, LD(integer, c));                 \
  }
#define TEST_COMPLEX(letter, v2, plain, integer)                                                             \
  static void test_complex_##letter##v2(void **unused) {                                                     \
    enum { T = letter##_TYPE };                                                                              \
    (void)unused;                                                                                            \
    TRY(cublas##letter##gemm3m##plain, GEMM, T, T, T, 1, GEMM_ARGUMENTS(integer));                           \
    TRY(cublas##letter##herk##v2, HERK, T, T, letter##_REAL, 1, UPDATE_ARGUMENTS(integer));                  \
    TRY(cublas##letter##hemm##v2, HEMM, T, T, T, 1, SYMM_ARGUMENTS(integer));                                \
  }
STANDIN_REAL_LIST(TEST_LETTER)
STANDIN_COMPLEX_LIST(TEST_LETTER)
STANDIN_COMPLEX_LIST(TEST_COMPLEX)

#define EX_ARGUMENTS(integer, compute)                                                                       \
  OPS(integer), x.a, p->a_type, LD(integer, a), x.b, p->b_type, LD(integer, b), p->beta, x.c, p->c_type,     \
      LD(integer, c), compute, -1
#define STRIDED_EX_ARGUMENTS(integer, compute)                                                               \
  OPS(integer), x.a, p->a_type, LD(integer, a), p->a_step, x.b, p->b_type, LD(integer, b), p->b_step,        \
      p->beta, x.c, p->c_type, LD(integer, c), p->c_step, (integer)p->batch, compute, 99

/* X(type of A and B, type of C, type of the scalars, arithmetic) */
#define EX_LIST(X)                                                                                           \
  X(R_16F, R_16F, R_32F, 68)                                                                                 \
  X(R_16F, R_16F, R_16F, 64)                                                                                 \
  X(R_16F, R_32F, R_32F, 68)                                                                                 \
  X(R_16BF, R_16BF, R_32F, 68)                                                                               \
  X(R_16BF, R_32F, R_32F, 68)                                                                                \
  X(R_32F, R_32F, R_32F, 68)                                                                                 \
  X(R_32F, R_32F, R_32F, 77)                                                                                 \
  X(R_32F, R_32F, R_32F, 75)                                                                                 \
  X(R_64F, R_64F, R_64F, 70)                                                                                 \
  X(C_32F, C_32F, C_32F, 68)                                                                                 \
  X(C_64F, C_64F, C_64F, 70)                                                                                 \
  X(R_8I, R_32I, R_32I, 72)

static void test_types(void **unused) {
  (void)unused;
#define TRY_EX(type, c_type, scalar, compute)                                                                \
  TRY(cublasGemmEx, GEMM, type, c_type, scalar, 1, EX_ARGUMENTS(int, compute));                              \
  TRY(cublasGemmEx_64, GEMM, type, c_type, scalar, 1, EX_ARGUMENTS(int64_t, compute));                       \
  TRY(cublasGemmStridedBatchedEx, GEMM, type, c_type, scalar, 3, STRIDED_EX_ARGUMENTS(int, compute));        \
  TRY(cublasGemmStridedBatchedEx_64, GEMM, type, c_type, scalar, 3, STRIDED_EX_ARGUMENTS(int64_t, compute));
  EX_LIST(TRY_EX)
  TRY(cublasHgemm, GEMM, R_16F, R_16F, R_16F, 1, GEMM_ARGUMENTS(int));
  TRY(cublasHgemm_64, GEMM, R_16F, R_16F, R_16F, 1, GEMM_ARGUMENTS(int64_t));
}

/* --- cublasLt --- */
static standin_attributes layout_of(int type, int64_t rows, int64_t cols, int64_t ld, int64_t step,
                                    int count) {
  standin_attributes layout;
  cublasLtMatrixLayoutCreate(&layout, type, (uint64_t)rows, (uint64_t)cols, ld);
  assert_int_equal(cublasLtMatrixLayoutSetAttribute(layout, 5, &count, sizeof count), 0);
  assert_int_equal(cublasLtMatrixLayoutSetAttribute(layout, 6, &step, sizeof step), 0);
  return layout;
}

static void set_int(standin_attributes operation, int attribute, int value) {
  assert_int_equal(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), 0);
}

enum { EPILOGUE = 7, BIAS = 8, POINTER_MODE = 2, SM_COUNT = 15 };

enum { A_ROWS = 1, B_ROWS = 2, C_ROWS = 4, ORDERS = 8, ROW_MAJOR = 1 };

/* Returns the layout of a stored column-major matrix, or of its transpose as a row-major matrix. */
static standin_attributes stored(int type, int64_t rows, int64_t cols, int64_t ld, int64_t step, int count,
                                 int is_row_major) {
  standin_attributes layout =
      layout_of(type, is_row_major ? cols : rows, is_row_major ? rows : cols, ld, step, count);
  assert_int_equal(cublasLtMatrixLayoutSetAttribute(layout, 1, &is_row_major, sizeof is_row_major), 0);
  return layout;
}

/* Calls cublasLtMatmul for a problem, with row-major matrices of `orders`; `attribute` gets `value` unless it
 * is -1. A row-major C is the transpose of the problem's, the product of the factors in the other order. */
static int call_lt(const random_call *x, int compute, int epilogue, const void *bias, int attribute,
                   int value, int orders) {
  const standin_product *p = &x->product;
  const int turned = (orders & C_ROWS) != 0, a_rows = (orders & A_ROWS) != 0, b_rows = (orders & B_ROWS) != 0;
  const int op_a = a_rows == turned ? p->trans_a : p->trans_a == 0,
            op_b = b_rows == turned ? p->trans_b : p->trans_b == 0;
  standin_attributes operation;
  cublasLtMatmulDescCreate(&operation, compute, p->alpha_type);
  set_int(operation, 3, turned ? op_b : op_a);
  set_int(operation, 4, turned ? op_a : op_b);
  set_int(operation, EPILOGUE, epilogue);
  cublasLtMatmulDescSetAttribute(operation, BIAS, &bias, sizeof bias);
  if (attribute >= 0)
    set_int(operation, attribute, value);
  const bool a_plain = p->trans_a == 0, b_plain = p->trans_b == 0;
  const int count = (int)p->batch;
  standin_attributes a = stored(p->a_type, a_plain ? p->m : p->k, a_plain ? p->k : p->m, p->lda, p->a_step,
                                count, a_rows),
                     b = stored(p->b_type, b_plain ? p->k : p->n, b_plain ? p->n : p->k, p->ldb, p->b_step,
                                count, b_rows),
                     c = stored(p->c_type, p->m, p->n, p->ldc, p->c_step, count, turned);
  const int status = turned ? cublasLtMatmul(handle, operation, p->alpha, x->b, b, x->a, a, p->beta, x->c, c,
                                             x->c, c, NULL, NULL, 0, NULL)
                            : cublasLtMatmul(handle, operation, p->alpha, x->a, a, x->b, b, p->beta, x->c, c,
                                             x->c, c, NULL, NULL, 0, NULL);
  cublasLtMatrixLayoutDestroy(a);
  cublasLtMatrixLayoutDestroy(b);
  cublasLtMatrixLayoutDestroy(c);
  cublasLtMatmulDescDestroy(operation);
  return status;
}

static void try_lt_orders(int type, int c_type, int scalar, int compute, int64_t batch, int orders) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    random_call x;
    random_call_make(&x, GEMM, type, c_type, scalar, batch, seed);
    const int is_complex = type == C_32F || type == C_64F, before = standin_calls();
    if (orders == 0 || !is_complex || (x.product.trans_a != 2 && x.product.trans_b != 2)) {
      assert_int_equal(call_lt(&x, compute, 1, NULL, -1, 0, orders), 0);
      check_who(before, 1, "cublasLtMatmul");
      random_call_check(&x, "cublasLtMatmul");
    }
    random_call_free(&x);
  }
}

/* The stand-in multiplies column-major matrices only. */
static void try_lt(int type, int c_type, int scalar, int compute, int64_t batch) {
  for (int orders = 0; orders < (is_ours ? ORDERS : 1); orders++)
    try_lt_orders(type, c_type, scalar, compute, batch, orders);
}

/* The conjugate of a matrix is left to cuBLAS: the conjugate transpose (2) of a row-major matrix, and
 * CUBLAS_OP_CONJG (3) of any. */
static void test_lt_conjugated_rows(void **unused) {
  (void)unused;
  standin_writes_zeros(1);
  for (unsigned seed = 0; seed < SEEDS; seed++)
    for (int op = 2; op < 4; op++) {
      random_call x;
      random_call_make(&x, GEMM, C_32F, C_32F, C_32F, 1, seed);
      const int before = standin_calls();
      if (op == 3) /* the shape fits a square matrix */
        x.product.m = x.product.k = x.product.m < x.product.k ? x.product.m : x.product.k;
      if (x.product.trans_a == 0 && x.product.trans_b != 2) {
        (void)call_lt(&x, 68, 1, NULL, 3, op, A_ROWS);
        assert_int_equal(standin_calls() - before, 1);
      }
      random_call_free(&x);
    }
  standin_writes_zeros(0);
}

static void test_lt(void **unused) {
  (void)unused;
#define TRY_LT(type, c_type, scalar, compute)                                                                \
  try_lt(type, c_type, scalar, compute, 1);                                                                  \
  try_lt(type, c_type, scalar, compute, 3);
  EX_LIST(TRY_LT)
}

static void test_lt_epilogues(void **unused) {
  (void)unused;
  if (!is_ours)
    skip();
  for (unsigned seed = 0; seed < SEEDS; seed++)
    for (int cases = 0; cases < 4; cases++) {
      const int relu = cases % 2, is_turned = cases / 2;
      random_call x;
      random_call_make(&x, GEMM, R_32F, R_32F, R_32F, 1, seed);
      float bias[64];
      for (int i = 0; i < 64; i++)
        bias[i] = (float)(i % 7 - 3);
      const int before = standin_calls();
      assert_int_equal(call_lt(&x, 68, relu ? 2 | 4 : 4, bias, -1, 0, is_turned ? C_ROWS | A_ROWS : 0), 0);
      check_who(before, 1, "cublasLtMatmul with a bias");
      x.product.bias = bias;
      x.product.bias_type = R_32F;
      x.product.relu = relu;
      x.product.bias_is_row = is_turned;
      random_call_check(&x, "cublasLtMatmul with a bias");
      random_call_free(&x);
    }
}

/* Attributes that are not understood leave the call to cuBLAS. */
static void test_lt_passes_on(void **unused) {
  (void)unused;
  const struct {
    int attribute, value;
  } cases[] = {{POINTER_MODE, 1}, {SM_COUNT, 16}, {5, 1}, {6, 0}, {EPILOGUE, 2 | 128}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    random_call x;
    random_call_make(&x, GEMM, R_32F, R_32F, R_32F, 1, 3);
    const int before = standin_calls();
    if (cases[i].attribute == POINTER_MODE) {
      x.product.alpha = standin_on_device(x.alpha);
      x.product.beta = standin_on_device(x.beta);
    }
    assert_int_equal(call_lt(&x, 68, 1, NULL, cases[i].attribute, cases[i].value, 0), 0);
    assert_int_equal(standin_calls() - before, 1);
    random_call_free(&x);
  }
}

/* --- calls that are cuBLAS's --- */
static float one[2] = {1, 0}, zero[2], matrix[3][64];

static int small_gemm(int m, int lda) {
  return cublasSgemm_v2(handle, 0, 0, m, 4, 4, one, matrix[0], lda, matrix[1], 4, zero, matrix[2], 4);
}

static int small_batch(int c_step, int count) {
  return cublasSgemmStridedBatched(handle, 0, 0, 4, 4, 4, one, matrix[0], 4, 0, matrix[1], 4, 0, zero,
                                   matrix[2], 4, c_step, count);
}

/* Fails unless the stand-in got the call. */
static void expect_passed_on(int before) {
  assert_int_equal(standin_calls() - before, 1);
}

static void test_bad_arguments(void **unused) {
  (void)unused;
  int before = standin_calls();
  assert_int_equal(small_gemm(-1, 4), 7); /* the stand-in's own status */
  expect_passed_on(before);
  before = standin_calls();
  assert_int_equal(small_gemm(0, 4), 0);
  expect_passed_on(before);
  before = standin_calls();
  assert_int_equal(cublasSgemm_v2(handle, 0, 0, 4, 4, 0, one, matrix[0], 4, matrix[1], 4, zero, matrix[2], 4),
                   0);
  expect_passed_on(before);
  before = standin_calls();
  assert_int_equal(small_batch(16, 0), 0);
  expect_passed_on(before);
  before = standin_calls();
  assert_int_equal(small_batch(15, 2), 0); /* results that overlap */
  expect_passed_on(before);
}

static void test_handles(void **unused) {
  (void)unused;
  int before = standin_calls();
  cublasSetMathMode(handle, 2); /* pedantic */
  assert_int_equal(small_gemm(4, 4), 0);
  expect_passed_on(before);
  cublasSetMathMode(handle, 0);
  before = standin_calls();
  cublasSetSmCountTarget(handle, 8);
  assert_int_equal(small_gemm(4, 4), 0);
  expect_passed_on(before);
  cublasSetSmCountTarget(handle, 0);
  before = standin_calls();
  cublasSetMathMode(handle, 3); /* TF32 is allowed */
  assert_int_equal(small_gemm(4, 4), 0);
  check_who(before, 1, "cublasSgemm_v2 with TF32");
  cublasSetMathMode(handle, 0);
}

/* --- drawn sequences of calls --- */

enum { ENTRIES = 6, DEVICE_POINTERS = 1, PEDANTIC = 2 };

/* Calls an entry for products of any types, by its number. The last two are cublasLtMatmul, whose scalars are
 * on the device if `attribute` is POINTER_MODE. */
static int call_entry(int entry, const random_call *call, int compute, int attribute) {
  const random_call x = *call;
  const standin_product *p = &x.product;
  switch (entry) {
  case 0:
    return cublasGemmEx(handle, EX_ARGUMENTS(int, compute));
  case 1:
    return cublasGemmEx_64(handle, EX_ARGUMENTS(int64_t, compute));
  case 2:
    return cublasGemmStridedBatchedEx(handle, STRIDED_EX_ARGUMENTS(int, compute));
  case 3:
    return cublasGemmStridedBatchedEx_64(handle, STRIDED_EX_ARGUMENTS(int64_t, compute));
  default:
    return call_lt(call, compute, 1, NULL, attribute, 1, 0);
  }
}

/* Draws calls of a few kinds in any order, in any state of the handle. A call with scalars on the device, and
 * a pedantic one, is the stand-in's, whatever was decided before. */
static void test_sequences(void **unused) {
  enum { CALLS = 3000 };
#define ROW(type, c_type, scalar, compute) {type, c_type, scalar, compute},
  static const int rows[][4] = {EX_LIST(ROW)};
  unsigned state = 11;
  (void)unused;
  for (int i = 0; i < CALLS; i++) {
    unsigned draws[6];
    for (int d = 0; d < 6; d++) {
      state = state * 1664525u + 1013904223u;
      draws[d] = state >> 12;
    }
    const int *row = rows[draws[0] % (sizeof rows / sizeof *rows)], entry = (int)(draws[1] % ENTRIES),
              pointers = draws[2] % 3 == 0 ? DEVICE_POINTERS : 0, mode = draws[3] % 4 == 0 ? PEDANTIC : 0;
    const bool is_lt = entry >= 4;
    random_call x;
    random_call_make(&x, GEMM, row[0], row[1], row[2], entry == 2 || entry == 3 ? 3 : 1, draws[4] % 3);
    cublasSetPointerMode_v2(handle, is_lt ? DEVICE_POINTERS : pointers); /* cublasLt has its own */
    cublasSetMathMode(handle, mode);
    if (pointers == DEVICE_POINTERS) {
      x.product.alpha = standin_on_device(x.alpha);
      x.product.beta = standin_on_device(x.beta);
    }
    const int before = standin_calls();
    assert_int_equal(call_entry(entry, &x, row[3], is_lt && pointers ? POINTER_MODE : -1), 0);
    const bool passes_on = pointers == DEVICE_POINTERS || (mode == PEDANTIC && !is_lt);
    assert_int_equal(standin_calls() - before, is_ours && !passes_on ? 0 : 1);
    x.product.alpha = x.alpha;
    x.product.beta = x.beta;
    random_call_check(&x, "a call of a sequence");
    random_call_free(&x);
  }
  cublasSetPointerMode_v2(handle, 0);
  cublasSetMathMode(handle, 0);
}

/* trmm in place, which BLAS's callers use. */
static void test_in_place(void **unused) {
  (void)unused;
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    random_call x;
    random_call_make(&x, TRMM, R_64F, R_64F, R_64F, 1, seed);
    const standin_product *p = &x.product;
    const int before = standin_calls();
    assert_int_equal(cublasDtrmm_v2(handle, p->side, p->uplo, p->trans_a, p->diag, (int)p->m, (int)p->n,
                                    p->alpha, x.a, (int)p->lda, x.c, (int)p->ldc, x.c, (int)p->ldc),
                     0);
    check_who(before, 1, "cublasDtrmm_v2 in place");
    x.product.b = x.expected;
    x.product.ldb = p->ldc;
    random_call_check(&x, "cublasDtrmm_v2 in place");
    random_call_free(&x);
  }
}

/* The child of a fork makes plans of its own. */
static void test_fork(void **unused) {
  (void)unused;
  random_call x;
  random_call_make(&x, GEMM, R_64F, R_64F, R_64F, 1, 5);
  const standin_product *p = &x.product;
  int status;
  for (int round = 0; round < 2; round++) {
    const pid_t child = round == 0 ? 1 : fork();
    assert_true(child >= 0);
    if (child > 0 && round == 1) {
      assert_int_equal(waitpid(child, &status, 0), child);
      assert_int_equal(status, 0);
      break;
    }
    memcpy(x.c, x.expected, x.c_bytes);
    const int before = standin_calls();
    const int code = cublasDgemm_v2(handle, GEMM_ARGUMENTS(int));
    const bool is_right = code == 0 && standin_calls() - before == (is_ours ? 0 : 1);
    if (round == 1)
      _exit(is_right ? 0 : 1);
    assert_true(is_right);
    memcpy(x.expected, x.c, x.c_bytes);
  }
  random_call_free(&x);
}

static int setup(void **unused) {
  (void)unused;
  const char *request = getenv("TESELA_CUBLAS_CALLS");
  is_ours = request && strcmp(request, "host") == 0;
  return cublasCreate_v2(&handle);
}
static int teardown(void **unused) {
  (void)unused;
  return cublasDestroy_v2(handle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define LETTER(letter, v2, plain, integer) cmocka_unit_test(test_##letter##v2),
#define COMPLEX_LETTER(letter, v2, plain, integer) cmocka_unit_test(test_complex_##letter##v2),
      STANDIN_REAL_LIST(LETTER) STANDIN_COMPLEX_LIST(LETTER) STANDIN_COMPLEX_LIST(COMPLEX_LETTER)
          cmocka_unit_test(test_types),
      cmocka_unit_test(test_lt),
      cmocka_unit_test(test_lt_epilogues),
      cmocka_unit_test(test_lt_conjugated_rows),
      cmocka_unit_test(test_lt_passes_on),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_handles),
      cmocka_unit_test(test_sequences),
      cmocka_unit_test(test_in_place),
      cmocka_unit_test(test_fork),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
