/* residue_int8 by portable kernels: the same bits as the processor's kernels, on every OpenCL
 * device; PoCL must be installed. Numbers of all kinds, lines contiguous and strided, parts of k,
 * products together and one by one, native lines with others and alone. The same where C is
 * computed in blocks of a few rows. */
#include "opencl_fixture.h"

#include "core/random.h"
#include "opencl.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "unit/long.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What numbers are: of a line's own size; with exponents of a few; with the largest where no sample is taken;
 * such that few lines, or all, are computed as they are; ... */
typedef enum kind { NORMAL, GRADED, LATE, FEW_NATIVE, ALL_NATIVE, SUBNORMAL, ZEROS } kind;

typedef struct product {
  int64_t m, n, k;
  bool a_turned, b_turned, c_turned; /* columns follow each other */
  int64_t pad;                       /* behind each line */
  double alpha, beta;
  kind kind;
} product;

/* Few shapes of integer products, each of which takes a compiler its time: 45 x 38 x 64 but for two. */
static const product products[] = {
    {45, 38, 64, false, false, false, 0, 1, 0, NORMAL},
    {45, 38, 59, true, true, false, 3, -1.7, 0.3, NORMAL},
    {38, 45, 61, false, true, true, 1, 1, 1, GRADED},
    {300, 530, 40, false, false, false, 5, 1, 0, FEW_NATIVE},
    {38, 45, 50, true, false, true, 2, 2.5, -1, ALL_NATIVE},
    {45, 38, 63, false, true, false, 0, 1, 0, SUBNORMAL},
    {5, 6, 70001, false, true, false, 0, 1.7, 0, LATE},
    {20, 30, 50, false, false, false, 0, 0, 2, NORMAL},
    {20, 30, 0, false, false, false, 0, 1, 2, NORMAL},
    {38, 45, 49, false, false, true, 1, 1, 0, ZEROS},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static double number_of(const product *what, int operand, int64_t line, int64_t h, uint64_t seed) {
  const uint64_t bits = tsl_random_u64(seed, (uint64_t)(line * 100003 + h));
  const double x = ((double)(int64_t)bits * 0x1p-63) * (1 + (double)(bits % 7));
  switch (what->kind) {
  case GRADED:
    return ldexp(x, -(int)(bits >> 20 & 15) - (int)(line % 30));
  case LATE:
    return line % 2 == 0 && h == 40 ? ldexp(x, 11) : x;
  case FEW_NATIVE:
    return operand == 0 && line == 7 && h == 3 ? INFINITY
           : operand == 1 && line == 500       ? ldexp(x, -(int)h)
                                               : x;
  case ALL_NATIVE:
    return ldexp(x, (int)(bits >> 20 & 127) - 64);
  case SUBNORMAL:
    return ldexp(x, operand == 0 ? -130 - (int)(line % 12) : 20);
  case ZEROS:
    return line % 5 == 2 ? 0 : line == 6 && h == 1 ? NAN : x;
  default:
    return x;
  }
}

static tsl_shape shape_of(tesela_type type, int64_t rows, int64_t cols, bool turned, int64_t pad) {
  return (tsl_shape){.type = type,
                     .rows = rows,
                     .cols = cols,
                     .row_stride = turned ? 1 : cols + pad,
                     .col_stride = turned ? rows + pad : 1};
}

static unsigned char *memory_of(const tsl_shape *shape) {
  const int64_t extent = tsl_shape_extent(shape);
  unsigned char *made = calloc((size_t)(extent > 0 ? extent : 1), tsl_type(shape->type)->size);
  assert_non_null(made);
  return made;
}

/* Lines of A are its rows, of B its columns; of C, rows. */
static unsigned char *filled_matrix(const product *what, const tsl_shape *shape, int operand) {
  unsigned char *made = memory_of(shape);
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      const int64_t line = operand == 1 ? j : i, h = operand == 1 ? i : j;
      const double number[2] = {number_of(what, operand, line, h, (uint64_t)operand + 1),
                                number_of(what, operand, line, h, (uint64_t)operand + 11)};
      tsl_type_store(shape->type,
                     made + (size_t)(i * shape->row_stride + j * shape->col_stride) *
                                tsl_type(shape->type)->size,
                     number);
    }
  return made;
}

static int64_t rows_at_a_time; /* on the device */

/* Runs a plan once, or a second time with another C. */
static void multiply(const tsl_problem *problem, const char *ask, tsl_device *on, const unsigned char *a,
                     const unsigned char *b, unsigned char *c, unsigned char *second) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8");
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem asked = *problem;
  tsl_plan *plan;
  asked.ask.bits = TSL_REPRODUCIBILITY_DEVICES;
  if (on == device)
    config.value[TSL_RESIDUE_INT8_BLOCK] = rows_at_a_time;
  if (ask)
    must(tsl_numeric_requirements_parse_accuracy(ask, &asked.ask));
  must(tsl_planner_create(&asked, strategy, &config, on, TSL_PLACE_HOST, &plan));
  tsl_operands operands = {
      .a = {.host = (void *)(uintptr_t)a}, .b = {.host = (void *)(uintptr_t)b}, .c = {.host = c}};
  must(tsl_plan_run(plan, &operands, NULL));
  operands.c.host = second;
  if (second)
    must(tsl_plan_run(plan, &operands, NULL));
  tsl_plan_destroy(plan);
}

static void check_bits(const product *what, tesela_type type, const char *ask, bool conjugate_a,
                       bool conjugate_b) {
  tsl_device *cpu;
  must(tsl_devices_find(opencl_devices, "cpu", &cpu));
  tsl_problem problem = tsl_problem_gemm(what->m, what->n, what->k, type);
  problem.a = shape_of(type, what->m, what->k, what->a_turned, what->pad);
  problem.b = shape_of(type, what->k, what->n, what->b_turned, what->pad);
  problem.c = shape_of(type, what->m, what->n, what->c_turned, what->pad);
  problem.conjugate_a = conjugate_a;
  problem.conjugate_b = conjugate_b;
  problem.alpha[0] = what->alpha;
  problem.beta[0] = what->beta;
  const product plain = {.kind = NORMAL};
  unsigned char *a = filled_matrix(what, &problem.a, 0), *b = filled_matrix(what, &problem.b, 1),
                *right = filled_matrix(&plain, &problem.c, 2),
                *got[] = {filled_matrix(&plain, &problem.c, 2), filled_matrix(&plain, &problem.c, 2)};
  const size_t bytes = (size_t)tsl_shape_extent(&problem.c) * tsl_type(type)->size;
  multiply(&problem, ask, cpu, a, b, right, NULL);
  multiply(&problem, ask, device, a, b, got[0], got[1]);
  for (int run = 0; run < 2; run++) {
    size_t at = 0;
    while (at < bytes && got[run][at] == right[at])
      at++;
    if (at < bytes)
      fail_msg("%s %lld x %lld x %lld kind %d, run %d: element %zu of C's memory differs from the cpu's",
               tsl_type(type)->name, (long long)what->m, (long long)what->n, (long long)what->k, what->kind,
               run, at / tsl_type(type)->size);
  }
  free(a);
  free(b);
  free(right);
  free(got[0]);
  free(got[1]);
}

static void bits_are_those_of_the_cpu(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  /* A compiler takes its time for each type of each product. */
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < PRODUCTS; i++)
      if (is_long_form() || t == i % 2)
        check_bits(&products[i], types[t], NULL, false, false);
}

static void bits_are_those_of_the_cpu_as_asked_for(void **state) {
  (void)state;
  check_bits(&products[0], TESELA_F32, "1e-4", false, false);
  for (int i = 0; i < PRODUCTS; i += is_long_form() ? 1 : 3) /* less than sums of f32 guarantee */
    check_bits(&products[i], TESELA_F32, i % 2 ? "7.6e-8" : "1e-6", false, false);
  check_bits(&products[3], TESELA_F64, "1e-9", false, false);
}

static void complex_bits_are_those_of_the_cpu(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_C64, TESELA_C128};
  /* The kernels of real numbers are compiled with each kind of numbers; both types share the kinds here. */
  for (int i = 0; i < PRODUCTS; i += is_long_form() ? 1 : 3)
    check_bits(&products[i], types[i % 2], NULL, i % 4 < 2, i % 3 == 0);
}

/* Rows of C, or columns where these lie in rows, by a few at a time: the last ones are fewer, some are
 * native. */
static void blocks_change_no_bit(void **state) {
  (void)state;
  static const int turns[] = {0, 1, 2, 3, 6, 9};
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    rows_at_a_time = turns[i] == 3 ? 128 : turns[i] == 6 ? 2 : 16;
    for (int t = 0; t < 2; t++)
      if (is_long_form() || t == turns[i] % 2)
        check_bits(&products[turns[i]], t ? TESELA_F64 : TESELA_F32, NULL, false, false);
  }
  rows_at_a_time = 16;
  check_bits(&products[2], TESELA_C64, NULL, true, false);
  rows_at_a_time = 0;
}

/* Less workspace gives blocks of fewer rows, down to the memory that every block needs. Each block
 * fits its memory, and the next larger block would not. */
static void blocks_fit_the_memory(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8");
  const tsl_problem problem = tsl_problem_gemm(20000, 10000, 3000, TESELA_F64);
  const tsl_config whole = tsl_strategy_defaults(strategy);
  const uint64_t all = tsl_strategy_scratch(strategy, &problem, &whole, device);
  int64_t before = INT64_MAX;
  uint64_t most = all;
  tsl_config config = whole;
  assert_true(tsl_strategy_fit_workspace(strategy, &problem, device, most, &config));
  assert_int_equal(config.value[TSL_RESIDUE_INT8_BLOCK], 0);
  for (int fewer = 0; most > 0; most = most / 10 * 9) {
    config = whole;
    if (!tsl_strategy_fit_workspace(strategy, &problem, device, most, &config)) {
      assert_int_equal(config.value[TSL_RESIDUE_INT8_BLOCK], 0);
      assert_true(fewer > 4);
      return;
    }
    const int64_t rows = config.value[TSL_RESIDUE_INT8_BLOCK];
    assert_true(tsl_strategy_scratch(strategy, &problem, &config, device) <= most);
    if (rows == 0)
      continue;
    fewer += rows < before;
    assert_true(rows <= before);
    before = rows;
    config.value[TSL_RESIDUE_INT8_BLOCK] = rows * 2;
    assert_true(rows == 16384 || tsl_strategy_scratch(strategy, &problem, &config, device) > most);
  }
  fail_msg("no memory is enough");
}

/* By a call, whose subplan is chosen among the best of each strategy. */
static void a_call_finds_its_subplan(void **state) {
  (void)state;
  enum { SIDE = 512 };
  static float a[SIDE * SIDE], c[SIDE * SIDE];
  tesela_context *context;
  for (int i = 0; i < SIDE; i++)
    a[i * SIDE + i] = 2;
  must(tesela_context_create(NULL, &context));
  const tesela_gemm_desc desc = {.m = SIDE,
                                 .n = SIDE,
                                 .k = SIDE,
                                 .a = {.data = a},
                                 .b = {.data = a},
                                 .c = {.data = c},
                                 .options.device = device->name,
                                 .options.strategy = "residue_int8"};
  must(tesela_gemm(context, &desc, NULL));
  for (int i = 0; i < SIDE * SIDE; i++)
    assert_true(c[i] == (i % (SIDE + 1) == 0 ? 4 : 0));
  tesela_context_destroy(context);
}

int main(void) {
  if (opencl_is_missing())
    return OPENCL_SKIPPED;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_the_cpu),
      cmocka_unit_test(bits_are_those_of_the_cpu_as_asked_for),
      cmocka_unit_test(complex_bits_are_those_of_the_cpu),
      cmocka_unit_test(blocks_change_no_bit),
      cmocka_unit_test(blocks_fit_the_memory),
      cmocka_unit_test(a_call_finds_its_subplan),
  };
  return run_on_each_device(tests, sizeof tests / sizeof *tests);
}
