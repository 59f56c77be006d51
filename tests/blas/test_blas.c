/* The drop-in, linked with a program that has no other BLAS. Every routine is compared with plain
 * sums; also wrong arguments, threads, and a fork in the middle. */
#include "blas/names.h"
#include "blas/xerbla.h"
#include "unit/sanitizers.h"
#include "unit/unit.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- errors --- */

static void expect_told(const char *name, int64_t number) {
  assert_string_equal(told_name, name);
  assert_int_equal(told_number, number);
  told_name[0] = '\0';
  told_number = 0;
}

/* --- matrices --- */

enum { MOST = 90 };

static double noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) / (double)((int64_t)1 << 52) - 1;
}

static void fill(double *data, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; i++)
    data[i] = noise(&seed);
}

/* op(A)[i, l], A being what is stored. */
static double at(const double *a, int ld, int order, int trans, int i, int l) {
  const bool by_row = (order == ROW) != (trans != N);
  return by_row ? a[i * ld + l] : a[i + l * ld];
}

static void expect_near(double seen, double right, double scale) {
  if (!(fabs(seen - right) <= 1e-13 * scale))
    fail_msg("%.17g instead of %.17g", seen, right);
}

typedef struct product {
  int order, transa, transb, m, n, k, lda, ldb, ldc;
  double alpha, beta;
  double *a, *b, *c, *before;
} product;

enum { WHOLE = 0 };

/* Compares all of C, or a triangle of it. Other elements, and gaps between columns, must be
 * unchanged. */
static void expect_product(const product *p, int uplo) {
  for (int i = 0; i < p->m; i++)
    for (int j = 0; j < p->n; j++) {
      const int place = p->order == ROW ? i * p->ldc + j : i + j * p->ldc;
      double sum = 0;
      for (int l = 0; l < p->k; l++)
        sum += at(p->a, p->lda, p->order, p->transa, i, l) * at(p->b, p->ldb, p->order, p->transb, l, j);
      const bool written = uplo == WHOLE || (uplo == LOWER ? i >= j : i <= j);
      const double old = p->before[place], right = p->alpha * sum + (p->beta == 0 ? 0 : p->beta * old);
      if (written)
        expect_near(p->c[place], right, p->k + 10);
      else
        assert_memory_equal(&p->c[place], &old, sizeof old);
    }
  const int along = p->order == ROW ? p->n : p->m, across = p->order == ROW ? p->m : p->n;
  for (int j = 0; j < across; j++)
    assert_memory_equal(p->c + j * p->ldc + along, p->before + j * p->ldc + along,
                        (size_t)(p->ldc - along) * sizeof(double));
}

static double memory_a[MOST * MOST], memory_b[MOST * MOST], memory_c[MOST * MOST], memory_before[MOST * MOST];

static int leading(int order, int trans, int rows, int cols, int gap) {
  const int along = (order == ROW) != (trans != N) ? cols : rows;
  return (along > 0 ? along : 1) + gap;
}

static product make(int order, int transa, int transb, int m, int n, int k, double alpha, double beta) {
  const product made = {order,
                        transa,
                        transb,
                        m,
                        n,
                        k,
                        leading(order, transa, m, k, 3),
                        leading(order, transb, k, n, 1),
                        leading(order, N, m, n, 2),
                        alpha,
                        beta,
                        memory_a,
                        memory_b,
                        memory_c,
                        memory_before};
  fill(made.a, MOST * MOST, 1);
  fill(made.b, MOST * MOST, 2);
  fill(made.c, MOST * MOST, 3);
  if (beta == 0)
    for (int i = 0; i < MOST * MOST; i++)
      made.c[i] = NAN;
  memcpy(made.before, made.c, sizeof memory_c);
  return made;
}

static const int sizes[][3] = {{1, 1, 1},   {7, 5, 3}, {64, 64, 64}, {33, 80, 17},
                               {80, 1, 40}, {4, 6, 0}, {0, 5, 3}};
static const double scalars[][2] = {{1, 0}, {-0.5, 2}, {0, 0.5}, {1, 1}};
enum { SIZES = sizeof sizes / sizeof *sizes, SCALARS = sizeof scalars / sizeof *scalars };

static void test_gemm_cblas(void **state) {
  (void)state;
  for (int s = 0; s < SIZES; s++)
    for (int way = 0; way < 8; way++)
      for (int scalar = 0; scalar < SCALARS; scalar++) {
        const product p = make(way & 1 ? ROW : COLUMN, way & 2 ? T : N, way & 4 ? C : N, sizes[s][0],
                               sizes[s][1], sizes[s][2], scalars[scalar][0], scalars[scalar][1]);
        cblas_dgemm(p.order, p.transa, p.transb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c,
                    p.ldc);
        expect_product(&p, WHOLE);
      }
}

typedef void gemm_32(const char *, const char *, const int32_t *, const int32_t *, const int32_t *,
                     const double *, const double *, const int32_t *, const double *, const int32_t *,
                     const double *, double *, const int32_t *);
typedef void gemm_64(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
                     const double *, const double *, const int64_t *, const double *, const int64_t *,
                     const double *, double *, const int64_t *);
typedef void cblas_gemm_32(int, int, int, int32_t, int32_t, int32_t, double, const double *, int32_t,
                           const double *, int32_t, double, double *, int32_t);
typedef void cblas_gemm_64(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t,
                           const double *, int64_t, double, double *, int64_t);

/* One product through every name that it has; lower-case letters, as some Fortran writes them. */
static void test_names(void **state) {
  (void)state;
  static gemm_32 *const fortran_32[] = {dgemm_, scipy_dgemm_};
  static gemm_64 *const fortran_64[] = {dgemm_64_, dgemm_64, scipy_dgemm_64_};
  static cblas_gemm_32 *const cblas_32[] = {cblas_dgemm, scipy_cblas_dgemm};
  static cblas_gemm_64 *const cblas_64[] = {cblas_dgemm64_, cblas_dgemm_64, scipy_cblas_dgemm64_};
  for (int i = 0; i < 2; i++) {
    const product p = make(COLUMN, T, N, 31, 17, 20, 2, -1);
    fortran_32[i]("t", "n", &p.m, &p.n, &p.k, &p.alpha, p.a, &p.lda, p.b, &p.ldb, &p.beta, p.c, &p.ldc);
    expect_product(&p, WHOLE);
    const product q = make(ROW, T, N, 31, 17, 20, 2, -1);
    cblas_32[i](q.order, T, N, q.m, q.n, q.k, q.alpha, q.a, q.lda, q.b, q.ldb, q.beta, q.c, q.ldc);
    expect_product(&q, WHOLE);
  }
  for (int i = 0; i < 3; i++) {
    const product p = make(COLUMN, T, N, 31, 17, 20, 2, -1);
    const int64_t m = p.m, n = p.n, k = p.k, lda = p.lda, ldb = p.ldb, ldc = p.ldc;
    fortran_64[i]("c", "n", &m, &n, &k, &p.alpha, p.a, &lda, p.b, &ldb, &p.beta, p.c, &ldc);
    expect_product(&p, WHOLE);
    const product q = make(ROW, N, T, 31, 17, 20, 2, -1);
    cblas_64[i](q.order, N, T, q.m, q.n, q.k, q.alpha, q.a, q.lda, q.b, q.ldb, q.beta, q.c, q.ldc);
    expect_product(&q, WHOLE);
  }
}

static void test_gemm_f32(void **state) {
  (void)state;
  enum { M = 30, K = 25 };
  static float a[M * K], b[K * M], c[M * M];
  uint64_t seed = 4;
  for (int i = 0; i < M * K; i++) {
    a[i] = (float)noise(&seed);
    b[i] = (float)noise(&seed);
  }
  cblas_sgemm(ROW, N, N, M, M, K, 1, a, K, b, M, 0, c, M);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int l = 0; l < K; l++)
        sum += (double)a[i * K + l] * (double)b[l * M + j];
      assert_true(fabs(c[i * M + j] - sum) < 1e-5);
    }
}

static void test_gemm_complex(void **state) {
  (void)state;
  enum { M = 9, COLS = 7, K = 11 };
  static double complex a[M * K], b[K * COLS], c[M * COLS];
  static const char ops[] = {'N', 'T', 'C'};
  const double complex alpha = CMPLX(1, -2), beta = CMPLX(0.5, 1);
  const int32_t m = M, n = COLS, k = K;
  for (int way = 0; way < 9; way++) {
    const char transa = ops[way % 3], transb = ops[way / 3];
    const int32_t lda = transa == 'N' ? M : K, ldb = transb == 'N' ? K : COLS;
    double complex before[M * COLS];
    fill((double *)a, 2 * M * K, 5);
    fill((double *)b, 2 * K * COLS, 6);
    fill((double *)c, 2 * M * COLS, 7);
    memcpy(before, c, sizeof c);
    zgemm_(&transa, &transb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &m);
    for (int i = 0; i < M; i++)
      for (int j = 0; j < COLS; j++) {
        double complex sum = 0;
        for (int l = 0; l < K; l++) {
          const double complex x = transa == 'N' ? a[i + l * M] : a[l + i * K];
          const double complex y = transb == 'N' ? b[l + j * K] : b[j + l * COLS];
          sum += (transa == 'C' ? conj(x) : x) * (transb == 'C' ? conj(y) : y);
        }
        assert_true(cabs(c[i + j * M] - (alpha * sum + beta * before[i + j * M])) < 1e-13);
      }
  }
}

static void test_gemmt(void **state) {
  (void)state;
  static const int ns[] = {1, 10, 48, 49, 80};
  for (size_t s = 0; s < sizeof ns / sizeof *ns; s++)
    for (int way = 0; way < 16; way++)
      for (int scalar = 0; scalar < SCALARS; scalar++) {
        const int uplo = way & 8 ? UPPER : LOWER;
        product p = make(way & 1 ? ROW : COLUMN, way & 2 ? T : N, way & 4 ? T : N, ns[s], ns[s], 20,
                         scalars[scalar][0], scalars[scalar][1]);
        cblas_dgemmt(p.order, uplo, p.transa, p.transb, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta,
                     p.c, p.ldc);
        expect_product(&p, uplo);
      }
  const product p = make(COLUMN, N, T, 60, 60, 9, 1.5, 0.5);
  dgemmt_("u", "n", "t", &p.n, &p.k, &p.alpha, p.a, &p.lda, p.b, &p.ldb, &p.beta, p.c, &p.ldc);
  expect_product(&p, UPPER);
}

/* With enough work for a plan. */
static void test_gemmt_large(void **state) {
  enum { N_LARGE = 261, LD = N_LARGE + 2 };
  static double a[LD * LD], b[LD * LD], c[LD * LD], before[LD * LD];
  (void)state;
  fill(a, LD * LD, 4);
  fill(b, LD * LD, 5);
  fill(before, LD * LD, 6);
  for (int way = 0; way < 4; way++) {
    const int uplo = way & 1 ? LOWER : UPPER;
    const product p = {
        way & 2 ? ROW : COLUMN, N, T, N_LARGE, N_LARGE, N_LARGE, LD, LD, LD, -2, way & 1, a, b, c, before};
    for (int i = 0; p.beta == 0 && i < LD * LD; i++)
      before[i] = NAN;
    memcpy(c, before, sizeof c);
    cblas_dgemmt(p.order, uplo, p.transa, p.transb, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c,
                 p.ldc);
    expect_product(&p, uplo);
    fill(before, LD * LD, 6);
  }
}

/* Against all of the product, whose triangle it is. */
static void test_gemmt_complex(void **state) {
  (void)state;
  enum { COLS = 100, K = 11, LD = COLS + 3 };
  static double complex a[COLS * K], b[COLS * K], c[COLS * LD], whole[COLS * LD], before[COLS * LD];
  static float complex as[COLS * K], bs[COLS * K], cs[COLS * LD];
  static const int ops[] = {N, T, C}, ns[] = {1, 47, 48, 49, COLS};
  static const double complex factors[][2] = {{1, 0}, {CMPLX(1, -2), CMPLX(0.5, 1)}, {0, 2}, {1, 1}};
  fill((double *)a, 2 * COLS * K, 21);
  fill((double *)b, 2 * COLS * K, 22);
  fill((double *)before, 2 * COLS * LD, 23);
  for (int i = 0; i < COLS * K; i++) {
    as[i] = (float complex)a[i];
    bs[i] = (float complex)b[i];
  }
  for (int way = 0; way < 36; way++)
    for (int s = 0; s < 20; s++) {
      const int n = ns[s % 5], order = way & 1 ? ROW : COLUMN, uplo = way & 2 ? UPPER : LOWER;
      const int transa = ops[way / 4 % 3], transb = ops[way / 12];
      const int lda = leading(order, transa, n, K, 0), ldb = leading(order, transb, K, n, 0);
      const double complex alpha = factors[s / 5][0], beta = factors[s / 5][1];
      const float complex alpha_f = (float complex)alpha, beta_f = (float complex)beta;
      memcpy(whole, before, sizeof before);
      memcpy(c, before, sizeof before);
      for (int i = 0; i < COLS * LD; i++)
        cs[i] = (float complex)before[i];
      for (int i = 0; beta == 0 && i < COLS * LD; i++)
        whole[i] = c[i] = cs[i] = NAN;
      cblas_zgemm(order, transa, transb, n, n, K, &alpha, a, lda, b, ldb, &beta, whole, LD);
      cblas_zgemmt(order, uplo, transa, transb, n, K, &alpha, a, lda, b, ldb, &beta, c, LD);
      cblas_cgemmt(order, uplo, transa, transb, n, K, &alpha_f, as, lda, bs, ldb, &beta_f, cs, LD);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          const int at_ij = order == ROW ? i * LD + j : i + j * LD;
          const bool written = uplo == LOWER ? i >= j : i <= j;
          if (written)
            assert_true(cabs(c[at_ij] - whole[at_ij]) < 1e-12 && cabs(cs[at_ij] - whole[at_ij]) < 1e-3);
          else if (beta != 0)
            assert_true(c[at_ij] == before[at_ij] && cs[at_ij] == (float complex)before[at_ij]);
          else
            assert_true(isnan(creal(c[at_ij])) && isnan(crealf(cs[at_ij])));
        }
    }
  /* Nothing is added: C keeps its bits. */
  const double complex zero = 0, one = 1;
  c[0] = CMPLX(-0.0, -0.0);
  cblas_zgemmt(ROW, UPPER, N, N, 1, 1, &zero, a, 1, b, 1, &one, c, 1);
  assert_true(signbit(creal(c[0])) && signbit(cimag(c[0])));
}

static void test_batch(void **state) {
  (void)state;
  static double memory[3][4][MOST * MOST];
  const int transa[] = {N, T}, transb[] = {N, N};
  const int32_t m[] = {4, 20}, n[] = {5, 3}, k[] = {6, 8}, lda[] = {6, 20}, ldb[] = {5, 3}, ldc[] = {5, 3};
  const int32_t group_size[] = {1, 2};
  const double alpha[] = {1, 2}, beta[] = {0, -1};
  const double *a[3], *b[3];
  double *c[3];
  for (int i = 0; i < 3; i++) {
    for (int part = 0; part < 4; part++)
      fill(memory[i][part], MOST * MOST, (uint64_t)(10 * i + (part < 2 ? part : 2)));
    a[i] = memory[i][0];
    b[i] = memory[i][1];
    c[i] = memory[i][2];
  }
  cblas_dgemm_batch(ROW, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 2, group_size);
  for (int i = 0; i < 3; i++) {
    const int g = i > 0;
    expect_product(&(product){ROW, transa[g], transb[g], m[g], n[g], k[g], lda[g], ldb[g], ldc[g], alpha[g],
                              beta[g], memory[i][0], memory[i][1], memory[i][2], memory[i][3]},
                   WHOLE);
  }
  const int32_t size = 10, stride = 100, count = 5;
  const double one = 1, zero = 0;
  product p = make(COLUMN, N, T, size, size, size, 1, 0);
  dgemm_batch_strided_("N", "T", &size, &size, &size, &one, p.a, &size, &stride, p.b, &size, &stride, &zero,
                       p.c, &size, &stride, &count);
  p.lda = p.ldb = p.ldc = size;
  for (int i = 0; i < count; i++) {
    expect_product(&p, WHOLE);
    p.a += stride;
    p.b += stride;
    p.c += stride;
    p.before += stride;
  }
}

/* So many that they are done as one: by addresses, by strides, and where all add to one C, which they must do
 * in turn. */
static void test_long_batch(void **state) {
  (void)state;
  enum { SIZE = 4, STRIDE = SIZE * SIZE, COUNT = 40 };
  static double a[COUNT * STRIDE], b[COUNT * STRIDE], c[3][COUNT * STRIDE], before[COUNT * STRIDE];
  const int trans = N, transposed = T;
  const int32_t size = SIZE, count = COUNT;
  const double alpha = 2, beta = -1, one = 1;
  const double *as[COUNT], *bs[COUNT];
  double *cs[COUNT], *same[COUNT], sum[STRIDE];
  fill(a, COUNT * STRIDE, 1);
  fill(b, COUNT * STRIDE, 2);
  fill(before, COUNT * STRIDE, 3);
  for (int i = 0; i < 3; i++)
    memcpy(c[i], before, sizeof before);
  memcpy(sum, before, sizeof sum);
  for (int i = 0; i < COUNT; i++) {
    as[i] = a + i * STRIDE;
    bs[i] = b + i * STRIDE;
    cs[i] = c[0] + i * STRIDE;
    same[i] = c[2];
  }
  cblas_dgemm_batch(ROW, &trans, &transposed, &size, &size, &size, &alpha, as, &size, bs, &size, &beta, cs,
                    &size, 1, &count);
  cblas_dgemm_batch_strided(ROW, trans, transposed, size, size, size, alpha, a, size, STRIDE, b, size, STRIDE,
                            beta, c[1], size, STRIDE, count);
  cblas_dgemm_batch(ROW, &trans, &transposed, &size, &size, &size, &one, as, &size, bs, &size, &one, same,
                    &size, 1, &count);
  assert_memory_equal(c[0], c[1], sizeof c[0]);
  for (int i = 0; i < COUNT; i++) {
    expect_product(&(product){ROW, N, T, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, alpha, beta, a + i * STRIDE,
                              b + i * STRIDE, c[0] + i * STRIDE, before + i * STRIDE},
                   WHOLE);
    cblas_dgemm(ROW, N, T, SIZE, SIZE, SIZE, 1, as[i], SIZE, bs[i], SIZE, 1, sum, SIZE);
  }
  assert_memory_equal(sum, c[2], sizeof sum);
}

/* Groups of different sizes have the bits of separate calls: small groups without a plan, a large
 * product, a group of many products, an empty group. Then two groups add to one C, in order. */
static void test_groups(void **state) {
  enum { GROUPS = 40, LARGE = 7, MANY = 11, NONE = 12, ROOM = 160 * 160, PRODUCTS = 3 * GROUPS + 40 };
  static double a[ROOM], b[ROOM], memory[PRODUCTS * 40 * 40 + ROOM], right[PRODUCTS * 40 * 40 + ROOM];
  int trans_a[GROUPS], trans_b[GROUPS];
  int32_t m[GROUPS], n[GROUPS], k[GROUPS], lda[GROUPS], ldb[GROUPS], size[GROUPS];
  double alpha[GROUPS], beta[GROUPS];
  const double *as[PRODUCTS], *bs[PRODUCTS];
  double *cs[PRODUCTS], *at = memory;
  int count = 0, first_of_many = 0;
  (void)state;
  fill(a, ROOM, 1);
  fill(b, ROOM, 2);
  fill(memory, sizeof memory / sizeof *memory, 3);
  for (int g = 0; g < GROUPS; g++) {
    const bool is_large = g == LARGE;
    trans_a[g] = g % 2 ? T : N;
    trans_b[g] = g % 3 ? N : T;
    m[g] = is_large ? 150 : 1 + g * 7 % 40;
    n[g] = is_large ? 151 : 1 + g * 11 % 40;
    k[g] = is_large ? 152 : 1 + g * 13 % 40;
    lda[g] = ldb[g] = 160;
    size[g] = is_large ? 1 : g == MANY ? 40 : g == NONE ? 0 : 1 + g % 3;
    alpha[g] = 1 + g % 2;
    beta[g] = g % 3 - 1;
    first_of_many = g == MANY ? count : first_of_many;
    for (int i = 0; i < size[g]; i++, count++) {
      as[count] = a + i;
      bs[count] = b + g;
      cs[count] = at;
      at += m[g] * n[g];
    }
  }
  for (int turn = 0; turn < 2; turn++) {
    if (turn == 1)
      cs[0] = cs[first_of_many]; /* its group comes later, but would be computed earlier */
    memcpy(right, memory, sizeof right);
    for (int g = 0, i = 0; g < GROUPS; g++)
      for (int p = 0; p < size[g]; p++, i++)
        cblas_dgemm(ROW, trans_a[g], trans_b[g], m[g], n[g], k[g], alpha[g], as[i], lda[g], bs[i], ldb[g],
                    beta[g], right + (cs[i] - memory), n[g]);
    cblas_dgemm_batch(ROW, trans_a, trans_b, m, n, k, alpha, as, lda, bs, ldb, beta, cs, n, GROUPS, size);
    assert_memory_equal(memory, right, sizeof right);
  }
}

/* Numbers whose sums are exact: 1, 2, 3, ... times 1, 10, 100, ... */
static void test_dot(void **state) {
  (void)state;
  const float x[] = {1, 2, 3, 4, 5}, y[] = {1, 10, 100, 1000, 10000};
  const int32_t three = 3, one = 1, two = 2, minus_two = -2, zero = 0, minus_one = -1;
  assert_true(sdot_(&three, x, &one, y, &one) == 321);
  assert_true(sdot_(&three, x, &two, y, &one) == 1 + 30 + 500);
  assert_true(sdot_(&three, x, &minus_two, y, &one) == 5 + 30 + 100);
  assert_true(sdot_(&three, x, &minus_one, y, &minus_two) == 30000 + 200 + 1);
  assert_true(sdot_(&three, x, &zero, y, &one) == 111);
  assert_true(sdot_(&zero, x, &one, y, &one) == 0);
  assert_true(sdot_(&minus_one, x, &one, y, &one) == 0);
  const double xd[] = {1, 2, 3}, yd[] = {4, 5, 6};
  assert_true(cblas_ddot(3, xd, 1, yd, -1) == 6 + 10 + 12);
  /* 2^24 + 1 is not a float: these sums are right in f64 only. */
  const float big[] = {16777216, 1, -16777216}, ones[] = {1, 1, 1};
  assert_true(dsdot_(&three, big, &one, ones, &one) == 1);
  assert_true(dsdot_(&two, big, &one, ones, &one) == 16777217);
  assert_true(cblas_sdsdot(3, 0.5f, big, 1, ones, -1) == 1.5f);
  const float complex u[] = {CMPLXF(1, 2), CMPLXF(3, 4)}, v[] = {CMPLXF(5, 6), CMPLXF(7, 8)};
  assert_true(cdotu_(&two, u, &one, v, &one) == CMPLXF(5 - 12 + 21 - 32, 6 + 10 + 24 + 28));
  const double complex ud[] = {CMPLX(1, 2), CMPLX(3, 4)}, vd[] = {CMPLX(5, 6), CMPLX(7, 8)};
  const double complex right = conj(ud[0]) * vd[0] + conj(ud[1]) * vd[1];
  double complex result;
  assert_true(zdotc_(&two, ud, &one, vd, &one) == right);
  cblas_zdotc_sub(2, ud, -1, vd, -1, &result);
  assert_true(result == right);
}

/* Every way of copying 5 x 3 with alpha 2, against the elements; in place, through a copy of the matrix. */
static void test_matcopy(void **state) {
  (void)state;
  enum { ROWS = 5, COLS = 3, LD = 8 };
  for (int way = 0; way < 4; way++) {
    const int order = way & 1 ? ROW : COLUMN, trans = way & 2 ? T : N;
    double a[LD * LD], b[LD * LD], inside[LD * LD];
    fill(a, LD * LD, 8);
    fill(b, LD * LD, 9);
    memcpy(inside, a, sizeof a);
    cblas_domatcopy(order, trans, ROWS, COLS, 2, a, LD - 1, b, LD - 1);
    cblas_dimatcopy(order, trans, ROWS, COLS, 2, inside, LD - 1, LD - 2);
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLS; j++) {
        assert_true(at(b, LD - 1, order, trans, i, j) == 2 * at(a, LD - 1, order, N, i, j));
        assert_true(at(inside, LD - 2, order, trans, i, j) == 2 * at(a, LD - 1, order, N, i, j));
      }
  }
  double square[LD * LD], before[LD * LD];
  fill(square, LD * LD, 10);
  memcpy(before, square, sizeof square);
  cblas_dimatcopy(ROW, T, LD - 1, LD - 1, 1, square, LD, LD);
  for (int i = 0; i < LD; i++)
    for (int j = 0; j < LD; j++)
      assert_true(square[i * LD + j] == (i < LD - 1 && j < LD - 1 ? before[j * LD + i] : before[i * LD + j]));
  const double complex z[] = {CMPLX(1, 2), CMPLX(3, 4)}, alpha = CMPLX(0, 1);
  const int32_t one = 1, two = 2;
  double complex out[2];
  zomatcopy_("C", "C", &one, &two, &alpha, z, &one, out, &two);
  assert_true(out[0] == alpha * conj(z[0]) && out[1] == alpha * conj(z[1]));
}

/* --- arguments --- */

static void test_arguments_fortran(void **state) {
  (void)state;
  const int32_t two = 2, minus = -1, one = 1, zero = 0;
  const double scalar = 1;
  double x[4] = {0};
#define CALL(transa, transb, m, n, k, lda, ldb, ldc)                                                         \
  dgemm_(transa, transb, m, n, k, &scalar, x, lda, x, ldb, &scalar, x, ldc)
  CALL("/", "/", &minus, &two, &two, &two, &two, &two), expect_told("DGEMM ", 1);
  CALL("N", "/", &minus, &two, &two, &two, &two, &two), expect_told("DGEMM ", 2);
  CALL("N", "N", &minus, &minus, &two, &two, &two, &two), expect_told("DGEMM ", 3);
  CALL("N", "N", &two, &minus, &minus, &two, &two, &two), expect_told("DGEMM ", 4);
  CALL("N", "N", &two, &two, &minus, &one, &two, &two), expect_told("DGEMM ", 5);
  CALL("N", "N", &two, &two, &two, &one, &one, &two), expect_told("DGEMM ", 8);
  CALL("T", "N", &one, &two, &two, &one, &two, &two), expect_told("DGEMM ", 8);
  CALL("N", "N", &two, &two, &two, &two, &one, &one), expect_told("DGEMM ", 10);
  CALL("N", "T", &two, &two, &one, &two, &one, &two), expect_told("DGEMM ", 10);
  CALL("N", "N", &two, &two, &two, &two, &two, &one), expect_told("DGEMM ", 13);
  CALL("N", "N", &zero, &zero, &zero, &zero, &one, &one), expect_told("DGEMM ", 8);
#undef CALL
  const int64_t wide = -1, fine = 2;
  dgemm_64_("N", "N", &wide, &fine, &fine, &scalar, x, &fine, x, &fine, &scalar, x, &fine);
  expect_told("DGEMM ", 1003);
}

static void test_arguments_cblas(void **state) {
  (void)state;
  double x[4] = {0};
#define CALL(order, transa, transb, m, n, k, lda, ldb, ldc)                                                  \
  cblas_dgemm(order, transa, transb, m, n, k, 1, x, lda, x, ldb, 1, x, ldc)
  CALL(7, 0, 0, 2, 2, 2, 2, 2, 2), expect_told("cblas_dgemm", 1);
  for (int order = ROW; order <= COLUMN; order++) {
    CALL(order, 0, 0, 2, 2, 2, 2, 2, 2), expect_told("cblas_dgemm", 2);
    CALL(order, N, 0, 2, 2, 2, 2, 2, 2), expect_told("cblas_dgemm", 3);
    CALL(order, N, N, -1, 2, 2, 2, 2, 2), expect_told("cblas_dgemm", 4);
    CALL(order, N, N, 2, -1, 2, 2, 2, 2), expect_told("cblas_dgemm", 5);
    CALL(order, N, N, 2, 2, -1, 2, 2, 2), expect_told("cblas_dgemm", 6);
    CALL(order, N, N, 2, 2, 2, 1, 2, 2), expect_told("cblas_dgemm", 9);
    CALL(order, N, N, 2, 2, 2, 2, 1, 2), expect_told("cblas_dgemm", 11);
    CALL(order, N, N, 2, 2, 2, 2, 2, 1), expect_told("cblas_dgemm", 14);
    cblas_dgemmt(order, 0, N, N, 2, 2, 1, x, 2, x, 2, 1, x, 2), expect_told("cblas_dgemmt", 2);
    cblas_dgemmt(order, UPPER, N, N, -2, 2, 1, x, 2, x, 2, 1, x, 2), expect_told("cblas_dgemmt", 5);
    cblas_dgemmt(order, UPPER, N, N, 2, 2, 1, x, 1, x, 2, 1, x, 2), expect_told("cblas_dgemmt", 9);
    cblas_domatcopy(order, N, 2, 2, 1, x, 1, x, 2), expect_told("cblas_domatcopy", 7);
    cblas_domatcopy(order, N, 2, 2, 1, x, 2, x, 1), expect_told("cblas_domatcopy", 9);
  }
  /* Row-major: the longer side determines the smallest leading dimension. */
  CALL(ROW, N, N, 2, 1, 1, 1, 1, 1), assert_int_equal(told_number, 0);
  CALL(ROW, N, N, 1, 2, 1, 1, 1, 2), expect_told("cblas_dgemm", 11);
#undef CALL
}

/* Makes each argument of gemmt wrong once. xerbla gets its number, and C is unchanged. */
static void test_arguments_gemmt(void **state) {
  static const struct {
    int number; /* in Fortran's list; CBLAS has the order in front */
    char uplo, transa, transb;
    int32_t n, k, lda, ldb, ldc;
  } wrong[] = {
      {1, '/', 'N', 'N', 3, 2, 3, 3, 3},  {2, 'U', '/', 'N', 3, 2, 3, 3, 3},
      {3, 'U', 'N', '/', 3, 2, 3, 3, 3},  {4, 'U', 'N', 'N', -1, 2, 3, 3, 3},
      {5, 'U', 'N', 'N', 3, -1, 3, 3, 3}, {8, 'L', 'N', 'T', 3, 3, 2, 3, 3},
      {8, 'L', 'T', 'N', 3, 3, 2, 3, 3},  {10, 'U', 'N', 'N', 3, 3, 3, 2, 3},
      {10, 'U', 'N', 'T', 3, 3, 3, 2, 3}, {13, 'U', 'N', 'N', 3, 2, 3, 3, 2},
  };
  (void)state;
  const double alpha = 1, beta = 2, x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  double c[9], before[9];
  fill(before, 9, 5);
  memcpy(c, before, sizeof c);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const int transa = wrong[i].transa == 'N'   ? N
                       : wrong[i].transa == 'T' ? T
                                                : 0,
              transb = wrong[i].transb == 'N'   ? N
                       : wrong[i].transb == 'T' ? T
                                                : 0,
              uplo = wrong[i].uplo == 'U'   ? UPPER
                     : wrong[i].uplo == 'L' ? LOWER
                                            : 0;
    dgemmt_(&wrong[i].uplo, &wrong[i].transa, &wrong[i].transb, &wrong[i].n, &wrong[i].k, &alpha, x,
            &wrong[i].lda, x, &wrong[i].ldb, &beta, c, &wrong[i].ldc);
    expect_told("DGEMMT", wrong[i].number);
    for (int order = ROW; order <= COLUMN; order++) {
      cblas_dgemmt(order, uplo, transa, transb, wrong[i].n, wrong[i].k, alpha, x, wrong[i].lda, x,
                   wrong[i].ldb, beta, c, wrong[i].ldc);
      expect_told("cblas_dgemmt", wrong[i].number + 1);
    }
    assert_memory_equal(c, before, sizeof c);
  }
  cblas_dgemmt(100, UPPER, N, N, 3, 3, alpha, x, 3, x, 3, beta, c, 3);
  expect_told("cblas_dgemmt", 1);
  assert_memory_equal(c, before, sizeof c);
}

/* --- threads and processes --- */

enum { EDGE = 60, THREADS = 8, ROUNDS = 20 };
static double wide_a[EDGE * EDGE], wide_b[EDGE * EDGE], wide_right[EDGE * EDGE];

/* The number of elements that are not what one thread found. Sizes vary, so that plans come and go. */
static void *multiply_often(void *argument) {
  const int *first = argument;
  double *c = malloc(sizeof wide_right);
  intptr_t wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const int edge = EDGE - ((*first + round) & 7);
    cblas_dgemm(ROW, N, T, edge, edge, EDGE, 1, wide_a, EDGE, wide_b, EDGE, 0, c, EDGE);
    for (int i = 0; i < edge; i++)
      for (int j = 0; j < edge; j++)
        wrong += !(fabs(c[i * EDGE + j] - wide_right[i * EDGE + j]) < 1e-11);
  }
  free(c);
  return (void *)wrong;
}

static void prepare(void) {
  fill(wide_a, EDGE * EDGE, 11);
  fill(wide_b, EDGE * EDGE, 12);
  for (int i = 0; i < EDGE; i++)
    for (int j = 0; j < EDGE; j++) {
      wide_right[i * EDGE + j] = 0;
      for (int l = 0; l < EDGE; l++)
        wide_right[i * EDGE + j] += wide_a[i * EDGE + l] * wide_b[j * EDGE + l];
    }
}

static void start_all(pthread_t threads[THREADS], int first[THREADS]) {
  for (int i = 0; i < THREADS; i++) {
    first[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, multiply_often, &first[i]), 0);
  }
}

static void join_all(const pthread_t threads[THREADS]) {
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  int first[THREADS];
  prepare();
  start_all(threads, first);
  join_all(threads);
}

/* Children multiply while the parent's threads do: none hangs (the test's time is limited), and all
 * results are right. Under the address sanitizer the threads end before the forks. The memory allocator
 * of GCC's sanitizer up to 13 does not support a fork while another thread allocates. */
static void test_fork(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  int first[THREADS], zero = 0;
  prepare();
  start_all(threads, first);
  if (ADDRESS_SANITIZER)
    join_all(threads);
  for (int child = 0; child < 5; child++) {
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0)
      _exit(multiply_often(&zero) == NULL ? 0 : 1);
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  if (!ADDRESS_SANITIZER)
    join_all(threads);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm_cblas),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_gemm_f32),
      cmocka_unit_test(test_gemm_complex),
      cmocka_unit_test(test_gemmt),
      cmocka_unit_test(test_gemmt_large),
      cmocka_unit_test(test_gemmt_complex),
      cmocka_unit_test(test_batch),
      cmocka_unit_test(test_long_batch),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_dot),
      cmocka_unit_test(test_matcopy),
      cmocka_unit_test(test_arguments_fortran),
      cmocka_unit_test(test_arguments_cblas),
      cmocka_unit_test(test_arguments_gemmt),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_fork),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
