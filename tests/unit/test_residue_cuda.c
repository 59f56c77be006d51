/* Runs of residue_int8 on devices, without a device. Tested: arguments of the launches with a reused operand
 * (strategy/run_hints.h), and residues that also serve another choice. A failing run leaves no
 * allocation. */
#include "unit/unit.h"

#include "core/random.h"
#include "core/status.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/strategy_list.h"
#include "unit/hopper.h"

#include <stddef.h>
#include <string.h>

static void must(tesela_status status) {
  if (status != TESELA_OK)
    fail_msg("%s: %s", tesela_status_name(status), tesela_last_error());
}

/* --- which residues do for another choice --- */

static unsigned key_at(uint64_t index) {
  const uint64_t bits = tsl_random_u64(7, index);
  unsigned key = (unsigned)(bits % 5);
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
    key |= (unsigned)(bits >> (8 + 8 * c) & 255) % 5 << 6 * (c + 1);
  if (bits >> 40 % 16 == 0)
    key |= TSL_RESIDUE_LOST << (bits >> 44) % TSL_RESIDUE_CANDIDATES;
  return bits >> 50 & 15 ? key : TSL_RESIDUE_ZERO;
}

static residue_choice choice_at(uint64_t index, const unsigned *keys, int lines) {
  const uint64_t bits = tsl_random_u64(8, index);
  residue_choice choice = {.candidate = (int)(bits % 2),
                           .moduli = bits >> 8 & 7 ? 7 + (int)(bits % 2) : 0,
                           .level = {(int)(bits >> 16 & 255) % 6, (int)(bits >> 24 & 255) % 3}};
  for (int i = 0; i < lines; i++)
    choice.native[1] += residue_is_native(&choice, 1, keys[i]);
  return choice;
}

/* Each line that has a scale now had the same one when residues were made. */
static void residues_serve_what_has_their_scales(void **state) {
  (void)state;
  enum { LINES = 6, TRIALS = 200000 };
  int served = 0, with_native = 0;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    unsigned keys[LINES];
    for (int i = 0; i < LINES; i++)
      keys[i] = key_at(trial * LINES + (uint64_t)i);
    const residue_choice made = choice_at(2 * trial, keys, LINES),
                         choice = choice_at(2 * trial + 1, keys, LINES);
    if (!residue_serves(&made, &choice, 1))
      continue;
    served++;
    with_native += made.native[1] > 0;
    assert_true(choice.moduli > 0 && made.moduli == choice.moduli && made.candidate == choice.candidate);
    for (int i = 0; i < LINES; i++)
      assert_true(residue_is_native(&choice, 1, keys[i]) || !residue_is_native(&made, 1, keys[i]));
  }
  assert_true(served > TRIALS / 50 && with_native > TRIALS / 1000);
}

/* --- what CUDA's launches are given --- */

enum {
  LAUNCHES = 6,
  GLANCE = 2
}; /* of a run: measure, choose, convert, multiply, join, native; and of a glance: measure, choose */
static struct {
  uint64_t groups;
  residue_arguments given;
} launched[LAUNCHES + GLANCE];
static int launch_count, failing_launch;

static tesela_status note_launch(tsl_stream *on, tsl_kernel *kernel, const tsl_grid *grid,
                                 const tsl_argument *arguments, int count) {
  (void)on;
  (void)kernel;
  if (launch_count == failing_launch)
    return tsl_fail(TESELA_DEVICE_FAILED, "on demand");
  for (int i = 0; i < count; i++)
    if (arguments[i].bytes == sizeof(residue_arguments))
      memcpy(&launched[launch_count].given, arguments[i].value, sizeof(residue_arguments));
  launched[launch_count++].groups = grid->groups[0];
  return TESELA_OK;
}
static tesela_status no_map(const tsl_tensor *tensor, tsl_tensor_map *map) {
  (void)tensor;
  memset(map, 0, sizeof *map);
  return TESELA_OK;
}
static void *no_address(tsl_buffer *buffer) {
  (void)buffer;
  return NULL;
}

enum { M = 300 };
static int64_t terms = 500;
static tsl_pinned *last_choice; /* reported by the run before; NULL: none */
static unsigned whole_runs;

/* Runs C = A B, where B has n columns. A and C are row-major, B is column-major; with `c_turned` C
 * is column-major. `whole`: the child plan, or NULL. */
static tesela_status launch_with(tsl_device *on, const tsl_subplan_factory *children, tsl_subplan *whole,
                                 int64_t n, bool c_turned, tsl_operand_reuse *stays, int fails_at) {
  static tsl_buffer a, b, c, scratch;
  tsl_residue_state state = {
      .cluster = 1, .whole = whole, .host_choice = last_choice, .whole_runs = whole_runs++};
  tsl_work work = {.strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8"),
                   .device = on,
                   .state = &state,
                   .subplans = children};
  work.problem = tsl_problem_gemm(M, n, terms, TESELA_F64);
  a.device = b.device = c.device = scratch.device = on;
  const tsl_run_hints hints = {.reuse = stays};
  const tsl_operands operands = {
      .a = {.buffer = &a, .row_stride = terms, .col_stride = 1},
      .b = {.buffer = &b, .row_stride = 1, .col_stride = terms},
      .c = {.buffer = &c, .row_stride = c_turned ? 1 : n, .col_stride = c_turned ? M : 1},
      .scratch = &scratch,
      .hints = &hints};
  launch_count = 0;
  failing_launch = fails_at;
  if (stays)
    tsl_operand_reuse_turn(stays); /* as callers do */
  return tsl_residue_int8_run_cuda(&work, &operands, NULL);
}

static tesela_status launch_cuda(tsl_device *on, int64_t n, bool c_turned, tsl_operand_reuse *stays,
                                 int fails_at) {
  return launch_with(on, NULL, NULL, n, c_turned, stays, fails_at);
}

static tsl_run_hints given_to_child;
static int children_run;

static tesela_status note_child(const tsl_subplan *child, const tsl_operands *operands, tsl_stream *stream,
                                tsl_buffer *workspace) {
  (void)child;
  (void)stream;
  assert_ptr_equal(workspace, operands->scratch);
  given_to_child = *operands->hints;
  children_run++;
  return TESELA_OK;
}

/* The child is queued after all kernels, with the address of the flag that decides whether it runs.
 * Before them, one kernel samples a few lines of both factors, and the kernels that measure and
 * choose get the address of its choice. Where a factor stays, no kernel samples. */
static void cuda_queues_the_child_that_may_be_wanted(void **state) {
  (void)state;
  enum { WIDE = 2000 };
  static int nothing;
  tsl_subplan *const whole = (void *)&nothing;
  tsl_device mocked = hopper();
  const tsl_device_ops mocks = {.launch = note_launch, .tensor_map = no_map, .native_buffer = no_address};
  const tsl_subplan_factory children = {.enqueue_as_given = note_child};
  mocked.ops = &mocks;
  for (int turned = 0; turned < 4; turned++) {
    children_run = 0;
    terms = turned < 2 ? 500 : 5001; /* of which a glance reads some */
    must(launch_with(&mocked, &children, whole, WIDE, turned % 2, NULL, -1));
    assert_int_equal(children_run, 1);
    assert_int_equal(launch_count, LAUNCHES + GLANCE);
    const residue_arguments *glance = &launched[0].given, *full = &launched[GLANCE].given;
    assert_int_equal(launched[0].groups, glance->blocks[0] + glance->blocks[1]);
    for (int o = 0; o < 2; o++) {
      const int64_t lines = o ? full->n : full->m, each = glance->block_lines[o], apart = glance->apart[o];
      int64_t seen = 0;
      for (int64_t block = 0; block < glance->blocks[o]; block++)
        for (int64_t own = 0; own < each; own++)
          seen += block * apart * each + own < lines;
      assert_int_equal(glance->rules.lines[o], seen);
      assert_true(seen >= 200 && seen <= lines);
      assert_true(lines < 1000 || seen < lines / 3);
      assert_int_equal(full->rules.lines[o], lines);
      assert_int_equal(full->apart[o], 1);
    }
    assert_int_equal(glance->rules.k, glance->k);
    assert_true(glance->k <= full->k &&
                (glance->k - 1) * glance->operands[0].along < full->k * full->operands[0].along &&
                glance->k < 2100);
    assert_int_equal(glance->glance, -1);
    assert_int_equal(full->glance, glance->choice);
    assert_true(full->choice != glance->choice && full->made != glance->made && full->has_whole);
    assert_true(given_to_child.wanted.is_set);
    assert_int_equal(given_to_child.wanted.at, full->choice + (int64_t)offsetof(residue_choice, is_whole));
    assert_int_equal(given_to_child.wanted.above, 0);
  }
  terms = 500;
  tsl_operand_reuse stays = {.kept = 0};
  tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
  must(launch_with(&mocked, &children, whole, WIDE, false, &stays, -1));
  assert_int_equal(launch_count, LAUNCHES);
  assert_int_equal(launched[0].given.glance, -1);
  assert_null(given_to_child.reuse);
}

/* After a run of the child the child runs alone, without a condition. Runs 0, 1, 2, 4, ..., 32 and one in 64
 * have a glance that reports. After a run of residues there is no glance. */
static void cuda_remembers_the_last_choice(void **state) {
  (void)state;
  static int nothing;
  tsl_device mocked = hopper();
  const tsl_device_ops mocks = {.launch = note_launch, .tensor_map = no_map, .native_buffer = no_address};
  const tsl_subplan_factory children = {.enqueue_as_given = note_child};
  residue_choice last = {.candidate = TSL_RESIDUE_UNKNOWN, .moduli = 14};
  tsl_pinned pinned = {.host = &last};
  mocked.ops = &mocks;
  last_choice = &pinned;
  must(launch_with(&mocked, &children, (void *)&nothing, 2000, false, NULL, -1));
  assert_int_equal(launch_count, LAUNCHES + GLANCE);
  assert_true(given_to_child.wanted.is_set);
  for (int i = 0; i < LAUNCHES + GLANCE; i++) /* only the joining kernel reports */
    assert_true((launched[i].given.host_choice == &last) == (i >= GLANCE + 2));
  last.candidate = 0;
  must(launch_with(&mocked, &children, (void *)&nothing, 2000, false, NULL, -1));
  assert_int_equal(launch_count, LAUNCHES);
  assert_true(launched[0].given.glance < 0 && given_to_child.wanted.is_set);
  last = (residue_choice){.is_whole = 1};
  whole_runs = 0;
  for (int run = 0; run < 200; run++) {
    const bool has_glance =
        run == 0 || run == 1 || run == 2 || run == 4 || run == 8 || run == 16 || run == 32 || run % 64 == 0;
    children_run = 0;
    must(launch_with(&mocked, &children, (void *)&nothing, 2000, false, NULL, -1));
    assert_int_equal(children_run, 1);
    assert_false(given_to_child.wanted.is_set);
    assert_int_equal(launch_count, has_glance ? GLANCE : 0);
    if (launch_count > 0)
      assert_ptr_equal(launched[1].given.host_choice, &last);
  }
  last_choice = NULL;
}

static void cuda_measures_what_passes_alone(void **state) {
  (void)state;
  tsl_device mocked = hopper();
  const tsl_device_ops mocks = {.launch = note_launch, .tensor_map = no_map, .native_buffer = no_address};
  mocked.ops = &mocks;
  for (int way = 0; way < 4; way++) {
    const bool turned = way % 2, is_a = way / 2 == 0;
    const int o = is_a == turned; /* of C', which is C's transpose where C is turned */
    tsl_operand_reuse stays = {.kept = 0};
    residue_arguments first = {.m = 0};
    tsl_operand_reuse_start(&stays, is_a ? TSL_OPERAND_A : TSL_OPERAND_B);
    for (int i = 0; i < 3; i++) {
      const int64_t n = is_a && i == 1 ? 70 : 2000;
      must(launch_cuda(&mocked, n, turned, &stays, -1));
      const residue_arguments *given = &launched[0].given;
      assert_int_equal(launch_count, LAUNCHES);
      assert_int_equal(given->stays, o);
      assert_int_equal(given->is_kept, i > 0);
      assert_int_equal(stays.kept, i);
      assert_int_equal(launched[0].groups, given->blocks[0] + given->blocks[1]);
      assert_true(given->blocks[1 - o] > 0 && (given->blocks[o] == 0) == (i > 0));
      assert_true(given->converters > 0);
      if (i == 0)
        first = *given;
      /* In front, and where it was. */
      assert_int_equal(given->planes[o], 0);
      assert_int_equal(given->plane[o], first.plane[o]);
      assert_int_equal(given->keys[o], first.keys[o]);
      assert_int_equal(given->made, first.made);
      for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
        assert_int_equal(given->candidates[o][c], first.candidates[o][c]);
      assert_true(given->made > given->natives[o] && given->made < given->planes[1 - o] &&
                  given->made < given->choice && given->made < given->rests);
    }
  }
  /* Nothing is left of a run that was not queued to its end, wherever that was. */
  for (int at = 0; at < LAUNCHES; at++) {
    tsl_operand_reuse stays = {.kept = 0};
    tsl_operand_reuse_start(&stays, TSL_OPERAND_A);
    must(launch_cuda(&mocked, 2000, false, &stays, -1));
    assert_int_equal(launch_cuda(&mocked, 2000, false, &stays, at), TESELA_DEVICE_FAILED);
    assert_int_equal(stays.kept, 1);
    must(launch_cuda(&mocked, 2000, false, &stays, -1));
    assert_int_equal(stays.kept, 1);
  }
}

/* --- a product that writes C modulo p itself --- */

static char reduce_kernel;
static int reductions, planes_enqueued;

static tesela_status count_reductions(tsl_stream *on, tsl_kernel *kernel, const tsl_grid *grid,
                                      const tsl_argument *arguments, int count) {
  (void)on;
  (void)grid;
  (void)arguments;
  (void)count;
  reductions += kernel == (tsl_kernel *)(void *)&reduce_kernel;
  return TESELA_OK;
}
static tesela_status write_residues(const tsl_subplan *child, const tsl_operands *operands, tsl_stream *on,
                                    tsl_buffer *workspace) {
  (void)on;
  (void)workspace;
  const tsl_modular_output *modular = operands->hints->modular;
  assert_true(modular->p > 1 && modular->row >= 70 && !modular->is_written);
  assert_true(operands->hints->wanted.is_set && !operands->hints->reuse);
  operands->hints->modular->is_written = child != NULL;
  planes_enqueued++;
  return TESELA_OK;
}

static void products_that_write_residues_are_not_reduced(void **state) {
  (void)state;
  static tsl_buffer a, b, c, scratch;
  static char child;
  const tsl_device_ops mocks = {.launch = count_reductions};
  const tsl_subplan_factory children = {.enqueue = write_residues};
  tsl_device mocked = hopper();
  mocked.ops = &mocks;
  mocked.capabilities &= ~(unsigned)TSL_CAN_WGMMA;
  a.device = b.device = c.device = scratch.device = &mocked;
  for (int writes = 0; writes < 2; writes++) {
    tsl_residue_state own = {.reduce = (tsl_kernel *)(void *)&reduce_kernel,
                             .product = writes ? (tsl_subplan *)(void *)&child : NULL};
    tsl_work work = {.strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8"),
                     .device = &mocked,
                     .state = &own,
                     .subplans = &children};
    work.problem = tsl_problem_gemm(M, 70, 500, TESELA_F32);
    const tsl_operands operands = {.a = {.buffer = &a, .row_stride = 500, .col_stride = 1},
                                   .b = {.buffer = &b, .row_stride = 70, .col_stride = 1},
                                   .c = {.buffer = &c, .row_stride = 70, .col_stride = 1},
                                   .scratch = &scratch};
    reductions = planes_enqueued = 0;
    must(tsl_residue_int8_run_portable(&work, &operands, NULL));
    assert_true(planes_enqueued >= 7);
    assert_int_equal(reductions, writes ? 0 : planes_enqueued);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(residues_serve_what_has_their_scales),
                                     cmocka_unit_test(products_that_write_residues_are_not_reduced),
                                     cmocka_unit_test(cuda_measures_what_passes_alone),
                                     cmocka_unit_test(cuda_remembers_the_last_choice),
                                     cmocka_unit_test(cuda_queues_the_child_that_may_be_wanted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
