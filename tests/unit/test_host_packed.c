/* The packed product on the host. Every schedule, with and without copies, with one thread and with
 * several, gives the same right bits, also with several callers at once. Threads belong to this
 * process. With a number as its argument, the program prints the result of one process with that
 * many threads. */
#include "unit/callers.h"
#include "unit/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/isa.h"
#include "core/memory.h"
#include "planner/planner.h"
#include "strategy/gemm/host/host_packed/blocking.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/measured_choice.h"

static const char *program;
static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
enum { TYPES = sizeof types / sizeof *types };

static void expect_right(const host_product *product, const void *before) {
  expect_right_sums(product, before, tsl_accuracy_of_panels(&product->problem, 128).factor + 4);
}

/* --- schedules --- */

static void expect_same(const host_product *product, const tsl_packed_job *job, const void *before,
                        const void *expected) {
  for (int threads = 0; threads < 2; threads++) { /* as many as there are, and one */
    host_product_restore(product, before);
    assert_int_equal(tsl_packed_run(job, tsl_pool_team(tsl_pool_shared(), threads)), TESELA_OK);
    expect_same_bits(product, expected);
  }
}

/* Caches so small that there are several panels of A and several rectangles of C; then every way to multiply
 * that can take the operands. */
static void try_all(const tsl_device *real, const tsl_problem *problem) {
  tsl_device device = *real;
  host_product made = host_product_of(problem);
  void *before = host_product_keep(&made);
  device.level_bytes[2] = 1 << 16;
  tsl_packed_job job = tsl_packed_job_for(problem, &made.operands, 32, 8 << 10, &device);
  job.schedule = TSL_PACKED_PANELS;
  job.copies_a = job.copies_b = true;
  tsl_packed_job_bind(&job, &made.operands);
  assert_int_equal(tsl_packed_run(&job, (tsl_team){0}), TESELA_OK);
  expect_right(&made, before);
  void *expected = host_product_keep(&made);
  for (int way = 0; way < 12; way++) {
    job.schedule = way % 3 == 0 ? TSL_PACKED_PANELS : way % 3 == 1 ? TSL_PACKED_ROWS : TSL_PACKED_COLUMNS;
    const bool is_panels = job.schedule == TSL_PACKED_PANELS; /* which always copies */
    job.copies_a = is_panels || job.views.a.col_stride != 1 || way / 3 % 2;
    job.copies_b = is_panels || job.views.b.col_stride != 1 || way / 6;
    expect_same(&made, &job, before, expected);
  }
  free(before);
  free(expected);
  host_product_free(&made);
}

static void try_isa(const char *isa) {
  static const int64_t sizes[][3] = {
      {461, 150, 70}, {1, 300, 70}, {300, 1, 70}, {97, 33, 65}, {224, 128, 32}};
  tsl_devices *devices;
  tsl_device *device;
  setenv("TESELA_ISA", isa, 1);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &device), TESELA_OK);
  for (int i = 0; i < 5 * TYPES; i++) {
    const int64_t *size = sizes[i / TYPES];
    const bool is_complex = tsl_type(types[i % TYPES])->is_complex;
    const int64_t rows = is_complex ? (size[0] + 1) / 2 : size[0];
    tsl_problem problem = tsl_problem_gemm(rows, size[1], size[2], types[i % TYPES]);
    problem.alpha[0] = 1.5;
    problem.beta[0] = i / TYPES % 2 ? -0.5 : 1;
    if (is_complex)
      problem.alpha[1] = 0.25;
    try_all(device, &problem);
  }
  tsl_devices_destroy(devices);
  unsetenv("TESELA_ISA");
}

static void schedules_agree(void **state) {
  static const char *const sets[] = {TSL_ISA_LIST(TSL_ISA_WORD)};
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    try_isa(sets[i]);
}

/* --- threads --- */

/* One of each schedule, large enough for threads. */
static const int64_t shapes[][3] = {
    {520, 540, 300}, {1200, 32, 150}, {32, 1200, 150}, {40, 36, 2200}, {153, 301, 177}};
enum { SHAPES = sizeof shapes / sizeof *shapes, ALL = SHAPES * TYPES };

static tsl_plan *plan_for(tsl_devices *devices, const tsl_problem *problem) {
  const tsl_choice choice = {
      .devices = devices, .device = "cpu", .strategy = "host_packed depth=128 block=256"};
  tsl_plan *plan;
  assert_int_equal(tsl_tune_choose(problem, &choice, &plan), TESELA_OK);
  return plan;
}

/* Each shape in each type; in every other one of these C lies down its columns. */
static tsl_problem problem_of(int index) {
  const int64_t *shape = shapes[index % SHAPES];
  const tesela_type type = types[index / SHAPES];
  const int64_t rows = tsl_type(type)->is_complex ? (shape[0] + 1) / 2 : shape[0];
  tsl_problem problem = tsl_problem_gemm(rows, shape[1], shape[2], type);
  problem.alpha[0] = 1.5;
  if (index % 2) {
    problem.c.row_stride = 1;
    problem.c.col_stride = problem.m;
  }
  return problem;
}

static int print_results(void) {
  tsl_devices *devices;
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  for (int i = 0; i < ALL; i++) {
    char text[33];
    const tsl_problem problem = problem_of(i);
    host_product made = host_product_of(&problem);
    tsl_plan *plan = plan_for(devices, &problem);
    if (tsl_plan_run(plan, &made.operands, NULL) != TESELA_OK)
      return 1;
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), made.operands.c.host, made.c_bytes), text);
    printf("%s\n", text);
    tsl_plan_destroy(plan);
    host_product_free(&made);
  }
  tsl_devices_destroy(devices);
  return 0;
}

static void threads_change_nothing(void **state) {
  (void)state;
  static char alone[ALL * 33 + 1], together[sizeof alone];
  results_with(program, 1, alone, sizeof alone);
  assert_int_equal(strlen(alone), sizeof alone - 1);
  for (int threads = 2; threads <= 7; threads += 5) {
    results_with(program, threads, together, sizeof together);
    assert_string_equal(together, alone);
  }
}

static void plans_are_right(void **state) {
  tsl_devices *devices;
  (void)state;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  for (int i = 0; i < ALL; i++) {
    const tsl_problem problem = problem_of(i);
    host_product made = host_product_of(&problem);
    memset(made.operands.c.host, 0xff, made.c_bytes); /* NaN, which beta = 0 does not read */
    tsl_plan *plan = plan_for(devices, &problem);
    assert_int_equal(tsl_plan_run(plan, &made.operands, NULL), TESELA_OK);
    expect_right(&made, NULL);
    tsl_plan_destroy(plan);
    host_product_free(&made);
  }
  tsl_devices_destroy(devices);
}

/* --- several callers --- */

static void callers_share_a_plan(void **state) {
  (void)state;
  tsl_devices *devices;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  for (int i = 0; i < SHAPES; i++) {
    const tsl_problem problem = problem_of(i % 2 ? i : i + 2 * SHAPES);
    host_product made = host_product_of(&problem);
    tsl_plan *plan = plan_for(devices, &problem);
    assert_int_equal(tsl_plan_run(plan, &made.operands, NULL), TESELA_OK);
    expect_callers_agree(plan, &made, 3);
    tsl_plan_destroy(plan);
    host_product_free(&made);
  }
  tsl_devices_destroy(devices);
}

/* --- sharing, on sixteen threads that exist on mock --- */

static const struct {
  int64_t m, n, k;
  tesela_type type;
} shared[] = {
    {100, 5000, 3000, TESELA_F64}, {5000, 100, 3000, TESELA_F64},  {100, 5000, 3000, TESELA_F32},
    {128, 8192, 2048, TESELA_F64}, {330, 96, 700, TESELA_F32},     {700, 1400, 350, TESELA_F64},
    {48, 6000, 4000, TESELA_F64},  {1000, 1000, 1000, TESELA_F64},
};

/* Returns a copy of this machine's cpu device, which a test changes before it calls the model. */
static tsl_device this_processor(void) {
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  const tsl_device here = *cpu;
  tsl_devices_destroy(devices);
  return here;
}

/* If all of C fits its part of the last-level cache, threads wait for each other at most once a panel of k.
 * This holds for any number of rows. The best config by the model gives no thread more than 1.25 times its
 * share. */
static void threads_get_even_shares(void **state) {
  enum { THREADS = 16, DEEPEST = 128 };
  (void)state;
  const tsl_strategy *packed = tsl_strategy_find(TSL_OP_GEMM, "host_packed");
  tsl_device device = this_processor();
  device.peak_f32 *= (double)THREADS / device.threads;
  device.peak_f64 *= (double)THREADS / device.threads;
  device.threads = THREADS;
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    for (int far = 0; far < 2; far++) {
      const tsl_problem problem = tsl_problem_gemm(shared[i].m, shared[i].n, shared[i].k, shared[i].type);
      const tsl_operands strides = tsl_strides_of(&problem);
      tsl_packed_sharing best = {0, 0, 0, 0};
      double least = INFINITY;
      tsl_config config;
      device.level_bytes[2] = far ? (uint64_t)256 << 20 : (uint64_t)128 << 20;
      for (int at = 0; tsl_strategy_config(packed, at, &config); at++) {
        const tsl_packed_job job =
            tsl_packed_job_for(&problem, &strides, config.value[0], config.value[1] << 10, &device);
        const tsl_packed_sharing sharing = tsl_packed_share(&job, THREADS);
        const double seconds = packed->score(&problem, &config, &device);
        if (sharing.waits > (double)(2 + shared[i].k / DEEPEST))
          fail_msg("%lld x %lld x %lld, depth %lld block %lld: %g waits", (long long)shared[i].m,
                   (long long)shared[i].n, (long long)shared[i].k, (long long)config.value[0],
                   (long long)config.value[1], sharing.waits);
        if (seconds < least)
          best = sharing;
        least = fmin(least, seconds);
      }
      if (best.uneven > 1.25)
        fail_msg("%lld x %lld x %lld: %g shares", (long long)shared[i].m, (long long)shared[i].n,
                 (long long)shared[i].k, best.uneven);
    }
}

/* Returns the least predicted seconds of a strategy's configs, and sets *best to this config. */
static double best_seconds(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                           tsl_config *best) {
  double least = INFINITY;
  tsl_config config;
  *best = tsl_strategy_defaults(strategy);
  for (int at = 0; tsl_strategy_config(strategy, at, &config); at++) {
    const double seconds = strategy->score(problem, &config, device);
    if (seconds < least) {
      least = seconds;
      *best = config;
    }
  }
  return least;
}

/* Each of host_small's tiles reads all steps of B. If these lie in more pages than the TLB has, packing is
 * faster: four times for this product, measured. */
static void steps_in_many_pages_are_packed(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(119, 816, 3455, TESELA_F32);
  tsl_device device = this_processor();
  device.level_bytes[0] = 48 << 10;
  device.level_bytes[1] = 2 << 20;
  device.level_bytes[2] = (uint64_t)300 << 20;
  device.threads = 1;
  device.peak_f32 = 180e9;
  device.clock_mhz = 2800;
  tsl_config config;
  const double small = best_seconds(tsl_strategy_find(TSL_OP_GEMM, "host_small"), &problem, &device, &config),
               packed =
                   best_seconds(tsl_strategy_find(TSL_OP_GEMM, "host_packed"), &problem, &device, &config);
  if (small < 1.5 * packed)
    fail_msg("host_small is predicted to take %g s, host_packed %g s", small, packed);
}

/* Processors with a distant last cache (two MiB a core near it). Squares ran at half speed when all
 * threads wrote and read one copy of B, and each task read all of it again. The model chooses
 * strips with copies of their own, and no choice spends a fifth of its time on repeated reads. */
static void nothing_is_read_again_and_again(void **state) {
  static const struct {
    int threads;
    int64_t n;
    tesela_type type;
  } squares[] = {{4, 777, TESELA_F64}, {8, 777, TESELA_F64},  {8, 700, TESELA_F64}, {4, 801, TESELA_F64},
                 {4, 777, TESELA_F32}, {8, 1000, TESELA_F32}, {8, 700, TESELA_F32}, {4, 700, TESELA_F32}};
  static const double read_again = 20e9;
  (void)state;
  const tsl_strategy *packed = tsl_strategy_find(TSL_OP_GEMM, "host_packed");
  tsl_device device = this_processor();
  device.level_bytes[0] = 48 << 10;
  device.level_bytes[1] = 2 << 20;
  device.level_bytes[2] = (uint64_t)300 << 20;
  for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
    const tsl_problem problem = tsl_problem_gemm(squares[i].n, squares[i].n, squares[i].n, squares[i].type);
    const tsl_operands strides = tsl_strides_of(&problem);
    tsl_config best;
    device.threads = squares[i].threads;
    device.peak_f32 = 180e9 * device.threads;
    device.peak_f64 = 90e9 * device.threads;
    device.clock_mhz = 2800;
    const double least = best_seconds(packed, &problem, &device, &best);
    const tsl_packed_job job =
        tsl_packed_job_for(&problem, &strides, best.value[0], best.value[1] << 10, &device);
    const double again = tsl_packed_share(&job, device.threads).again;
    if (!tsl_packed_has_strips(&job, device.threads))
      fail_msg("%lld cubed by %d threads, depth %lld block %lld: copies of all", (long long)squares[i].n,
               device.threads, (long long)best.value[0], (long long)best.value[1]);
    if (again > 0.2 * least * read_again)
      fail_msg("%lld cubed by %d threads, depth %lld block %lld: each reads %g bytes again",
               (long long)squares[i].n, device.threads, (long long)best.value[0], (long long)best.value[1],
               again);
  }
}

/* --- prefetched lines --- */

/* Goes through it as tiles do; says which lines from `base` on are asked for. */
static void mark(tsl_packed_prefetch prefetch, int64_t times, const unsigned char *base, int64_t lines,
                 bool *marked) {
  for (int64_t i = times * prefetch.count; i > 0; i--) {
    const int64_t line = (int64_t)((uintptr_t)prefetch.at - (uintptr_t)base) / TSL_CACHE_LINE;
    if (line >= 0 && line < lines)
      marked[line] = true;
    prefetch.at += TSL_CACHE_LINE;
    if (--prefetch.left == 0) {
      prefetch.at += prefetch.jump;
      prefetch.left = prefetch.lines;
    }
  }
}

/* Rows of B that share a set of the first-level cache are packed where a few micro-panels of A read them. */
static void conflicting_rows_are_packed(void **state) {
  (void)state;
  tsl_device device = {.threads = 1, .level_bytes = {32 << 10, 512 << 10, 32 << 20}};
  for (int64_t past = -32; past <= 32; past += 16)
    for (int64_t rows = 1; rows <= 101; rows += 50)
      for (int64_t steps = 8; steps <= 64; steps *= 8) {
        tsl_problem problem = tsl_problem_gemm(rows, 24, steps, TESELA_F64);
        problem.b.row_stride = (4096 + past) / 8;
        const tsl_operands strides = tsl_strides_of(&problem);
        const tsl_packed_job job = tsl_packed_job_for(&problem, &strides, 128, 512 << 10, &device);
        if (job.schedule == TSL_PACKED_ROWS)
          assert_int_equal(job.copies_b, rows > 1 && steps > 8 && past >= -16 && past <= 16);
      }
}

/* While the tiles of a group are multiplied, every line of the next group's rows is asked for, wherever they
 * start. */
static void whole_rows_are_prefetched(void **state) {
  enum { ROWS = 64, COLUMNS = 40, TILES = 3, OFFSETS = TSL_CACHE_LINE / 4 };
  (void)state;
  for (int64_t stride = 640; stride < 640 + OFFSETS; stride += 3)
    for (int64_t offset = 0; offset < OFFSETS; offset++) {
      const int64_t lines = tsl_ceil_div_or_one((ROWS * stride + COLUMNS) * 4, TSL_CACHE_LINE) + 1;
      unsigned char *memory = aligned_alloc(TSL_CACHE_LINE, (size_t)lines * TSL_CACHE_LINE);
      bool *marked = calloc((size_t)lines, sizeof *marked);
      assert_true(memory && marked);
      const tsl_packed_job job = {
          .size = 4,
          .nr = 32,
          .views = {.m = 4,
                    .n = stride,
                    .k = ROWS,
                    .b = {.at = memory + 4 * offset, .row_stride = stride, .col_stride = 1}}};
      const tsl_packed_block block = {0, 4, 0, COLUMNS, 0, ROWS};
      mark(tsl_packed_prefetch_piece(&job, &block, &block, 1, 0, 0, 1, TILES),
           TILES * (ROWS / TSL_PACKED_PREFETCH_STEPS), memory, lines, marked);
      for (int64_t row = 0; row < ROWS; row++) {
        const int64_t start = (row * stride + offset) * 4, end = start + COLUMNS * 4 - 1;
        for (int64_t line = start / TSL_CACHE_LINE; line <= end / TSL_CACHE_LINE; line++)
          if (!marked[line])
            fail_msg("rows of %d elements, %d apart, from element %d: line %d of row %d is not prefetched",
                     COLUMNS, (int)stride, (int)offset, (int)line, (int)row);
      }
      free(marked);
      free(memory);
    }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schedules_agree),
      cmocka_unit_test(plans_are_right),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(callers_share_a_plan),
      cmocka_unit_test(threads_get_even_shares),
      cmocka_unit_test(nothing_is_read_again_and_again),
      cmocka_unit_test(steps_in_many_pages_are_packed),
      cmocka_unit_test(conflicting_rows_are_packed),
      cmocka_unit_test(whole_rows_are_prefetched),
  };
  program = argv[0];
  return argc > 1 ? print_results() : cmocka_run_group_tests(tests, NULL, NULL);
}
