/* Idea: every element of C is the exact sum of its k products, rounded once to the nearest number of C's
 * type, ties to even. Nearly exact sums with error bounds come first. If all values within the bounds round
 * to one number, that is the element (Ziv 1991): all but one in some thousands. The rest use
 * superaccumulators as in the dot `exact`.
 *
 * Beyond `sequential`: no rounding but the last. The result does not depend on cancellation, exponents, the
 * order of additions, the number of threads or the instruction set.
 *
 *   f32:  a b is exact in f64   sum += a b                              |----[ sum ]----|  bounds of the sum
 *   f64:  next = sum + a b      low += a b - (next - sum)   sum = next  ...x.....x.|...x.....x..  numbers of
 *                                                                                          C's type
 *
 * Blocks of C are summed by panels of 256 terms (exact_near.h). The undecided elements of a block are
 * computed in tiles of packed rows of A and columns of B. Blocks of terms are added to a window of levels,
 * levels to digits (strategy/exact/sum.h). On devices each work-item does both for its elements (exact.cl).
 *
 * Limits: real types. If everything cancels, or wide exponents hide the sum's digits, all elements need
 * superaccumulators: ten times as long. Without fused multiply-adds all elements of f64 do.
 * Measurements: docs/lab/gemm_exact.md. */
#include "strategy/gemm/emulated/exact/exact.h"
#include "strategy/model_constants.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/kernel_launch/launch.h"

#include <math.h>
#include <stdio.h>

/* Constants of exact.cl: items of a group in each direction; lines that a group measures; bytes for each line
 * and for an item's word; steps of a panel. */
enum { SIDE = 16, ITEMS = SIDE * SIDE, LINES = 16, LINE_BYTES = 24, WORD_BYTES = 2, STEP = 16 };
enum { ITEM_SIDE_MAX = 4 };

enum { OF_LINES, NEAR, PAIRS, LEFT, KERNELS };
/* work->state; NULL on the processor */
typedef struct exact_kernels {
  tsl_kernel *list[KERNELS];
} exact_kernels;

static tsl_accuracy exact_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem;
  (void)config;
  return (tsl_accuracy){.factor = 1, .is_reproducible = true, .is_correctly_rounded = true};
}

static bool exact_is_host(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_HOST) != 0;
}

/* Returns an item's elements in each direction: the maximum that leaves a group for each compute unit. */
static int64_t choose_elements_of_item(const tsl_problem *problem, const tsl_device *device) {
  int64_t each = ITEM_SIDE_MAX;
  while (each > 1 && tsl_ceil_div(problem->m, SIDE * each) * tsl_ceil_div(problem->n, SIDE * each) <
                         tsl_max(device->compute_units, 1))
    each /= 2;
  return each;
}

/* Returns true if a group adds up the undecided elements together (exact.cl). */
static bool sums_undecided_by_groups(const tsl_problem *problem, const tsl_device *device) {
  return problem->c.type != TESELA_F64 && !device->is_cpu;
}

static tsl_grid grid_of_tiles(const tsl_problem *problem, const tsl_device *device) {
  const int64_t tile = SIDE * choose_elements_of_item(problem, device);
  return (tsl_grid){{(uint64_t)tsl_ceil_div(problem->n, tile),
                     tsl_launch_limited(device, 1, tsl_ceil_div(problem->m, tile)), 1},
                    {SIDE, SIDE, 1}};
}

static tsl_grid grid_of_lines(const tsl_problem *problem) {
  return (tsl_grid){{(uint64_t)(tsl_ceil_div(problem->m, LINES) + tsl_ceil_div(problem->n, LINES)), 1, 1},
                    {SIDE, SIDE, 1}};
}

static const char *exact_refuse(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  (void)config;
  if (exact_is_host(device))
    return NULL;
  const char *missing =
      tsl_capability_missing(TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64, device->capabilities);
  if (missing)
    return tsl_refusal("%s lacks: %s", device->name, missing);
  const tsl_grid tiles = grid_of_tiles(problem, device), lines = grid_of_lines(problem);
  const char *why = tsl_launch_fits(device, &tiles);
  return why ? why : tsl_launch_fits(device, &lines);
}

static uint64_t exact_scratch(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  (void)config;
  if (exact_is_host(device))
    return 0;
  const double tile = (double)(SIDE * choose_elements_of_item(problem, device)),
               lines = (double)problem->m + (double)problem->n;
  const double bytes = lines * LINE_BYTES +
                       ceil((double)problem->m / tile) * ceil((double)problem->n / tile) * ITEMS * WORD_BYTES;
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

static double exact_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  static const tsl_exact_constants of_processors = {.f32_term = 2.2, .f64_term = 2.5, .epilogue = 100};
  (void)config;
  if (exact_is_host(device))
    return tsl_gemm_exact_score_host(problem, device);
  const tsl_exact_constants *measured = &tsl_model_constants_of(device)->exact,
                            *cost = device->is_cpu ? &of_processors : measured; /* clocks of a processor */
  const double terms = (double)problem->k,
               rate = device->is_cpu ? 1e6 * device->clock_mhz * device->compute_units : device->peak_f32 / 4;
  const double term = problem->c.type == TESELA_F64 ? cost->f64_term : cost->f32_term;
  const int64_t tile = device->is_cpu ? 1 : SIDE * choose_elements_of_item(problem, device);
  const double work = (double)tsl_round_up(problem->m, tile) * (double)tsl_round_up(problem->n, tile) *
                      (term * terms + cost->epilogue);
  return device->launch_seconds + measured->fixed_seconds + fmax(work / rate, terms * cost->wait_seconds);
}

static void exact_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  (void)config;
  if (exact_is_host(device)) {
    tsl_gemm_exact_account_host(problem, device, account);
    return;
  }
  const int64_t tile = SIDE * choose_elements_of_item(problem, device);
  const tsl_grid grid = grid_of_tiles(problem, device);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k,
               local = 2.0 * STEP * (double)(tile + 2) * 8;
  tsl_cost_counts_grid(&grid, tsl_ceil_div(problem->n, tile / SIDE), tsl_ceil_div(problem->m, tile / SIDE),
                       (int64_t)local, device, account);
  tsl_cost_counts_operands(problem, m * k * (ceil(n / (double)tile) + 1),
                           k * n * (ceil(m / (double)tile) + 1), account);
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status exact_build(tsl_work *work) {
  static const char *const names[KERNELS] = {[OF_LINES] = "tsl_exact_lines",
                                             [NEAR] = "tsl_exact_near",
                                             [PAIRS] = "tsl_exact_pairs",
                                             [LEFT] = "tsl_exact_left"};
  tsl_text defines = {0};
  exact_kernels kernels = {{NULL}};
  void *block;
  tesela_status status;
  if (exact_is_host(work->device))
    return TESELA_OK;
  tsl_launch_define_types(&work->problem, &defines);
  const bool together = sums_undecided_by_groups(&work->problem, work->device);
  tsl_text_add(&defines, "#define EACH %d\n#define TOGETHER %d\n",
               (int)choose_elements_of_item(&work->problem, work->device), together);
  TSL_GO(tsl_text_status(&defines));
  for (int i = 0; i < KERNELS; i++)
    if (i != PAIRS || together)
      TSL_GO(tsl_launch_kernel_with(work, "strategy/gemm/emulated/exact/exact.cl", names[i], ITEMS,
                                    tsl_text_get(&defines), &kernels.list[i]));
  TSL_GO(tsl_alloc(sizeof kernels, "exact's kernels", &block));
  *(exact_kernels *)block = kernels;
  work->state = block;
out:
  tsl_text_free(&defines);
  return status;
}

static tesela_status run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const exact_kernels *kernels = work->state;
  const tsl_device_ops *ops = work->device->ops;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_gemm_argument scalars = tsl_launch_scalars(work, &sizes);
  const tsl_grid of_lines = grid_of_lines(&work->problem),
                 tiles = grid_of_tiles(&work->problem, work->device);
  /* kernels need a buffer for each argument, even if it is not read */
  tsl_buffer *c = operands->c.buffer, *a = operands->a.buffer ? operands->a.buffer : c,
             *b = operands->b.buffer ? operands->b.buffer : c, *scratch = operands->scratch;
  const tsl_argument arguments = {.value = &scalars, .bytes = scalars.bytes};
  const tsl_argument lines[] = {TSL_ARG_BUFFER(a), TSL_ARG_BUFFER(b), TSL_ARG_BUFFER(scratch), arguments},
                     list[] = {TSL_ARG_BUFFER(a),       TSL_ARG_BUFFER(b),       TSL_ARG_BUFFER(c),
                               TSL_ARG_BUFFER(scratch), TSL_ARG_BUFFER(scratch), arguments};
  TSL_TRY(ops->launch(stream, kernels->list[OF_LINES], &of_lines, lines, sizeof lines / sizeof *lines));
  for (int i = NEAR; i < KERNELS; i++)
    if (kernels->list[i])
      TSL_TRY(ops->launch(stream, kernels->list[i], &tiles, list, sizeof list / sizeof *list));
  return TESELA_OK;
}

static tesela_status exact_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return exact_is_host(work->device) ? tsl_gemm_exact_run_host(work, operands)
                                     : run_kernels(work, operands, stream);
}

static const tsl_types types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                  {TESELA_F64, TESELA_F64, TESELA_F64},
                                  {TESELA_BF16, TESELA_BF16, TESELA_F32},
                                  {TESELA_F16, TESELA_F16, TESELA_F32},
                                  {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                                  {TESELA_F16, TESELA_F16, TESELA_F16},
                                  {0, 0, 0}};

const tsl_strategy tsl_gemm_exact = {
    .name = "exact",
    .idea = "exact sums, each rounded once: nearly exact sums with error bounds, else a superaccumulator",
    .lifts = "every rounding but the last, and the order of the sums (not time)",
    .partner = "sequential",
    .op = TSL_OP_GEMM,
    .version = 1,
    .accuracy = exact_accuracy,
    .needs_nearest = true,
    .refuse = exact_refuse,
    .score = exact_score,
    .build = exact_build,
    .run = exact_run,
    .release = tsl_launch_release,
    .supports = {.types = types,
                 .why = "integer sums are exact in other strategies, and complex types are not supported"},
    .resources = {.scratch = exact_scratch, .count_costs = exact_account},
};
