/* The floating-point environment of calls on the processor: the caller's mode holds for every thread, and
 * strategies that need rounding to nearest have it. Plans do not depend on the mode. Nothing traps, and no
 * flag is left that the result does not bear out. */
#include "unit/unit.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/floats.h"
#include "core/pool.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"

enum { THREADS = 8, MOST = 72, BYTES = 16 * MOST * MOST, SERIOUS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static tesela_context *contexts[THREADS + 1];
static _Alignas(64) unsigned char a[BYTES], b[BYTES], before[BYTES], c[BYTES], expected[BYTES], plain[BYTES];
static tsl_floats own;

static int set_up(void **state) {
  (void)state;
  own = tsl_floats_read();
  for (int threads = 1; threads <= THREADS; threads++)
    if (tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads},
                              &contexts[threads]) != TESELA_OK)
      return 1;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int threads = 1; threads <= THREADS; threads++)
    tesela_context_destroy(contexts[threads]);
  return 0;
}

/* --- modes --- */

/* How subnormal numbers are taken: bits of the environment that C has no function for. */
#if defined(__x86_64__)
static const tsl_floats flushes[] = {0, 0x8000, 0x40, 0x8040};
#elif defined(__aarch64__)
static const tsl_floats flushes[] = {0, 1u << 24};
#else
static const tsl_floats flushes[] = {0};
#endif
static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
enum {
  FLUSHES = sizeof flushes / sizeof *flushes,
  ROUNDINGS = sizeof roundings / sizeof *roundings,
  MODES = FLUSHES * ROUNDINGS
};

static void take_mode(int mode) {
  fesetround(roundings[mode % ROUNDINGS]);
  tsl_floats_write(tsl_floats_read() | flushes[mode / ROUNDINGS]);
}
static void leave_mode(void) {
  fesetround(FE_TONEAREST);
  tsl_floats_write(own);
}

/* --- data --- */

typedef enum data { ZEROS, IDENTITY, SUBNORMAL, MIXED, DATA } data;

static uint64_t drawn = 1;
static double draw(void) {
  drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(drawn >> 11) / 0x1p52 - 1;
}

static double number(data kind, const tsl_type_info *type, int64_t i) {
  const double value = draw();
  if (kind == ZEROS)
    return 0;
  if (kind == IDENTITY)
    return i % (MOST + 1) == 0;
  if (type->is_integer)
    return floor(100 * fabs(value));
  if (kind == SUBNORMAL)
    return type->smallest * floor(100 * value);
  return i % 11 == 0 ? 0 : i % 7 == 0 ? value * 100 * type->smallest : value;
}

static void fill(data kind, tesela_type type, unsigned char *memory) {
  const tsl_type_info *info = tsl_type(type);
  for (int64_t i = 0; i < MOST * MOST; i++) {
    const double value[2] = {number(kind, info, i), info->is_complex ? number(kind, info, i) : 0};
    tsl_type_store(type, memory + (size_t)i * info->size, value);
  }
}

/* Identities and zeros are A; the other operands are mixed then. */
static void fill_all(data kind, const tsl_types *types) {
  fill(kind, types->a, a);
  fill(kind == SUBNORMAL ? SUBNORMAL : MIXED, types->b, b);
  fill(MIXED, types->c, before);
}

/* --- calls --- */

typedef struct call {
  const tsl_strategy *strategy; /* NULL: the planner's choice of a product */
  tsl_types types;
  int64_t m, n, k;
  bool adds; /* beta is not 0 */
} call;

static tesela_status run(const call *call_in, int threads, const char *bits) {
  static const double alpha[2] = {-1.1, 0.3}, beta[2] = {0.7, 0.2}, whole[2] = {2, 0}, zero[2] = {0, 0};
  const tsl_op op = call_in->strategy ? call_in->strategy->op : TSL_OP_GEMM;
  const bool is_integer = tsl_type(call_in->types.c)->is_integer, is_plain = op == TSL_OP_DOT;
  const char *name = call_in->strategy ? call_in->strategy->name : NULL;
  const double *by = is_integer ? whole : alpha, *adding = !call_in->adds ? zero : is_integer ? whole : beta;
  memcpy(c, before, sizeof c);
  if (op == TSL_OP_DOT)
    return tesela_dot(contexts[threads],
                      &(tesela_dot_desc){.n = call_in->k * call_in->m,
                                         .x = {.data = a, .type = call_in->types.a},
                                         .y = {.data = b, .type = call_in->types.b},
                                         .result = {.data = c, .type = call_in->types.c},
                                         .alpha = is_plain ? NULL : by,
                                         .options.strategy = name},
                      NULL);
  if (op == TSL_OP_TRANSPOSE)
    return tesela_transpose(contexts[threads],
                            &(tesela_transpose_desc){.rows = call_in->m,
                                                     .cols = call_in->n,
                                                     .a = {.data = a, .type = call_in->types.a},
                                                     .b = {.data = c, .type = call_in->types.c},
                                                     .options.strategy = name},
                            NULL);
  if (op == TSL_OP_SOLVE)
    return TESELA_UNSUPPORTED; /* its triangle needs a diagonal */
  return tesela_gemm(contexts[threads],
                     &(tesela_gemm_desc){.m = call_in->m,
                                         .n = call_in->n,
                                         .k = call_in->k,
                                         .a = {.data = a, .type = call_in->types.a},
                                         .b = {.data = b, .type = call_in->types.b},
                                         .c = {.data = c, .type = call_in->types.c},
                                         .alpha = by,
                                         .beta = adding,
                                         .options.reproducibility = bits,
                                         .options.strategy = name},
                     NULL);
}

/* Every strategy, each with all its types. Returns false past the last. */
static bool next_call(int *strategy, int *types, call *out) {
  for (; tsl_strategy_at(*strategy); (*strategy)++, *types = 0) {
    out->strategy = tsl_strategy_at(*strategy);
    if (!out->strategy->vendor.load && tsl_strategy_types(out->strategy, (*types)++, &out->types))
      return true;
  }
  return false;
}

static const char *name_of(const call *call_in, char text[160]) {
  snprintf(text, 160, "%s %s, %s to %s, %lld x %lld x %lld%s",
           call_in->strategy ? tsl_op_name(call_in->strategy->op) : "gemm",
           call_in->strategy ? call_in->strategy->name : "auto", tsl_type(call_in->types.a)->name,
           tsl_type(call_in->types.c)->name, (long long)call_in->m, (long long)call_in->n,
           (long long)call_in->k, call_in->adds ? ", beta" : "");
  return text;
}

/* --- tests --- */

static void check_modes(const call *call_in) {
  char name[160];
  tesela_status status = run(call_in, 1, "threads");
  if (status == TESELA_UNSUPPORTED || status == TESELA_NO_DEVICE)
    return;
  memcpy(plain, c, sizeof plain);
  for (int mode = 0; mode < MODES; mode += mode < ROUNDINGS ? 1 : ROUNDINGS + 1)
    for (int threads = 1; threads <= THREADS; threads += threads < 3 ? 1 : threads < 5 ? 2 : 3) {
      take_mode(mode);
      const tsl_floats wanted = tsl_floats_masked(tsl_floats_read());
      status = run(call_in, threads, "threads");
      const tsl_floats left = tsl_floats_masked(tsl_floats_read());
      const int rounding = fegetround();
      leave_mode();
      if (status != TESELA_OK)
        fail_msg("%s: %s", name_of(call_in, name), tesela_last_error());
      if (threads == 1)
        memcpy(expected, c, sizeof expected);
      if (left != wanted || rounding != roundings[mode % ROUNDINGS])
        fail_msg("%s, mode %d: the caller's mode is another one afterwards", name_of(call_in, name), mode);
      if (memcmp(c, expected, sizeof c) != 0)
        fail_msg("%s, mode %d: %d threads have other bits than one", name_of(call_in, name), mode, threads);
      if (call_in->strategy && call_in->strategy->needs_nearest && memcmp(c, plain, sizeof c) != 0)
        fail_msg("%s, mode %d: other bits than to nearest", name_of(call_in, name), mode);
    }
}

static void modes_hold_for_all_threads(void **state) {
  call of = {.strategy = NULL, .m = 41, .n = 37, .k = 45};
  (void)state;
  for (int strategy = 0, types = 0; next_call(&strategy, &types, &of);) {
    if (!(of.strategy->needs & TSL_CAN_HOST) && of.strategy->needs)
      continue;
    for (data kind = SUBNORMAL; kind <= MIXED; kind++) {
      fill_all(kind, &of.types);
      of.adds = kind == MIXED;
      check_modes(&of);
    }
  }
}

/* A result of numeric requirements rounds to nearest, whatever the caller's rounding mode. */
static void exact_results_round_to_nearest(void **state) {
  static const double x[] = {1.0, 0x1.8p-52, -1.0, 0x1p-60}, y[] = {1 + DBL_EPSILON, 1.0, 1 + DBL_EPSILON, 3};
  (void)state;
  for (int mode = 0; mode < MODES; mode++) {
    double product = 0, sum = 0;
    const double one[] = {1.1}, other[] = {1.3};
    tesela_gemm_desc desc = {.m = 1,
                             .n = 1,
                             .k = 1,
                             .a = {.data = one, .type = TESELA_F64},
                             .b = {.data = other, .type = TESELA_F64},
                             .c = {.data = &product, .type = TESELA_F64},
                             .options.strategy = "residue_int8"};
    take_mode(mode);
    const tesela_status status = tesela_gemm(contexts[2], &desc, NULL);
    desc.k = 4;
    desc.a.data = x;
    desc.b.data = y;
    desc.c.data = &sum;
    desc.options.strategy = NULL;
    desc.options.accuracy = "exact";
    const tesela_status exact = tesela_gemm(contexts[2], &desc, NULL);
    leave_mode();
    assert_true(status == TESELA_OK && exact == TESELA_OK);
    assert_true(fabs(product - 1.1 * 1.3) <= 2 * DBL_EPSILON);
    assert_true(sum == 0x1.8p-52 + 3 * 0x1p-60);
  }
}

/* Sets C to `count` narrow numbers times 1, each in COPIES elements; the numbers are A or B. */
enum { COPIES = 9, NUMBERS = 1024 };
static tesela_status widen(const call *call_in, int64_t count, bool are_a) {
  unsigned char *const numbers = are_a ? a : b, *const ones = are_a ? b : a;
  const size_t size = tsl_type(call_in->types.a)->size;
  for (int64_t i = 0; i < count; i++)
    memcpy(numbers + (size_t)i * size, &(uint16_t){(uint16_t)i}, size);
  for (size_t i = 0; i < COPIES; i++)
    tsl_type_store(call_in->types.a, ones + i * size, (double[2]){1, 0});
  return tesela_gemm(contexts[2],
                     &(tesela_gemm_desc){.m = are_a ? count : COPIES,
                                         .n = are_a ? COPIES : count,
                                         .k = 1,
                                         .a = {.data = a, .type = call_in->types.a},
                                         .b = {.data = b, .type = call_in->types.b},
                                         .c = {.data = c, .type = call_in->types.c},
                                         .options.strategy = call_in->strategy->name},
                     NULL);
}

/* Numbers that are subnormal in a narrow type alone are no subnormal f32, so that no mode flushes them. */
static void narrow_subnormal_numbers_are_kept(void **state) {
  int calls = 0;
  call of = {.m = COPIES, .k = 1};
  (void)state;
  for (int strategy = 0, types = 0; next_call(&strategy, &types, &of);) {
    const tesela_type type = of.types.a;
    if (of.strategy->op != TSL_OP_GEMM || of.types.b != type || of.types.c != TESELA_F32 ||
        (type != TESELA_E4M3 && type != TESELA_E5M2 && type != TESELA_F16))
      continue;
    const int64_t count = type == TESELA_F16 ? NUMBERS : 256;
    for (int mode = 0; mode < MODES * 2; mode++) {
      char name[160];
      const bool are_a = mode >= MODES;
      take_mode(mode % MODES);
      const tesela_status status = widen(&of, count, are_a);
      leave_mode();
      if (status == TESELA_UNSUPPORTED || status == TESELA_NO_DEVICE)
        break;
      assert_int_equal(status, TESELA_OK);
      for (int64_t i = 0; i < count * COPIES; i++) {
        double right[2];
        const uint16_t bits = (uint16_t)(are_a ? i / COPIES : i % count);
        const float found = ((const float *)(void *)c)[i];
        tsl_type_load(type, &bits, right);
        if (found != right[0] && !(isnan(found) && isnan(right[0])))
          fail_msg("%s, mode %d: %g in place of %g", name_of(&of, name), mode, found, right[0]);
      }
      calls++;
    }
  }
  assert_true(calls >= 2 * MODES * 3);
}

static void plans_do_not_depend_on_modes(void **state) {
  static const double alpha[] = {1.1}, beta[] = {1e-40};
  static const int64_t sizes[] = {5, 40, 300, 2000};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int wide = 0; wide < 2; wide++) {
      char first[1024] = "";
      for (int mode = 0; mode < MODES; mode++) {
        tesela_plan *plan, *again;
        tesela_gemm_desc desc = {
            .m = sizes[s], .n = sizes[s] + 3, .k = sizes[s] / 2, .alpha = alpha, .beta = beta};
        desc.a.type = desc.b.type = desc.c.type = wide ? TESELA_F64 : TESELA_F32;
        desc.options.accuracy = s % 2 ? "1e-5" : NULL;
        take_mode(mode);
        const tesela_status status = tesela_plan_create(contexts[4], &desc, &plan);
        const tesela_status parsed =
            status == TESELA_OK ? tesela_plan_parse(contexts[4], tesela_plan_describe(plan), &again) : status;
        leave_mode();
        assert_int_equal(parsed, TESELA_OK);
        if (mode == 0)
          snprintf(first, sizeof first, "%s", tesela_plan_describe(plan));
        assert_string_equal(tesela_plan_describe(plan), first);
        assert_string_equal(tesela_plan_describe(again), first);
        tesela_plan_destroy(plan);
        tesela_plan_destroy(again);
      }
    }
}

static int trapped(void) {
#if defined(__GLIBC__) && defined(__x86_64__)
  return feenableexcept(SERIOUS);
#else
  return -1;
#endif
}
static void leave_traps(void) {
#if defined(__GLIBC__) && defined(__x86_64__)
  fedisableexcept(SERIOUS);
#endif
}

/* A trap ends the program. */
static int check_flags(const call *call_in, int threads, data kind) {
  char name[160];
  feclearexcept(FE_ALL_EXCEPT);
  (void)trapped();
  const tesela_status status = run(call_in, threads, NULL);
  leave_traps();
  const int flags = fetestexcept(SERIOUS);
  feclearexcept(FE_ALL_EXCEPT);
  if (status == TESELA_UNSUPPORTED || status == TESELA_NO_DEVICE)
    return 0;
  if (status != TESELA_OK)
    fail_msg("%s: %s", name_of(call_in, name), tesela_last_error());
  if (flags)
    print_error("%s, %d threads, data %d:%s%s%s\n", name_of(call_in, name), threads, (int)kind,
                flags & FE_INVALID ? " invalid" : "", flags & FE_OVERFLOW ? " overflow" : "",
                flags & FE_DIVBYZERO ? " division by zero" : "");
  return flags != 0;
}

static void no_flag_is_spurious(void **state) {
  static const int64_t sizes[][3] = {{5, 3, 9}, {71, 61, 67}, {1, 72, 72}, {72, 2, 70}, {72, 72, 72}};
  call of;
  int wrong = 0;
  (void)state;
  for (int strategy = 0, types = 0; next_call(&strategy, &types, &of);) {
    if (!(of.strategy->needs & TSL_CAN_HOST) && of.strategy->needs)
      continue;
    for (data kind = ZEROS; kind < DATA; kind++) {
      fill_all(kind, &of.types);
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        of.m = sizes[s][0];
        of.n = sizes[s][1];
        of.k = sizes[s][2];
        of.adds = s % 2;
        wrong += check_flags(&of, 1, kind) + check_flags(&of, 3, kind);
      }
    }
  }
  assert_int_equal(wrong, 0);
}

/* Infinity times numbers of one sign is no invalid operation; padding must not make one of it. */
static void infinite_results_are_not_invalid(void **state) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  call of;
  int wrong = 0;
  (void)state;
  for (int strategy = 0; (of.strategy = tsl_strategy_at(strategy)); strategy++)
    for (int t = 0; t < 2; t++)
      for (int size = 1; size <= 72; size += size < 20 ? 1 : 13) {
        char name[160];
        const tesela_type type = types[t];
        const double infinity[2] = {INFINITY, 0};
        if (of.strategy->op != TSL_OP_GEMM || of.strategy->vendor.load ||
            (!(of.strategy->needs & TSL_CAN_HOST) && of.strategy->needs))
          continue;
        of = (call){of.strategy, {type, type, type}, size, size % 7 + 1, 10, false};
        for (int64_t i = 0; i < MOST * MOST; i++) {
          const double value[2] = {fabs(draw()) + 0.1, 0};
          tsl_type_store(type, a + (size_t)i * tsl_type(type)->size, value);
          tsl_type_store(type, b + (size_t)i * tsl_type(type)->size, value);
        }
        tsl_type_store(type, a, infinity);
        feclearexcept(FE_ALL_EXCEPT);
        const tesela_status status = run(&of, 2, NULL);
        if (status == TESELA_OK && fetestexcept(SERIOUS)) {
          print_error("%s: flags of infinity\n", name_of(&of, name));
          wrong++;
        }
      }
  feclearexcept(FE_ALL_EXCEPT);
  assert_int_equal(wrong, 0);
}

/* Products that come together: 2000 of a batch, which pass the caches, and a group without a plan. */
static void infinite_results_of_many_are_not_invalid(void **state) {
  enum { COUNT = 2000, M = 5, N = 3, K = 9 };
  const tesela_batch batch = {.count = COUNT, .a_stride = M * K, .b_stride = K * N, .c_stride = M * N};
  double *x = malloc(COUNT * M * K * sizeof *x), *y = malloc(COUNT * K * N * sizeof *y),
         *z = malloc(COUNT * M * N * sizeof *z);
  tesela_gemm_desc descs[20];
  (void)state;
  assert_true(x && y && z);
  for (int i = 0; i < COUNT * M * K; i++)
    x[i] = i % (M * K) == 0 ? (double)INFINITY : fabs(draw()) + 0.1;
  for (int i = 0; i < COUNT * K * N; i++)
    y[i] = fabs(draw()) + 0.1;
  for (int i = 0; i < 20; i++)
    descs[i] = (tesela_gemm_desc){.m = M,
                                  .n = N,
                                  .k = K,
                                  .a = {.data = x, .type = TESELA_F64},
                                  .b = {.data = y, .type = TESELA_F64},
                                  .c = {.data = z + i * M * N, .type = TESELA_F64}};
  for (int threads = 1; threads <= 2; threads++) {
    feclearexcept(FE_ALL_EXCEPT);
    (void)trapped();
    assert_int_equal(tesela_gemm_batched(contexts[threads], &descs[0], &batch, NULL), TESELA_OK);
    assert_int_equal(tesela_gemm_grouped(contexts[threads], descs, NULL, 20, NULL), TESELA_OK);
    for (int i = 0; i < 20; i++)
      assert_int_equal(tesela_gemm(contexts[threads], &descs[0], NULL), TESELA_OK); /* learnt, then known */
    leave_traps();
    assert_false(fetestexcept(SERIOUS));
  }
  free(x);
  free(y);
  free(z);
}

/* One row of a product for all threads overflows. The overflow flag is set, whichever thread
 * computes the row. */
static void overflow_is_told(void **state) {
  enum { SIDE = 320 };
  double *x = calloc(SIDE * SIDE, sizeof *x), *y = calloc(SIDE * SIDE, sizeof *y),
         *z = calloc(SIDE * SIDE, sizeof *z);
  (void)state;
  assert_true(x && y && z);
  for (int i = 0; i < SIDE * SIDE; i++)
    y[i] = 2;
  const tesela_gemm_desc desc = {.m = SIDE,
                                 .n = SIDE,
                                 .k = SIDE,
                                 .a = {.data = x, .type = TESELA_F64},
                                 .b = {.data = y, .type = TESELA_F64},
                                 .c = {.data = z, .type = TESELA_F64}};
  for (int row = 0; row < SIDE; row += 10) {
    x[row * SIDE] = DBL_MAX;
    feclearexcept(FE_ALL_EXCEPT);
    assert_int_equal(tesela_gemm(contexts[THREADS], &desc, NULL), TESELA_OK);
    assert_true(fetestexcept(FE_OVERFLOW));
    assert_false(fetestexcept(FE_INVALID));
    x[row * SIDE] = 0;
  }
  feclearexcept(FE_ALL_EXCEPT);
  free(x);
  free(y);
  free(z);
}

/* Threads of a driver on the host (PoCL) keep the environment of the thread that first asks for a device. */
static void devices_round_to_nearest(void **state) {
  static double x[8], y[8], products[64];
  tesela_context *context;
  (void)state;
  for (int i = 0; i < 8; i++) {
    x[i] = draw();
    y[i] = draw();
  }
  const tesela_gemm_desc desc = {.m = 8,
                                 .n = 8,
                                 .k = 1,
                                 .a = {.data = x, .type = TESELA_F64},
                                 .b = {.data = y, .type = TESELA_F64},
                                 .c = {.data = products, .type = TESELA_F64},
                                 .options.strategy = "element",
                                 .options.device = "opencl:0"};
  setenv("TESELA_SELFTEST", "0", 1);
  take_mode(1 + ROUNDINGS * (FLUSHES - 1)); /* rounds upward, and flushes subnormal numbers to 0 */
  tesela_status status = tesela_context_create(NULL, &context);
  if (status == TESELA_OK)
    status = tesela_gemm(context, &desc, NULL);
  leave_mode();
  unsetenv("TESELA_SELFTEST");
  tesela_context_destroy(context);
  if (status == TESELA_NO_DEVICE || status == TESELA_UNSUPPORTED) {
    print_message("%s\n", tesela_last_error());
    skip();
  }
  assert_int_equal(status, TESELA_OK);
  for (int i = 0; i < 64; i++)
    assert_true(products[i] == x[i / 8] * y[i % 8]);
}

/* --- a pool --- */

enum { TASKS = 64 };
static tsl_floats seen[TASKS];
static volatile double largest = DBL_MAX;

static void look(void *argument, int64_t index, int worker) {
  (void)argument;
  (void)worker;
  for (volatile int i = 0; i < 20000; i++) /* so that all workers come */
    continue;
  seen[index] = tsl_floats_read() & TSL_FLOATS_MODES;
  if (index == TASKS / 2) {
    volatile double over = largest;
    over *= 2;
  }
}

static void a_pool_has_its_callers_environment(void **state) {
  tsl_pool *pool;
  (void)state;
  assert_int_equal(tsl_pool_create(4, &pool), TESELA_OK);
  for (int mode = 0; mode < MODES; mode++) {
    take_mode(mode);
    feclearexcept(FE_ALL_EXCEPT);
    const tsl_floats wanted = tsl_floats_read() & TSL_FLOATS_MODES;
    tsl_pool_run(pool, TASKS, look, NULL);
    const bool is_told = fetestexcept(FE_OVERFLOW) != 0;
    leave_mode();
    for (int i = 0; i < TASKS; i++)
      assert_int_equal(seen[i], wanted);
    assert_true(is_told);
  }
  tsl_pool_destroy(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_round_to_nearest), /* the first: it has OpenCL's devices listed */
      cmocka_unit_test(a_pool_has_its_callers_environment),
      cmocka_unit_test(modes_hold_for_all_threads),
      cmocka_unit_test(exact_results_round_to_nearest),
      cmocka_unit_test(narrow_subnormal_numbers_are_kept),
      cmocka_unit_test(plans_do_not_depend_on_modes),
      cmocka_unit_test(no_flag_is_spurious),
      cmocka_unit_test(infinite_results_are_not_invalid),
      cmocka_unit_test(infinite_results_of_many_are_not_invalid),
      cmocka_unit_test(overflow_is_told),
  };
  return cmocka_run_group_tests_name("floats", tests, set_up, tear_down);
}
