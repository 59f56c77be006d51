/* A product seen by host/host_view.h: the same elements of C from the same elements of A and B, in every
 * orientation; C's columns nearer to each other than its rows, and no stride of it negative; conjugates as
 * two signs. And how sizes are cut. */
#include "unit/unit.h"

#include <complex.h>

#include "host/host_view.h"
#include "host/int_math.h"

enum { M = 3, N = 4, K = 2, MOST = 64 };

/* Memory whose element `middle` is (0, 0). */
enum { MIDDLE = MOST / 2 };
static float complex a[MOST], b[MOST], c[MOST];

static tsl_view strides(int64_t row, int64_t col) {
  return (tsl_view){.row_stride = row, .col_stride = col};
}

static const int64_t layouts[][2] = {{5, 1}, {1, 5}, {-5, 1}, {5, -1}, {-1, -5}, {10, 2}, {1, -6}};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static float complex *element(float complex *memory, const int64_t *layout, int64_t i, int64_t j) {
  return memory + MIDDLE + i * layout[0] + j * layout[1];
}

static float complex *seen(const tsl_view *view, int64_t i, int64_t j) {
  return (float complex *)(void *)view->at + i * view->row_stride + j * view->col_stride;
}

/* Compares products through the views with signs, as kernels compute them, with products of the
 * caller's matrices. */
static void expect_product(tsl_views *views, const int64_t *la, const int64_t *lb, const int64_t *lc) {
  const bool conjugates[2] = {views->conjugates_a, views->conjugates_b};
  double signs[2];
  tsl_views_orient(views);
  tsl_views_conjugation_signs(views, signs);
  tsl_views_bind(views, &(tsl_view){.at = (unsigned char *)(a + MIDDLE)},
                 &(tsl_view){.at = (unsigned char *)(b + MIDDLE)}, c + MIDDLE, sizeof *a, sizeof *c);
  assert_true(views->c.row_stride >= views->c.col_stride && views->c.col_stride > 0);
  for (int64_t i = 0; i < views->m; i++)
    for (int64_t j = 0; j < views->n; j++) {
      float complex sum = 0;
      for (int64_t l = 0; l < views->k; l++) {
        const float complex x = *seen(&views->a, i, l), y = *seen(&views->b, l, j);
        sum += (crealf(x) + (float)signs[0] * cimagf(x) * I) * y;
      }
      *seen(&views->c, i, j) = crealf(sum) + (float)signs[1] * cimagf(sum) * I;
    }
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) {
      float complex sum = 0;
      for (int64_t l = 0; l < K; l++) {
        const float complex x = *element(a, la, i, l), y = *element(b, lb, l, j);
        sum += (conjugates[0] ? conjf(x) : x) * (conjugates[1] ? conjf(y) : y);
      }
      assert_true(*element(c, lc, i, j) == sum);
    }
}

static void test_every_orientation(void **state) {
  (void)state;
  for (int i = 0; i < MOST; i++) {
    a[i] = (float)(i % 7) + (float)(i % 5) * I;
    b[i] = (float)(i % 11) - (float)(i % 3) * I;
  }
  for (int i = 0; i < LAYOUTS * LAYOUTS * LAYOUTS * 4; i++) {
    const int64_t *la = layouts[i % LAYOUTS], *lb = layouts[i / LAYOUTS % LAYOUTS],
                  *lc = layouts[i / LAYOUTS / LAYOUTS % LAYOUTS];
    const int conjugates = i / LAYOUTS / LAYOUTS / LAYOUTS;
    tsl_views views = {.m = M,
                       .n = N,
                       .k = K,
                       .a = strides(la[0], la[1]),
                       .b = strides(lb[0], lb[1]),
                       .c = strides(lc[0], lc[1]),
                       .conjugates_a = conjugates & 1,
                       .conjugates_b = conjugates & 2};
    expect_product(&views, la, lb, lc);
  }
}

static void test_what_is_not_read(void **state) {
  (void)state;
  tsl_views views = {.m = M, .n = N, .k = 0, .a = strides(1, 9), .b = strides(-7, 1), .c = strides(1, 3)};
  tsl_views_orient(&views);
  tsl_views_bind(&views, &(tsl_view){.at = NULL}, &(tsl_view){.at = NULL}, c, sizeof *a, sizeof *c);
  assert_true(views.is_swapped && views.m == N && views.n == M);
  assert_ptr_equal(views.a.at, c);
  assert_ptr_equal(views.b.at, c);
  assert_true(views.a.row_stride == 0 && views.a.col_stride == 0 && views.b.row_stride == 0 &&
              views.b.col_stride == 0);
}

static void test_packed(void **state) {
  (void)state;
  int form;
  tsl_views views = {.m = M, .n = N, .k = K, .a = strides(K, 1), .b = strides(N, 1), .c = strides(1, M)};
  tsl_views_orient(&views);
  tsl_views_bind(&views, &(tsl_view){.packed = &form}, &(tsl_view){.at = (unsigned char *)b}, c, sizeof *a,
                 sizeof *c);
  assert_ptr_equal(views.b.packed, &form); /* swapped */
  assert_null(views.a.packed);
  assert_ptr_equal(views.a.at, b);
}

static void test_cuts(void **state) {
  (void)state;
  assert_int_equal(tsl_ceil_div(0, 4), 0);
  assert_int_equal(tsl_ceil_div_or_one(0, 4), 1);
  assert_int_equal(tsl_ceil_div(9, 4), 3);
  assert_int_equal(tsl_ceil_div_or_one(8, 4), 2);
  assert_int_equal(tsl_round_up(9, 4), 12);
  for (int64_t total = 0; total < 30; total++)
    for (int64_t pieces = 1; pieces < 9; pieces++) {
      assert_int_equal(tsl_partition_begin(total, pieces, 0), 0);
      assert_int_equal(tsl_partition_begin(total, pieces, pieces), total);
      for (int64_t i = 0; i < pieces; i++) {
        const int64_t size =
            tsl_partition_begin(total, pieces, i + 1) - tsl_partition_begin(total, pieces, i);
        assert_true(size == total / pieces || size == total / pieces + 1);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_orientation),
      cmocka_unit_test(test_what_is_not_read),
      cmocka_unit_test(test_packed),
      cmocka_unit_test(test_cuts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
