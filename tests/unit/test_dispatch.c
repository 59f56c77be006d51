/* The dispatch cache behind tesela_gemm(): a call that comes again has the bits and the sentences of its
 * first time, whatever differs from a call that is known; and the plans that it knows may be evicted. */
#include "unit/unit.h"

#include "api/api.h"
#include "dispatch/plan_cache.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tesela/tesela.h>
#include <time.h>

/* Larger ones have no kernel without a plan. */
enum { MOST = 140, COUNT = MOST * MOST, ROUNDS = 10 }; /* it is learnt on the way */
static double a[COUNT + 1], b[COUNT + 1], first[COUNT + 1], again[COUNT + 1];
static float a32[COUNT], b32[COUNT], first32[COUNT], again32[COUNT];
static tesela_context *context;

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    a32[i] = (float)(a[i] = i % 7 - 3 + 0.1);
    b32[i] = (float)(b[i] = i % 5 - 2 + 0.3);
  }
  return tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* The call's result by the long way, which a record asks for, and then again and again. */
static void expect_the_same(tesela_gemm_desc desc) {
  const bool is_f32 = desc.a.type == TESELA_F32;
  void *const results[] = {is_f32 ? (void *)first32 : first, is_f32 ? (void *)again32 : again};
  const size_t bytes = is_f32 ? sizeof first32 : sizeof first;
  tesela_record record;
  memset(results[0], 0x11, bytes);
  desc.c.data = results[0];
  assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
  desc.c.data = results[1];
  for (int round = 0; round < ROUNDS; round++) {
    memset(results[1], 0x11, bytes);
    assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
    if (memcmp(results[0], results[1], bytes) != 0)
      fail_msg("round %d of m=%lld n=%lld k=%lld differs", round, (long long)desc.m, (long long)desc.n,
               (long long)desc.k);
  }
}

static tesela_gemm_desc product(int64_t m, int64_t n, int64_t k) {
  return (tesela_gemm_desc){.m = m,
                            .n = n,
                            .k = k,
                            .a = {.data = a, .type = TESELA_F64},
                            .b = {.data = b, .type = TESELA_F64},
                            .c = {.data = again, .type = TESELA_F64}};
}

/* Each call differs from the first in one member, and all calls alternate. */
static void test_what_differs(void **state) {
  (void)state;
  static const double two = 2, half = 0.5, none = 0;
  tesela_gemm_desc calls[32], *call = calls;
  for (int i = 0; i < 32; i++)
    calls[i] = product(12, 12, 12);
  (++call)->m = 11;
  (++call)->n = 11;
  (++call)->k = 11;
  (++call)->alpha = &two;
  (++call)->alpha = &half;
  (++call)->alpha = &none;
  (++call)->beta = &none;
  (++call)->a.transpose = 1;
  (++call)->b.transpose = 1;
  (++call)->c.transpose = 1;
  ++call;
  call->a.transpose = call->b.transpose = call->c.transpose = 1;
  (++call)->a = (tesela_matrix){.data = a, .type = TESELA_F64, .row_stride = 13, .col_stride = 1};
  (++call)->b = (tesela_matrix){.data = b, .type = TESELA_F64, .row_stride = 13, .col_stride = 1};
  (++call)->b = (tesela_matrix){.data = b, .type = TESELA_F64, .row_stride = 1, .col_stride = 13};
  (++call)->c = (tesela_result){.type = TESELA_F64, .row_stride = 13, .col_stride = 1};
  (++call)->c = (tesela_result){.type = TESELA_F64, .row_stride = 1, .col_stride = 13};
  (++call)->a = (tesela_matrix){.data = a, .type = TESELA_F64, .row_stride = 30, .col_stride = 2};
  (++call)->a = (tesela_matrix){.data = a + 12 * 12, .type = TESELA_F64, .row_stride = -12, .col_stride = 1};
  (++call)->a.data = a + 1;
  (++call)->options.device = "cpu";
  (++call)->options.device = "auto";
  (++call)->options.strategy = "sequential_optimized";
  (++call)->options.strategy = "host_packed";
  ++call;
  call->a = (tesela_matrix){.data = a32, .type = TESELA_F32};
  call->b = (tesela_matrix){.data = b32, .type = TESELA_F32};
  call->c = (tesela_result){.type = TESELA_F32};
  const int count = (int)(call - calls) + 1;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < count; i++)
      expect_the_same(calls[i]);
}

static void test_sizes(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{1, 1, 1},   {4, 4, 4},    {8, 8, 8},      {16, 16, 16}, {3, 100, 7},
                                     {1, 130, 9}, {130, 1, 50}, {64, 64, 64},   {0, 5, 5},    {5, 5, 0},
                                     {5, 0, 5},   {5, 5, 1},    {140, 140, 140}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    expect_the_same(product(sizes[i][0], sizes[i][1], sizes[i][2]));
}

static void expect_refusal(tesela_gemm_desc desc, const char *sentence) {
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL);
  if (!strstr(tesela_last_error(), sentence))
    fail_msg("\"%s\" lacks \"%s\"", tesela_last_error(), sentence);
}

/* A cached plan does not depend on addresses. */
static void test_addresses(void **state) {
  (void)state;
  for (int64_t size = 8; size <= MOST; size += MOST - 8) {
    expect_the_same(product(size, size, size));
    tesela_gemm_desc wrong = product(size, size, size);
    wrong.c.data = a + 3;
    expect_refusal(wrong, "overlaps");
    wrong = product(size, size, size);
    wrong.b.data = NULL;
    expect_refusal(wrong, "NULL");
    wrong = product(size, size, size);
    wrong.a.data = (char *)a + 4;
    expect_refusal(wrong, "aligned");
    expect_the_same(product(size, size, size));
  }
}

/* A call of a context, which may be gone, is not known to another one, even at its address. */
static void test_contexts(void **state) {
  (void)state;
  tesela_context *const before = context, *without;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "opencl:99"}, &without), TESELA_OK);
  for (int64_t size = 9; size <= MOST; size += MOST - 9) {
    const tesela_gemm_desc desc = product(size, size, size);
    expect_the_same(desc);
    for (int name = 0; name < 2; name++) {
      tesela_gemm_desc named = desc;
      named.options.device = name == 0 ? "cpu" : "auto";
      for (int round = 0; round < ROUNDS; round++)
        assert_int_equal(tesela_gemm(without, &named, NULL), TESELA_OK);
      for (int round = 0; round < ROUNDS; round++)
        assert_int_equal(tesela_gemm(without, &desc, NULL), TESELA_NO_DEVICE);
    }
  }
  tesela_context_destroy(without);
  for (int round = 0; round < 3; round++) {
    assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context), TESELA_OK);
    expect_the_same(product(9, 9, 9));
    expect_the_same(product(MOST, MOST, MOST));
    tesela_context_destroy(context);
  }
  context = before;
}

/* Sums so long are not multiplied without a plan. */
enum { PLANNED = 65 };

/* More shapes than a context has plans: a plan that a thread knows is evicted, and made again. */
static void test_evicted(void **state) {
  (void)state;
  for (int round = 0; round < 2; round++) {
    expect_the_same(product(MOST, MOST, MOST - round));
    for (int64_t i = 0; i <= TSL_PLANS_CACHED; i++) {
      const tesela_gemm_desc other = product(12, 12, PLANNED + i);
      assert_int_equal(tesela_gemm(context, &other, NULL), TESELA_OK);
    }
    expect_the_same(product(MOST, MOST, MOST - round));
  }
}

static void *multiply_many(void *argument) {
  double result[20 * 20];
  const int64_t from = *(const int64_t *)argument;
  for (int64_t i = 0; i < 2000; i++) {
    tesela_gemm_desc desc = product(20, 20, PLANNED + from + i % 190);
    desc.c.data = result;
    if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
      return NULL;
  }
  return argument;
}

/* They drive each other's plans out. */
static void test_threads(void **state) {
  (void)state;
  pthread_t threads[4];
  int64_t from[4] = {0, 200, 400, 600};
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, multiply_many, &from[i]), 0);
  for (int i = 0; i < 4; i++) {
    void *done = NULL;
    assert_int_equal(pthread_join(threads[i], &done), 0);
    assert_ptr_equal(done, &from[i]);
  }
}

/* --- the plans themselves --- */

static tesela_plan *plan_of(int64_t size) {
  tesela_plan *plan;
  const tesela_gemm_desc desc = product(size, size, size);
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  return plan;
}

static tsl_call_key key_of(int64_t size) {
  return (tsl_call_key){.problem = tsl_problem_of(TSL_OP_GEMM, size, size, size, TESELA_F64)};
}

static tsl_cached_plan *add(tsl_plan_cache *cache, const tsl_device *device, int64_t size, uint64_t bytes) {
  const tsl_call_key key = key_of(size);
  tsl_cached_plan *cached;
  assert_int_equal(tsl_plan_cache_add(cache, &key, tsl_plan_cache_generation(cache), plan_of(size), device,
                                      bytes, false, &cached),
                   TESELA_OK);
  return cached;
}

static void test_least_recently_used_goes_first(void **state) {
  (void)state;
  static tsl_plan_cache cache;
  const tsl_device device = {.memory_bytes = 800};
  tsl_plan_cache_init(&cache);
  tsl_cached_plan *known = tsl_plan_cache_hold(add(&cache, &device, 1, 0));
  tsl_plan_cache_give_back(&cache, known);
  for (int64_t size = 2; size <= TSL_PLANS_CACHED; size++)
    tsl_plan_cache_give_back(&cache, add(&cache, &device, size, 0));
  assert_true(tsl_plan_cache_use(&cache, known)); /* now 2 is the oldest */
  tsl_plan_cache_give_back(&cache, known);
  tsl_plan_cache_give_back(&cache, add(&cache, &device, TSL_PLANS_CACHED + 1, 0));
  assert_null(tsl_plan_cache_find(&cache, &(tsl_call_key){.problem = key_of(2).problem}));
  assert_true(tsl_plan_cache_use(&cache, known));
  for (int64_t size = TSL_PLANS_CACHED + 2; size <= 2 * TSL_PLANS_CACHED + 2; size++)
    tsl_plan_cache_give_back(&cache, add(&cache, &device, size, 0));
  assert_false(tsl_plan_cache_use(&cache, known));
  assert_non_null(tsl_plan_cache_plan(known)); /* it is in use, once */
  tsl_plan_cache_give_back(&cache, known);
  tsl_plan_cache_destroy(&cache);
  tsl_plan_cache_release(known);
}

/* After an entry is removed all others are found, at any position of the removed entry among
 * entries of equal hash. */
static void test_all_others_are_found(void **state) {
  enum { ADDED = TSL_PLANS_CACHED + 300 };
  static tsl_plan_cache cache;
  static bool is_there[ADDED];
  const tsl_device device = {.memory_bytes = 800};
  int order[TSL_PLANS_CACHED]; /* of the plans that there are first, the least recently used in front */
  (void)state;
  tsl_plan_cache_init(&cache);
  for (int i = 0; i < TSL_PLANS_CACHED; i++) {
    tsl_plan_cache_give_back(&cache, add(&cache, &device, i + 1, 0));
    order[i] = (int)((int64_t)i * 211 % TSL_PLANS_CACHED);
    is_there[i] = true;
  }
  for (int i = 0; i < TSL_PLANS_CACHED; i++) {
    tsl_cached_plan *found =
        tsl_plan_cache_find(&cache, &(tsl_call_key){.problem = key_of(order[i] + 1).problem});
    assert_non_null(found);
    tsl_plan_cache_give_back(&cache, found);
  }
  for (int i = TSL_PLANS_CACHED; i < ADDED; i++) {
    tsl_plan_cache_give_back(&cache, add(&cache, &device, i + 1, 0));
    is_there[i] = true;
    is_there[order[i - TSL_PLANS_CACHED]] = false;
  }
  for (int i = 0; i < ADDED; i++) {
    tsl_cached_plan *found = tsl_plan_cache_find(&cache, &(tsl_call_key){.problem = key_of(i + 1).problem});
    assert_int_equal(found != NULL, is_there[i]);
    if (found) {
      assert_int_equal(tsl_plan_cache_plan(found)->plan->work.problem.m, i + 1);
      tsl_plan_cache_give_back(&cache, found);
    }
  }
  tsl_plan_cache_destroy(&cache);
}

/* Plans may hold an eighth of the device's memory in total. A plan that exceeds it, counted with
 * the plans already cached, is not kept. */
static void test_short_in_bytes(void **state) {
  (void)state;
  static tsl_plan_cache cache;
  const tsl_device device = {.memory_bytes = 800}, other = {.memory_bytes = 800};
  tsl_plan_cache_init(&cache);
  tsl_cached_plan *known[4] = {add(&cache, &device, 1, 60), add(&cache, &other, 2, 60),
                               add(&cache, &device, 3, 60), add(&cache, &device, 4, 10)};
  for (int i = 0; i < 4; i++)
    tsl_plan_cache_give_back(&cache, tsl_plan_cache_hold(known[i]));
  assert_false(tsl_plan_cache_use(&cache, known[0]));
  for (int i = 1; i < 4; i++) {
    assert_true(tsl_plan_cache_use(&cache, known[i]));
    tsl_plan_cache_give_back(&cache, known[i]);
  }
  tsl_plan_cache_destroy(&cache);
  for (int i = 0; i < 4; i++)
    tsl_plan_cache_release(known[i]);
}

/* A new generation drops the plans of the old one: at once, or when their last user releases them.
 * A late plan of the old generation is never cached. */
static void test_a_new_generation(void **state) {
  (void)state;
  static tsl_plan_cache cache;
  const tsl_device device = {.memory_bytes = 800};
  const tsl_call_key one = key_of(1), late = key_of(3);
  tsl_plan_cache_init(&cache);
  const uint64_t before = tsl_plan_cache_generation(&cache);
  tsl_cached_plan *running = tsl_plan_cache_hold(add(&cache, &device, 1, 0)), *old;
  tsl_plan_cache_give_back(&cache, add(&cache, &device, 2, 0));
  tsl_plan_cache_renew(&cache);
  assert_null(tsl_plan_cache_find(&cache, &one));
  assert_non_null(tsl_plan_cache_plan(running));
  assert_false(tsl_plan_cache_use(&cache, running));
  tsl_plan_cache_give_back(&cache, running);
  tsl_plan_cache_release(running);
  assert_int_equal(tsl_plan_cache_add(&cache, &late, before, plan_of(3), &device, 0, false, &old), TESELA_OK);
  assert_non_null(tsl_plan_cache_plan(old));
  assert_null(tsl_plan_cache_find(&cache, &late));
  tsl_plan_cache_give_back(&cache, old);
  old = add(&cache, &device, 3, 0);
  tsl_plan_cache_give_back(&cache, old);
  assert_true(tsl_plan_cache_find(&cache, &late) == old);
  tsl_plan_cache_give_back(&cache, old);
  tsl_plan_cache_destroy(&cache);
}

/* Replaces a remembered plan: the older plan serves its user to the end, later calls find the newer plan. */
static void test_a_better_plan(void **state) {
  (void)state;
  static tsl_plan_cache cache;
  const tsl_device device = {.memory_bytes = 800};
  const tsl_call_key key = key_of(1);
  tsl_cached_plan *better, *same;
  tsl_plan_cache_init(&cache);
  const uint64_t now = tsl_plan_cache_generation(&cache);
  tsl_cached_plan *running = tsl_plan_cache_hold(add(&cache, &device, 1, 0));
  assert_int_equal(tsl_plan_cache_add(&cache, &key, now, plan_of(1), &device, 0, false, &same), TESELA_OK);
  assert_true(same == running);
  tsl_plan_cache_give_back(&cache, same);
  assert_int_equal(tsl_plan_cache_add(&cache, &key, now, plan_of(1), &device, 0, true, &better), TESELA_OK);
  assert_true(better != running);
  assert_false(tsl_plan_cache_use(&cache, running));
  assert_non_null(tsl_plan_cache_plan(running));
  tsl_plan_cache_give_back(&cache, running);
  tsl_plan_cache_release(running);
  assert_true(tsl_plan_cache_find(&cache, &key) == better);
  tsl_plan_cache_give_back(&cache, better);
  tsl_plan_cache_give_back(&cache, better);
  tsl_plan_cache_destroy(&cache);
}

/* --- its lock --- */

typedef struct attempt {
  tsl_plan_cache *cache;
  tsl_cached_plan *cached;
  int way;
  atomic_bool done;
} attempt;

static void *attempt_it(void *argument) {
  attempt *of = argument;
  const tsl_call_key key = key_of(1);
  tsl_cached_plan *found;
  switch (of->way) {
  case 0:
    tsl_plan_cache_give_back(of->cache, of->cached);
    break;
  case 1:
    assert_true(tsl_plan_cache_use(of->cache, of->cached));
    break;
  case 2:
    assert_non_null(tsl_plan_cache_find(of->cache, &key));
    break;
  case 3:
    assert_int_equal(tsl_plan_cache_add(of->cache, &key, 0, plan_of(1), &(tsl_device){.memory_bytes = 800}, 0,
                                        false, &found),
                     TESELA_OK);
    break;
  case 4:
    (void)tsl_plan_cache_generation(of->cache);
    break;
  default:
    tsl_plan_cache_renew(of->cache);
  }
  atomic_store(&of->done, true);
  return NULL;
}

/* Each operation waits while another thread holds the cache's lock. A slow thread passes; an
 * operation that does not wait fails. */
static void test_operations_wait_for_the_lock(void **state) {
  (void)state;
  static tsl_plan_cache cache;
  const tsl_device device = {.memory_bytes = 800};
  enum { WAYS = 6, USES = 4 };
  tsl_plan_cache_init(&cache);
  tsl_cached_plan *cached = add(&cache, &device, 1, 0);
  for (int use = 1; use < USES; use++)
    assert_true(tsl_plan_cache_use(&cache, cached));
  for (int way = 0; way < WAYS; way++) {
    attempt of = {.cache = &cache, .cached = cached, .way = way};
    pthread_t thread;
    tsl_fork_mutex_lock(&cache.lock);
    assert_int_equal(pthread_create(&thread, NULL, attempt_it, &of), 0);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    const bool waited = !atomic_load(&of.done);
    tsl_fork_mutex_unlock(&cache.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (!waited)
      fail_msg("operation %d does not wait for the lock", way);
  }
  for (int use = 0; use < USES + 2; use++) /* one was given back, three were taken */
    tsl_plan_cache_give_back(&cache, cached);
  tsl_plan_cache_destroy(&cache);
}

static size_t taken_bytes(void) {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

/* A key's memory is freed with its plan. A strategy's name of one mebibyte would show a leak. */
static void test_names_are_freed(void **state) {
  (void)state;
  enum { BYTES = 1 << 20 };
  static tsl_plan_cache cache;
  static char name[BYTES];
  const tsl_device device = {.memory_bytes = 800};
  tsl_cached_plan *cached;
  memset(name, 'x', sizeof name - 1);
  tsl_call_key key = key_of(1);
  key.strategy = name;
  tesela_plan_destroy(plan_of(1)); /* allocates the process's one-time memory of a first plan */
  const size_t before = taken_bytes();
  tsl_plan_cache_init(&cache);
  assert_int_equal(tsl_plan_cache_add(&cache, &key, tsl_plan_cache_generation(&cache), plan_of(1), &device, 0,
                                      false, &cached),
                   TESELA_OK);
  tsl_plan_cache_give_back(&cache, cached);
  tsl_plan_cache_destroy(&cache);
  assert_true(taken_bytes() < before + BYTES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_differs),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_contexts),
      cmocka_unit_test(test_evicted),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_least_recently_used_goes_first),
      cmocka_unit_test(test_all_others_are_found),
      cmocka_unit_test(test_short_in_bytes),
      cmocka_unit_test(test_a_new_generation),
      cmocka_unit_test(test_a_better_plan),
      cmocka_unit_test(test_operations_wait_for_the_lock),
      cmocka_unit_test(test_names_are_freed),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
