/* The thin product on the host: every number of thin rows, every way the large operand can lie, every instruction set;
 * the same bits alone and in pieces for threads; C = beta C; what is refused, and why. */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/check.h"
#include "matrices.h"
#include "strategy/gemm/host_thin/job.h"

static tsl_devices *devices;
static tsl_device *cpu;

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

/* Runs the job alone and with threads, compares, and judges. */
static void expect_right(const tsl_problem *problem, const tsl_device *device, tsl_thin_way way) {
  tsl_operands operands;
  tsl_operand *const each[] = {&operands.a, &operands.b, &operands.c};
  void *memory[TSL_OPERANDS];
  tsl_thin_job job;
  tsl_verdict verdict;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    *each[i] = (tsl_operand){.row_stride = shape->row_stride, .col_stride = shape->col_stride};
    memory[i] = test_matrix(shape, &each[i]->host);
    test_fill(shape, each[i]->host, TSL_DRAW_NORMAL, (uint64_t)i);
  }
  const size_t bytes = (size_t)tsl_shape_extent(&problem->c) * tsl_type(problem->c.type)->size;
  void *before = malloc(bytes), *alone = malloc(bytes);
  assert_non_null(before);
  assert_non_null(alone);
  memcpy(before, operands.c.host, bytes);
  assert_null(tsl_lopsided_refuse(problem, TSL_THIN_MOST, TSL_THIN_STEPS));
  tsl_thin_job_make(problem, &operands, device, &job);
  assert_int_equal(job.way, way);
  job.alone = true;
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), 0);
  assert_int_equal(tsl_thin_job_run(&job, team, operands.a.host, operands.b.host, operands.c.host),
                   TESELA_OK);
  const tsl_judge judge = {
      .factor = tsl_accuracy_of_sum(problem->k).factor, .operations_max = 1 << 20, .seed = 1};
  assert_int_equal(
      tsl_judge_gemm(problem, operands.a.host, operands.b.host, before, operands.c.host, &judge, &verdict),
      TESELA_OK);
  if (!verdict.right)
    print_error("%lld x %lld x %lld: %s\n", (long long)problem->m, (long long)problem->n,
                (long long)problem->k, verdict.why);
  assert_true(verdict.right);
  memcpy(alone, operands.c.host, bytes);
  memcpy(operands.c.host, before, bytes);
  job.alone = false;
  job.nontemporal = way == TSL_THIN_OUTER && problem->beta[0] == 0;
  assert_int_equal(tsl_thin_job_run(&job, team, operands.a.host, operands.b.host, operands.c.host),
                   TESELA_OK);
  assert_memory_equal(alone, operands.c.host, bytes);
  for (int i = 0; i < TSL_OPERANDS; i++)
    free(memory[i]);
  free(before);
  free(alone);
}

/* The same for each instruction set that is here. */
static void try_sets(const tsl_problem *problem, tsl_thin_way way) {
  static const unsigned sets[] = {0, TSL_CAN_AVX2, TSL_CAN_AVX2 | TSL_CAN_AVX512};
  for (int i = 0; i < 3; i++) {
    tsl_device device = *cpu;
    if ((sets[i] & ~cpu->capabilities) != 0)
      continue;
    device.capabilities = (cpu->capabilities & ~(TSL_CAN_AVX2 | TSL_CAN_AVX512)) | sets[i];
    expect_right(problem, &device, way);
  }
}

static void by_columns(tsl_shape *shape) {
  shape->row_stride = 1;
  shape->col_stride = shape->rows;
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

/* beta C alone, where neither A nor B may be looked at. */
static void nothing_to_multiply(void **state) {
  (void)state;
  for (int64_t m = 3; m < 20; m += 16) {
    double c[400];
    tsl_problem problem = tsl_problem_gemm(m, 20, 3, TESELA_F64);
    problem.alpha[0] = 0;
    problem.beta[0] = 2;
    tsl_operands operands = {.a = {.row_stride = 3, .col_stride = 1},
                             .b = {.row_stride = 20, .col_stride = 1},
                             .c = {.row_stride = 20, .col_stride = 1}};
    tsl_thin_job job;
    for (int i = 0; i < 400; i++)
      c[i] = i;
    tsl_thin_job_make(&problem, &operands, cpu, &job);
    assert_int_equal(tsl_thin_job_run(&job, (tsl_team){0}, NULL, NULL, c), TESELA_OK);
    for (int64_t i = 0; i < 400; i++)
      assert_true(c[i] == (i < 20 * m ? 2 * (double)i : (double)i));
    problem.alpha[0] = INFINITY;
    problem.k = 0;
    problem.beta[0] = 0;
    tsl_thin_job_make(&problem, &operands, cpu, &job);
    assert_int_equal(tsl_thin_job_run(&job, (tsl_team){0}, NULL, NULL, c), TESELA_OK);
    assert_true(c[0] == 0 && c[20 * m - 1] == 0);
  }
}

static void refusals(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(9, 9, 5, TESELA_F32);
  assert_non_null(strstr(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS), "9 x 9 x 5"));
  problem = tsl_problem_gemm(9, 9, 4, TESELA_F32);
  assert_null(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS));
  problem.c.row_stride = 20;
  problem.c.col_stride = 2;
  assert_non_null(strstr(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS), "side by side"));
  problem.m = problem.a.rows = problem.c.rows = 8;
  assert_null(tsl_lopsided_refuse(&problem, TSL_THIN_MOST, TSL_THIN_STEPS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_rows),           cmocka_unit_test(thin_columns), cmocka_unit_test(outer_products),
      cmocka_unit_test(nothing_to_multiply), cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
