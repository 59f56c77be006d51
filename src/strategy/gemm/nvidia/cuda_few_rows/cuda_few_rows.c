/* Descriptor, launch and performance model of cuda_few_rows. Measurements: docs/lab/cuda_few_rows.md. */
#include "strategy/gemm/nvidia/cuda_few_rows/cuda_few_rows.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/sm80/sm80_shared.h"

#include "strategy/gemm/nvidia/cuda_few_rows/cuda_few_rows_shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tsl_param params[] = {
    [TSL_CUDA_FEW_ROWS_TILE_N] = {"tile_n", "columns of a block's tile of C", 16, {16, 32}},
    [TSL_CUDA_FEW_ROWS_WARPS] = {"warps", "warps that share k, for 16 columns", 8, {8, 16}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {"tile_n=16 warps=8", "tile_n=32 warps=8", "tile_n=16 warps=16", NULL};

enum { ROWS_MAX = 16, WARP_N = 16, FLIGHT = 4 /* as in the kernel */, THREADS_MAX = 512 };
enum { STEP_BYTES = 64, CHUNK_BYTES = 16 };
enum { AHEAD_BYTES = 2048 /* of each line, prefetched to L2 */ };

/* Returns how many blocks a multiprocessor's registers hold: of up to three blocks of few warps as many as
 * there are. Free places would go to blocks of the next launch, unevenly. Of more blocks two read faster. */
static int count_resident(const tsl_cuda_few_rows *tile, const tsl_device *device) {
  enum { FEW_THREADS = 256, MOST = 3, USUAL = 2 };
  const int64_t share = tsl_ceil_div(tile->blocks, tsl_max(1, device->compute_units));
  return tile->threads > FEW_THREADS ? 1 : share == MOST && tile->rows < ROWS_MAX ? MOST : USUAL;
}

tsl_cuda_few_rows tsl_cuda_few_rows_of(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device) {
  const int64_t *value = config->value;
  tsl_cuda_few_rows tile = {.swapped = problem->m > problem->n,
                            .tile_n = (int)value[TSL_CUDA_FEW_ROWS_TILE_N],
                            .warps = (int)value[TSL_CUDA_FEW_ROWS_WARPS],
                            .element = (int)tsl_type(problem->a.type)->size};
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  tile.rows = tile.problem.m > ROWS_MAX / 2 ? ROWS_MAX : ROWS_MAX / 2;
  tile.threads = 32 * tile.warps * (tile.tile_n / WARP_N);
  tile.blocks = tsl_max(1, tsl_ceil_div(tile.problem.n, tile.tile_n));
  tile.resident = count_resident(&tile, device);
  return tile;
}

/* Returns true if lines of an operand are contiguous along k and begin at multiples of 16 bytes. */
static bool has_wide_lines(int element, int64_t lines, int64_t k, int64_t along, int64_t line,
                           int64_t offset) {
  return (along == 1 || k <= 1) && tsl_sm80_is_vector(CHUNK_BYTES / element, 1, line, lines, offset, 0);
}

/* Returns true if the problem's strides allow wide loads. */
static bool is_wide_problem(const tsl_cuda_few_rows *tile) {
  const tsl_problem *own = &tile->problem;
  return has_wide_lines(tile->element, own->m, own->k, own->a.col_stride, own->a.row_stride, 0) &&
         has_wide_lines(tile->element, own->n, own->k, own->b.row_stride, own->b.col_stride, 0);
}

static double cuda_few_seconds(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_cuda_few_constants *rates = &tsl_model_constants_of(device)->cuda_few;
  const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(problem, config, device);
  const bool is_wide = is_wide_problem(&tile);
  const double blocks = (double)tile.blocks, units = fmax(1, device->compute_units), warps = tile.warps,
               lines = tile.tile_n + (double)tile.rows, chunk = CHUNK_BYTES / (double)tile.element;
  const double steps = ceil((double)(problem->k * tile.element) / STEP_BYTES),
               whole = is_wide ? floor((double)(problem->k * tile.element) / STEP_BYTES) : 0,
               rest = steps - whole; /* their elements are loaded one by one */
  /* Bytes are two words of 16 bits each in the products. */
  const double words = tile.rows / 8.0 * (tsl_sm80_is_eight(problem) ? 2 : 1);
  /* Clocks of a block's slowest warp, and of a multiprocessor for its loads. */
  const double waits = ceil(whole / (warps * FLIGHT)) + ceil(rest / warps),
               latency = rates->first_clocks + waits * rates->wait_clocks +
                         ceil(steps / warps) * rates->step_clocks * words,
               loaded = whole * lines * STEP_BYTES / rates->unit_bytes +
                        rest * lines / 8 * chunk * rates->element_clocks;
  const double share = blocks / units, waves = fmax(1, share / tile.resident),
               clocks = fmax(waves * latency, ceil(share) * loaded);
  const double computed = clocks / (1e6 * fmax(1, device->clock_mhz)),
               moved = tsl_problem_bytes(problem) / (rates->memory_part * device->bandwidth) *
                       (1 + rates->part_waste / (warps * FLIGHT * STEP_BYTES)) *
                       (1 + rates->uneven * (ceil(waves) / waves - 1));
  return sqrt(sqrt(pow(computed, 4) + pow(moved, 4))) + rates->launch_share * device->launch_seconds;
}

static void cuda_few_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                             tsl_cost_counts *account) {
  const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(problem, config, device);
  const double blocks = (double)tile.blocks, k = (double)problem->k, warps = tile.warps;
  tsl_cost_counts_groups(blocks, tile.threads, blocks * tile.threads, 4 * tile.warps * 16 * tile.tile_n,
                         device, account);
  account->computed = blocks * ROWS_MAX * tile.tile_n * k;
  account->global.read = blocks * (tile.rows + tile.tile_n) * k * tile.element;
  account->local = (tsl_moved){.read = blocks * warps * tile.rows * tile.tile_n * 4,
                               .written = blocks * warps * ROWS_MAX * tile.tile_n * 4};
  tsl_cost_counts_result(problem, 1, account);
}

static const char *cuda_few_refuse(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(problem, config, device);
  const tsl_problem *own = &tile.problem;
  const char *refusal = tsl_cuda_mma_refuse_types(problem, device);
  if (refusal)
    return refusal;
  if (tile.threads > THREADS_MAX)
    return tsl_refusal("tile_n=%d warps=%d are %d threads; a block has at most %d", tile.tile_n, tile.warps,
                       tile.threads, THREADS_MAX);
  if (own->m > ROWS_MAX)
    return tsl_refusal("takes C of at most %d rows or columns, not %lld x %lld", ROWS_MAX,
                       (long long)problem->m, (long long)problem->n);
  if (own->n > INT32_MAX / 2 || own->k > INT32_MAX / 2)
    return tsl_refusal("its kernel counts columns and k in 31 bits");
  return NULL;
}

static tesela_status cuda_few_build(tsl_work *work) {
  const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  char defines[256];
  tsl_kernel *kernel;
  snprintf(defines, sizeof defines,
           "#define ROWS %d\n#define RESIDENT %d\n#define ELEMENT %d\n#define A_TYPE %s\n#define B_TYPE "
           "%s\n#define IS_EIGHT %d\n#define C_FORM %d\n",
           tile.rows, tile.resident, tile.element, tsl_launch_ptx_word(tile.problem.a.type),
           tsl_launch_ptx_word(tile.problem.b.type), tsl_sm80_is_eight(&tile.problem),
           tsl_launch_form(tile.problem.c.type));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/cuda_few_rows/cuda_few_rows.cu",
                                 "tsl_gemm_cuda_few_rows", tile.threads, defines, &kernel));
  if (work->device->capabilities & TSL_CAN_WGMMA)
    ops->kernel_early(kernel);
  work->state = kernel;
  return TESELA_OK;
}

static tesela_status cuda_few_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(&work->problem, &work->config, work->device);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  const tsl_gemm_sizes *s = &own.sizes;
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, s);
  cuda_few_rows_arguments args = {.m = (int)s->m,
                                  .n = (int)s->n,
                                  .k = (int)s->k,
                                  .a = {s->a_offset, s->a_row_stride, s->a_col_stride, 0},
                                  .b = {s->b_offset, s->b_row_stride, s->b_col_stride, 0},
                                  .c = {s->c_offset, s->c_row_stride, s->c_col_stride, 0}};
  memcpy(&args.scalars, &scaled.scalars, sizeof args.scalars.narrow);
  if (s->k > 0) /* for k = 0 the operands may be absent */
    args.is_wide = tsl_sm80_is_aligned(own.a, CHUNK_BYTES) && tsl_sm80_is_aligned(own.b, CHUNK_BYTES) &&
                   has_wide_lines(tile.element, s->m, s->k, s->a_col_stride, s->a_row_stride, s->a_offset) &&
                   has_wide_lines(tile.element, s->n, s->k, s->b_row_stride, s->b_col_stride, s->b_offset);
  if (args.is_wide)
    args.ahead = (int)tsl_min(AHEAD_BYTES, s->k * tile.element / STEP_BYTES * STEP_BYTES);
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a), TSL_ARG_BUFFER(own.b), TSL_ARG_BUFFER(own.c),
                               TSL_ARG_VALUE(args)};
  const tsl_grid grid = {{(uint64_t)tsl_ceil_div(s->n, tile.tile_n), 1, 1}, {tile.threads, 1, 1}};
  return work->device->ops->launch(stream, work->state, &grid, list, sizeof list / sizeof *list);
}

const tsl_strategy tsl_gemm_cuda_few_rows = {
    .name = "cuda_few_rows",
    .idea = "few rows of C by tensor cores: the large factor goes from memory to registers",
    .lifts = "panels and barriers of few rows",
    .partner = "cuda_mma",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .build_seconds = 0.7,
    .accuracy = tsl_cuda_mma_accuracy,
    .params = params,
    .refuse = cuda_few_refuse,
    .score = cuda_few_seconds,
    .build = cuda_few_build,
    .run = cuda_few_run,
    .supports = {.types = tsl_cuda_mma_types,
                 .why = "these instructions multiply narrow types, and f32 as tf32"},
    .resources = {.count_costs = cuda_few_account},
    .testing = {.probes = probes},
};
