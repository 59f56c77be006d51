/* The slim product on the host: every number of rows and of steps, every layout of the operands,
 * every instruction set. The bits are equal to host_small's, with one thread and in parts for
 * threads, with and without prefetches, within and beyond the caches. Also C = beta C, and refusals
 * with their reasons. */
#include "unit/cpu.h"
#include "unit/host_product.h"
#include "unit/sanitizers.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/gemm/host/host_slim/host_slim_job.h"
#include "strategy/gemm/host/host_small/host_small_job.h"
#include "strategy/host_jobs/host_job.h"

/* Expects the bits of host_small, which adds in the same order. Under a sanitizer the compiler
 * fuses other multiply-adds of plain C in either, so the test is skipped. */
static void expect_as_small(const host_product *product, const tsl_device *device, const void *before,
                            const void *expected) {
  if (ADDRESS_SANITIZER || THREAD_SANITIZER)
    return;
  const tsl_call called = tsl_call_of(&product->problem, &product->operands);
  tsl_small_job job;
  tsl_small_job_make(&called, device->capabilities, &job, NULL);
  host_product_restore(product, before);
  assert_int_equal(
      tsl_small_job_run(&job, product->operands.a.host, product->operands.b.host, product->operands.c.host),
      TESELA_OK);
  expect_same_bits(product, expected);
}

static tesela_status run(const tsl_slim_job *job, tsl_team team, const tsl_operands *operands) {
  return tsl_slim_job_run(job, team, operands->a.host, operands->b.host, operands->c.host);
}

/* Runs the job alone and with threads, compares, and judges. */
static void expect_right(const tsl_problem *problem, const tsl_device *device, tsl_slim_way way) {
  host_product made = host_product_of(problem);
  void *before = host_product_keep(&made);
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), 0);
  tsl_slim_job job;
  assert_null(tsl_lopsided_refuse(problem, TSL_SLIM_MOST, TSL_SLIM_STEPS));
  tsl_slim_job_make(problem, &made.operands, device, &job);
  assert_int_equal(job.way, way);
  job.alone = true;
  job.is_far = false;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_right_sums(&made, before, tsl_accuracy_of_sum(problem->k).factor);
  void *alone = host_product_keep(&made);
  host_product_restore(&made, before);
  job.alone = false;
  job.is_far = true;
  job.chunk = 32;
  job.nontemporal = way == TSL_SLIM_UPDATE && problem->beta[0] == 0;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_same_bits(&made, alone);
  expect_as_small(&made, device, before, alone);
  free(before);
  free(alone);
  host_product_free(&made);
}

/* Tries each instruction set of this processor. */
static void try_sets(const tsl_problem *problem, tsl_slim_way way) {
  tsl_device device;
  for (int set = 0; set < CPU_SETS; set++)
    if (cpu_with(set, &device))
      expect_right(problem, &device, way);
}

/* 387 columns are more than two pieces, and no whole number of tiles. */
static void few_rows(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t few = 1; few <= TSL_SLIM_MOST; few++)
      for (int lie = 0; lie < 4; lie++) {
        tsl_problem problem = tsl_problem_gemm(few, few % 4 ? 387 : 384, 150 + few, (tesela_type)type);
        problem.alpha[0] = few % 3 ? 1.5 : 1;
        problem.beta[0] = few % 2 ? -0.5 : 0;
        if (lie == 1)
          by_columns(&problem.b);
        if (lie == 2) { /* nothing side by side */
          problem.b.row_stride = -3 * problem.n;
          problem.b.col_stride = 2;
        }
        if (lie == 3) {
          by_columns(&problem.a);
          by_columns(&problem.c);
        }
        try_sets(&problem, lie == 1 || lie == 2 ? TSL_SLIM_SPREAD : TSL_SLIM_ROWS);
      }
}

static void few_columns(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t few = 1; few <= TSL_SLIM_MOST; few++) {
      tsl_problem problem = tsl_problem_gemm(131, few, 45, (tesela_type)type);
      try_sets(&problem, TSL_SLIM_SPREAD);
      by_columns(&problem.a);
      problem.beta[0] = 2;
      try_sets(&problem, TSL_SLIM_ROWS);
    }
}

static void few_steps(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t steps = 1; steps <= TSL_SLIM_STEPS; steps++)
      for (int lie = 0; lie < 2; lie++) {
        tsl_problem problem = tsl_problem_gemm(271, 300 + steps, steps, (tesela_type)type);
        problem.alpha[0] = steps % 5 == 3 ? -1 : steps % 5 == 4 ? 1 : -2;
        problem.beta[0] = steps % 5 >= 3 ? 1 : steps % 3 == 2 ? 0.25 : 0;
        if (lie == 1) {
          by_columns(&problem.c);
          by_columns(&problem.b);
        }
        try_sets(&problem, TSL_SLIM_UPDATE);
      }
}

static tesela_status multiply(const tsl_problem *problem, const tsl_operands *operands) {
  tsl_slim_job job;
  tsl_slim_job_make(problem, operands, cpu, &job);
  return run(&job, (tsl_team){0}, operands);
}

static void nothing_to_multiply(void **state) {
  (void)state;
  expect_beta_c(multiply);
}

static void refusals(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(17, 18, TSL_SLIM_STEPS + 1, TESELA_F32);
  assert_non_null(strstr(tsl_lopsided_refuse(&problem, TSL_SLIM_MOST, TSL_SLIM_STEPS), "17 x 18 x 33"));
  problem = tsl_problem_gemm(17, 18, 16, TESELA_F32);
  assert_null(tsl_lopsided_refuse(&problem, TSL_SLIM_MOST, TSL_SLIM_STEPS));
  problem.c.row_stride = 40;
  problem.c.col_stride = 2;
  assert_non_null(
      strstr(tsl_lopsided_refuse(&problem, TSL_SLIM_MOST, TSL_SLIM_STEPS), "contiguous rows or columns"));
  problem.m = problem.a.rows = problem.c.rows = 16;
  assert_null(tsl_lopsided_refuse(&problem, TSL_SLIM_MOST, TSL_SLIM_STEPS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_rows),  cmocka_unit_test(few_columns),
      cmocka_unit_test(few_steps), cmocka_unit_test(nothing_to_multiply),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
