/* Descriptor, launch and performance model of cuda_strip, in clocks of a multiprocessor. Measurements:
 * docs/lab/cuda_strip.md. */
#include "strategy/gemm/nvidia/cuda_strip/cuda_strip.h"
#include "strategy/model_constants.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_strip/cuda_strip_shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tsl_param params[] = {
    [TSL_CUDA_STRIP_TILE_N] = {"tile_n", "columns of a block's strip of C", 64, {32, 64, 128}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {"tile_n=64", "tile_n=128", "tile_n=32", NULL};

enum { WARPS = 4, ROWS = 16, STEP_BYTES = 32, PADDING = 8 /* elements of C after a row of an image */ };
enum { CHUNK_BYTES = 16 }; /* of a store to C; rows that begin inside of a chunk end by single elements */
enum { RESERVED_BYTES = 1024 }; /* bytes of shared memory for each block */

static int strip_resident_by_registers(int tile_n) {
  return tile_n == 32 ? 7 : tile_n == 64 ? 5 : 3;
}

/* Sets the number of blocks of a strip, so that the rounds of all blocks are fewest. Each place of a
 * multiprocessor takes 1 to 4 blocks, one after the other. */
static void choose_groups(tsl_cuda_strip *tile, const tsl_device *device) {
  enum { WAVES_MAX = 4, START_ROUNDS = 2 /* rounds that a block's start takes */ };
  const int64_t places = tsl_max(1, device->compute_units * (int64_t)tile->resident),
                rows = tsl_max(1, tsl_ceil_div(tile->problem.m, ROWS * WARPS));
  int64_t least = INT64_MAX;
  for (int64_t waves = 1; waves <= WAVES_MAX; waves++) {
    const int64_t groups = tsl_max(1, tsl_min(waves * places / tile->strips, rows)),
                  own_waves = tsl_ceil_div(groups * tile->strips, places),
                  rounds = tsl_ceil_div(rows, groups), cost = own_waves * (rounds + START_ROUNDS);
    if (cost < least)
      least = cost, tile->groups = groups, tile->rounds = rounds, tile->waves = own_waves;
  }
}

tsl_cuda_strip tsl_cuda_strip_of(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  tsl_cuda_strip tile = {.swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
                         .tile_n = (int)config->value[TSL_CUDA_STRIP_TILE_N],
                         .element = (int)tsl_type(problem->a.type)->size};
  const int64_t number = (int64_t)tsl_type(problem->c.type)->size;
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  tile.steps = tsl_ceil_div(problem->k * tile.element, STEP_BYTES);
  tile.strips = tsl_max(1, tsl_ceil_div(tile.problem.n, tile.tile_n));
  tile.shared_bytes = tile.steps * tile.tile_n * STEP_BYTES + WARPS * ROWS * (tile.tile_n + PADDING) * number;
  tile.resident = (int)tsl_max(1, tsl_min(strip_resident_by_registers(tile.tile_n),
                                          ((int64_t)device->local_bytes_inside + RESERVED_BYTES) /
                                              (tile.shared_bytes + RESERVED_BYTES)));
  choose_groups(&tile, device);
  return tile;
}

/* Returns true if an operand's elements along k are loaded by words. */
static bool is_by_words(int element, int64_t k, int64_t step, int64_t line, int64_t offset) {
  const int word = 4 / element;
  return k % word == 0 && tsl_sm80_is_vector(word, step, line, 2, offset, 0);
}

static double strip_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_strip_constants *rates = &tsl_model_constants_of(device)->strip;
  const tsl_cuda_strip tile = tsl_cuda_strip_of(problem, config, device);
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  /* The multiprocessors with most blocks end last. */
  const double steps = (double)tile.steps, columns = tile.tile_n / 8.0, rounds = (double)tile.rounds,
               blocks = fmin(tile.resident, ceil((double)(tile.groups * tile.strips) /
                                                 fmax(1, (double)device->compute_units))),
               elements = 16.0 / tile.element,
               loads = is_by_words(tile.element, problem->k, a->col_stride, a->row_stride, 0) ? 4 : elements,
               b_loads =
                   is_by_words(tile.element, problem->k, b->row_stride, b->col_stride, 0) ? 4 : elements,
               number = (double)tsl_type(problem->c.type)->size,
               edge = tile.problem.c.row_stride % (CHUNK_BYTES / (int64_t)number) ? CHUNK_BYTES / number : 0;
  /* Work of a warp on 16 rows, and its latency. All warps of a multiprocessor share the former. */
  const double work = steps * (loads * rates->load_clocks + columns * rates->product_clocks) +
                      columns * rates->store_clocks * number + edge * rates->edge_clocks,
               latency = steps * rates->step_clocks + rates->rows_clocks,
               fills = steps * columns / 2, /* fragments of B: latency, and work that blocks share */
      filled = hypot(fills * rates->fill_clocks / WARPS, blocks * fills * b_loads * rates->fill_load_clocks),
               clocks = (double)tile.waves *
                        (rates->first_clocks + filled + rounds * hypot(latency, blocks * work));
  const double computed = clocks / (1e6 * fmax(1, device->clock_mhz)),
               moved = tsl_problem_bytes(problem) / (rates->memory_part * device->bandwidth);
  return sqrt(sqrt(pow(computed, 4) + pow(moved, 4))) + rates->launch_share * device->launch_seconds;
}

static void strip_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  const tsl_cuda_strip tile = tsl_cuda_strip_of(problem, config, device);
  const double blocks = (double)(tile.strips * tile.groups), rows = (double)(tile.rounds * WARPS * ROWS),
               bytes = (double)(tile.steps * STEP_BYTES);
  tsl_cost_counts_groups(blocks, 32 * WARPS, blocks * 32 * WARPS, tile.shared_bytes, device, account);
  account->computed = blocks * rows * tile.tile_n * bytes / tile.element;
  account->local = (tsl_moved){.read = blocks * rows / ROWS * tile.tile_n * bytes,
                               .written = blocks * tile.tile_n * bytes};
  account->global.read = blocks * (rows + tile.tile_n) * bytes;
  tsl_cost_counts_result(problem, 1, account);
}

static const char *strip_refuse(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const tsl_cuda_strip tile = tsl_cuda_strip_of(problem, config, device);
  const char *refusal = tsl_cuda_mma_refuse_types(problem, device);
  if (refusal)
    return refusal;
  if (tile.problem.c.col_stride != 1 && tile.problem.n > 1)
    return "neither rows nor columns of C are contiguous";
  if (tile.shared_bytes > (int64_t)device->local_bytes_inside)
    return tsl_refusal("k = %lld takes %lld bytes of shared memory; %s has %llu", (long long)problem->k,
                       (long long)tile.shared_bytes, device->name,
                       (unsigned long long)device->local_bytes_inside);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2)
    return tsl_refusal("its kernel counts rows and columns in 31 bits");
  return NULL;
}

static tesela_status strip_build(tsl_work *work) {
  const tsl_cuda_strip tile = tsl_cuda_strip_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  char defines[256];
  tsl_kernel *kernel;
  snprintf(defines, sizeof defines,
           "#define RESIDENT %d\n#define ELEMENT %d\n#define A_TYPE %s\n#define B_TYPE %s\n#define IS_EIGHT "
           "%d\n#define C_FORM %d\n",
           strip_resident_by_registers(tile.tile_n), tile.element, tsl_launch_ptx_word(tile.problem.a.type),
           tsl_launch_ptx_word(tile.problem.b.type), tsl_sm80_is_eight(&tile.problem),
           tsl_launch_form(tile.problem.c.type));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/cuda_strip/cuda_strip.cu", "tsl_gemm_cuda_strip",
                                 32 * WARPS, defines, &kernel));
  TSL_TRY(ops->kernel_local_bytes(&kernel, (size_t)tile.shared_bytes));
  if (work->device->capabilities & TSL_CAN_WGMMA)
    ops->kernel_early(kernel);
  work->state = kernel;
  return TESELA_OK;
}

static cuda_strip_factor strip_factor_of(const tsl_cuda_strip *tile, tsl_buffer *buffer, int64_t k,
                                         int64_t offset, int64_t line, int64_t step) {
  return (cuda_strip_factor){.offset = offset,
                             .line = line,
                             .step = step,
                             .words = tsl_sm80_is_aligned(buffer, 4) &&
                                      is_by_words(tile->element, k, step, line, offset)};
}

static tesela_status strip_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_strip tile = tsl_cuda_strip_of(&work->problem, &work->config, work->device);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  const tsl_gemm_sizes *s = &own.sizes;
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, s);
  cuda_strip_arguments args = {.m = (int)s->m,
                               .n = (int)s->n,
                               .k = (int)s->k,
                               .strips = (int)tile.strips,
                               .groups = (int)tile.groups,
                               .c_offset = s->c_offset,
                               .c_row = s->c_row_stride};
  const cuda_strip_scalar *scalars = (const cuda_strip_scalar *)&scaled.scalars; /* alpha and beta */
  memcpy(&args.alpha, scalars, sizeof args.alpha);
  memcpy(&args.beta, scalars + 1, sizeof args.beta);
  if (s->k > 0) { /* for k = 0 the operands may be absent */
    args.a = strip_factor_of(&tile, own.a, s->k, s->a_offset, s->a_row_stride, s->a_col_stride);
    args.b = strip_factor_of(&tile, own.b, s->k, s->b_offset, s->b_col_stride, s->b_row_stride);
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a), TSL_ARG_BUFFER(own.b), TSL_ARG_BUFFER(own.c),
                               TSL_ARG_VALUE(args)};
  const tsl_grid grid = {{(uint64_t)(tile.strips * tile.groups), 1, 1}, {32 * WARPS, 1, 1}};
  return work->device->ops->launch(stream, work->state, &grid, list, sizeof list / sizeof *list);
}

const tsl_strategy tsl_gemm_cuda_strip = {
    .name = "cuda_strip",
    .idea =
        "narrow types with a short k by tensor cores: strips of C that leave by 16 bytes from any address",
    .lifts = "panels and barriers of a short k",
    .partner = "cuda_mma",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .accuracy = tsl_cuda_mma_accuracy,
    .row_order = tsl_cuda_mma_row_order,
    .params = params,
    .refuse = strip_refuse,
    .score = strip_seconds,
    .build = strip_build,
    .run = strip_run,
    .supports = {.types = tsl_cuda_mma_types,
                 .why = "these instructions multiply narrow types, and f32 as tf32"},
    .resources = {.count_costs = strip_account},
    .testing = {.probes = probes},
};
