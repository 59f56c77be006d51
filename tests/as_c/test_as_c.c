// Kernels as C: every rung of the ladder that has a kernel, on operands at protected pages, through the
// judge. The long form has the configs between a rung's first and last, and more cases.
#include "as_c/device.h"
#include "unit/config.h"
#include "unit/long.h"
#include "unit/sanitizers.h"
#include "unit/unit.h"

#include "core/random.h"
#include "judge/check.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"
#include "strategy/strategy_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_devices *devices;
static tsl_device *device;

typedef struct form {
  tsl_op op;
  const char *name, *config;
  int least; /* of the random cases, how many the strategy takes at least */
} form;
static form forms[] = {
    {TSL_OP_GEMM, "element", "columns=4 rows=4", 12},
    {TSL_OP_GEMM, "row", "items=8", 12},
    {TSL_OP_GEMM, "row_private", "items=8 panel=8", 12},
    {TSL_OP_GEMM, "row_private_column_local", "items=8 panel=8", 12},
    {TSL_OP_GEMM, "tile_local", "tile=8", 12},
    {TSL_OP_GEMM, "image_microtile", "", 6},
    {TSL_OP_GEMM, "image_microtile", "height=4 columns=8 rows=4", 6},
    {TSL_OP_GEMM, "register_tile", "", 6},
    {TSL_OP_GEMM, "register_tile", "tile_m=32 tile_n=32 tile_k=8 micro_m=4 micro_n=4", 12},
    {TSL_OP_GEMM, "register_tile", "tile_m=32 tile_n=32 tile_k=32 micro_m=4 micro_n=4 stages=1 slices=4", 12},
    {TSL_OP_GEMM, "register_tile", "form=local_async stages=3 tile_m=32 tile_n=48 micro_m=4 micro_n=4", 6},
    {TSL_OP_GEMM, "register_tile", "form=packed vector=32 tile_k=8 stages=1", 12},
    {TSL_OP_GEMM, "thin_tile", "", 12},
    {TSL_OP_GEMM, "thin_tile", "split=2 slices=4", 2},
    {TSL_OP_GEMM, "few_rows", "items_n=128 slices=1 flight=8", 40},
    {TSL_OP_GEMM, "few_rows", "items_n=32 slices=4 flight=4", 40},
    {TSL_OP_GEMM, "outer_product", "items_n=8 rows=2", 100},
    {TSL_OP_GEMM, "outer_product", "items_n=32 rows=4", 100},
    {TSL_OP_DOT, "block_tree", "", 12},
    {TSL_OP_DOT, "fixed_tree", "", 12},
    {TSL_OP_DOT, "exact", "", 12},
    {TSL_OP_TRANSPOSE, "element", "", 12},
    {TSL_OP_TRANSPOSE, "tile_local", "", 12},
    {TSL_OP_TRANSPOSE, "vector", "", 12},
};

static bool is_small(const tsl_case *what) {
  const tsl_problem *p = &what->problem;
  return (double)p->m * (double)p->n * (double)p->k <= 2e5 && p->m * p->n <= 8000 &&
         tsl_problem_batch(p) <= 3;
}

/* Returns whether the strategy takes the case, which must be right then. */
static bool check(const tsl_strategy *strategy, const tsl_config *config, tsl_case *what) {
  char line[512];
  tsl_case_report report = {0};
  tsl_text problem = {0};
  what->problem = tsl_problem_drop_epilogue(&what->problem);
  tsl_problem_print(&what->problem, &problem);
  snprintf(line, sizeof line, "%s: %s", strategy->name, tsl_text_get(&problem));
  tsl_text_free(&problem);
  fence_tell(line);
  as_c_complaints = 0;
  assert_int_equal(tsl_check_case(strategy, config, device, what, &report), TESELA_OK);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED)
    fail_msg("%s seed=%llu: %s", report.plan, (unsigned long long)what->seed, report.why);
  if (as_c_complaints > 0)
    fail_msg("%s: %d times: %s", report.plan, as_c_complaints, as_c_complaint);
  return report.result == TSL_CASE_RIGHT;
}

/* Dense products whose rows begin at every multiple of an element, and rows of every length modulo a vector.
 * Returns how many are right. */
static int check_alignments(const tsl_strategy *strategy, const tsl_config *config) {
  int right = 0;
  for (int64_t k = 5; k <= 16; k++)
    for (uint64_t seed = 0; seed < 4; seed++) {
      tsl_case what = {
          .problem = tsl_problem_gemm(9, 10 + k % 4, k, TESELA_F32), .seed = seed, .tight = seed % 2};
      as_c_side = (fence_side)(seed / 2);
      right += check(strategy, config, &what);
    }
  return right;
}

/* Products of one to four rows, with rows or columns of B of every length modulo a vector, also padded.
 * Returns how many are right. */
static int check_few_rows(const tsl_strategy *strategy, const tsl_config *config) {
  static const tesela_type few_types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128, TESELA_BF16};
  int right = 0;
  for (int64_t k = 65; k <= 80; k += 3)
    for (uint64_t seed = 0; seed < 8; seed++) {
      const int64_t n = 20 + k % 7, padding = seed / 2 % 2 * (k % 5);
      const bool along_k = seed % 2;
      tsl_case what = {.problem = tsl_problem_gemm(1 + k % 4, n, k, few_types[(k + (int64_t)seed) % 5]),
                       .seed = seed,
                       .tight = true};
      what.problem.b.row_stride = along_k ? 1 : n + padding;
      what.problem.b.col_stride = along_k ? k + padding : 1;
      as_c_side = (fence_side)(seed / 4);
      right += check(strategy, config, &what);
    }
  return right;
}

/* Products with a k of one to eight, with rows or columns of C of every length and pitch modulo a vector.
 * Returns how many are right. */
static int check_outer_products(const tsl_strategy *strategy, const tsl_config *config) {
  static const tesela_type outer_types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  int right = 0;
  for (int64_t k = 1; k <= 8; k++)
    for (uint64_t seed = 0; seed < 16; seed++) {
      const int64_t n = 29 + k % 5, m = 19, padding = (int64_t)(seed / 4 + 1) % 4;
      const bool by_columns = seed % 2;
      tsl_case what = {.problem = tsl_problem_gemm(m, n, k, outer_types[seed / 2 % 2 * 2 + (uint64_t)k % 2]),
                       .seed = seed,
                       .tight = true};
      what.problem.c.row_stride = by_columns ? 1 : n + padding;
      what.problem.c.col_stride = by_columns ? m + padding : 1;
      what.problem.beta[0] = seed / 4 % 2;
      as_c_side = (fence_side)(seed / 8);
      right += check(strategy, config, &what);
    }
  return right;
}

static void runs_as_c(void **state) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  const int random = is_long_form() ? 16 : 6;
  const form *of = *state;
  const bool takes_complex = strcmp(of->name, "register_tile") == 0;
  const tsl_strategy *strategy = tsl_strategy_find(of->op, of->name);
  const tsl_config config = config_of(strategy, of->config);
  const int before = as_c_launches;
  int right = 0;
  fence_catch();
  for (int i = 0, taken = 0; taken < random; i++) {
    tsl_case what;
    tsl_case_random(of->op, 20261128, (uint64_t)i, types[i % (takes_complex ? 4 : 2)], &what);
    if (!is_small(&what))
      continue;
    what.tight = true; /* operands in buffers of their own, with nothing around them */
    as_c_backwards = taken % 2;
    as_c_side = FENCE_BEHIND;
    right += check(strategy, &config, &what);
    as_c_side = FENCE_BEFORE;
    check(strategy, &config, &what);
    taken++;
  }
  if (of->op == TSL_OP_GEMM)
    right += check_alignments(strategy, &config) + check_few_rows(strategy, &config);
  if (strcmp(of->name, "outer_product") == 0)
    right += check_outer_products(strategy, &config);
  print_message("  %d right, %d launches\n", right, as_c_launches - before);
  if (right < (is_long_form() ? of->least : 1))
    fail_msg("%s took %d cases", of->name, right);
}

/* Returns a config of register_tile with asynchronous copies that takes the problem. */
static tsl_config random_tile(const tsl_strategy *strategy, const tsl_problem *problem, uint64_t seed) {
  tsl_config config = config_of(strategy, "form=local_async");
  uint64_t draws = 0;
  do
    for (int p = TSL_REGISTER_TILE_TILE_M; strategy->params[p].name; p++) {
      int count = 0;
      while (count < TSL_PARAM_VALUES_MAX && strategy->params[p].values[count])
        count++;
      config.value[p] = strategy->params[p].values[tsl_random_u64(seed, draws++) % (uint64_t)count];
    }
  while (strategy->refuse(problem, &config, device));
  return config;
}

/* Puts an operand's rows or columns side by side, with a gap behind each. */
static void lay_out(tsl_shape *shape, int64_t rows, int64_t cols, uint64_t bits) {
  const int64_t line = (bits % 2 ? rows : cols) + (int64_t)(bits / 2 % 4);
  shape->row_stride = bits % 2 ? 1 : line;
  shape->col_stride = bits % 2 ? line : 1;
}

/* Tiles with asynchronous copies, of operands of every order whose lines are aligned or not. */
static void random_tiles_run_as_c(void **state) {
  enum { SIZE_MAX_C = 160, K_MAX = 56 };
  const uint64_t tiles = is_long_form() ? 48 : 12;
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "register_tile");
  fence_catch();
  for (uint64_t i = 0; i < tiles; i++) {
    const uint64_t bits = tsl_random_u64(42, i);
    const int64_t m = 1 + (int64_t)(bits % SIZE_MAX_C), n = 1 + (int64_t)((bits >> 16) % SIZE_MAX_C),
                  k = 1 + (int64_t)((bits >> 32) % K_MAX);
    tsl_case what = {
        .problem = tsl_problem_gemm(m, n, k, i % 2 ? TESELA_C64 : TESELA_F32), .seed = i, .tight = true};
    lay_out(&what.problem.a, m, k, bits >> 48);
    lay_out(&what.problem.b, k, n, bits >> 52);
    lay_out(&what.problem.c, m, n, bits >> 56);
    const tsl_config config = random_tile(strategy, &what.problem, bits);
    as_c_side = i / 2 % 2 ? FENCE_BEHIND : FENCE_BEFORE;
    as_c_backwards = i / 4 % 2;
    assert_true(check(strategy, &config, &what));
  }
}

int main(void) {
  enum { FORMS = sizeof forms / sizeof *forms };
  static struct CMUnitTest tests[FORMS + 1];
  static char names[FORMS][128];
  if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
    printf("skipped: sanitizers know neither stacks of this program's own nor its handler of faults\n");
    return 77;
  }
  setenv("TESELA_CACHE_SIZE", "0", 1); // kernels are compiled anew
  tsl_device_kind_add(&as_c_kind);
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "as_c:0", &device) != TESELA_OK)
    return 1;
  int count = 0;
  for (int i = 0; i < FORMS; i++) {
    const bool is_inside = i > 0 && i + 1 < FORMS && strcmp(forms[i].name, forms[i - 1].name) == 0 &&
                           strcmp(forms[i].name, forms[i + 1].name) == 0;
    if (is_inside && !is_long_form())
      continue;
    snprintf(names[i], sizeof names[i], "%s %s %s", tsl_op_name(forms[i].op), forms[i].name, forms[i].config);
    tests[count++] = (struct CMUnitTest){names[i], runs_as_c, NULL, NULL, &forms[i]};
  }
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(random_tiles_run_as_c);
  fence_set_up();
  const int failed = _cmocka_run_group_tests("tests", tests, (size_t)count, NULL, NULL);
  tsl_devices_destroy(devices);
  return failed;
}
