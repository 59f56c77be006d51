/* complex_real: the error of each part of C is within the guarantee for all layouts, conjugates,
 * scalars and required accuracies. Runs on the first OpenCL and the first CUDA device, with their
 * own strategies as subplans (tests/check has the simplest one). C is not read where beta is 0. The layouts
 * decide which factor is expanded. */

#include "unit/unit.h"

#include "core/random.h"
#include "strategy/gemm/composite/complex_real/complex_real.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "unit/hopper.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

static tesela_context *context;

typedef struct product {
  int64_t m, n, k;
  bool a_turned, b_turned, c_turned, a_conjugate, b_conjugate;
  int64_t padding; /* of lines */
  double alpha[2], beta[2];
  const char *accuracy;
} product;

static double number_of(int operand, int64_t index) {
  return (double)(int64_t)tsl_random_u64((uint64_t)operand + 1, (uint64_t)index) * 0x1p-63;
}

/* A matrix as it lies, rows x cols or turned, with so many elements from line to line. */
typedef struct matrix {
  float *numbers;
  int64_t rows, cols, line;
  bool turned, conjugate;
} matrix;

static matrix make(int operand, int64_t rows, int64_t cols, bool turned, bool conjugate, int64_t padding) {
  const int64_t lines = turned ? cols : rows, length = turned ? rows : cols;
  matrix out = {
      .rows = rows, .cols = cols, .line = length + padding, .turned = turned, .conjugate = conjugate};
  const int64_t all = 2 * lines * out.line;
  out.numbers = malloc((size_t)all * sizeof *out.numbers);
  assert_non_null(out.numbers);
  for (int64_t i = 0; i < all; i++)
    out.numbers[i] = (float)number_of(operand, i);
  return out;
}

static double complex of_parts(double real, double imaginary) {
  return real + imaginary * I;
}

static double complex at(const matrix *matrix_in, int64_t row, int64_t col) {
  const float *number = matrix_in->numbers +
                        2 * (matrix_in->turned ? col * matrix_in->line + row : row * matrix_in->line + col);
  return of_parts(number[0], matrix_in->conjugate ? -number[1] : number[1]);
}

/* Returns the sum of the magnitudes of the terms, for each part of x y. */
static double complex size_of(double complex x, double complex y) {
  const double xr = fabs(creal(x)), xi = fabs(cimag(x)), yr = fabs(creal(y)), yi = fabs(cimag(y));
  return of_parts(xr * yr + xi * yi, xr * yi + xi * yr);
}

/* The largest error of a part over its bound. */
static double worst(const product *product_in, const matrix *a, const matrix *b, const matrix *before,
                    const matrix *c, double bound) {
  const double complex alpha = of_parts(product_in->alpha[0], product_in->alpha[1]),
                       beta = of_parts(product_in->beta[0], product_in->beta[1]);
  double most = 0;
  for (int64_t i = 0; i < product_in->m; i++)
    for (int64_t j = 0; j < product_in->n; j++) {
      double complex sum = 0, size = 0;
      for (int64_t l = 0; l < product_in->k; l++) {
        sum += at(a, i, l) * at(b, l, j);
        size += size_of(at(a, i, l), at(b, l, j));
      }
      sum *= alpha;
      size = size_of(alpha, size);
      if (beta != 0) {
        sum += beta * at(before, i, j);
        size += size_of(beta, at(before, i, j));
      }
      const double complex off = at(c, i, j) - sum;
      if (!isfinite(creal(off)) || !isfinite(cimag(off)))
        return INFINITY;
      most = fmax(most, fmax(fabs(creal(off)) / creal(size), fabs(cimag(off)) / cimag(size)) / bound);
    }
  return most;
}

static double error_of(const char *device, const char *strategy, const product *product_in) {
  const int64_t padding = product_in->padding;
  matrix a = make(0, product_in->m, product_in->k, product_in->a_turned, product_in->a_conjugate, padding),
         b = make(1, product_in->k, product_in->n, product_in->b_turned, product_in->b_conjugate, padding),
         before = make(2, product_in->m, product_in->n, product_in->c_turned, false, padding),
         c = make(2, product_in->m, product_in->n, product_in->c_turned, false, padding);
  const bool reads = product_in->beta[0] != 0 || product_in->beta[1] != 0;
  if (!reads)
    for (int64_t i = 0; i < 2 * c.line * (c.turned ? c.cols : c.rows); i++)
      c.numbers[i] = NAN;
  const tesela_gemm_desc desc = {.m = product_in->m,
                                 .n = product_in->n,
                                 .k = product_in->k,
                                 .a = {.data = a.numbers,
                                       .type = TESELA_C64,
                                       .transpose = a.turned,
                                       .conjugate = a.conjugate,
                                       .row_stride = a.line,
                                       .col_stride = 1},
                                 .b = {.data = b.numbers,
                                       .type = TESELA_C64,
                                       .transpose = b.turned,
                                       .conjugate = b.conjugate,
                                       .row_stride = b.line,
                                       .col_stride = 1},
                                 .c = {.data = c.numbers,
                                       .type = TESELA_C64,
                                       .transpose = c.turned,
                                       .row_stride = c.line,
                                       .col_stride = 1},
                                 .alpha = product_in->alpha,
                                 .beta = product_in->beta,
                                 .options.device = device,
                                 .options.strategy = strategy,
                                 .options.accuracy = product_in->accuracy};
  tesela_record record;
  if (tesela_gemm(context, &desc, &record) != TESELA_OK)
    fail_msg("%s on %s: %s", strategy, device, tesela_last_error());
  const double most = worst(product_in, &a, &b, &before, &c, record.error_bound);
  free(a.numbers);
  free(b.numbers);
  free(before.numbers);
  free(c.numbers);
  return most;
}

static const product products[] = {
    {48, 40, 56, .alpha = {1, 0}},
    {48, 40, 56, .alpha = {1, 0}, .accuracy = "tf32"},
    {130, 72, 200, .a_turned = true, .alpha = {1.5, 0}, .beta = {-0.5, 0}, .accuracy = "tf32"},
    {65, 129, 77, .b_turned = true, .b_conjugate = true, .padding = 3, .alpha = {1, 0}, .accuracy = "tf32"},
    {64, 128, 96, .c_turned = true, .a_conjugate = true, .alpha = {1, 0}, .accuracy = "tf32"},
    {37, 66, 51, .a_turned = true, .b_turned = true, .c_turned = true, .a_conjugate = true,
     .b_conjugate = true, .padding = 5, .alpha = {-2, 0}, .beta = {1, 0}, .accuracy = "1e-2"},
    {128, 64, 64, .alpha = {0.5, -1.5}, .beta = {0.25, 0.75}, .accuracy = "tf32"},
    {300, 257, 130, .a_conjugate = true, .padding = 1, .alpha = {0.5, -1.5}},
    {1, 300, 64, .alpha = {1, 0}, .accuracy = "tf32"},
    {300, 1, 64, .alpha = {1, 0}, .accuracy = "tf32"},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static void judge(const char *device) {
  static const char *const strategies[] = {"complex_real", "complex_real form=along_k",
                                           "complex_real form=along_n", "complex_real form=apart"};
  const product first = products[0];
  const tesela_gemm_desc none = {.m = first.m,
                                 .a = {.type = TESELA_C64},
                                 .b = {.type = TESELA_C64},
                                 .c = {.type = TESELA_C64},
                                 .options.device = device,
                                 .options.strategy = strategies[0]};
  if (tesela_gemm(context, &none, NULL) != TESELA_OK) {
    printf("%s: %s\n", device, tesela_last_error());
    skip();
  }
  for (int i = 0; i < PRODUCTS; i++)
    for (int s = 0; s < 4; s++) {
      const double most = error_of(device, strategies[s], &products[i]);
      if (most > 1)
        fail_msg("%s on %s, product %d: %g of its bound", strategies[s], device, i, most);
    }
}

static void errors_on_opencl_are_within_bounds(void **state) {
  (void)state;
  judge("opencl:0");
}

static void errors_on_cuda_are_within_bounds(void **state) {
  (void)state;
  judge("cuda:0");
}

/* Returns the algorithm for a product whose C is column-major (`c_turned`), and whose A and B are
 * contiguous along k (`a_along`, `b_along`). */
static tsl_complex_real_method method_of(int form, int64_t m, bool c_turned, bool a_along, bool b_along,
                                         double imaginary) {
  const tsl_config config = {{form}};
  tsl_problem problem = tsl_problem_gemm(m, 200, 300, TESELA_C64);
  problem.alpha[1] = imaginary;
  if (!a_along)
    problem.a.row_stride = 1, problem.a.col_stride = m;
  if (b_along)
    problem.b.row_stride = 1, problem.b.col_stride = 300;
  if (c_turned)
    problem.c.row_stride = 1, problem.c.col_stride = m;
  return tsl_complex_real_method_of(&problem, &config);
}

static void what_lies_well_stays(void **state) {
  (void)state;
  for (int layout = 0; layout < 8; layout++) {
    const bool turned = layout & 1, a_along = layout & 2, b_along = layout & 4;
    const tsl_complex_real_method method =
        method_of(TSL_COMPLEX_REAL_ALONG_K, 180, turned, a_along, b_along, 0);
    assert_false(method.is_staged);
    assert_int_equal(method.is_swapped, turned);
    assert_int_equal(method.copies, !(turned ? b_along : a_along));
    assert_int_equal(method.copy.elements > 0, method.copies);
    assert_true(method.prepared.elements >= 4 * 300 * (turned ? 180 : 200));
    assert_true(method_of(TSL_COMPLEX_REAL_ALONG_K, 180, turned, a_along, b_along, 0.5).is_staged);
  }
}

/* Few rows: the large factor stays, whichever it is and however it lies. */
static void the_large_one_of_a_thin_product_stays(void **state) {
  (void)state;
  for (int layout = 0; layout < 8; layout++) {
    const tsl_complex_real_method method =
        method_of(TSL_COMPLEX_REAL_ANY, 8, layout & 1, layout & 2, layout & 4, 0);
    assert_false(method.copies);
    assert_true(method.prepared.elements <= 4 * 8 * 304 + 4 * 16 * 304);
  }
  assert_int_equal(method_of(TSL_COMPLEX_REAL_ANY, 8, false, true, false, 0).form,
                   TSL_COMPLEX_REAL_SEPARATED);
}

/* A launch has a maximum number of products along a dimension; no strategy takes more. */
static void batches_end_where_launches_do(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "complex_real");
  const tsl_device device = {.name = "opencl:9", .group_count_max = {65535, 65535, 65535}};
  tsl_problem problem = tsl_problem_gemm(8, 16, 24, TESELA_C64);
  tsl_config config;
  assert_non_null(strategy);
  assert_true(tsl_strategy_config(strategy, 0, &config));
  problem.batch = 65535;
  assert_null(strategy->refuse(&problem, &config, &device));
  problem.batch = 65536;
  const char *why = strategy->refuse(&problem, &config, &device);
  assert_non_null(why);
  assert_non_null(strstr(why, "65536"));
}

/* An ask reaches the real product, whose parts are sums of twice the terms; more than it allows is refused.
 */
static void asks_are_handed_on(void **state) {
  (void)state;
  const tsl_config config = {{TSL_COMPLEX_REAL_ANY}};
  tsl_problem problem = tsl_problem_gemm(1000, 1000, 1000, TESELA_C64);
  const double careful = tsl_complex_real_accuracy(&problem, &config).factor;
  assert_true(careful >= 2004 && careful <= 2016);
  assert_false(tsl_complex_real_accuracy(&problem, &config).truncates_inputs);
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask), TESELA_OK);
  const tsl_accuracy tf32 = tsl_complex_real_accuracy(&problem, &config),
                     of_real = tsl_complex_real_product_accuracy(&problem);
  assert_true(tf32.truncates_inputs && tf32.factor > 0x1p15 && tf32.factor < 0x1p15 + 8 * 1000 + 100);
  assert_true(of_real.truncates_inputs && of_real.factor < tf32.factor &&
              of_real.factor > 0x1p15 + 5 * 1000 + 24);
  const tsl_complex_real_method method = tsl_complex_real_method_of(&problem, &config);
  const tsl_problem real = tsl_complex_real_product(&problem, &method);
  assert_true(tsl_numeric_requirements_same(&real.ask, &problem.ask));
  assert_int_equal(real.n, 2000);
  assert_int_equal(real.k, 2000);
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("f64", &problem.ask), TESELA_OK);
  assert_non_null(
      tsl_strategy_refuse_anywhere(tsl_strategy_find(TSL_OP_GEMM, "complex_real"), &problem, &config));
}

static bool is_supported(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config *config) {
  return tsl_strategy_refuse(strategy, search->problem, config, search->device) == NULL;
}
/* Returns the seconds of the fastest of all configs of a strategy. */
static double fastest_of_all(const tsl_problem *problem, const char *strategy, const tsl_device *device) {
  const tsl_config_search search = {problem, device, tsl_strategy_at, is_supported, NULL};
  tsl_config config;
  return tsl_strategy_fastest(&search, tsl_strategy_find(TSL_OP_GEMM, strategy), (tsl_walk){.begun = false},
                              INFINITY, &config);
}

/* The real product's estimate is near the fastest config: register_tile has millions of configs, cuda_dmma
 * hundreds. */
static void the_estimate_is_near_the_fastest_config(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const int64_t sizes[][3] = {{64, 36864, 16384}, {1000, 1000, 1000}, {5, 300, 70}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int is_double = 0; is_double < 2; is_double++) {
      const tsl_problem problem =
          tsl_problem_gemm(sizes[i][0], sizes[i][1], sizes[i][2], is_double ? TESELA_F64 : TESELA_F32);
      const double all = fmin(fastest_of_all(&problem, "register_tile", &device),
                              is_double ? fastest_of_all(&problem, "cuda_dmma", &device) : INFINITY);
      assert_true(tsl_strategy_fastest_within(&problem, (tsl_accuracy){.factor = 1e9}, &device,
                                              tsl_strategy_at) <= 1.05 * all);
    }
}

int main(void) {
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_on_opencl_are_within_bounds),
      cmocka_unit_test(errors_on_cuda_are_within_bounds),
      cmocka_unit_test(what_lies_well_stays),
      cmocka_unit_test(the_large_one_of_a_thin_product_stays),
      cmocka_unit_test(asks_are_handed_on),
      cmocka_unit_test(the_estimate_is_near_the_fastest_config),
      cmocka_unit_test(batches_end_where_launches_do),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  return failed;
}
