/* residue_int8 where a factor stays (strategy/run_hints.h): the same bits as independent runs,
 * whatever the other factor makes them choose. The stored residues of the factor are used, and are
 * made anew where reuse would change bits. On every OpenCL and CUDA device; PoCL must be installed. */
#include "config.h"
#include "opencl_fixture.h"

#include "core/random.h"
#include "opencl.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of a factor's numbers. NORMAL, OTHER: of one magnitude. GRADED: needs more moduli.
 * FEW_NATIVE: one line is computed natively. ALL_NATIVE: all of C is. FEW_SMALL: one line has small
 * numbers, and is native where the other factor's lines have little except their largest number.
 * SPIKY: such lines. */
typedef enum numbers { NORMAL, OTHER, GRADED, FEW_NATIVE, ALL_NATIVE, FEW_SMALL, SPIKY } numbers;

static double number_of(numbers kind, int64_t line, int64_t h, uint64_t seed) {
  const uint64_t bits = tsl_random_u64(seed + (kind == OTHER ? 100 : 0), (uint64_t)(line * 100003 + h));
  const double x = ((double)(int64_t)bits * 0x1p-63) * (1 + (double)(bits % 7));
  return kind == GRADED       ? ldexp(x, -(int)(h / 6))
         : kind == FEW_NATIVE ? (line == 7 ? ldexp(x, -(int)(2 * h)) : x)
         : kind == FEW_SMALL  ? (line == 7 && h < 5 ? ldexp(x, -40) : x)
         : kind == SPIKY      ? (line % 2 == 1 && h == line % 40 ? 64 : x)
         : kind == ALL_NATIVE ? ldexp(x, (int)(bits >> 20 & 127) - 64)
                              : x;
}

typedef struct factor {
  tsl_shape shape;
  tsl_buffer *buffer;
} factor;

static void move(tsl_buffer *buffer, void *image, bool in) {
  must(in ? tsl_device_write(stream, buffer, 0, image, buffer->bytes)
          : tsl_device_read(stream, buffer, 0, image, buffer->bytes));
  must(ops->finish(stream));
}

static void fill(const factor *factor_in, int operand, numbers kind) {
  const tsl_shape *shape = &factor_in->shape;
  const size_t size = tsl_type(shape->type)->size;
  unsigned char *image = calloc(1, factor_in->buffer->bytes);
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      const int64_t line = operand == TSL_OPERAND_B ? j : i, h = operand == TSL_OPERAND_B ? i : j;
      const double number[2] = {number_of(kind, line, h, (uint64_t)operand + 1),
                                number_of(kind, line, h, (uint64_t)operand + 11)};
      tsl_type_store(shape->type, image + (size_t)(i * shape->row_stride + j * shape->col_stride) * size,
                     number);
    }
  move(factor_in->buffer, image, true);
  free(image);
}

static factor factor_of(tesela_type type, int64_t rows, int64_t cols, bool turned) {
  factor made = {.shape = {.type = type,
                           .rows = rows,
                           .cols = cols,
                           .row_stride = turned ? 1 : cols,
                           .col_stride = turned ? rows : 1}};
  made.buffer = opencl_buffer((size_t)(rows * cols) * tsl_type(type)->size);
  return made;
}

/* A product, and what all runs of it have. */
typedef struct product {
  factor a, b, c;
  tsl_plan *plan;
} product;

static product product_by(const char *text, tesela_type type, int64_t m, int64_t n, int64_t k,
                          bool c_turned) {
  product made = {.a = factor_of(type, m, k, false),
                  .b = factor_of(type, k, n, true),
                  .c = factor_of(type, m, n, c_turned)};
  tsl_problem problem = tsl_problem_gemm(m, n, k, type);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8");
  const tsl_config config = config_of(strategy, text);
  problem.a = made.a.shape;
  problem.b = made.b.shape;
  problem.c = made.c.shape;
  must(tsl_planner_create(&problem, strategy, &config, device, TSL_PLACE_DEVICE, &made.plan));
  return made;
}

static product product_of(tesela_type type, int64_t m, int64_t n, int64_t k, bool c_turned) {
  return product_by("", type, m, n, k, c_turned);
}

static void forget(product *product_in) {
  tsl_plan_destroy(product_in->plan);
  ops->buffer_destroy(product_in->a.buffer);
  ops->buffer_destroy(product_in->b.buffer);
  ops->buffer_destroy(product_in->c.buffer);
}

/* C, for free(). */
static unsigned char *run_on(const product *product_in, tsl_buffer *a, tsl_buffer *workspace,
                             tsl_operand_reuse *stays) {
  const tsl_run_hints hints = {.reuse = stays};
  const tsl_operands operands = {.a = {.buffer = a},
                                 .b = {.buffer = product_in->b.buffer},
                                 .c = {.buffer = product_in->c.buffer},
                                 .hints = &hints};
  unsigned char *image = malloc(product_in->c.buffer->bytes);
  memset(image, 0x55, product_in->c.buffer->bytes);
  move(product_in->c.buffer, image, true);
  if (stays)
    tsl_operand_reuse_turn(stays);
  must(tsl_plan_enqueue(product_in->plan, &operands, stream, workspace));
  must(ops->finish(stream));
  move(product_in->c.buffer, image, false);
  return image;
}
static unsigned char *run(const product *product_in, tsl_buffer *workspace, tsl_operand_reuse *stays) {
  return run_on(product_in, product_in->a.buffer, workspace, stays);
}

static tsl_buffer *workspace_of(const product *product_in) {
  return opencl_buffer((size_t)tsl_plan_workspace(product_in->plan) + 4096);
}

/* Returns true when two results have the same bits. Frees both. */
static bool same(const product *product_in, unsigned char *item, unsigned char *other) {
  const bool is_same = memcmp(item, other, product_in->c.buffer->bytes) == 0;
  free(item);
  free(other);
  return is_same;
}

/* Checks the bits for each kind of the other factor in turn. The factor that stays has kind
 * `first`. */
static void check_bits(tesela_type type, int64_t m, int64_t n, int64_t k, int stays_operand, bool c_turned,
                       numbers first) {
  static const numbers kinds[] = {NORMAL,     OTHER,      GRADED, NORMAL,     FEW_NATIVE,
                                  OTHER,      ALL_NATIVE, NORMAL, ALL_NATIVE, FEW_NATIVE,
                                  FEW_NATIVE, GRADED,     SPIKY,  NORMAL,     SPIKY};
  enum { RUNS = sizeof kinds / sizeof *kinds };
  product of = product_of(type, m, n, k, c_turned);
  tsl_buffer *workspace = workspace_of(&of), *apart = workspace_of(&of);
  tsl_operand_reuse stays = {.kept = 0};
  const bool is_a = stays_operand == TSL_OPERAND_A;
  fill(is_a ? &of.a : &of.b, stays_operand, first);
  tsl_operand_reuse_start(&stays, stays_operand);
  for (int i = 0; i < RUNS; i++) {
    fill(is_a ? &of.b : &of.a, is_a ? TSL_OPERAND_B : TSL_OPERAND_A, kinds[i]);
    unsigned char *right = run(&of, apart, NULL);
    if (!same(&of, right, run(&of, workspace, &stays)))
      fail_msg("%s, %c stays, kind %d: run %d, kind %d: other bits", tsl_type(type)->name, "AB"[!is_a], first,
               i, kinds[i]);
    assert_int_equal(stays.kept, i);
  }
  ops->buffer_destroy(workspace);
  ops->buffer_destroy(apart);
  forget(&of);
}

static void bits_are_those_of_single_runs(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64};
  for (int t = 0; t < 3; t++)
    for (int way = 0; way < 4; way++)
      check_bits(types[t], 45, 38, 64, way % 2 ? TSL_OPERAND_A : TSL_OPERAND_B, way / 2 > 0,
                 way == 3 ? GRADED : NORMAL);
  check_bits(TESELA_F32, 400, 800, 40, TSL_OPERAND_A, false, FEW_NATIVE);
  check_bits(TESELA_F32, 400, 800, 40, TSL_OPERAND_A, false, FEW_SMALL);
  check_bits(TESELA_F32, 400, 800, 40, TSL_OPERAND_B, true, FEW_SMALL);
}

/* A's numbers change while A is declared to stay. Runs use A's residues from the first run, as long
 * as they serve the choice. Runs without the declaration use the new numbers. */
static void what_stays_is_read_once(void **state) {
  (void)state;
  product of = product_of(TESELA_F32, 45, 38, 64, false);
  tsl_buffer *workspace = workspace_of(&of), *apart = workspace_of(&of);
  tsl_operand_reuse stays = {.kept = 0};
  fill(&of.a, TSL_OPERAND_A, NORMAL);
  fill(&of.b, TSL_OPERAND_B, OTHER);
  unsigned char *before = run(&of, apart, NULL);
  fill(&of.b, TSL_OPERAND_B, NORMAL);
  tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
  free(run(&of, workspace, &stays));
  fill(&of.a, TSL_OPERAND_A, OTHER);
  fill(&of.b, TSL_OPERAND_B, OTHER);
  unsigned char *after = run(&of, apart, NULL), *kept = run(&of, workspace, &stays);
  assert_memory_equal(kept, before, of.c.buffer->bytes);
  assert_memory_not_equal(kept, after, of.c.buffer->bytes);
  assert_int_equal(stays.kept, 1);
  free(kept);
  kept = run(&of, workspace, NULL);
  assert_memory_equal(kept, after, of.c.buffer->bytes);
  free(kept);
  tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
  assert_true(same(&of, run(&of, workspace, &stays), after));
  free(before);
  assert_int_equal(stays.kept, 1);
  /* Runs that take their own workspace have nothing to do with it. */
  const tsl_run_hints hints = {.reuse = &stays};
  const tsl_operands operands = {.a = {.buffer = of.a.buffer},
                                 .b = {.buffer = of.b.buffer},
                                 .c = {.buffer = of.c.buffer},
                                 .hints = &hints};
  for (int i = 0; i < 3; i++)
    must(tsl_plan_run(of.plan, &operands, NULL));
  assert_int_equal(stays.kept, 1);
  /* Other moduli are computed from A's new numbers. Without this effect, the kinds above would test
   * nothing. */
  fill(&of.b, TSL_OPERAND_B, GRADED);
  before = run(&of, apart, NULL);
  fill(&of.a, TSL_OPERAND_A, NORMAL);
  assert_false(same(&of, run(&of, workspace, &stays), before));
  assert_int_equal(stays.kept, 2);
  ops->buffer_destroy(workspace);
  ops->buffer_destroy(apart);
  forget(&of);
}

/* By a strategy that knows nothing of this; by another factor, a part of the same one, another workspace; by
 * a run that fails. */
static void what_is_not_the_same_starts_anew(void **state) {
  (void)state;
  product of = product_of(TESELA_F32, 45, 38, 64, false);
  tsl_buffer *workspace = workspace_of(&of), *apart = workspace_of(&of),
             *other = opencl_buffer(of.a.buffer->bytes);
  const tsl_strategy *element = tsl_strategy_find(TSL_OP_GEMM, "element");
  const tsl_config config = tsl_strategy_defaults(element);
  tsl_operand_reuse stays = {.kept = 0};
  product plain = of;
  void *garbage = malloc(workspace->bytes);
  memset(garbage, 0x77, workspace->bytes);
  must(tsl_planner_create(&of.plan->work.problem, element, &config, device, TSL_PLACE_DEVICE, &plain.plan));
  fill(&of.a, TSL_OPERAND_A, NORMAL);
  fill(&of.b, TSL_OPERAND_B, NORMAL);
  fill(&(factor){of.a.shape, other}, TSL_OPERAND_A, OTHER);
  unsigned char *right = run(&of, apart, NULL), *right_of_other = run_on(&of, other, apart, NULL), *got;
  tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
  free(run(&of, workspace, &stays));
  free(run(&plain, workspace, &stays));
  move(workspace, garbage, true); /* which it might have written */
  got = run(&of, workspace, &stays);
  assert_memory_equal(got, right, of.c.buffer->bytes);
  free(got);
  got = run_on(&of, other, workspace, &stays);
  assert_memory_equal(got, right_of_other, of.c.buffer->bytes);
  free(got);
  got = run_on(&of, other, apart, &stays);
  assert_memory_equal(got, right_of_other, of.c.buffer->bytes);
  free(got);
  assert_int_equal(stays.kept, 0);
  got = run_on(&of, other, apart, &stays);
  assert_memory_equal(got, right_of_other, of.c.buffer->bytes);
  free(got);
  assert_int_equal(stays.kept, 1);
  free(right);
  free(right_of_other);
  free(garbage);
  tsl_plan_destroy(plain.plan);
  ops->buffer_destroy(other);
  ops->buffer_destroy(workspace);
  ops->buffer_destroy(apart);
  forget(&of);
}

/* On CUDA the data of A lie before all that depends on the other size. On other devices, memory of the
 * subplan lies before them; its size depends on rounded sizes, and A is copied again where its place changes.
 */
static void sizes_may_differ(void **state) {
  (void)state;
  enum { PRODUCTS = 3, M = 45, K = 64 };
  static const int64_t cols[PRODUCTS] = {20, 38, 300};
  product all[PRODUCTS];
  tsl_buffer *workspace = NULL;
  tsl_operand_reuse stays = {.kept = 0};
  for (int i = 0; i < PRODUCTS; i++) {
    all[i] = product_of(TESELA_F64, M, cols[i], K, false);
    fill(&all[i].b, TSL_OPERAND_B, i == 1 ? OTHER : NORMAL);
  }
  fill(&all[0].a, TSL_OPERAND_A, NORMAL);
  workspace = workspace_of(&all[PRODUCTS - 1]);
  tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
  for (int i = 0; i < PRODUCTS; i++) {
    tsl_buffer *apart = workspace_of(&all[i]);
    unsigned char *right = run_on(&all[i], all[0].a.buffer, apart, NULL);
    assert_true(same(&all[i], right, run_on(&all[i], all[0].a.buffer, workspace, &stays)));
    assert_int_equal(stays.kept, tsl_residue_has_cuda(device) ? i : i > 0);
    ops->buffer_destroy(apart);
  }
  ops->buffer_destroy(workspace);
  for (int i = 0; i < PRODUCTS; i++)
    forget(&all[i]);
}

/* Residues of a block's rows lie where the next block's do: nothing stays, and runs make all anew. */
static void blocks_keep_nothing(void **state) {
  (void)state;
  for (int c_turned = 0; c_turned < 2; c_turned++) {
    product of = product_by("block=256", TESELA_F32, 600, 300, 40, c_turned);
    tsl_buffer *workspace = workspace_of(&of), *apart = workspace_of(&of);
    for (int o = TSL_OPERAND_A; o <= TSL_OPERAND_B; o++) {
      tsl_operand_reuse stays = {.kept = 0};
      fill(&of.a, TSL_OPERAND_A, NORMAL);
      fill(&of.b, TSL_OPERAND_B, NORMAL);
      tsl_operand_reuse_start(&stays, o);
      for (int i = 0; i < 3; i++) {
        unsigned char *right = run(&of, apart, NULL);
        assert_true(same(&of, right, run(&of, workspace, &stays)));
        fill(o == TSL_OPERAND_A ? &of.b : &of.a, o == TSL_OPERAND_A ? TSL_OPERAND_B : TSL_OPERAND_A, OTHER);
      }
      assert_int_equal(stays.kept, 0);
    }
    ops->buffer_destroy(workspace);
    ops->buffer_destroy(apart);
    forget(&of);
  }
}

int main(void) {
  if (opencl_is_missing())
    return OPENCL_SKIPPED;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_single_runs),
      cmocka_unit_test(what_stays_is_read_once),
      cmocka_unit_test(what_is_not_the_same_starts_anew),
      cmocka_unit_test(sizes_may_differ),
      cmocka_unit_test(blocks_keep_nothing),
  };
  int failed = run_on_each_device(tests, sizeof tests / sizeof *tests);
  if (tsl_devices_create(&opencl_devices) != TESELA_OK)
    return failed + 1;
  for (int i = 0; (device = tsl_devices_at(opencl_devices, i)) != NULL; i++) {
    ops = device->ops;
    if (strcmp(device->kind, "cuda") == 0)
      failed += _cmocka_run_group_tests(device->name, tests, sizeof tests / sizeof *tests, stream_set_up,
                                        stream_tear_down);
  }
  tsl_devices_destroy(opencl_devices);
  return failed;
}
