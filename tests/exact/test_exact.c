/* The exact dot against MPFR, bit by bit, on every device, with every config; with a device's name as its
 * argument, on that device alone. */
#include "unit/calls.h"

#include "core/random.h"
#include "core/status.h"
#include "exact/reference.h"
#include "exact/vectors.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_devices *devices;
static const char *only; /* NULL: all */
static const tsl_strategy *strategy;

static const tesela_type types[] = {TESELA_F32, TESELA_F64};

/* --- one result --- */

/* One dot: vectors in memory with strides, and scalars. */
typedef struct trial {
  const vectors *terms;
  int64_t x_stride, y_stride;
  double alpha, beta, c;
} trial;

static tsl_problem problem_of(const trial *trial_in) {
  tsl_problem problem = tsl_problem_dot(trial_in->terms->count, trial_in->terms->type);
  problem.a.col_stride = trial_in->x_stride;
  problem.b.row_stride = trial_in->y_stride;
  problem.alpha[0] = trial_in->alpha;
  problem.beta[0] = trial_in->beta;
  return problem;
}

/* A vector in host memory; the caller frees *memory. */
static void *lay_out(const tsl_shape *shape, const double *values, int64_t count, int64_t stride,
                     void **memory) {
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  unsigned char *start = calloc((size_t)tsl_shape_extent(shape) + 1, (size_t)size);
  assert_non_null(start);
  unsigned char *origin = start + tsl_shape_below(shape) * size;
  *memory = start;
  tsl_type_convert(TESELA_F64, values, 1, shape->type, origin, stride, (size_t)count);
  return origin;
}

static double compute(tsl_device *device, const tsl_config *config, const trial *trial_in) {
  const tsl_problem problem = problem_of(trial_in);
  const vectors *terms = trial_in->terms;
  unsigned char c[8];
  void *memory[2];
  double value[2] = {trial_in->c, 0};
  tsl_plan *plan;
  tsl_type_store(terms->type, c, value);
  const tsl_operands operands = {
      .a.host = lay_out(&problem.a, terms->x, terms->count, trial_in->x_stride, &memory[0]),
      .b.host = lay_out(&problem.b, terms->y, terms->count, trial_in->y_stride, &memory[1]),
      .c.host = c,
  };
  must(tsl_planner_create(&problem, strategy, config, device, TSL_PLACE_HOST, &plan));
  must(tsl_plan_run(plan, &operands, NULL));
  tsl_plan_destroy(plan);
  free(memory[0]);
  free(memory[1]);
  tsl_type_load(terms->type, c, value);
  /* A NaN has no sign and no payload. */
  if (isnan(value[0])) {
    static const unsigned char quiet[2][8] = {{0, 0, 0xc0, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}};
    assert_memory_equal(c, quiet[terms->type == TESELA_F64], tsl_type(terms->type)->size);
  }
  return value[0];
}

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_on(tsl_device *device, const tsl_config *config, const trial *trial_in, double right,
                     const char *what) {
  const double value = compute(device, config, trial_in);
  if (!same(value, right)) {
    tsl_text text = {0};
    tsl_config_print(strategy, config, &text);
    fail_msg(
        "%s on %s: %s, %s, %lld terms, strides %lld and %lld, alpha %a, beta %a, c %a: %a in place of %a",
        tsl_text_get(&text), device->name, what, tsl_type(trial_in->terms->type)->name,
        (long long)trial_in->terms->count, (long long)trial_in->x_stride, (long long)trial_in->y_stride,
        trial_in->alpha, trial_in->beta, trial_in->c, value, right);
  }
}

/* --- on every device --- */

static double reference_of(const trial *trial_in) {
  const vectors *terms = trial_in->terms;
  reference sum;
  reference_start(&sum);
  for (int64_t i = 0; i < terms->count; i++)
    /* A stride of 0 leaves the last number in place of all. */
    reference_add(&sum, terms->x[trial_in->x_stride ? i : terms->count - 1],
                  terms->y[trial_in->y_stride ? i : terms->count - 1]);
  const double right = reference_result(&sum, trial_in->alpha, trial_in->beta, trial_in->c, terms->type);
  reference_end(&sum);
  return right;
}

/* Device `index` that the test is about and that takes the problem; false past the end. */
static bool next_device(int *index, const tsl_problem *problem, tsl_device **device) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  while ((*device = tsl_devices_at(devices, (*index)++)) != NULL) {
    if (only && strcmp((*device)->name, only) != 0)
      continue;
    must(tsl_device_open(*device));
    if (!tsl_strategy_refuse(strategy, problem, &config, *device))
      return true;
  }
  return false;
}

/* How many of the configs a trial runs with. */
typedef enum breadth { DEFAULTS, ALL_CONFIGS } breadth;

static void check(const trial *trial_in, breadth how, const char *what) {
  const double right = reference_of(trial_in);
  const tsl_problem problem = problem_of(trial_in);
  tsl_device *device;
  for (int d = 0; next_device(&d, &problem, &device);) {
    tsl_config config = tsl_strategy_defaults(strategy);
    if (how == DEFAULTS) {
      check_on(device, &config, trial_in, right, what);
      continue;
    }
    for (int i = 0; tsl_strategy_config(strategy, i, &config); i++)
      if (!tsl_strategy_refuse(strategy, &problem, &config, device))
        check_on(device, &config, trial_in, right, what);
  }
}

/* --- kinds of vectors --- */

static const int64_t lengths[] = {2, 7, 40, 300, 1000, 5003, 33000};
enum { LENGTHS = sizeof lengths / sizeof *lengths, SEEDS = 4, SHORT = 300 };

static void every_kind_of_vectors(void **state) {
  (void)state;
  const vectors_kind *kind;
  for (int k = 0; (kind = vectors_kind_at(k)) != NULL; k++)
    for (int t = 0; t < 2; t++)
      for (int l = 0; l < LENGTHS; l++)
        for (uint64_t seed = 0; seed < (lengths[l] <= SHORT ? SEEDS : 1); seed++) {
          vectors terms;
          vectors_create(types[t], lengths[l], &terms);
          kind->make(&terms, t ? kind->f64 : kind->f32, 100 * (uint64_t)k + 10 * (uint64_t)l + seed);
          const trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1};
          check(&given, seed == 0 && lengths[l] == 5003 ? ALL_CONFIGS : DEFAULTS, kind->name);
          vectors_free(&terms);
        }
}

/* Many short ones: ties and ends of ranges depend on a few bits. */
static void brinks_and_ties(void **state) {
  (void)state;
  const vectors_kind *kind;
  for (int k = 0; (kind = vectors_kind_at(k)) != NULL; k++)
    for (uint64_t seed = 0; seed < 60 && (strcmp(kind->name, "tie") == 0 || strcmp(kind->name, "brink") == 0);
         seed++)
      for (int t = 0; t < 2; t++) {
        vectors terms;
        vectors_create(types[t], 4 + (int64_t)seed % 23, &terms);
        kind->make(&terms, t ? kind->f64 : kind->f32, seed);
        const trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1};
        check(&given, DEFAULTS, kind->name);
        vectors_free(&terms);
      }
}

static void condition_numbers_are_what_they_are_called(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    vectors terms;
    reference sum, magnitude;
    vectors_create(types[t], 1000, &terms);
    vectors_ill_conditioned(&terms, 1e30, 5);
    reference_start(&sum);
    reference_start(&magnitude);
    for (int64_t i = 0; i < terms.count; i++) {
      reference_add(&sum, terms.x[i], terms.y[i]);
      reference_add(&magnitude, fabs(terms.x[i]), fabs(terms.y[i]));
    }
    const double condition = 2 * reference_value(&magnitude) / fabs(reference_value(&sum));
    print_message("  %s: condition number %.1e\n", tsl_type(types[t])->name, condition);
    assert_true(condition > 1e25 && condition < 1e40);
    reference_end(&sum);
    reference_end(&magnitude);
    vectors_free(&terms);
  }
}

/* --- lengths, strides, orders --- */

static void every_length(void **state) {
  (void)state;
  static const int64_t far[] = {255,  256,  257,  511,  512,   513,   2047,  2048,
                                2049, 4095, 4096, 4097, 32767, 32768, 32769, 65537};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 40 + (int)(sizeof far / sizeof *far); i++) {
      vectors terms;
      vectors_create(types[t], i < 40 ? i : far[i - 40], &terms);
      if (terms.count > 3)
        vectors_ill_conditioned(&terms, 1e20, (uint64_t)i);
      const trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1};
      check(&given, DEFAULTS, "lengths");
      vectors_free(&terms);
    }
}

static void a_million_terms(void **state) {
  (void)state;
  const vectors_kind *kind;
  for (int k = 0; (kind = vectors_kind_at(k)) != NULL; k += 5)
    for (int t = 0; t < 2; t++) {
      vectors terms;
      vectors_create(types[t], 1000000, &terms);
      kind->make(&terms, t ? kind->f64 : kind->f32, (uint64_t)k);
      const trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1};
      check(&given, k == 0 ? ALL_CONFIGS : DEFAULTS, kind->name);
      vectors_free(&terms);
    }
}

static void every_stride(void **state) {
  (void)state;
  static const int64_t strides[] = {1, 2, 3, -1, -2, 5, 0};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 49; i++) {
      vectors terms;
      vectors_create(types[t], 1500, &terms);
      vectors_ill_conditioned(&terms, 1e30, (uint64_t)i);
      const trial given = {
          .terms = &terms, .x_stride = strides[i % 7], .y_stride = strides[i / 7], .alpha = 1};
      check(&given, DEFAULTS, "strides");
      vectors_free(&terms);
    }
}

static void order_changes_nothing(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    vectors terms;
    vectors_create(types[t], 20011, &terms);
    vectors_ill_conditioned(&terms, 1e30, 3);
    const trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1};
    const tsl_problem problem = problem_of(&given);
    const tsl_config config = tsl_strategy_defaults(strategy);
    tsl_device *device;
    for (int d = 0; next_device(&d, &problem, &device);) {
      const double first = compute(device, &config, &given);
      for (uint64_t order = 0; order < 8; order++) {
        vectors_shuffle(&terms, order);
        assert_true(same(first, compute(device, &config, &given)));
      }
    }
    vectors_free(&terms);
  }
}

/* --- scalars --- */

static double scalar(tesela_type type, uint64_t seed, uint64_t index) {
  const tsl_type_info *info = tsl_type(type);
  const double values[] = {0,         1,    -1,   0.7, info->largest, info->smallest, -info->smallest * 12345,
                           -INFINITY, -0.0, 1e-9, NAN, INFINITY};
  const uint64_t dice = tsl_random_u64(seed, index);
  if (dice % 3 == 0)
    return vectors_rounded(type, values[dice / 3 % (sizeof values / sizeof *values)]);
  const int span = type == TESELA_F32 ? 140 : 1060;
  return vectors_rounded(type,
                         ldexp(tsl_random_value(TSL_DRAW_UNIFORM, seed, index), (int)(dice >> 8) % span));
}

static void scalars_are_fused(void **state) {
  (void)state;
  int kinds = 0;
  while (vectors_kind_at(kinds) != NULL)
    kinds++;
  for (int t = 0; t < 2; t++)
    for (uint64_t i = 0; i < 400; i++) {
      const vectors_kind *kind = vectors_kind_at((int)i % kinds);
      vectors terms;
      vectors_create(types[t], (int64_t)(tsl_random_u64(77, i) % 300), &terms);
      if (terms.count > 3)
        kind->make(&terms, t ? kind->f64 : kind->f32, i);
      const trial given = {.terms = &terms,
                           .x_stride = 1,
                           .y_stride = 1,
                           .alpha = i % 4 ? scalar(types[t], 1, i) : 1,
                           .beta = i % 5 ? scalar(types[t], 2, i) : 0,
                           .c = scalar(types[t], 3, i)};
      check(&given, DEFAULTS, kind->name);
      vectors_free(&terms);
    }
}

/* Products around and below the smallest number, which a factor scales back into range: first the
 * rounded product, then its error. */
static void far_products_come_back(void **state) {
  (void)state;
  static const int scales[2][6] = {{-40, -60, -64, -70, -90, -120}, {-400, -450, -470, -500, -530, -1000}};
  for (int t = 0; t < 2; t++)
    for (uint64_t seed = 0; seed < 24; seed++) {
      const double scale = ldexp(1, scales[t][seed / 2 % 6]);
      vectors terms;
      vectors_create(types[t], 500, &terms);
      for (int64_t i = 0; i < terms.count; i++) {
        const double near =
            ldexp(1, t ? (i % 2 ? -28 : -45) : -13 - (int)i % 11); /* errors 56 or 90 bits below */
        const double x = seed % 2 ? 1 + near : tsl_random_value(TSL_DRAW_NORMAL, seed, (uint64_t)i);
        const double y = seed % 2 ? 1 - near : tsl_random_value(TSL_DRAW_NORMAL, ~seed, (uint64_t)i);
        terms.x[i] = vectors_rounded(types[t], scale * x);
        terms.y[i] = vectors_rounded(types[t], scale * y);
      }
      trial given = {.terms = &terms, .x_stride = 1, .y_stride = 1, .alpha = 1 / scale};
      const double first = reference_of(&given);
      assert_true(first != 0);
      check(&given, DEFAULTS, "far products");
      given.beta = -1;
      given.c = first;
      check(&given, DEFAULTS, "what a rounded far product lacks");
      vectors_free(&terms);
    }
}

static int set_up(void **state) {
  (void)state;
  strategy = tsl_strategy_find(TSL_OP_DOT, "exact");
  return strategy == NULL || tsl_devices_create(&devices) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(condition_numbers_are_what_they_are_called),
      cmocka_unit_test(every_kind_of_vectors),
      cmocka_unit_test(brinks_and_ties),
      cmocka_unit_test(every_length),
      cmocka_unit_test(every_stride),
      cmocka_unit_test(order_changes_nothing),
      cmocka_unit_test(scalars_are_fused),
      cmocka_unit_test(far_products_come_back),
      cmocka_unit_test(a_million_terms),
  };
  only = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
