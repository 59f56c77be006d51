/* alpha and beta are rounded to the type of the sums before any decision. A scalar that rounds to 0
 * is 0, and its operand is not read. In every strategy that runs here, on every device, in dots,
 * transposes, batches, parsed plans, and the fast path of plans. */
#include "core/text.h"
#include "judge/check.h"
#include "strategy/strategy_list.h"
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { M = 6, N = 7, K = 5, MOST = 64 };

static tesela_context *context;
static tsl_devices *devices;

/* Too small for f32 in either sign, and far from 0 in f64. */
static const double tiny[2] = {1e-60, -1e-60}, one[2] = {1, 0};

static int set_up(void **state) {
  (void)state;
  setenv("TESELA_SELFTEST", "0",
         1); /* kernels are compiled once for this, and not for the judge's cases, too */
  return tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK ||
         tsl_devices_create(&devices) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  tsl_devices_destroy(devices);
  return 0;
}

/* At most 16 bytes an element. */
static _Alignas(64) unsigned char a[16 * MOST], b[16 * MOST], c[16 * MOST];

static void fill(tesela_type type, unsigned char *memory, double value) {
  const double both[2] = {value, value};
  for (size_t i = 0; i < MOST; i++)
    tsl_type_store(type, memory + i * tsl_type(type)->size, both);
}

/* Returns true when each of the first `count` elements has the value; complex elements in both
 * parts. */
static bool holds(tesela_type type, int count, double value) {
  for (int i = 0; i < count; i++) {
    double got[2];
    tsl_type_load(type, c + (size_t)i * tsl_type(type)->size, got);
    if (got[0] != value || got[1] != (tsl_type(type)->is_complex ? value : 0))
      return false;
  }
  return true;
}

static void expect(bool right, tesela_status status, const char *what, const char *device,
                   const tsl_types *types) {
  if (status == TESELA_UNSUPPORTED)
    return;
  if (status != TESELA_OK)
    fail_msg("%s on %s: %s", what, device, tesela_last_error());
  if (!right)
    fail_msg("%s on %s, %s to %s: a factor of 1e-60 is not 0", what, device, tsl_type(types->a)->name,
             tsl_type(types->c)->name);
}

/* Returns true for types that are summed in f32. */
static bool is_single(const tsl_types *types) {
  const tesela_type sums = tsl_type(types->c)->sums;
  return tsl_type(sums)->component == TESELA_F32;
}

static tesela_gemm_desc product(const char *strategy, const char *device, const tsl_types *types, int64_t m) {
  return (tesela_gemm_desc){.m = m,
                            .n = N,
                            .k = K,
                            .a = {.data = a, .type = types->a},
                            .b = {.data = b, .type = types->b},
                            .c = {.data = c, .type = types->c},
                            .options.strategy = strategy,
                            .options.device = device};
}

/* alpha = 0 reads neither A nor B; beta = 0 does not read C. */
static void try_product(const char *strategy, const char *device, const tsl_types *types, int64_t m) {
  tesela_gemm_desc desc = product(strategy, device, types, m);
  fill(types->a, a, NAN);
  fill(types->b, b, 1);
  fill(types->c, c, 3);
  desc.alpha = tiny;
  desc.beta = one;
  tesela_status status = tesela_gemm(context, &desc, NULL);
  expect(holds(types->c, (int)m * N, 3), status, strategy, device, types);
  fill(types->a, a, 0);
  fill(types->c, c, NAN);
  desc.alpha = NULL;
  desc.beta = tiny;
  status = tesela_gemm(context, &desc, NULL);
  expect(holds(types->c, (int)m * N, 0), status, strategy, device, types);
}

static void try_dot(const char *strategy, const char *device, const tsl_types *types) {
  tesela_dot_desc desc = {.n = K,
                          .x = {.data = a, .type = types->a},
                          .y = {.data = b, .type = types->b},
                          .result = {.data = c, .type = types->c},
                          .alpha = tiny,
                          .beta = one,
                          .options.strategy = strategy,
                          .options.device = device};
  fill(types->a, a, NAN);
  fill(types->b, b, 1);
  fill(types->c, c, 3);
  tesela_status status = tesela_dot(context, &desc, NULL);
  expect(holds(types->c, 1, 3), status, strategy, device, types);
  fill(types->a, a, 0);
  fill(types->c, c, NAN);
  desc.alpha = NULL;
  desc.beta = tiny;
  status = tesela_dot(context, &desc, NULL);
  expect(holds(types->c, 1, 0), status, strategy, device, types);
}

static void try_transpose(const char *strategy, const char *device, const tsl_types *types) {
  tesela_transpose_desc desc = {.rows = N,
                                .cols = M,
                                .a = {.data = a, .type = types->a},
                                .b = {.data = c, .type = types->c},
                                .alpha = tiny,
                                .options.strategy = strategy,
                                .options.device = device};
  fill(types->a, a, NAN);
  fill(types->c, c, 3);
  const tesela_status status = tesela_transpose(context, &desc, NULL);
  expect(holds(types->c, M * N, 0), status, strategy, device, types);
  /* A factor that is 1 as the type has it moves elements of any kind. */
  const double nearly[] = {1 + 1e-12, 0};
  desc.alpha = nearly;
  fill(types->a, a, -0.0);
  expect(true, tesela_transpose(context, &desc, NULL), strategy, device, types);
}

/* alpha = 0 reads nothing. */
static void try_solve(const char *strategy, const char *device, const tsl_types *types) {
  const tesela_solve_desc desc = {.rows = N,
                                  .cols = M,
                                  .a = {.data = a, .type = types->a},
                                  .triangle = TESELA_LOWER,
                                  .b = {.data = b, .type = types->b},
                                  .x = {.data = c, .type = types->c},
                                  .alpha = tiny,
                                  .options.strategy = strategy,
                                  .options.device = device};
  fill(types->a, a, NAN);
  fill(types->b, b, NAN);
  fill(types->c, c, 3);
  const tesela_status status = tesela_solve(context, &desc, NULL);
  expect(holds(types->c, M * N, 0), status, strategy, device, types);
}

/* Returns true when the types are tested on the device: all types on the cpu. On other devices each
 * type needs a kernel, whose compilation takes longest. There, for each strategy, the first types
 * whose sums have C's type, and the first whose sums do not. */
static bool is_tried(const tsl_types *types, const tsl_device *device, bool tried[2]) {
  const bool is_narrow = tsl_type(types->c)->sums != types->c;
  if (!is_single(types) || (tried[is_narrow] && !(device->capabilities & TSL_CAN_HOST)))
    return false;
  tried[is_narrow] = true;
  return true;
}

static void try_strategy(const tsl_strategy *strategy, const tsl_device *on) {
  const char *device = on->name;
  bool tried[2] = {false, false};
  tsl_types types;
  for (int t = 0; tsl_strategy_types(strategy, t, &types); t++) {
    if (!is_tried(&types, on, tried))
      continue;
    if (strategy->op == TSL_OP_DOT)
      try_dot(strategy->name, device, &types);
    else if (strategy->op == TSL_OP_TRANSPOSE)
      try_transpose(strategy->name, device, &types);
    else if (strategy->op == TSL_OP_SOLVE)
      try_solve(strategy->name, device, &types);
    else /* a row alone on the cpu: kernels are compiled for each shape */
      for (int64_t m = on->capabilities & TSL_CAN_HOST ? 1 : M; m <= M; m += M - 1)
        try_product(strategy->name, device, &types, m);
  }
}

static void in_every_strategy(void **state) {
  const tsl_strategy *strategy;
  tsl_device *device;
  (void)state;
  for (int d = 0; (device = tsl_devices_at(devices, d)); d++)
    for (int i = 0; (strategy = tsl_strategy_at(i)); i++)
      try_strategy(strategy, device);
}

/* By the public calls' other ways. */
static void in_batches(void **state) {
  static const char *const strategies[] = {"host_small", "host_packed", "sequential"};
  const tsl_types types = {TESELA_F32, TESELA_F32, TESELA_F32};
  const void *each_a[2] = {a, a}, *each_b[2] = {b, b};
  void *each_c[2] = {c, c + 4 * 30};
  (void)state;
  for (int s = 0; s < 3; s++) {
    tesela_gemm_desc desc = product(strategies[s], "cpu", &types, 2);
    desc.a.data = desc.b.data = desc.c.data = NULL;
    desc.beta = tiny;
    fill(TESELA_F32, a, 0);
    fill(TESELA_F32, b, 1);
    fill(TESELA_F32, c, NAN);
    const tesela_batch batch = {.count = 2, .a = each_a, .b = each_b, .c = each_c};
    expect(true, tesela_gemm_batched(context, &desc, &batch, NULL), strategies[s], "cpu", &types);
    assert_true(holds(TESELA_F32, 2 * N, 0));
  }
}

static void in_plans(void **state) {
  const tsl_types types = {TESELA_F32, TESELA_F32, TESELA_F32};
  tesela_gemm_desc desc = product("host_small", "cpu", &types, M);
  tesela_plan *plan, *parsed;
  char text[512];
  (void)state;
  desc.beta = tiny;
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  assert_null(strstr(tesela_plan_describe(plan), "beta=")); /* it is 0 */
  fill(TESELA_F32, a, 0);
  fill(TESELA_F32, b, 1);
  fill(TESELA_F32, c, NAN);
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
                   TESELA_OK);
  assert_true(holds(TESELA_F32, M * N, 0));
  snprintf(text, sizeof text, "%s alpha=1e-60 beta=1", tesela_plan_describe(plan));
  assert_int_equal(tesela_plan_parse(context, text, &parsed), TESELA_OK);
  assert_int_equal(tesela_plan_run(parsed, &(tesela_operands){.c = &desc.c}, NULL),
                   TESELA_OK); /* nothing is read */
  assert_true(holds(TESELA_F32, M * N, 0));
  tesela_plan_destroy(parsed);
  tesela_plan_destroy(plan);
}

/* Where sums are made in f64, 1e-60 is a factor like any other. */
static void not_in_doubles(void **state) {
  const tsl_types types = {TESELA_F64, TESELA_F64, TESELA_F64};
  tesela_gemm_desc desc = product(NULL, "cpu", &types, M);
  (void)state;
  desc.beta = tiny;
  fill(TESELA_F64, a, 0);
  fill(TESELA_F64, b, 1);
  fill(TESELA_F64, c, 3);
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
  assert_true(holds(TESELA_F64, M * N, 3 * 1e-60));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_every_strategy), cmocka_unit_test(in_batches),
                                     cmocka_unit_test(in_plans), cmocka_unit_test(not_in_doubles)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
