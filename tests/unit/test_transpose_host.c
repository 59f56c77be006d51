/* The processor's transposes beyond the cases of check: every instruction set of this machine, and
 * non-temporal stores, for which check's matrices are too small. Also blocks and bands next to each
 * other, and rows that are gigabytes apart. */
#include "unit/cpu.h"
#include "unit/long.h"
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/status.h"
#include "judge/check.h"
#include "strategy/params.h"
#include "strategy/transpose/host/vector/vector_host.h"
#include "strategy/transpose/shared/transpose_common.h"

static tsl_device like_cpu; /* the processor with less of its instruction set, and any cache */

/* --- a strategy that is the real one on another device --- */

static double no_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return 1;
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config, (void)device;
  return tsl_transpose_refuse_scaling(problem);
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)stream;
  tsl_vector_on_host(&work->problem, operands, &like_cpu);
  return TESELA_OK;
}

static const tsl_strategy elsewhere = {.name = "vector",
                                       .idea = "the processor's, on another device",
                                       .op = TSL_OP_TRANSPOSE,
                                       .version = 1,
                                       .needs = TSL_CAN_HOST,
                                       .supports = {.types = tsl_types_all},
                                       .accuracy = tsl_transpose_accuracy,
                                       .refuse = refuse,
                                       .score = no_score,
                                       .run = run};

static bool choose_set(int set, uint64_t cache_bytes) {
  const bool is_here = cpu_with(set, &like_cpu);
  like_cpu.cache_bytes = cache_bytes;
  return is_here;
}

static int check(const tsl_case *what) {
  const tsl_config config = tsl_strategy_defaults(&elsewhere);
  tsl_case_report report = {0};
  assert_int_equal(tsl_check_case(&elsewhere, &config, cpu, what, &report), TESELA_OK);
  if (report.result != TSL_CASE_RIGHT && report.result != TSL_CASE_REFUSED)
    fail_msg("%s, instruction set %x: %s", report.plan, like_cpu.capabilities, report.why);
  return report.result == TSL_CASE_RIGHT;
}

/* --- tests --- */

/* A cache of one byte: everything streams. Only the steps that reach a cache line's end do it differently. */
static void stores_past_the_caches(void **state) {
  (void)state;
  for (int set = 0; set < CPU_SETS; set++) {
    if (!choose_set(set, 1))
      continue;
    int right = 0;
    tsl_types types;
    tsl_case what;
    for (int t = 0; tsl_strategy_types(&elsewhere, t, &types); t++) {
      for (int i = 0; tsl_case_standard(TSL_OP_TRANSPOSE, i, types.c, &what); i++) {
        tsl_case_set_types(&what, &types);
        right += check(&what);
      }
      for (uint64_t i = 0; i < 25; i++) {
        tsl_case_random(TSL_OP_TRANSPOSE, 11, i, types.c, &what);
        tsl_case_set_types(&what, &types);
        right += check(&what);
      }
    }
    assert_true(right > 900);
  }
}

/* Several blocks and bands in both directions; rows that start anywhere in their cache lines; narrow ones
 * that touch. */
static void blocks_and_bands_meet(void **state) {
  (void)state;
  static const int64_t shapes[][4] = {/* m, n, and the padding of A's and C's rows */
                                      {1100, 700, 0, 0}, {1100, 700, 3, 5}, {1024, 1024, 64, 64},
                                      {2100, 300, 1, 0}, {2100, 300, 0, 7}, {60, 3000, 0, 3},
                                      {3000, 60, 0, 0},  {5000, 3, 0, 0},   {3, 5000, 5, 1},
                                      {5000, 17, 0, 0},  {1300, 128, 16, 0}};
  /* In the short form, half of the shapes for each instruction set. */
  const size_t step = is_long_form() ? 1 : 2;
  for (int set = 0; set < CPU_SETS; set++)
    for (size_t i = (size_t)set % step; i < sizeof shapes / sizeof *shapes; i += step)
      for (int t = 0; tsl_types_all[t].c != TESELA_TYPE_DEFAULT; t++) {
        if (!choose_set(set, i % 2 ? 1 : (uint64_t)1 << 40))
          continue;
        const int64_t *shape = shapes[i];
        tsl_case what = {.problem = tsl_problem_transpose(shape[0], shape[1], tsl_types_all[t].c),
                         .data = TSL_DATA_INTEGER,
                         .seed = (uint64_t)t + 2 * i};
        what.problem.a.row_stride += shape[2];
        what.problem.c.row_stride += shape[3];
        assert_true(check(&what));
        like_cpu.cache_bytes = 1;
        what.seed++; /* the other alignment */
        assert_true(check(&what));
      }
}

/* Rows three gigabytes apart, in memory that is never touched between them. */
static void rows_far_apart(void **state) {
  (void)state;
  const int64_t far = (int64_t)3 << 30, m = 70, n = 5;
  const size_t bytes = (size_t)(far * (n - 1) + m);
  unsigned char *a =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a == MAP_FAILED) {
    print_message("skipped: the system gives no %zu bytes of addresses\n", bytes);
    skip();
  }
  unsigned char c[70 * 5];
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      a[j * far + i] = (unsigned char)(i * 5 + j);
  for (int set = 0; set < CPU_SETS; set++) {
    if (!choose_set(set, 1))
      continue;
    tsl_problem problem = tsl_problem_transpose(m, n, TESELA_I8);
    memset(c, 0, sizeof c);
    const tsl_operands there = {.a = {.host = a, .row_stride = far, .col_stride = 1},
                                .c = {.host = c, .row_stride = n, .col_stride = 1},
                                .team = tsl_pool_team(tsl_pool_shared(), 0)};
    tsl_vector_on_host(&problem, &there, &like_cpu);
    for (int64_t i = 0; i < m * n; i++)
      assert_int_equal(c[i], (unsigned char)i);
    problem = tsl_problem_transpose(n, m, TESELA_I8);
    for (int64_t j = 0; j < n; j++)
      memset(a + j * far, 0, (size_t)m);
    const tsl_operands back = {.a = there.c, .c = there.a, .team = there.team};
    tsl_vector_on_host(&problem, &back, &like_cpu);
    for (int64_t i = 0; i < m * n; i++)
      assert_int_equal(a[i % n * far + i / n], (unsigned char)i);
  }
  munmap(a, bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_past_the_caches),
      cmocka_unit_test(blocks_and_bands_meet),
      cmocka_unit_test(rows_far_apart),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
