/* The product with one small dimension on the host: every number of rows, columns and steps, every layout of
 * the operands, every instruction set. Bits do not depend on threads, or on the distance of the memory. Sums
 * in the order of k have the bits of host_small. Also the choice of kernels, C = beta C, and refusals with
 * their reasons. */
#include "unit/cpu.h"
#include "unit/host_product.h"
#include "unit/sanitizers.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/gemm/host/host_skinny/host_skinny_job.h"
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

static tesela_status run(const tsl_skinny_job *job, tsl_team team, const tsl_operands *operands) {
  return tsl_skinny_job_run(job, team, operands->a.host, operands->b.host, operands->c.host);
}

/* Runs alone in near caches, and with threads beyond the caches; compares, and judges. */
static void expect_right(const tsl_problem *problem, const tsl_device *near, tsl_skinny_walk walk) {
  host_product made = host_product_of(problem);
  void *before = host_product_keep(&made);
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), 0);
  tsl_device far = *near;
  tsl_skinny_job job;
  assert_null(tsl_skinny_refuse(problem));
  tsl_skinny_job_make(problem, &made.operands, near, &job);
  assert_int_equal(job.walk, walk);
  assert_false(job.is_far || job.nontemporal);
  job.alone = true;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_right_sums(&made, before, tsl_accuracy_in_order(problem, NULL).factor);
  void *alone = host_product_keep(&made);
  host_product_restore(&made, before);
  far.level_bytes[1] = far.level_bytes[2] = 4;
  tsl_skinny_job_make(problem, &made.operands, &far, &job);
  assert_true(job.is_far && job.nontemporal == (problem->beta[0] == 0));
  job.alone = false;
  assert_int_equal(run(&job, team, &made.operands), TESELA_OK);
  expect_same_bits(&made, alone);
  if (!job.is_complex && job.parts == 1 && (job.walk != TSL_SKINNY_COLUMNS || job.is_tiled))
    expect_as_small(&made, near, before, alone);
  free(before);
  free(alone);
  host_product_free(&made);
}

/* Tries each instruction set of this processor. */
static void try_sets(const tsl_problem *problem, tsl_skinny_walk walk) {
  tsl_device device;
  for (int set = 0; set < CPU_SETS; set++)
    if (cpu_with(set, &device)) {
      device.level_bytes[1] = device.level_bytes[2] = 1 << 30;
      expect_right(problem, &device, walk);
    }
}

/* Tries products whose k is cut, with a C of `few` rows or columns. */
static void deep_products(void **state) {
  enum { MANY = 90, DEPTH = 1500, LIES = 16, TALL = 1, LARGE_ALONG_K = 2, THIN_BY_COLUMNS = 4, C_TURNED = 8 };
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  const bool is_slow = getenv("TESELA_EMULATOR") != NULL; /* a few of each type */
  (void)state;
  for (int t = 0; t < 4; t++)
    for (int lie = is_slow ? t : 0; lie < LIES; lie += is_slow ? 5 : 1)
      for (int64_t few = 1 + lie % 3; few <= (t < 2 ? 16 : 8); few += 5) {
        tsl_problem problem = lie & TALL ? tsl_problem_gemm(MANY, few, DEPTH + few, types[t])
                                         : tsl_problem_gemm(few, MANY, DEPTH + few, types[t]);
        tsl_skinny_job job;
        if (((lie & LARGE_ALONG_K) != 0) != ((lie & TALL) != 0))
          by_columns(lie & TALL ? &problem.a : &problem.b);
        if (lie & THIN_BY_COLUMNS)
          by_columns(lie & TALL ? &problem.b : &problem.a);
        if (lie & C_TURNED)
          by_columns(&problem.c);
        problem.alpha[0] = -1.5;
        problem.beta[0] = few % 2 ? 0 : -0.25;
        problem.conjugate_b = t >= 2 && few % 3 == 0;
        problem.alpha[1] = t >= 2 ? 0.75 : 0;
        const tsl_operands strides = tsl_strides_of(&problem);
        tsl_device device;
        assert_true(cpu_with(0, &device));
        tsl_skinny_job_make(&problem, &strides, &device, &job);
        assert_true(job.parts > 1);
        try_sets(&problem, job.walk);
      }
}

/* A family of products: few rows, columns or steps, from 1 to `most`; `lie` makes operands column-major. */
enum { A_COLUMNS = 1, B_COLUMNS = 2, C_COLUMNS = 4, B_APART = 8, FEW_COLUMNS = 16, FEW_STEPS = 32 };
static const struct {
  int lie, most;
  int64_t many, depth; /* of FEW_STEPS: rows and columns of C */
  tsl_skinny_walk walk;
} families[] = {
    {0, TSL_SKINNY_MAX, 384, 150, TSL_SKINNY_ROWS}, /* 384 and more: several pieces, not only whole tiles */
    {A_COLUMNS | C_COLUMNS, TSL_SKINNY_MAX, 384, 67, TSL_SKINNY_ROWS},
    {FEW_COLUMNS | A_COLUMNS, TSL_SKINNY_MAX, 131, 45, TSL_SKINNY_ROWS},
    {B_COLUMNS, TSL_SKINNY_MAX, 384, 150, TSL_SKINNY_COLUMNS},
    {B_APART, TSL_SKINNY_MAX, 384, 67, TSL_SKINNY_COLUMNS},
    {B_COLUMNS | A_COLUMNS | C_COLUMNS, TSL_SKINNY_MAX, 131, 45, TSL_SKINNY_COLUMNS},
    {FEW_COLUMNS, TSL_SKINNY_MAX, 131, 45, TSL_SKINNY_COLUMNS},
    {FEW_STEPS, TSL_SKINNY_STEPS, 271, 300, TSL_SKINNY_UPDATE},
    {FEW_STEPS | C_COLUMNS | B_COLUMNS, TSL_SKINNY_STEPS, 271, 300, TSL_SKINNY_UPDATE},
    {FEW_STEPS, TSL_SKINNY_OUTER_MAX, 13, 1100, TSL_SKINNY_UPDATE},
    {FEW_STEPS | C_COLUMNS | A_COLUMNS, TSL_SKINNY_OUTER_MAX, 1100, 12, TSL_SKINNY_UPDATE},
};

static void all_families(void **state) {
  const bool is_slow = getenv("TESELA_EMULATOR") != NULL; /* by turns one of both types */
  (void)state;
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (int type = TESELA_F64; type <= TESELA_F32; type++)
      for (int64_t few = 1; few <= families[f].most; few++) {
        const int lie = families[f].lie;
        if (is_slow && (few + (int64_t)f) % 2 == (type == TESELA_F64))
          continue;
        const int64_t many = families[f].many + (few % 4 ? few : 0), depth = families[f].depth + few;
        tsl_problem problem = lie & FEW_STEPS     ? tsl_problem_gemm(families[f].many, depth, few, type)
                              : lie & FEW_COLUMNS ? tsl_problem_gemm(many, few, depth, type)
                                                  : tsl_problem_gemm(few, many, depth, type);
        problem.alpha[0] = few % 5 == 3 ? -1 : few % 5 == 4 ? 1 : -1.5;
        problem.beta[0] = few % 5 >= 3 ? 1 : few % 3 == 2 ? -0.25 : 0;
        if (lie & A_COLUMNS)
          by_columns(&problem.a);
        if (lie & B_COLUMNS)
          by_columns(&problem.b);
        if (lie & C_COLUMNS)
          by_columns(&problem.c);
        if (lie & B_APART) {
          problem.b.row_stride = -3 * problem.n;
          problem.b.col_stride = 2;
        }
        try_sets(&problem, families[f].walk);
      }
}

/* Complex products by each walk, with conjugates, and complex scalars where the walk takes these. */
static void complex_families(void **state) {
  enum { FEW_MAX = TSL_SKINNY_MAX / 2, MANY = 150, DEPTH = 90 };
  (void)state;
  for (int walk = TSL_SKINNY_ROWS; walk <= TSL_SKINNY_UPDATE; walk++)
    for (int type = TESELA_C64; type <= TESELA_C128; type++)
      for (int64_t few = 1; few <= FEW_MAX; few++) {
        const bool updates = walk == TSL_SKINNY_UPDATE, is_tall = few % 2 != 0 && !updates,
                   is_scaled = few % 5 != 4;
        const int64_t many = MANY + few;
        tsl_problem problem = updates   ? tsl_problem_gemm(40 + few, MANY, few, type)
                              : is_tall ? tsl_problem_gemm(many, few, DEPTH, type)
                                        : tsl_problem_gemm(few, many, DEPTH, type);
        problem.conjugate_a = few % 4 >= 2;
        problem.conjugate_b = few % 3 == 1;
        problem.alpha[0] = is_scaled ? -1.5 : 1;
        problem.alpha[1] = is_scaled && !updates ? 0.75 : 0;
        problem.beta[0] = few % 3 == 2 ? -0.25 : 0;
        problem.beta[1] = few % 3 == 2 && !updates ? 2 : 0;
        if (!updates && (walk == TSL_SKINNY_ROWS) == is_tall)
          by_columns(is_tall ? &problem.a : &problem.b);
        if (few % 4 == 3)
          by_columns(is_tall ? &problem.b : &problem.a);
        if (few % 3 == 0)
          by_columns(&problem.c);
        try_sets(&problem, (tsl_skinny_walk)walk);
      }
}

/* A single element of C: sums run by lanes along k, and in order if rows fix their bits. */
static void single_elements(void **state) {
  static const tesela_type types[] = {TESELA_F64, TESELA_F32, TESELA_C64, TESELA_C128};
  (void)state;
  for (int t = 0; t < 4; t++)
    for (int64_t depth = TSL_SKINNY_OUTER_MAX + 1; depth <= 1100; depth += depth < 70 ? 1 : 257) {
      tsl_problem problem = tsl_problem_gemm(1, 1, depth, types[t]);
      problem.beta[0] = depth % 2 ? 0 : 0.5;
      if (depth % 3 == 0)
        by_columns(&problem.a);
      try_sets(&problem, TSL_SKINNY_COLUMNS);
      problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
      if (depth <= TSL_ROW_PANEL) /* one panel: host_small's order */
        try_sets(&problem, TSL_SKINNY_ROWS);
    }
}

/* The kernels that measurements found to be the faster ones. */
static void choices(void **state) {
  static const struct {
    int64_t m, n, k;
    bool by_columns; /* B */
    tsl_skinny_walk walk;
    bool is_tiled;
  } rows[] = {
      {5, 101, 100, false, TSL_SKINNY_ROWS, false},    {5, 128, 100, false, TSL_SKINNY_ROWS, true},
      {3, 128, 100, false, TSL_SKINNY_ROWS, false},    {6, 100, 100, false, TSL_SKINNY_ROWS, true},
      {8, 3000, 3000, false, TSL_SKINNY_ROWS, false}, /* from memory */
      {9, 3000, 3000, false, TSL_SKINNY_ROWS, true},   {5, 100, 100, true, TSL_SKINNY_COLUMNS, false},
      {7, 100, 100, true, TSL_SKINNY_COLUMNS, false},  {100, 6, 100, false, TSL_SKINNY_COLUMNS, false},
      {100, 7, 100, false, TSL_SKINNY_COLUMNS, true},  /* lines would copy B's columns */
      {6, 1000, 1000, true, TSL_SKINNY_COLUMNS, true}, /* not near */
      {9, 100, 100, true, TSL_SKINNY_COLUMNS, true},   {9, 100, 4, false, TSL_SKINNY_UPDATE, false},
      {9, 100, 5, false, TSL_SKINNY_ROWS, true},       {100, 9, 4, true, TSL_SKINNY_ROWS, true},
      {100, 9, 1, false, TSL_SKINNY_UPDATE, false},    {100, 100, 4, false, TSL_SKINNY_UPDATE, false},
      {100, 100, 5, false, TSL_SKINNY_UPDATE, true}};
  (void)state;
  tsl_device device = *cpu;
  device.level_bytes[2] = 32 << 20;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_problem problem = tsl_problem_gemm(rows[i].m, rows[i].n, rows[i].k, TESELA_F64);
    tsl_skinny_job job;
    if (rows[i].by_columns)
      by_columns(&problem.b);
    if (rows[i].m > rows[i].n && rows[i].by_columns)
      by_columns(&problem.a);
    const tsl_operands strides = tsl_strides_of(&problem);
    tsl_skinny_job_make(&problem, &strides, &device, &job);
    assert_int_equal(job.walk, rows[i].walk);
    assert_int_equal(job.is_tiled, rows[i].is_tiled);
  }
}

static tesela_status multiply(const tsl_problem *problem, const tsl_operands *operands) {
  tsl_skinny_job job;
  tsl_skinny_job_make(problem, operands, cpu, &job);
  return run(&job, (tsl_team){0}, operands);
}

static void nothing_to_multiply(void **state) {
  (void)state;
  expect_beta_c(multiply);
}

static void refusals(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(17, 18, TSL_SKINNY_STEPS / 2 + 1, TESELA_F32);
  assert_non_null(strstr(tsl_skinny_refuse(&problem), "17 x 18 x 33"));
  problem = tsl_problem_gemm(17, 18, 16, TESELA_F32);
  assert_null(tsl_skinny_refuse(&problem));
  problem.c.row_stride = 40;
  problem.c.col_stride = 2;
  assert_non_null(strstr(tsl_skinny_refuse(&problem), "contiguous rows or columns"));
  problem.m = problem.a.rows = problem.c.rows = 16;
  assert_null(tsl_skinny_refuse(&problem));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_families),     cmocka_unit_test(deep_products),
      cmocka_unit_test(complex_families), cmocka_unit_test(single_elements),
      cmocka_unit_test(choices),          cmocka_unit_test(nothing_to_multiply),
      cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
