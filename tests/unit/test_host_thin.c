/* The thin product on the host: every number of thin rows, every layout of the large operand, every
 * instruction set. One thread and parts for threads give equal bits. Also C = beta C, and refusals
 * with their reasons. */
#include "unit/cpu.h"
#include "unit/host_product.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/gemm/host/host_thin/host_thin_job.h"

static tesela_status run(const tsl_thin_job *job, tsl_team team, const tsl_operands *operands) {
  return tsl_thin_job_run(job, team, operands->a.host, operands->b.host, operands->c.host);
}

/* Runs the job alone and with threads, compares, and judges. */
static void expect_right(const tsl_problem *problem, const tsl_device *device, tsl_thin_way way) {
  host_product made = host_product_of(problem);
  void *before = host_product_keep(&made);
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), 0);
  tsl_thin_job job;
  assert_null(tsl_lopsided_refuse(problem, TSL_THIN_MOST, TSL_THIN_STEPS));
  tsl_thin_job_make(problem, &made.operands, device, &job);
  assert_int_equal(job.way, way);
  job.alone = true;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_right_sums(&made, before, tsl_accuracy_of_sum(problem->k).factor);
  void *alone = host_product_keep(&made);
  host_product_restore(&made, before);
  job.alone = false;
  job.nontemporal = way == TSL_THIN_OUTER && problem->beta[0] == 0;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_same_bits(&made, alone);
  free(before);
  free(alone);
  host_product_free(&made);
}

/* Tries each instruction set of this processor. */
static void try_sets(const tsl_problem *problem, tsl_thin_way way) {
  tsl_device device;
  for (int set = 0; set < CPU_SETS; set++)
    if (cpu_with(set, &device))
      expect_right(problem, &device, way);
}

static void thin_rows(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t few = 1; few <= TSL_THIN_MOST; few++)
      for (int lie = 0; lie < 4; lie++) {
        tsl_problem problem = tsl_problem_gemm(few, 150 + few, 67, (tesela_type)type);
        problem.alpha[0] = 1.5;
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
        try_sets(&problem, lie == 1 ? TSL_THIN_REDUCE : TSL_THIN_ROWS);
      }
}

static void thin_columns(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t few = 1; few <= TSL_THIN_MOST; few += 3) {
      tsl_problem problem = tsl_problem_gemm(131, few, 45, (tesela_type)type);
      try_sets(&problem, TSL_THIN_REDUCE);
      by_columns(&problem.a);
      try_sets(&problem, TSL_THIN_ROWS);
    }
}

static void outer_products(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int64_t steps = 1; steps <= TSL_THIN_STEPS; steps++)
      for (int lie = 0; lie < 2; lie++) {
        tsl_problem problem = tsl_problem_gemm(43, 1100 + steps, steps, (tesela_type)type);
        problem.alpha[0] = -2;
        problem.beta[0] = steps == 2 ? 0.25 : 0;
        if (lie == 1) {
          by_columns(&problem.c);
          by_columns(&problem.b);
        }
        try_sets(&problem, TSL_THIN_OUTER);
      }
}

static tesela_status multiply(const tsl_problem *problem, const tsl_operands *operands) {
  tsl_thin_job job;
  tsl_thin_job_make(problem, operands, cpu, &job);
  return run(&job, (tsl_team){0}, operands);
}

static void nothing_to_multiply(void **state) {
  (void)state;
  expect_beta_c(multiply);
}

static void refusals(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(9, 9, 5, TESELA_F32);
  assert_non_null(strstr(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS), "9 x 9 x 5"));
  problem = tsl_problem_gemm(9, 9, 4, TESELA_F32);
  assert_null(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS));
  problem.c.row_stride = 20;
  problem.c.col_stride = 2;
  assert_non_null(
      strstr(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS), "contiguous rows or columns"));
  problem.m = problem.a.rows = problem.c.rows = 8;
  assert_null(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_rows),           cmocka_unit_test(thin_columns), cmocka_unit_test(outer_products),
      cmocka_unit_test(nothing_to_multiply), cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
