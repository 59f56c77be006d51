/* Batches while memory runs out, at each allocation in turn, once and for good. A batch either
 * fails and leaves every C unchanged, or is right. Small whole numbers make sums exact in any
 * order. beta is 1, so that a product which is added twice is found. */
#include "unit/unit.h"

#include "core/scratch.h"
#include "core/types.h"
#include "starved/starve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tesela/tesela.h>

enum { BYTES = 4 << 20, MOST = 64 };

static _Alignas(64) unsigned char a[BYTES], b[BYTES], c[BYTES], before[BYTES], expected[BYTES];

/* A batch; A and B are stored transposed where `transposed`; `scale`, where it is not 0, multiplies A's rows.
 */
typedef struct batch {
  const char *strategy;
  tesela_type from, to;
  int64_t m, n, k, count;
  int transposed;
  float scale;
} batch;

/* Small products, which threads share, and ones so large that they do not. */
static const batch batches[] = {
    {"host_packed", TESELA_C128, TESELA_C128, 24, 20, 28, 40, 1, 0},
    {"host_packed", TESELA_F64, TESELA_F64, 24, 20, 28, 40, 1, 0},
    {"host_packed depth=128", TESELA_F32, TESELA_F32, 128, 128, 130, 4, 1, 0},
    {"host_small", TESELA_F32, TESELA_F32, 40, 40, 300, 12, 1,
     0}, /* a micro-panel of B that the stack does not hold */
    {"host_skinny", TESELA_F32, TESELA_F32, 200, 11, 80, 20, 1, 0},
    {"host_skinny", TESELA_F32, TESELA_F32, 3, 200, 80, 20, 1, 0},
    {"host_amx", TESELA_BF16, TESELA_F32, 24, 20, 28, 40, 1, 0},
    {"host_amx", TESELA_I8, TESELA_I32, 24, 20, 28, 40, 0, 0},
    {"host_amx", TESELA_I8, TESELA_F32, 40, 36, 28, 40, 0, 2}, /* which takes sums apart, and by tiles none */
    {"blocked", TESELA_F64, TESELA_F64, 24, 20, 28, 40, 0, 0},
    {NULL, TESELA_C64, TESELA_C64, 24, 20, 28, 40, 1, 0},
    {NULL, TESELA_F32, TESELA_F32, 24, 20, 28, 40, 0, 0},
};

static int number_at(int64_t place, int salt) {
  return (int)((place * 37 + salt) % 7 - 3);
}

static void fill(tesela_type type, unsigned char *memory, int64_t elements, int salt) {
  const size_t size = tsl_type(type)->size;
  for (int64_t i = 0; i < elements; i++) {
    const double value[2] = {number_at(i, salt), number_at(i, salt + 3)};
    tsl_type_store(type, memory + (size_t)i * size, value);
  }
}

/* expected = A B + C, in whole numbers. */
static void multiply(const batch *is, int64_t product) {
  const bool complex_type = tsl_type(is->to)->is_complex;
  const size_t size = tsl_type(is->to)->size;
  for (int64_t i = 0; i < is->m; i++)
    for (int64_t j = 0; j < is->n; j++) {
      unsigned char *at = expected + (size_t)((product * is->m + i) * is->n + j) * size;
      double sum[2];
      tsl_type_load(is->to, at, sum);
      for (int64_t l = 0; l < is->k; l++) {
        const int64_t x = product * is->m * is->k + (is->transposed ? l * is->m + i : i * is->k + l),
                      y = product * is->k * is->n + (is->transposed ? j * is->k + l : l * is->n + j);
        const int p = number_at(x, 1), q = complex_type ? number_at(x, 4) : 0;
        const int r = number_at(y, 2), s = complex_type ? number_at(y, 5) : 0;
        sum[0] += (is->scale != 0 ? (double)is->scale : 1) * (p * r - q * s);
        sum[1] += p * s + q * r;
      }
      tsl_type_store(is->to, at, sum);
    }
}

static void prepare(const batch *is) {
  const size_t size = tsl_type(is->to)->size;
  assert_true((size_t)(is->count * is->m * is->n) * size <= BYTES && is->count <= MOST);
  assert_true((size_t)(is->count * is->m * is->k) * size <= BYTES);
  fill(is->from, a, is->count * is->m * is->k, 1);
  fill(is->from, b, is->count * is->k * is->n, 2);
  fill(is->to, before, is->count * is->m * is->n, 6);
  memcpy(expected, before, (size_t)(is->count * is->m * is->n) * size);
  for (int64_t i = 0; i < is->count; i++)
    multiply(is, i);
}

typedef enum how { BY_STRIDES, BY_ADDRESSES, AS_A_GROUP, HOWS } how;
static const char *const hows[HOWS] = {"by strides", "by addresses", "as a group"};

/* Calls on a context of its own, or on a context that has the batch cached. */
static tesela_status call(tesela_context *context, const batch *is, how by) {
  static const double one[2] = {1, 0};
  const void *each_a[MOST], *each_b[MOST];
  void *each_c[MOST];
  const int64_t strides[] = {is->m * is->k, is->k * is->n, is->m * is->n};
  const int64_t from = (int64_t)tsl_type(is->from)->size, to = (int64_t)tsl_type(is->to)->size;
  for (int64_t i = 0; i < is->count; i++) {
    each_a[i] = a + i * strides[0] * from;
    each_b[i] = b + i * strides[1] * from;
    each_c[i] = c + i * strides[2] * to;
  }
  const tesela_epilogue scaled = {.scale_a = {.data = &is->scale}, .scaling_a = TESELA_SCALE_TENSOR};
  tesela_gemm_desc desc = {.m = is->m,
                           .n = is->n,
                           .k = is->k,
                           .a = {.data = a, .type = is->from, .transpose = is->transposed},
                           .b = {.data = b, .type = is->from, .transpose = is->transposed},
                           .c = {.data = c, .type = is->to},
                           .beta = one,
                           .epilogue = is->scale != 0 ? &scaled : NULL,
                           .options.strategy = is->strategy};
  tesela_batch all = {
      .count = is->count, .a_stride = strides[0], .b_stride = strides[1], .c_stride = strides[2]};
  if (by == AS_A_GROUP) {
    static tesela_gemm_desc descs[MOST];
    for (int64_t i = 0; i < is->count; i++) {
      descs[i] = desc;
      descs[i].a.data = each_a[i];
      descs[i].b.data = each_b[i];
      descs[i].c.data = each_c[i];
    }
    return tesela_gemm_grouped(context, descs, NULL, is->count, NULL);
  }
  if (by == BY_ADDRESSES) {
    desc.a.data = desc.b.data = desc.c.data = NULL;
    all = (tesela_batch){.count = is->count, .a = each_a, .b = each_b, .c = each_c};
  }
  return tesela_gemm_batched(context, &desc, &all, NULL);
}

typedef struct tally {
  int refused, finished;
} tally;

/* The nth allocation fails; false where the call has no so many. */
static bool starve_once(const batch *is, how by, bool warm, int nth, bool for_good, tally *out) {
  const size_t bytes = (size_t)(is->count * is->m * is->n) * tsl_type(is->to)->size;
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context), TESELA_OK);
  if (warm)
    assert_int_equal(call(context, is, by), TESELA_OK);
  memcpy(c, before, bytes);
  void *kept[2]; /* the blocks that the process keeps for the next run go */
  for (int i = 0; i < 2; i++)
    assert_int_equal(tsl_scratch_take(1, "what was kept", &kept[i]), TESELA_OK);
  starve(nth, for_good);
  const tesela_status status = call(context, is, by);
  const int failures = starve_end();
  tsl_scratch_give(kept[0]);
  tsl_scratch_give(kept[1]);
  if (status != TESELA_OK && status != TESELA_OUT_OF_MEMORY && status != TESELA_UNSUPPORTED)
    fail_msg("%s: allocation %d: %s: %s", is->strategy, nth, tesela_status_name(status), tesela_last_error());
  if (memcmp(c, status == TESELA_OK ? expected : before, bytes) != 0)
    fail_msg("%s, %s to %s, %s: allocation %d failed%s: %s, and C is neither what it was nor the result",
             is->strategy ? is->strategy : "the planner's", tsl_type(is->from)->name, tsl_type(is->to)->name,
             hows[by], nth, for_good ? " and all after it" : "", tesela_status_name(status));
  out->refused += status != TESELA_OK;
  out->finished += failures > 0 && status == TESELA_OK;
  tesela_context_destroy(context);
  return failures > 0;
}

/* The process's threads start with the first batch: a pool that finds no memory for them does without. */
static int start_threads(void **state) {
  tesela_context *context;
  (void)state;
  prepare(&batches[0]);
  if (tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK)
    return 1;
  const tesela_status status = call(context, &batches[0], BY_STRIDES);
  tesela_context_destroy(context);
  return status != TESELA_OK;
}

static void batches_are_whole(void **state) {
  tally all = {0, 0};
  (void)state;
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
    prepare(&batches[i]);
    for (int way = 0; way < 4 * HOWS; way++) {
      if (way % HOWS == AS_A_GROUP && i > 0)
        continue; /* they would take long */
      for (int nth = 1;
           starve_once(&batches[i], (how)(way % HOWS), way / HOWS & 1, nth, way / HOWS & 2, &all); nth++)
        continue;
    }
  }
  print_message("%d calls were refused, %d finished all the same\n", all.refused, all.finished);
  assert_true(all.refused > 0 && all.finished > 0);
}

/* --- measured calls --- */

typedef struct measured_call {
  tesela_type from, to;
  int64_t m, n, k;
  enum { PRODUCT, MANY, GROUP, DOT, TRANSPOSE, IN_PLACE } what;
  tesela_structure structure; /* of A */
} measured_call;

static const measured_call measured_calls[] = {
    {TESELA_F64, TESELA_F64, 40, 40, 40, PRODUCT, TESELA_GENERAL},
    {TESELA_F32, TESELA_F32, 200, 150, 60, PRODUCT, TESELA_GENERAL},
    {TESELA_F32, TESELA_F32, 9, 7, 5000, PRODUCT, TESELA_GENERAL}, /* threads share an element's terms */
    {TESELA_F16, TESELA_F32, 40, 40, 40, PRODUCT, TESELA_GENERAL},
    {TESELA_C64, TESELA_C64, 30, 40, 50, PRODUCT, TESELA_GENERAL},
    {TESELA_C128, TESELA_C128, 30, 40, 50, PRODUCT, TESELA_GENERAL},
    {TESELA_I8, TESELA_I32, 40, 40, 40, PRODUCT, TESELA_GENERAL},
    {TESELA_F64, TESELA_F64, 30, 40, 30, PRODUCT, TESELA_SYMMETRIC},
    {TESELA_C64, TESELA_C64, 30, 40, 30, PRODUCT, TESELA_HERMITIAN},
    {TESELA_F32, TESELA_F32, 20, 20, 20, MANY, TESELA_GENERAL},
    {TESELA_C128, TESELA_C128, 20, 20, 20, MANY, TESELA_GENERAL},
    {TESELA_F64, TESELA_F64, 20, 20, 20, GROUP, TESELA_GENERAL},
    {TESELA_F32, TESELA_F32, 1, 1, 300000, DOT, TESELA_GENERAL},
    {TESELA_F64, TESELA_F64, 1, 1, 1000, DOT, TESELA_GENERAL},
    {TESELA_F32, TESELA_F32, 50, 60, 0, TRANSPOSE, TESELA_GENERAL},
    {TESELA_F64, TESELA_F64, 50, 50, 0, IN_PLACE, TESELA_GENERAL},
};

static tesela_status call_measured(tesela_context *context, const measured_call *is) {
  static const double one[2] = {1, 0}, two[2] = {2, 0};
  const tesela_gemm_desc desc = {.m = is->m,
                                 .n = is->n,
                                 .k = is->k,
                                 .a = {.data = a, .type = is->from},
                                 .b = {.data = b, .type = is->from},
                                 .c = {.data = c, .type = is->to},
                                 .beta = one,
                                 .structure.a = is->structure,
                                 .structure.a_triangle =
                                     is->structure == TESELA_GENERAL ? TESELA_WHOLE : TESELA_LOWER,
                                 .options.measure_error = 7};
  const tesela_batch many = {.count = 3, .c_stride = is->m * is->n};
  const tesela_dot_desc dot = {.n = is->k,
                               .x = {.data = a, .type = is->from},
                               .y = {.data = b, .type = is->from},
                               .result = {.data = c, .type = is->to},
                               .beta = one,
                               .options.measure_error = 7};
  const tesela_transpose_desc transpose = {
      .rows = is->m,
      .cols = is->n,
      .a = {.data = is->what == IN_PLACE ? NULL : a,
            .type = is->what == IN_PLACE ? TESELA_TYPE_DEFAULT : is->from},
      .b = {.data = c, .type = is->to},
      .in_place = is->what == IN_PLACE,
      .alpha = two,
      .options.measure_error = 7};
  return is->what == PRODUCT ? tesela_gemm(context, &desc, NULL)
         : is->what == MANY  ? tesela_gemm_batched(context, &desc, &many, NULL)
         : is->what == GROUP ? tesela_gemm_grouped(context, &desc, &many, 1, NULL)
         : is->what == DOT   ? tesela_dot(context, &dot, NULL)
                             : tesela_transpose(context, &transpose, NULL);
}

/* A call that says that memory ran out leaves C as it was, also where the memory was for measuring the
 * result's error. */
static void measured_calls_are_whole(void **state) {
  int refused = 0;
  (void)state;
  for (size_t i = 0; i < sizeof measured_calls / sizeof *measured_calls; i++) {
    const measured_call *is = &measured_calls[i];
    tesela_context *context;
    int failures = 1;
    fill(is->from, a, is->m * (is->k > 0 ? is->k : is->n), 1);
    fill(is->from, b, is->n * is->k, 2);
    fill(is->to, before, is->m * is->n * 3, 6);
    assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context), TESELA_OK);
    if (call_measured(context, is) != TESELA_OK)
      fail_msg("call %zu: %s", i, tesela_last_error());
    for (int nth = 1; failures > 0; nth++)
      for (int for_good = 0; for_good < 2; for_good++) {
        memcpy(c, before, sizeof c);
        starve(nth, for_good);
        const tesela_status status = call_measured(context, is);
        failures = starve_end();
        if (status != TESELA_OK && status != TESELA_OUT_OF_MEMORY)
          fail_msg("call %zu: allocation %d: %s: %s", i, nth, tesela_status_name(status),
                   tesela_last_error());
        if (status != TESELA_OK && memcmp(c, before, sizeof c) != 0)
          fail_msg("call %zu: allocation %d%s: %s (%s), and C has changed", i, nth,
                   for_good ? " and all after it" : "", tesela_status_name(status), tesela_last_error());
        refused += status != TESELA_OK;
      }
    tesela_context_destroy(context);
  }
  print_message("%d measured calls were refused\n", refused);
  assert_true(refused > 0);
}

/* --- first calls --- */

static tesela_status first_call(tesela_context *context, int way) {
  const tesela_gemm_desc desc = {
      .m = 300, .n = 300, .k = 30, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  const tesela_dot_desc dot = {.n = 1000, .x = {.data = a}, .y = {.data = b}, .result = {.data = c}};
  const tesela_transpose_desc transpose = {.rows = 100, .cols = 100, .a = {.data = a}, .b = {.data = c}};
  const tesela_batch many = {.count = 4, .c_stride = 90000};
  int count;
  char *text = NULL;
  tesela_status status;
  switch (way) {
  case 0:
    return tesela_gemm(context, &desc, NULL);
  case 1:
    return tesela_dot(context, &dot, NULL);
  case 2:
    return tesela_transpose(context, &transpose, NULL);
  case 3:
    return tesela_gemm_grouped(context, &desc, &many, 1, NULL);
  case 4:
    status = tesela_device_count(context, &count);
    return status == TESELA_OK && count == 0 ? TESELA_OUT_OF_MEMORY : status;
  default:
    status = tesela_wisdom_export(context, &text);
    tesela_text_free(text);
    return status;
  }
}

/* For each failing allocation in a context's first call, the next call succeeds. It runs in a child
 * without earlier calls, so that the process's caches are empty too. */
static void first_calls_leave_nothing(void **state) {
  enum { WAYS = 6 };
  (void)state;
  for (int way = 0; way < 2 * WAYS; way++) {
    int places = 0;
    for (int nth = 1;; nth++) {
      const pid_t child = fork();
      if (child == 0) {
        tesela_context *context;
        const tesela_context_desc on_cpu = {.device = "cpu", .threads = way < WAYS ? 0 : 1};
        alarm(60);
        if (tesela_context_create(&on_cpu, &context) != TESELA_OK)
          _exit(3);
        starve(nth, false);
        const tesela_status first = first_call(context, way % WAYS);
        if (starve_end() == 0)
          _exit(2);
        const tesela_status second = first_call(context, way % WAYS);
        if (second != TESELA_OK || first_call(context, 0) != TESELA_OK)
          print_error("way %d: allocation %d failed once (%s), and the next call: %s (%s)\n", way, nth,
                      tesela_status_name(first), tesela_status_name(second), tesela_last_error());
        _exit(second != TESELA_OK);
      }
      int status = -1;
      assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
      if (WEXITSTATUS(status) == 2)
        break;
      assert_int_equal(WEXITSTATUS(status), 0);
      places++;
    }
    assert_true(places > 0);
  }
}

static const char wisdom[] =
    "gemm host_packed version=1 depth=256 block=256 key=cpu units=2 m=16 n=4096 k=4096 types=f32,f32,f32 "
    "layout=rrr beta=0 seconds=0.00357517 spread=0.0193 date=2026-11-21T19:46:07Z\n";

/* Text that is good is never called bad where memory runs out. */
static void texts_are_not_blamed(void **state) {
  tesela_context *context;
  tesela_plan *plan;
  int failures = 1, lacking = 0;
  char text[512];
  (void)state;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context), TESELA_OK);
  const tesela_gemm_desc desc = {.m = 30, .n = 30, .k = 30};
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  snprintf(text, sizeof text, "%s", tesela_plan_describe(plan));
  tesela_plan_destroy(plan);
  for (int nth = 1; failures > 0; nth++) {
    starve(nth, false);
    const tesela_status learnt = tesela_wisdom_import(context, wisdom);
    const int told = starve_end();
    starve(nth, false);
    const tesela_status read = tesela_plan_parse(context, text, &plan);
    failures = starve_end() + told;
    tesela_plan_destroy(read == TESELA_OK ? plan : NULL);
    if ((learnt != TESELA_OK && learnt != TESELA_OUT_OF_MEMORY) ||
        (read != TESELA_OK && read != TESELA_OUT_OF_MEMORY))
      fail_msg("allocation %d: wisdom %s, a plan %s: %s", nth, tesela_status_name(learnt),
               tesela_status_name(read), tesela_last_error());
    lacking += learnt != TESELA_OK;
  }
  assert_true(lacking > 0);
  tesela_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest first[] = {cmocka_unit_test(first_calls_leave_nothing)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_are_whole),
      cmocka_unit_test(measured_calls_are_whole),
      cmocka_unit_test(texts_are_not_blamed),
  };
  const int failed = cmocka_run_group_tests_name("first calls", first, NULL, NULL);
  return failed ? failed : cmocka_run_group_tests(tests, start_threads, NULL);
}
