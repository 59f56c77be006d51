/* Requirements on accuracy and bits, from descriptions and from the environment: which strategies
 * then run, and the error message where none can. */
#include "unit/calls.h"

#include <tesela/tesela.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 61, N = 47, K = 700 };

static float a[M * K], b[K * N];

static tesela_context *context_of(int threads) {
  tesela_context *made = NULL;
  const tesela_context_desc desc = {.threads = threads};
  if (tesela_context_create(&desc, &made) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return made;
}

static tesela_gemm_desc product(float *c) {
  return (tesela_gemm_desc){
      .m = M, .n = N, .k = K, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}, .options.device = "cpu"};
}

/* Every word, and what runs by it. */
static void accuracies(void **state) {
  static const char *const words[] = {"default", "1e-2", "5e-6", "tf32", "bf16", "f32", "f64", "exact"};
  tesela_context *context = context_of(0);
  (void)state;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    float c[M * N];
    tesela_record record;
    tesela_gemm_desc desc = product(c);
    desc.options.accuracy = words[i];
    must(tesela_gemm(context, &desc, &record));
    const double asked = atof(words[i]);
    if (asked > 0 && !(record.error_bound <= asked))
      fail_msg("%s was asked, and %s guarantees %g", words[i], record.plan, record.error_bound);
    char said[32];
    snprintf(said, sizeof said, "accuracy=%s", words[i]);
    if ((strcmp(words[i], "default") != 0 && !asked && !strstr(record.plan, said)) ||
        (strcmp(words[i], "default") == 0 && strstr(record.plan, "accuracy")))
      fail_msg("%s does not say %s", record.plan, said);
    if (strcmp(words[i], "exact") == 0 && !strstr(record.plan, "gemm exact"))
      fail_msg("exact is asked, and %s runs", record.plan);
  }
  tesela_context_destroy(context);
}

/* Requires an accuracy below the rounding error of one result. Only integers and copies guarantee
 * it, in any call. */
static void numbers_below_a_rounding(void **state) {
  static const struct {
    tesela_type from, to;
    const char *few, *enough; /* NULL: any number is enough */
  } asks[] = {{TESELA_F32, TESELA_F32, "1e-12", "1e-7"},  {TESELA_F32, TESELA_F32, "1e-30", "6e-8"},
              {TESELA_F64, TESELA_F64, "1e-17", "1e-15"}, {TESELA_F16, TESELA_F16, "1e-05", "5e-4"},
              {TESELA_BF16, TESELA_F32, "1e-12", "1e-7"}, {TESELA_C64, TESELA_C64, "1e-12", "1e-5"},
              {TESELA_I8, TESELA_I32, "1e-30", NULL}};
  static double x[64], y[64], z[64], one[2] = {1, 0}, two[2] = {2, 0};
  tesela_context *context = context_of(0);
  (void)state;
  for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
    for (int way = 0; way < 2 && (way == 0 || asks[i].enough); way++) {
      const char *ask = way == 0 ? asks[i].few : asks[i].enough;
      const tesela_status right = way == 0 && asks[i].enough ? TESELA_UNSUPPORTED : TESELA_OK;
      const bool is_float = asks[i].to != TESELA_I32, is_one = asks[i].from == asks[i].to;
      const tesela_matrix matrix = {.data = x, .type = asks[i].from};
      const tesela_gemm_desc desc = {.m = 4,
                                     .n = 4,
                                     .k = 4,
                                     .a = matrix,
                                     .b = {.data = y},
                                     .c = {.data = z, .type = asks[i].to},
                                     .options.device = "cpu",
                                     .options.accuracy = ask};
      const tesela_dot_desc dot = {.n = 4,
                                   .x = {.data = x, .type = asks[i].from},
                                   .y = {.data = y},
                                   .result = {.data = z, .type = asks[i].to},
                                   .options.device = "cpu",
                                   .options.accuracy = ask};
      tesela_transpose_desc moved = {.rows = 4,
                                     .cols = 4,
                                     .a = matrix,
                                     .b = {.data = z},
                                     .alpha = two,
                                     .options.device = "cpu",
                                     .options.accuracy = ask};
      tesela_plan *plan = NULL;
      assert_int_equal(tesela_gemm(context, &desc, NULL), right);
      if (right == TESELA_UNSUPPORTED) {
        char said[64];
        snprintf(said, sizeof said, "|A||B|, and %s is asked for", ask);
        if (!strstr(tesela_last_error(), "guarantees |error| <= ") || !strstr(tesela_last_error(), said))
          fail_msg("%s is asked of case %zu, and the sentence is: %s", ask, i, tesela_last_error());
      }
      assert_int_equal(tesela_gemm_grouped(context, &desc, NULL, 1, NULL), right);
      assert_int_equal(tesela_plan_create(context, &desc, &plan), right);
      tesela_plan_destroy(plan);
      if (asks[i].from == TESELA_F32 || asks[i].from == TESELA_F64)
        assert_int_equal(tesela_dot(context, &dot, NULL), right);
      if (asks[i].from == TESELA_F32 || asks[i].from == TESELA_F64)
        assert_int_equal(tesela_transpose(context, &moved, NULL), right);
      moved.alpha = one;
      if (is_float && is_one)
        assert_int_equal(tesela_transpose(context, &moved, NULL), TESELA_OK);
    }
  tesela_context_destroy(context);
  setenv("TESELA_ACCURACY", "1e-30", 1);
  context = context_of(0);
  float c[M * N];
  const tesela_gemm_desc desc = product(c);
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED);
  tesela_context_destroy(context);
  unsetenv("TESELA_ACCURACY");
}

/* Compares with the exact result, rounded once: sums of multiples of 2^-60 in which all terms but
 * the smallest cancel. */
static void exact_results(void **state) {
  enum { TERMS = 5 };
  const double x[TERMS] = {0x1p30, 0x1p-30, -0x1p30, 3, 0x1p-60},
               y[TERMS] = {0x1p30, 0x1p-29, 0x1p30, 1, 0x1p-60};
  double c = NAN;
  tesela_context *context = context_of(0);
  (void)state;
  const tesela_gemm_desc desc = {.m = 1,
                                 .n = 1,
                                 .k = TERMS,
                                 .a = {.data = x, .type = TESELA_F64},
                                 .b = {.data = y, .type = TESELA_F64},
                                 .c = {.data = &c, .type = TESELA_F64},
                                 .options.accuracy = "exact"};
  must(tesela_gemm(context, &desc, NULL));
  assert_true(c == 3);
  const double ones[2] = {1, 0}, minus = -3;
  tesela_gemm_desc added = desc;
  double before = minus;
  added.c.data = &before;
  added.beta = ones;
  must(tesela_gemm(context, &added, NULL));
  assert_true(before == 0x1p-59 + 0x1p-120);
  tesela_context_destroy(context);
}

/* Requirements that are invalid, and requirements that no strategy here guarantees. */
static void refusals(void **state) {
  static const char *const wrong[] = {"0", "-1e-3", "nan", "inf", "f128", "", "exactly", "1e-5x"};
  static const double turned[2] = {0.5, 0.25};
  float c[M * N], kept[M * N];
  tesela_context *context = context_of(0);
  (void)state;
  memset(c, 7, sizeof c);
  memcpy(kept, c, sizeof c);
  tesela_gemm_desc desc = product(c);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    desc.options.accuracy = wrong[i];
    expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "it can be default, a number above 0");
  }
  desc.options.accuracy = NULL;
  desc.options.reproducibility = "always";
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "it can be any, run, threads, rows or devices");
  desc.options.reproducibility = NULL;
  desc.options.accuracy = "1e-30";
  desc.options.strategy = "host_packed";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "and 1e-30 is asked for");
  desc.options.accuracy = "exact";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "exact is asked for");
  desc.options.accuracy = NULL;
  desc.options.reproducibility = "devices";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "bits=devices is required");
  desc.options.strategy = NULL;
  desc.a.type = desc.b.type = desc.c.type = TESELA_C64;
  desc.alpha = turned; /* complex sums of whole numbers are the same everywhere, their scaling is not */
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "bits=devices is required");
  assert_memory_equal(c, kept, sizeof c);
  tesela_context_destroy(context);
}

static void run_with(int threads, const char *isa, const char *bits, int64_t m, int64_t n, int64_t k,
                     float *c, char plan[256]) {
  if (isa)
    setenv("TESELA_ISA", isa, 1);
  tesela_context *context = context_of(threads);
  tesela_record record;
  const tesela_gemm_desc desc = {.m = m,
                                 .n = n,
                                 .k = k,
                                 .a = {.data = a},
                                 .b = {.data = b},
                                 .c = {.data = c},
                                 .options.reproducibility = bits};
  must(tesela_gemm(context, &desc, &record));
  snprintf(plan, 256, "%s", record.plan);
  tesela_context_destroy(context);
  unsetenv("TESELA_ISA");
}

/* Any number of threads; and for bits=devices, any instruction set. */
static void same_bits(void **state) {
#if defined(__x86_64__) && !defined(TSL_PLAIN)
  static const char vectors[] = "avx2";
#else
  static const char *const vectors = NULL;
#endif
  static const int64_t sizes[][3] = {{M, N, K}, {1, N, K}, {M, 1, K}, {8, 8, 8}, {33, 20, 3}, {2, 2, 2000}};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    float one[M * N], other[M * N];
    char plan[256], also[256];
    const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
    const size_t bytes = (size_t)(m * n) * sizeof *one;
    run_with(1, NULL, "threads", m, n, k, one, plan);
    run_with(2, NULL, "threads", m, n, k, other, also);
    if (memcmp(one, other, bytes) != 0)
      fail_msg("%s and %s have other bits", plan, also);
    assert_string_equal(plan, also);
    run_with(1, "generic", "devices", m, n, k, one, plan);
    run_with(2, vectors, "devices", m, n, k, other, also);
    if (memcmp(one, other, bytes) != 0)
      fail_msg("%s and %s have other bits", plan, also);
  }
}

/* One dot on the cpu and by kernels. */
static void same_dots(void **state) {
  static const char *const asks[][2] = {{"devices", NULL}, {"devices", "exact"}, {"run", NULL}};
  tesela_context *context = context_of(0);
  (void)state;
  for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
    float results[2] = {NAN, NAN};
    const char *const devices[] = {"cpu", "opencl:0"};
    for (int d = 0; d < 2; d++) {
      tesela_record record;
      const tesela_dot_desc desc = {.n = M * K,
                                    .x = {.data = a},
                                    .y = {.data = a},
                                    .result = {.data = &results[d]},
                                    .options.device = devices[d],
                                    .options.reproducibility = asks[i][0],
                                    .options.accuracy = asks[i][1]};
      must(tesela_dot(context, &desc, &record));
      if (i < 2 && !strstr(record.plan, i == 0 ? "dot fixed_tree" : "dot exact"))
        fail_msg("bits=%s accuracy=%s runs %s", asks[i][0], asks[i][1], record.plan);
    }
    if (i < 2)
      assert_memory_equal(&results[0], &results[1], sizeof results[0]);
  }
  tesela_context_destroy(context);
}

/* Requirements from the environment hold for calls without requirements, and for the fast path of
 * small products. */
static void environment(void **state) {
  float c[M * N];
  tesela_context *context = NULL;
  tesela_record record;
  (void)state;
  setenv("TESELA_ACCURACY", "best", 1);
  expect(tesela_context_create(NULL, &context), TESELA_BAD_CALL, "TESELA_ACCURACY");
  assert_null(context);
  setenv("TESELA_ACCURACY", "exact", 1);
  setenv("TESELA_BITS", "often", 1);
  expect(tesela_context_create(NULL, &context), TESELA_BAD_CALL, "TESELA_BITS");
  setenv("TESELA_BITS", "devices", 1);
  context = context_of(0);
  unsetenv("TESELA_ACCURACY");
  unsetenv("TESELA_BITS");
  tesela_gemm_desc desc = product(c);
  must(tesela_gemm(context, &desc, &record));
  assert_non_null(strstr(record.plan, "gemm exact"));
  assert_non_null(strstr(record.plan, "accuracy=exact bits=devices"));
  desc.options.accuracy = "default";
  desc.options.reproducibility = "any";
  must(tesela_gemm(context, &desc, &record));
  assert_null(strstr(record.plan, "accuracy"));
  /* 2^24 + 1 + 1 in f32 by an exact sum, three times over: known calls are asked for the same. */
  const float ones[3] = {1, 1, 1}, terms[3] = {0x1p24f, 1, 1};
  for (int i = 0; i < 3; i++) {
    float sum = NAN;
    const tesela_gemm_desc small = {
        .m = 1, .n = 1, .k = 3, .a = {.data = terms}, .b = {.data = ones}, .c = {.data = &sum}};
    must(tesela_gemm(context, &small, NULL));
    assert_true(sum == 0x1p24f + 2);
  }
  tesela_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accuracies),    cmocka_unit_test(numbers_below_a_rounding),
      cmocka_unit_test(exact_results), cmocka_unit_test(refusals),
      cmocka_unit_test(same_bits),     cmocka_unit_test(same_dots),
      cmocka_unit_test(environment)};
  for (int i = 0; i < M * K; i++)
    a[i] = (float)sin(i * 1.7) * exp2f((float)(i % 13 - 6));
  for (int i = 0; i < K * N; i++)
    b[i] = (float)cos(i * 0.9) * exp2f((float)(i % 7 - 3));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
