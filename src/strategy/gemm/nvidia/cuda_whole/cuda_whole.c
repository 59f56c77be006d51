/* Descriptor, launch and performance model of cuda_whole, in clocks of a multiprocessor. Measurements:
 * docs/lab/cuda_whole.md. */
#include "strategy/gemm/nvidia/cuda_whole/cuda_whole.h"
#include "strategy/model_constants.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_whole/cuda_whole_shared.h"

#include <math.h>
#include <stdio.h>

static const tsl_param params[] = {
    [TSL_CUDA_WHOLE_TILE_M] = {"tile_m", "rows of a warp's tile of C", 32, {16, 32, 48, 64}},
    [TSL_CUDA_WHOLE_TILE_N] = {"tile_n", "columns of a warp's tile", 32, {16, 32, 48, 64}},
    [TSL_CUDA_WHOLE_ROOM] = {"room", "KiB of shared memory of a block", 113, {24, 44, 56, 75, 113, 226}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=32 tile_n=32 room=75",
    "tile_m=64 tile_n=64 room=113",
    "tile_m=16 tile_n=48 room=24",
    "tile_m=48 tile_n=16 room=44",
    NULL,
};

static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

enum { ELEMENT = 2, CHUNK = 16, BLOCK = 16 /* lines of a fragment, and elements of its k */ };
/* Limits by accumulators per thread: warps of a block, and resident blocks of this size by registers. */
static const struct {
  int sums, warps, resident; /* accumulators of a thread at most; both limits */
} registers_for[] = {{8, 16, 3}, {24, 16, 2}, {32, 12, 2}, {72, 8, 2}, {128, 8, 1}};
/* Warps of a block up to which it takes several products: large products would wait for each other. */
enum { WARPS_TOGETHER = 8, WARPS_RESIDENT = 64, BLOCKS_RESIDENT = 32 };
enum { RESERVED_BYTES = 1024 }; /* bytes of shared memory for each block */

/* Returns the layout of A's or B's lines (`lines` along m or n) in shared memory. An odd number of chunks
 * between lines avoids bank conflicts. */
static tsl_cuda_whole_lines cuda_whole_lines_of(const tsl_shape *shape, bool is_a, int64_t lines, int64_t k) {
  const int64_t by_line = is_a ? shape->row_stride : shape->col_stride,
                by_depth = is_a ? shape->col_stride : shape->row_stride;
  const bool across = !tsl_launch_along(by_depth, by_line);
  tsl_cuda_whole_lines made = {
      .across = across, .line_count = across ? k : lines, .line_length = across ? lines : k};
  made.pitch = tsl_round_up(made.line_length, BLOCK) * ELEMENT + CHUNK;
  made.bytes = (made.line_count + (across ? 1 : 0)) * made.pitch;
  return made;
}

tsl_cuda_whole tsl_cuda_whole_of(const tsl_problem *problem, const tsl_config *config) {
  tsl_cuda_whole tile = {
      .swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .tile_m = (int)config->value[TSL_CUDA_WHOLE_TILE_M],
      .tile_n = (int)config->value[TSL_CUDA_WHOLE_TILE_N],
  };
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  const int64_t m = tile.problem.m, n = tile.problem.n, k = problem->k,
                number = (int64_t)tsl_type(problem->c.type)->size;
  tile.a = cuda_whole_lines_of(&tile.problem.a, true, m, k);
  tile.b = cuda_whole_lines_of(&tile.problem.b, false, n, k);
  int row = 0;
  while (registers_for[row].sums < tile.tile_m * tile.tile_n / 32)
    row++;
  tile.most_warps = registers_for[row].warps, tile.resident = registers_for[row].resident;
  tile.warps_n = tsl_max(1, tsl_ceil_div(n, tile.tile_n));
  tile.warps = tsl_max(1, tsl_ceil_div(m, tile.tile_m)) * tile.warps_n;
  tile.bytes = tsl_round_up(tsl_max(tile.a.bytes + tile.b.bytes, m * n * number + 2 * CHUNK), (int64_t)CHUNK);
  tile.shared_bytes = config->value[TSL_CUDA_WHOLE_ROOM] * 1024;
  tile.together = tsl_min(tsl_min(tile.shared_bytes / tile.bytes, tsl_max(1, WARPS_TOGETHER / tile.warps)),
                          tsl_problem_batch(problem));
  tile.blocks = tsl_ceil_div(tsl_problem_batch(problem), tsl_max(1, tile.together));
  return tile;
}

int tsl_cuda_whole_width(const tsl_cuda_whole_lines *lines, int64_t step, int64_t line, int64_t offset,
                         int64_t apart) {
  return tsl_max(ELEMENT, tsl_sm80_width(ELEMENT, 4, step, line, lines->line_count, offset, apart));
}

/* Instructions of a warp: copy of 16 or 8 bytes; of words of contiguous lines; of elements; fragment of
 * sixteen lines; product of 16 x 8 x 16; two elements of C in the image, and one by one; once per warp. */
static const double copy_cost = 14, word_cost = 44, element_cost = 16, load_cost = 14, product_cost = 2,
                    put_cost = 14, one_cost = 24, warp_cost = 600;
/* Returns the instructions of a warp for the copies of one operand of a product. */
static double cuda_whole_copies_of(const tsl_cuda_whole_lines *lines, const tsl_shape *shape, bool is_a,
                                   int64_t apart) {
  const bool by_rows = is_a != lines->across;
  const int64_t line = by_rows ? shape->row_stride : shape->col_stride,
                step = by_rows ? shape->col_stride : shape->row_stride;
  const int width = tsl_cuda_whole_width(lines, step, line, 0, apart);
  const double bytes = (double)lines->line_count * (double)lines->line_length * ELEMENT / 32;
  return width >= CHUNK / 2                        ? bytes / width * copy_cost
         : step == 1 && line == lines->line_length ? bytes / 4 * word_cost
         : width > ELEMENT                         ? bytes / width * copy_cost
                                                   : bytes / ELEMENT * element_cost;
}

static bool cuda_whole_is_dense(const tsl_problem *problem) {
  return problem->c.col_stride == 1 && (problem->m == 1 || problem->c.row_stride == problem->n) &&
         problem->beta[0] == 0;
}

static double cuda_whole_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  const tsl_whole_constants *rates = &tsl_model_constants_of(device)->whole;
  const tsl_cuda_whole tile = tsl_cuda_whole_of(problem, config);
  const tsl_problem *own = &tile.problem;
  const double units = fmax(1, device->compute_units), products = (double)tsl_problem_batch(problem),
               blocks_m = ceil((double)own->m / BLOCK), blocks_n = ceil((double)own->n / 8),
               depths = ceil((double)problem->k / BLOCK), warps = (double)tile.warps;
  const double loads = fmin(tile.tile_m / 16.0 * warps, blocks_m * (double)tile.warps_n) +
                       fmin(tile.tile_n / 16.0 * warps, blocks_n / 2 * warps / (double)tile.warps_n),
               pairs = fmin((double)tile.tile_m * tile.tile_n * warps, 64 * blocks_m * blocks_n * 2) / 64;
  const double each = cuda_whole_copies_of(&tile.a, &own->a, true, own->m * own->k) +
                      cuda_whole_copies_of(&tile.b, &own->b, false, own->n * own->k) +
                      depths * (loads * load_cost + blocks_m * blocks_n * product_cost) +
                      pairs * (cuda_whole_is_dense(own) ? put_cost : one_cost) + warps * warp_cost;
  /* Resident blocks of a multiprocessor: limited by shared memory and registers. */
  const double block_warps = warps * (double)tile.together,
               by_memory = (double)(((int64_t)device->local_bytes_inside + RESERVED_BYTES) /
                                    (tile.shared_bytes + RESERVED_BYTES)),
               by_registers = floor((double)tile.resident * tile.most_warps / block_warps),
               blocks = fmax(1, fmin(fmin(by_memory, by_registers), BLOCKS_RESIDENT));
  const double share = products / units,
               there = fmin(fmin(blocks * block_warps, warps * ceil(share)), WARPS_RESIDENT);
  /* Where products are few, a product's own warps limit it. */
  const double issued = fmax(share / fmin(rates->rate_most, rates->rate_of_warp * there),
                             1 / fmin(rates->rate_most, rates->rate_alone * warps)),
               clocks = rates->first_clocks + each * issued;
  const double computed = clocks / (1e6 * fmax(1, device->clock_mhz)),
               moved = tsl_problem_bytes(problem) / (rates->memory_part * device->bandwidth);
  return sqrt(sqrt(pow(computed, 4) + pow(moved, 4))) + rates->launch_share * device->launch_seconds;
}

static void cuda_whole_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  const tsl_cuda_whole tile = tsl_cuda_whole_of(problem, config);
  const double products = (double)tsl_problem_batch(problem), m = (double)tile.problem.m,
               n = (double)tile.problem.n, depth = (double)tsl_round_up(problem->k, BLOCK);
  const int items = (int)(32 * tile.warps * tile.together);
  tsl_cost_counts_groups((double)tile.blocks, items, (double)tile.blocks * items, tile.shared_bytes, device,
                         account);
  account->computed = products * (double)tile.warps * tile.tile_m * tile.tile_n * depth;
  account->local =
      (tsl_moved){.read = products * depth * ELEMENT * (double)tile.warps * (tile.tile_m + tile.tile_n),
                  .written = products * (m + n) * (double)problem->k * ELEMENT};
  account->global.read = account->local.written;
  tsl_cost_counts_result(problem, 1, account);
}

static const char *cuda_whole_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  static const int64_t most_line = 4096;
  if (problem->m > most_line || problem->n > most_line || problem->k > most_line)
    return tsl_refusal("products of %lld x %lld x %lld do not fit whole into shared memory",
                       (long long)problem->m, (long long)problem->n, (long long)problem->k);
  const tsl_cuda_whole tile = tsl_cuda_whole_of(problem, config);
  if (tile.warps > tile.most_warps)
    return tsl_refusal("tiles of %d x %d take %lld warps; a block has registers for %d", tile.tile_m,
                       tile.tile_n, (long long)tile.warps, tile.most_warps);
  if (tile.shared_bytes > (int64_t)device->local_bytes_inside)
    return tsl_refusal("room=%lld: %s has %llu bytes", (long long)config->value[TSL_CUDA_WHOLE_ROOM],
                       device->name, (unsigned long long)device->local_bytes_inside);
  if (tile.together == 0)
    return tsl_refusal("room=%lld is too small: a product takes %lld bytes",
                       (long long)config->value[TSL_CUDA_WHOLE_ROOM], (long long)tile.bytes);
  static const int64_t most_blocks = 0x7f000000;
  if (tile.blocks > most_blocks)
    return tsl_refusal("%lld products are more than blocks can count", (long long)tsl_problem_batch(problem));
  return NULL;
}

static const char *cuda_whole_row_order(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return "mma";
}

static tesela_status cuda_whole_build(tsl_work *work) {
  const tsl_cuda_whole tile = tsl_cuda_whole_of(&work->problem, &work->config);
  const tsl_device_ops *ops = work->device->ops;
  const tsl_problem *problem = &tile.problem;
  char defines[256];
  tsl_kernel *kernel;
  snprintf(defines, sizeof defines,
           "#define ROOM %lld\n#define THREADS_MOST %d\n#define RESIDENT %d\n#define A_TYPE %s\n#define "
           "B_TYPE %s\n"
           "#define A_MN_MAJOR %d\n#define B_MN_MAJOR %d\n#define C_FORM %d\n",
           (long long)tile.shared_bytes, 32 * tile.most_warps, tile.resident,
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type), tile.a.across,
           tile.b.across, tsl_launch_form(problem->c.type));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/cuda_whole/cuda_whole.cu", "tsl_gemm_cuda_whole",
                                 (int)(32 * tile.warps * tile.together), defines, &kernel));
  TSL_TRY(ops->kernel_local_bytes(&kernel, (size_t)tile.shared_bytes));
  if (work->device->capabilities & TSL_CAN_WGMMA)
    ops->kernel_early(kernel);
  work->state = kernel;
  return TESELA_OK;
}

static cuda_whole_factor cuda_whole_factor_of(const tsl_cuda_whole_lines *lines, tsl_buffer *buffer,
                                              int64_t end, int64_t offset, int64_t line, int64_t step,
                                              int64_t apart) {
  const bool is_aligned = tsl_sm80_is_aligned(buffer, 16);
  return (cuda_whole_factor){.offset = offset,
                             .line = lines->line_count > 1 ? line : lines->line_length,
                             .step = lines->line_length > 1 ? step : 1,
                             .apart = apart,
                             .line_count = (int)lines->line_count,
                             .line_length = (int)lines->line_length,
                             .width = is_aligned ? tsl_cuda_whole_width(lines, step, line, offset, apart)
                                                 : ELEMENT,
                             .pitch = (int)lines->pitch,
                             .to = (int)end};
}

static tesela_status cuda_whole_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_whole tile = tsl_cuda_whole_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  const tsl_gemm_sizes s = own.sizes;
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &s);
  const int64_t products = tsl_problem_batch(&work->problem);
  const float alpha = scaled.scalars.f32[0], beta = scaled.scalars.f32[1];
  cuda_whole_arguments args = {
      .m = (int)s.m,
      .n = (int)s.n,
      .k = (int)s.k,
      .warps = (int)tile.warps,
      .warps_n = (int)tile.warps_n,
      .together = (int)tile.together,
      .bytes = (int)tile.bytes,
      .products = products,
      .c = {.offset = s.c_offset,
            .row = s.c_row_stride,
            .col = s.c_col_stride,
            .apart = products > 1 ? own.c_step : 0,
            .dense = s.c_col_stride == 1 && (s.m == 1 || s.c_row_stride == s.n) && beta == 0},
      .alpha = alpha,
      .beta = beta};
  if (s.k > 0) { /* for k = 0 the operands may be absent */
    args.a =
        cuda_whole_factor_of(&tile.a, own.a, 0, s.a_offset, tile.a.across ? s.a_col_stride : s.a_row_stride,
                             tile.a.across ? s.a_row_stride : s.a_col_stride, products > 1 ? own.a_step : 0);
    args.b = cuda_whole_factor_of(
        &tile.b, own.b, tile.a.bytes, s.b_offset, tile.b.across ? s.b_row_stride : s.b_col_stride,
        tile.b.across ? s.b_col_stride : s.b_row_stride, products > 1 ? own.b_step : 0);
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a), TSL_ARG_BUFFER(own.b), TSL_ARG_BUFFER(own.c),
                               TSL_ARG_VALUE(args)};
  const tsl_grid grid = {{(uint64_t)tile.blocks, 1, 1}, {(int)(32 * tile.warps * tile.together), 1, 1}};
  return work->device->ops->launch(stream, work->state, &grid, list, sizeof list / sizeof *list);
}

const tsl_strategy tsl_gemm_cuda_whole = {
    .name = "cuda_whole",
    .idea = "batches of small products in narrow types by tensor cores, each one whole in shared memory",
    .lifts = "partial panels, elements stored one by one",
    .partner = "cuda_mma",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .accuracy = tsl_accuracy_of_tensor_cores,
    .row_order = cuda_whole_row_order,
    .params = params,
    .refuse = cuda_whole_refuse,
    .score = cuda_whole_seconds,
    .build = cuda_whole_build,
    .run = cuda_whole_run,
    .supports = {.types = types, .why = "its instructions multiply narrow types", .batches = true},
    .resources = {.count_costs = cuda_whole_account},
    .testing = {.probes = probes},
};
