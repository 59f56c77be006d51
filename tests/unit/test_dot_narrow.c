/* Dots of narrow types: exact ones rounded once, integers modulo 2^32, fixed_tree's bits on every device, and
 * the public call, whose types are filled in. */
#include "core/random.h"
#include "core/status.h"
#include "opencl.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70000 };
static const int64_t lengths[] = {0, 1, 2, 127, 129, 255, 257, 1000, 4097, 32769, MOST};
static const double scalars[][2] = {{1, 0}, {-3, 0}, {2, 5}, {0, 1}};
enum { LENGTHS = sizeof lengths / sizeof *lengths, SCALARS = sizeof scalars / sizeof *scalars };

typedef struct vectors {
  unsigned char *x, *y;
  int64_t x_stride, y_stride;
} vectors;

static tsl_devices *devices;

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) == TESELA_OK ? 0 : 1;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

static tsl_device *device_named(const char *name) {
  tsl_device *device;
  assert_int_equal(tsl_devices_find(devices, name, &device), TESELA_OK);
  return device;
}

/* Whole numbers times small powers of two, so that sums are whole numbers that a double holds; integers any.
 */
static void fill(tesela_type type, uint64_t seed, int64_t stride, unsigned char *data) {
  for (int64_t i = 0; i < MOST; i++) {
    const uint64_t bits = tsl_random_u64(seed, (uint64_t)i);
    const double whole = type == TESELA_U8 ? (double)(bits >> 56) : (double)(int8_t)(bits >> 56),
                 value[2] = {tsl_type(type)->is_integer ? whole : ldexp(whole, (int)(bits % 6)), 0};
    tsl_type_store(type, data + i * stride * (int64_t)tsl_type(type)->size, value);
  }
}

static vectors made(const tsl_types *types, int64_t x_stride, int64_t y_stride) {
  vectors out = {malloc(MOST * 8 * 3), malloc(MOST * 8 * 3), x_stride, y_stride};
  fill(types->a, 1, x_stride, out.x);
  fill(types->b, 2, y_stride, out.y);
  return out;
}

static void drop(vectors *vectors_in) {
  free(vectors_in->x);
  free(vectors_in->y);
}

static double number_at(tesela_type type, const unsigned char *src, int64_t index) {
  double value[2];
  tsl_type_load(type, src + index * (int64_t)tsl_type(type)->size, value);
  return value[0];
}

/* The sum of products, a whole number. */
static double sum_of(const tsl_types *types, const vectors *vectors_in, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += number_at(types->a, vectors_in->x, i * vectors_in->x_stride) *
           number_at(types->b, vectors_in->y, i * vectors_in->y_stride);
  return sum;
}

static tsl_problem problem_of(const tsl_types *types, const vectors *vectors_in, int64_t count,
                              const double scalar[2]) {
  tsl_problem problem = tsl_problem_dot(count, types->a);
  problem.b.type = types->b;
  problem.c.type = types->c;
  problem.a.col_stride = vectors_in->x_stride;
  problem.b.row_stride = vectors_in->y_stride;
  problem.alpha[0] = scalar[0];
  problem.beta[0] = scalar[1];
  return problem;
}

/* C's bits; `before` in it where beta asks for that. */
static uint64_t dot_bits(const char *name, tsl_device *device, const tsl_problem *problem,
                         const vectors *vectors_in, double before) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_DOT, name);
  const tsl_config config = tsl_strategy_defaults(strategy);
  const double value[2] = {before, 0};
  uint64_t c = 0;
  tsl_plan *plan;
  tsl_type_store(problem->c.type, &c, value);
  const tesela_status status = tsl_planner_create(problem, strategy, &config, device, TSL_PLACE_HOST, &plan);
  if (status != TESELA_OK)
    fail_msg("%s on %s: %s", name, device->name, tesela_last_error());
  const tsl_operands operands = {
      .a = {.host = vectors_in->x}, .b = {.host = vectors_in->y}, .c = {.host = &c}};
  assert_int_equal(tsl_plan_run(plan, &operands, NULL), TESELA_OK);
  tsl_plan_destroy(plan);
  return c;
}

/* alpha sum + beta before as C has it: rounded once; or modulo 2^32. Everything is a whole number below 2^53.
 */
static uint64_t rounded(tesela_type type, double sum, const double scalar[2], double before) {
  const double result[2] = {scalar[0] * sum + scalar[1] * before, 0};
  uint64_t c = 0;
  if (type == TESELA_I32)
    return (uint32_t)(int64_t)result[0];
  tsl_type_store(type, &c, result);
  return c;
}

static void expect_bits(const char *name, const char *device_name, const tsl_types *types) {
  static const int64_t strides[][2] = {{1, 1}, {2, 3}};
  tsl_device *device = device_named(device_name);
  for (size_t s = 0; s < 2; s++) {
    vectors of = made(types, strides[s][0], strides[s][1]);
    for (int i = 0; i < LENGTHS; i++)
      for (int j = 0; j < SCALARS; j++) {
        const double before = 7;
        const tsl_problem problem = problem_of(types, &of, lengths[i], scalars[j]);
        const uint64_t right = rounded(types->c, sum_of(types, &of, lengths[i]), scalars[j], before),
                       is = dot_bits(name, device, &problem, &of, before);
        if (is != right)
          fail_msg("%s on %s, %s x %s -> %s, %d terms: %llx, not %llx", name, device_name,
                   tsl_type(types->a)->name, tsl_type(types->b)->name, tsl_type(types->c)->name,
                   (int)lengths[i], (unsigned long long)is, (unsigned long long)right);
      }
    drop(&of);
  }
}

/* Integers are exact by every strategy. Other types are exact by `exact`, and by `fixed_tree`,
 * which sums in double, where C is f32 or rounded from f32. */
static void sums_are_exact(void **state) {
  (void)state;
  static const char *const names[] = {"sequential", "fixed_tree", "exact"};
  for (int t = 0; tsl_types_narrow[t].c; t++)
    for (int n = 0; n < 3; n++) {
      const tsl_types *types = &tsl_types_narrow[t];
      if (types->c == TESELA_I32 || n == 2 || (n == 1 && types->c == TESELA_F32))
        expect_bits(names[n], "cpu", types);
    }
}

/* The specification: narrow numbers are widened to f32, the tree is f32's, and its result is
 * rounded to C's type. */
static void the_tree_is_that_of_f32(void **state) {
  (void)state;
  static const tsl_types wide = {TESELA_F32, TESELA_F32, TESELA_F32};
  static const double scalar[2] = {0.7, 0};
  for (int t = 0; tsl_types_narrow[t].c; t++) {
    const tsl_types *types = &tsl_types_narrow[t];
    vectors of = made(types, 1, 1), same = made(&wide, 1, 1);
    for (int64_t i = 0; i < MOST && types->c != TESELA_I32; i++) {
      const float x = (float)number_at(types->a, of.x, i) / 3, y = (float)number_at(types->b, of.y, i) / 7;
      const double narrow[2][2] = {{x, 0}, {y, 0}};
      tsl_type_store(types->a, of.x + 2 * i, narrow[0]);
      tsl_type_store(types->b, of.y + 2 * i, narrow[1]);
      ((float *)(void *)same.x)[i] = (float)number_at(types->a, of.x, i);
      ((float *)(void *)same.y)[i] = (float)number_at(types->b, of.y, i);
    }
    for (int i = 0; i < LENGTHS && types->c != TESELA_I32; i++) {
      const tsl_problem problem = problem_of(types, &of, lengths[i], scalar),
                        twin = problem_of(&wide, &same, lengths[i], scalar);
      const uint64_t bits = dot_bits("fixed_tree", device_named("cpu"), &twin, &same, 0);
      double right[2];
      uint64_t c = 0;
      tsl_type_load(TESELA_F32, &bits, right);
      tsl_type_store(types->c, &c, right);
      assert_int_equal(dot_bits("fixed_tree", device_named("cpu"), &problem, &of, 0), c);
    }
    drop(&of);
    drop(&same);
  }
}

/* Two cases by kernels: a narrow C, and factors of different signedness. */
static void kernels_have_the_same_bits(void **state) {
  (void)state;
  static const tsl_types halves = {TESELA_F16, TESELA_F16, TESELA_F16},
                         bytes = {TESELA_U8, TESELA_I8, TESELA_I32};
  expect_bits("exact", "opencl:0", &halves);
  expect_bits("fixed_tree", "opencl:0", &bytes);
  expect_bits("block_tree", "opencl:0", &bytes);
}

/* 2^37 terms of integers are as many as a double surely holds. */
static void more_integers_than_a_double_holds_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"fixed_tree", "exact"};
  for (int n = 0; n < 2; n++) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_DOT, names[n]);
    const tsl_config config = tsl_strategy_defaults(strategy);
    tsl_problem problem = tsl_problem_dot((int64_t)1 << 37, TESELA_U8);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, device_named("cpu")));
    problem = tsl_problem_dot(((int64_t)1 << 37) + 1, TESELA_U8);
    assert_non_null(tsl_strategy_refuse(strategy, &problem, &config, device_named("cpu")));
  }
}

/* As a caller has it: types filled in, u8 with i8, a context that chooses. */
static void the_public_call_takes_them(void **state) {
  (void)state;
  int8_t x[3] = {1, -2, 100}, signs[3] = {-128, 5, 3};
  uint8_t y[3] = {200, 3, 255};
  uint16_t halves[3] = {0x3c00, 0x4000, 0x4200}, half = 0; /* 1, 2, 3 */
  int32_t result = 0;
  float wide = 0;
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context), TESELA_OK);
  tesela_dot_desc desc = {.n = 3,
                          .x = {.data = x, .type = TESELA_I8},
                          .y = {.data = signs, .type = TESELA_I8},
                          .result = {.data = &result}};
  if (tesela_dot(context, &desc, NULL) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(result, -128 - 10 + 300);
  desc.y = (tesela_vector){.data = y, .type = TESELA_U8};
  assert_int_equal(tesela_dot(context, &desc, NULL), TESELA_OK);
  assert_int_equal(result, 200 - 6 + 25500);
  desc = (tesela_dot_desc){.n = 3,
                           .x = {.data = halves, .type = TESELA_F16},
                           .y = {.data = halves, .type = TESELA_F16},
                           .result = {.data = &half}};
  assert_int_equal(tesela_dot(context, &desc, NULL), TESELA_OK);
  assert_int_equal(half, 0x4b00); /* 14 */
  desc.result = (tesela_scalar){.data = &wide, .type = TESELA_F32};
  assert_int_equal(tesela_dot(context, &desc, NULL), TESELA_OK);
  assert_true(wide == 14);
  tesela_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(the_tree_is_that_of_f32),
      cmocka_unit_test(more_integers_than_a_double_holds_are_refused),
      cmocka_unit_test(the_public_call_takes_them),
  };
  const struct CMUnitTest on_opencl[] = {cmocka_unit_test(kernels_have_the_same_bits)};
  const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
  if (failed)
    return failed;
  return opencl_is_missing() ? OPENCL_SKIPPED : cmocka_run_group_tests(on_opencl, set_up, tear_down);
}
