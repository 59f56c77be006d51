/* Descriptor and element trait of cuda_mma, on the base in sm80. Measurements: docs/lab/cuda_mma.md. */
#include "strategy/gemm/nvidia/cuda_mma/cuda_mma.h"

#include "core/status.h"

#include <stdio.h>

enum { EIGHTS_ARCHITECTURE = 89 }; /* first architecture that converts 8-bit floating point to f16 */

static const tsl_param params[] = {
    [TSL_SM80_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 64, 128, 256}},
    [TSL_SM80_TILE_N] = {"tile_n", "columns of a block's tile", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_MMA_DEPTH] = {"depth", "bytes of a line in a panel", 64, {64, 128}},
    [TSL_CUDA_MMA_FROM] = {"from",
                           "place: panels are copied from A and B; packed: from aligned copies of A and B",
                           TSL_CUDA_MMA_PLACE,
                           {TSL_CUDA_MMA_PLACE, TSL_CUDA_MMA_PACKED}},
    {NULL, NULL, 0, {0}},
};

static const char *const from_names[] = {"place", "packed"};

/* The first probe is compiled for all types; it compiles in a third of the default's time. */
static const char *const probes[] = {
    "tile_m=64 tile_n=64 depth=64",
    "tile_m=128 tile_n=128 depth=64",
    "tile_m=128 tile_n=256 depth=128",
    "tile_m=16 tile_n=128 depth=128",
    "tile_m=256 tile_n=128 depth=64",
    "tile_m=128 tile_n=16 depth=64",
    "tile_m=32 tile_n=64 depth=128",
    "tile_m=64 tile_n=128 depth=64 from=packed",
    NULL,
};

static const tsl_sm80_shape shapes[] = {
    {1, 128, 256, 1, 64, 64, 1, 0.821, 0}, {1, 256, 128, 1, 64, 64, 1, 0.848, 0},
    {1, 128, 128, 1, 64, 64, 2, 0.832, 0}, {1, 128, 64, 1, 64, 32, 3, 0.800, 0},
    {1, 64, 128, 1, 32, 64, 3, 0.712, 0},  {1, 64, 64, 1, 32, 32, 4, 0.692, 0},
    {1, 128, 32, 1, 32, 32, 4, 0.427, 0},  {1, 32, 128, 1, 32, 32, 4, 0.700, 0},
    {1, 64, 32, 1, 32, 16, 4, 0.337, 0},   {1, 32, 64, 1, 16, 32, 4, 0.452, 0},
    {1, 128, 16, 1, 32, 16, 4, 0.295, 0},  {1, 16, 128, 1, 16, 32, 4, 0.520, 0},
    {1, 32, 32, 1, 16, 16, 4, 0.235, 0},   {1, 64, 16, 1, 16, 16, 4, 0.227, 0},
    {1, 16, 64, 1, 16, 16, 4, 0.306, 0},   {0, 0, 0, 0, 0, 0, 0, 0, 0},
};

static const tsl_sm80_trait trait = {.path = "strategy/gemm/nvidia/cuda_mma/cuda_mma.cu",
                                     .kernel = "tsl_gemm_cuda_mma",
                                     .shapes = shapes,
                                     .stages_max = 8,
                                     .part_panels = 4,
                                     .copy_min = 4,
                                     .store_elements = 4,
                                     .first_clocks = 1950,
                                     .sum_clocks = 51,
                                     .panel_clocks = 1660,
                                     .barrier_clocks = 42,
                                     .few_warps = 0.76,
                                     .bandwidth_share = 0.84,
                                     .cache_bytes = 46,
                                     .reduce_seconds = 4.9e-6,
                                     .launch_share = 0.39,
                                     .overlap = 3.5,
                                     .odd_sums = 15,
                                     .odd_part_sums = 15,
                                     .odd_moves = 1};

static bool is_eight(const tsl_problem *problem) {
  return problem->a.type == TESELA_E4M3 || problem->a.type == TESELA_E5M2;
}

/* Returns the multiply-adds per clock of a multiprocessor. Table: mma.sync with 16-bit elements and f32 sums,
 * by first architecture, from data sheets of the faster cards; 90 is measured (only wgmma reaches twice as
 * many). 8-bit integers have twice the rate, tf32 half; 8-bit floating point is multiplied as 16 bits. */
static double mma_unit_rate(const tsl_sm80_tile *tile, const tsl_device *device) {
  static const struct {
    int architecture; /* 10 times the compute capability */
    double rate;
  } rates[] = {{80, 1024}, {86, 512}, {90, 1150}, {100, 1024}, {110, 512}};
  double rate = rates[0].rate;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (device->architecture >= rates[i].architecture)
      rate = rates[i].rate;
  return is_eight(&tile->problem) ? rate : rate * 2 / tile->element;
}

/* Returns the extra clocks of a panel's copies where tiles are partial or operands are not aligned. A warp
 * checks the bounds of each chunk, and copies elements one by one where an operand has no width. */
static double mma_part_clocks(const tsl_sm80_tile *tile) {
  static const double look_clocks = 490, element_clocks = 25;
  const tsl_problem *problem = &tile->problem;
  const int width_a = tile->packs ? 16 : tile->a_width, width_b = tile->packs ? 16 : tile->b_width;
  const double ones = element_clocks * 16 / tile->element,
               chunks = (double)tile->depth * tile->element / 16 / tile->items;
  if (width_a == 16 && width_b == 16 && problem->m >= tile->tile_m && problem->n >= tile->tile_n)
    return 0;
  return chunks * tile->tile_m * (look_clocks + (width_a ? 0 : ones)) +
         chunks * tile->tile_n * (look_clocks + (width_b ? 0 : ones));
}

tsl_sm80_tile tsl_cuda_mma_tile(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  tsl_sm80_tile tile = tsl_sm80_tile_of(&trait, problem, config, 1);
  const tsl_problem *own = &tile.problem;
  const int depth_bytes = (int)config->value[TSL_CUDA_MMA_DEPTH];
  tile.depth = depth_bytes / tile.element;
  tile.packs = config->value[TSL_CUDA_MMA_FROM] == TSL_CUDA_MMA_PACKED;
  if (tile.packs) {
    const tsl_rows rows_a = tsl_rows_of(own->m, own->k, tile.a_mn_major, tile.element),
                   rows_b = tsl_rows_of(own->n, own->k, tile.b_mn_major, tile.element);
    tile.a_bytes = tsl_rows_bytes(&rows_a), tile.b_bytes = tsl_rows_bytes(&rows_b);
  }
  if (tile.warp_m > 0) {
    tsl_sm80_set_stages(&tile, (int64_t)(tile.tile_m + tile.tile_n) * depth_bytes, 0, device);
    tile.unit_rate = mma_unit_rate(&tile, device);
    tile.part_clocks = mma_part_clocks(&tile);
    tile.is_odd = own->c.col_stride != 1 || (own->m != 1 && own->c.row_stride % 4 != 0);
  }
  return tile;
}

static const char *mma_refuse(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(problem, config, device);
  if (problem->a.type == TESELA_F32 && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "f32 is truncated to tf32's ten binary places here: request accuracy=tf32 to allow it";
  if (is_eight(problem) && device->architecture < EIGHTS_ARCHITECTURE)
    return tsl_refusal("%s is sm_%d; 8-bit floating point needs sm_%d or newer", device->name,
                       device->architecture, EIGHTS_ARCHITECTURE);
  if (tile.packs && tsl_problem_batch(problem) > 1)
    return "from=packed takes a single product, not a batch";
  if (tile.packs && tile.a_width == 16 && tile.b_width == 16)
    return "from=packed: A and B are already aligned";
  return tsl_sm80_refuse(&tile, device);
}

static double mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(problem, config, device);
  return tsl_sm80_seconds(&tile, device);
}

static uint64_t mma_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(problem, config, device);
  return tsl_sm80_scratch(&tile, device);
}

static void mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(problem, config, device);
  tsl_sm80_account(&tile, device, account);
}

static tesela_status mma_build(tsl_work *work) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(&work->problem, &work->config, work->device);
  char defines[120];
  snprintf(defines, sizeof defines,
           "#define ELEMENT %d\n#define A_TYPE %s\n#define B_TYPE %s\n#define IS_EIGHT %d\n", tile.element,
           tsl_launch_ptx_word(tile.problem.a.type), tsl_launch_ptx_word(tile.problem.b.type),
           is_eight(&work->problem));
  return tsl_sm80_build(work, &tile, defines);
}

static tesela_status mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_sm80_tile tile = tsl_cuda_mma_tile(&work->problem, &work->config, work->device);
  return tsl_sm80_run(work, &tile, operands, stream);
}

#define EIGHTS(a, b)                                                                                         \
  {TESELA_##a, TESELA_##b, TESELA_F32}, {TESELA_##a, TESELA_##b, TESELA_BF16}, {                             \
    TESELA_##a, TESELA_##b, TESELA_F16                                                                       \
  }
static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_F32, TESELA_F32, TESELA_F32}, /* truncated to tf32 */
    EIGHTS(E4M3, E4M3),
    EIGHTS(E4M3, E5M2),
    EIGHTS(E5M2, E4M3),
    EIGHTS(E5M2, E5M2),
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Returns the accuracy. For f32 the tensor cores truncate factors: a product loses less than 2^-9. Their sums
 * align fewer products at a time, which adds truncations. Subnormal factors may become 0. */
static tsl_accuracy mma_accuracy(const tsl_problem *problem, const tsl_config *config) {
  static const double cut = 0x1p-9 / 0x1p-24;
  const double k = (double)problem->k;
  if (problem->a.type != TESELA_F32)
    return tsl_accuracy_of_tensor_cores(problem, config);
  return (tsl_accuracy){.factor = cut + 2.5 * k + 24 + 0x1p-22 * k,
                        .is_reproducible = true,
                        .flush_threshold = 0x1p-126,
                        .truncates_inputs = true};
}

const tsl_strategy tsl_gemm_cuda_mma = {
    .name = "cuda_mma",
    .idea = "narrow types by tensor cores in CUDA C++, for sm_80 and newer: "
            "asynchronous copies between products, from any layout",
    .lifts = "packing of operands, copies in bursts",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .build_seconds = 0.7,
    .accuracy = mma_accuracy,
    .params = params,
    .refuse = mma_refuse,
    .score = mma_seconds,
    .build = mma_build,
    .run = mma_run,
    .release = tsl_sm80_release,
    .supports = {.types = types,
                 .why = "these instructions multiply narrow types, and f32 as tf32",
                 .batches = true},
    .tuning = {.names = {[TSL_CUDA_MMA_FROM] = from_names}},
    .resources = {.scratch = mma_scratch, .count_costs = mma_account},
    .testing = {.probes = probes},
};
