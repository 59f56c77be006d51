/* Descriptor of cuda_wgmma: parameters, refusals, accuracy. Measurements: docs/lab/cuda_wgmma.md. */
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"

#include "host/int_math.h"
#include "strategy/params.h"
#include "strategy/support.h"

#include <math.h>

static const tsl_param params[] = {
    [TSL_CUDA_WGMMA_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {64, 128, 256}},
    [TSL_CUDA_WGMMA_TILE_N] = {"tile_n", "columns of a block's tile", 128, {8,   16,  24,  32,  40,  48,  56,
                                                                            64,  72,  80,  88,  96,  104, 112,
                                                                            120, 128, 136, 144, 152, 160, 168,
                                                                            176, 184, 192, 200, 208, 216, 224,
                                                                            232, 240, 248, 256}},
    [TSL_CUDA_WGMMA_CLUSTER] = {"cluster",
                                "blocks that share rows of A and columns of B; with form=flow, parts of k",
                                1,
                                {1, 2, 4, 8}},
    [TSL_CUDA_WGMMA_BAND] = {"band", "rows of tiles that blocks take together", 8, {4, 8, 16}},
    [TSL_CUDA_WGMMA_ORDER] = {"order",
                              "direct: A B; swapped: the transposed product, B' A'",
                              TSL_CUDA_WGMMA_DIRECT,
                              {TSL_CUDA_WGMMA_DIRECT, TSL_CUDA_WGMMA_SWAPPED}},
    [TSL_CUDA_WGMMA_FORM] = {"form",
                             "stay: persistent blocks; flow: a small block for each part of k; "
                             "stream: persistent blocks, stream-k in the last round",
                             TSL_CUDA_WGMMA_STAY,
                             {TSL_CUDA_WGMMA_STAY, TSL_CUDA_WGMMA_FLOW, TSL_CUDA_WGMMA_STREAM}},
    [TSL_CUDA_WGMMA_EIGHTS] = {"eights",
                               "e4m3 and e5m2: widened to f16; 8-bit sums of one panel, or of two, "
                               "added in f32 (also for f16); or 8-bit sums alone",
                               TSL_CUDA_WGMMA_WIDENED,
                               {TSL_CUDA_WGMMA_WIDENED, TSL_CUDA_WGMMA_PANELS, TSL_CUDA_WGMMA_PAIRS,
                                TSL_CUDA_WGMMA_UNITS}},
    {NULL, NULL, 0, {0}},
};

static const char *const order_names[] = {"direct", "swapped"},
                         *const form_names[] = {"stay", "flow", "stream"},
                         *const eights_names[] = {"widened", "panels", "pairs", "units"};

static const char *const probes[] = {
    "tile_m=128 tile_n=256 cluster=2 band=8 order=direct",
    "tile_m=64 tile_n=64 cluster=1 band=4 order=swapped",
    "tile_m=128 tile_n=16 cluster=1 band=8 order=swapped",
    "tile_m=256 tile_n=128 cluster=1 band=16 order=direct",
    "tile_m=64 tile_n=128 cluster=2 band=8 order=direct",
    "tile_m=128 tile_n=16 cluster=4 band=8 order=swapped form=flow",
    "tile_m=64 tile_n=64 cluster=8 band=8 order=direct form=flow",
    "tile_m=64 tile_n=32 cluster=2 band=8 order=swapped form=flow eights=panels",
    "tile_m=128 tile_n=128 cluster=2 band=8 order=swapped",
    "tile_m=128 tile_n=192 cluster=2 band=8 order=swapped eights=panels",
    "tile_m=128 tile_n=192 cluster=1 band=8 order=direct eights=pairs",
    "tile_m=256 tile_n=128 cluster=1 band=8 order=direct eights=pairs",
    "tile_m=128 tile_n=256 cluster=1 band=8 order=direct eights=units",
    "tile_m=256 tile_n=128 cluster=2 band=8 order=direct eights=panels",
    "tile_m=256 tile_n=128 cluster=1 band=4 order=swapped",
    "tile_m=64 tile_n=64 cluster=1 band=8 order=direct form=stream",
    "tile_m=128 tile_n=128 cluster=2 band=8 order=swapped form=stream eights=panels",
    "tile_m=128 tile_n=232 cluster=1 band=8 order=direct",
    "tile_m=256 tile_n=112 cluster=1 band=8 order=swapped form=stream",
    "tile_m=64 tile_n=8 cluster=2 band=8 order=swapped form=flow",
    "tile_m=64 tile_n=24 cluster=1 band=8 order=direct form=stream",
    "tile_m=128 tile_n=176 cluster=2 band=8 order=direct eights=pairs",
    "tile_m=128 tile_n=208 cluster=1 band=8 order=swapped",
    "tile_m=64 tile_n=16 cluster=1 band=8 order=swapped",
    "tile_m=128 tile_n=72 cluster=1 band=8 order=direct eights=panels",
    "tile_m=128 tile_n=48 cluster=4 band=8 order=direct form=flow eights=pairs",
    "tile_m=64 tile_n=88 cluster=8 band=8 order=swapped",
    "tile_m=64 tile_n=32 cluster=4 band=8 order=direct eights=panels",
    "tile_m=128 tile_n=72 cluster=4 band=8 order=direct",
    NULL,
};

static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_F32, TESELA_F32, TESELA_F32}, /* truncated to tf32 */
    {TESELA_E4M3, TESELA_E4M3, TESELA_F32},
    {TESELA_E5M2, TESELA_E4M3, TESELA_F32},
    {TESELA_E4M3, TESELA_E5M2, TESELA_F32},
    {TESELA_E5M2, TESELA_E5M2, TESELA_F32},
    {TESELA_E4M3, TESELA_E4M3, TESELA_BF16},
    {TESELA_E5M2, TESELA_E4M3, TESELA_BF16},
    {TESELA_E4M3, TESELA_E5M2, TESELA_BF16},
    {TESELA_E5M2, TESELA_E5M2, TESELA_BF16},
    {TESELA_E4M3, TESELA_E4M3, TESELA_F16},
    {TESELA_E5M2, TESELA_E4M3, TESELA_F16},
    {TESELA_E4M3, TESELA_E5M2, TESELA_F16},
    {TESELA_E5M2, TESELA_E5M2, TESELA_F16},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Returns the number of products that the 8-bit tensor cores sum before f32 additions. */
static int64_t products_per_partial_sum(const tsl_problem *problem, int64_t eights) {
  return eights == TSL_CUDA_WGMMA_PANELS  ? TSL_CUDA_WGMMA_PANEL
         : eights == TSL_CUDA_WGMMA_PAIRS ? 2 * TSL_CUDA_WGMMA_PANEL
                                          : tsl_max(1, problem->k);
}

/* Returns the accuracy of f16 whose panels of 64 products (or pairs of panels) are summed in f32, including
 * split-k parts of at least four panels. */
static tsl_accuracy accuracy_of_panels(const tsl_problem *problem, int64_t sums) {
  const double k = (double)problem->k,
               terms = (sums == TSL_CUDA_WGMMA_PAIRS ? 2 : 1) * TSL_CUDA_WGMMA_PANEL / 2;
  const double factor = tsl_accuracy_cuts_of_panels(k, terms);
  return (tsl_accuracy){
      .factor = factor, .subnormal_error = tsl_accuracy_slips(problem, factor), .is_reproducible = true};
}

/* Returns the accuracy. For f32 the tensor cores truncate factors: a product loses less than 2^-9. Their sums
 * align fewer products at a time, which adds truncations. Subnormal factors may become 0. */
static tsl_accuracy wgmma_accuracy(const tsl_problem *problem, const tsl_config *config) {
  static const double cut = 0x1p-9 / 0x1p-24;
  const double k = (double)problem->k;
  if (tsl_cuda_wgmma_is_eight(problem) && config->value[TSL_CUDA_WGMMA_EIGHTS] != TSL_CUDA_WGMMA_WIDENED)
    return tsl_accuracy_of_eights(problem,
                                  products_per_partial_sum(problem, config->value[TSL_CUDA_WGMMA_EIGHTS]));
  if (tsl_cuda_wgmma_is_half(problem) && config->value[TSL_CUDA_WGMMA_EIGHTS] != TSL_CUDA_WGMMA_WIDENED)
    return accuracy_of_panels(problem, config->value[TSL_CUDA_WGMMA_EIGHTS]);
  if (problem->a.type != TESELA_F32)
    return tsl_accuracy_of_tensor_cores(problem, config);
  return (tsl_accuracy){.factor = cut + 2.5 * k + 24 + 0x1p-22 * k,
                        .is_reproducible = true,
                        .flush_threshold = 0x1p-126,
                        .truncates_inputs = true};
}

/* Limits of accumulators per thread: of one set, and with a partial set. */
enum { MAX_SUMS = 128, MAX_SUMS_SPLIT = 192, BAND = 8 };

/* Returns why the parameter `eights` is refused for these types and this tile, or NULL. */
static const char *refuse_eights(const tsl_problem *problem, const tsl_cuda_wgmma *tile, int64_t eights,
                                 int sums, const tsl_config *config) {
  const char *name = eights_names[eights - 1];
  if (tile->eights == 0 &&
      (problem->ask.accuracy != TSL_ACCURACY_NUMBER ||
       tsl_accuracy_of_tensor_cores(problem, config).factor * 0x1p-24 <= problem->ask.number))
    return tsl_refusal("eights=%s: f16 is summed by panels only where the requested accuracy exceeds that of "
                       "sums over all k",
                       name);
  if (tile->eights == 0 && eights == TSL_CUDA_WGMMA_UNITS)
    return "eights=units is for 8-bit numbers, not for f16";
  if (!tsl_numeric_requirements_has_accuracy(&problem->ask))
    return tsl_refusal(
        "eights=%s: sums of 8-bit units keep 13 binary places: request accuracy=e4m3 or a number "
        "to allow it",
        name);
  if (tile->eights == TSL_CUDA_WGMMA_UNITS && problem->ask.accuracy != TSL_ACCURACY_NUMBER)
    return "eights=units: sums over all k keep 13 binary places; request an accuracy by number to allow it";
  if (tile->split_accumulators > 0 && sums + tile->tile_n / 2 > MAX_SUMS_SPLIT)
    return tsl_refusal(
        "eights=%s: tiles of %d x %d take %d sums and %d partial sums per thread; the limit is %d", name,
        tile->tile_m, tile->tile_n, sums, tile->tile_n / 2, MAX_SUMS_SPLIT);
  return NULL;
}

/* Returns true if clusters of four and eight compute C in one round, and not as parts of k. */
static bool has_one_round(const tsl_problem *problem, const int64_t *value, const tsl_device *device) {
  const bool is_swapped = value[TSL_CUDA_WGMMA_ORDER] == TSL_CUDA_WGMMA_SWAPPED;
  const int64_t rows = tsl_ceil_div(is_swapped ? problem->n : problem->m, value[TSL_CUDA_WGMMA_TILE_M]),
                cols = tsl_ceil_div(is_swapped ? problem->m : problem->n, value[TSL_CUDA_WGMMA_TILE_N]);
  return value[TSL_CUDA_WGMMA_FORM] == TSL_CUDA_WGMMA_STAY && tsl_problem_batch(problem) == 1 &&
         (double)rows * (double)cols <=
             (double)tsl_cuda_wgmma_units(value[TSL_CUDA_WGMMA_CLUSTER], device->compute_units);
}

/* Returns how many leading parameters exclude each other; 0: none. The order of tiles counts little, so bands
 * other than the default are for common widths only. */
static int count_misfit(const tsl_problem *problem, const int64_t *value, const tsl_device *device) {
  const int64_t tile_m = value[TSL_CUDA_WGMMA_TILE_M], tile_n = value[TSL_CUDA_WGMMA_TILE_N],
                cluster = value[TSL_CUDA_WGMMA_CLUSTER], form = value[TSL_CUDA_WGMMA_FORM];
  const bool has_band = value[TSL_CUDA_WGMMA_BAND] != BAND,
             is_common = tile_n >= 16 && (tile_n == 192 || (tile_n & (tile_n - 1)) == 0);
  if (tsl_max(1, tile_m / 128) * tile_n / 2 > MAX_SUMS ||
      (tsl_type(problem->a.type)->is_integer && tile_n > 24 && tile_n % 16 != 0))
    return TSL_CUDA_WGMMA_TILE_N + 1;
  if (has_band && (!is_common || cluster > 2))
    return TSL_CUDA_WGMMA_BAND + 1;
  if (form != TSL_CUDA_WGMMA_STAY && (has_band || tsl_problem_batch(problem) > 1))
    return TSL_CUDA_WGMMA_FORM + 1;
  if (form != TSL_CUDA_WGMMA_FLOW && cluster > 2 && !has_one_round(problem, value, device))
    return TSL_CUDA_WGMMA_FORM + 1;
  return value[TSL_CUDA_WGMMA_EIGHTS] != TSL_CUDA_WGMMA_WIDENED && !tsl_cuda_wgmma_is_eight(problem) &&
                 !tsl_cuda_wgmma_is_half(problem)
             ? TSL_CUDA_WGMMA_EIGHTS + 1
             : 0;
}

static int wgmma_prune(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  return count_misfit(problem, config->value, device);
}

/* Returns the refusal of the first `misfit` parameters of a config. */
static const char *refuse_misfit(const tsl_problem *problem, const int64_t *value, int misfit) {
  const int tile_m = (int)value[TSL_CUDA_WGMMA_TILE_M], tile_n = (int)value[TSL_CUDA_WGMMA_TILE_N],
            sums = (int)tsl_max(1, tile_m / 128) * tile_n / 2;
  switch (misfit - 1) {
  case TSL_CUDA_WGMMA_TILE_N:
    return sums > MAX_SUMS
               ? tsl_refusal("tiles of %d x %d take %d sums per thread; the limit is %d", tile_m, tile_n,
                             sums, MAX_SUMS)
               : tsl_refusal(
                     "tile_n=%d: wgmma multiplies 8-bit integers by 8, 16, 24, or a multiple of 16 columns",
                     tile_n);
  case TSL_CUDA_WGMMA_BAND:
    return tsl_refusal("tile_n=%d cluster=%d take band=%d", tile_n, (int)value[TSL_CUDA_WGMMA_CLUSTER], BAND);
  case TSL_CUDA_WGMMA_FORM:
    if (tsl_problem_batch(problem) > 1 && value[TSL_CUDA_WGMMA_FORM] != TSL_CUDA_WGMMA_STAY)
      return "form=flow and form=stream take a single product, not a batch";
    return value[TSL_CUDA_WGMMA_BAND] != BAND
               ? tsl_refusal("form=%s takes band=%d", form_names[value[TSL_CUDA_WGMMA_FORM] - 1], BAND)
               : tsl_refusal("cluster=%d: more than two blocks share k by form=flow, or by form=stay the "
                             "tiles of a product of one round",
                             (int)value[TSL_CUDA_WGMMA_CLUSTER]);
  default:
    return "eights other than widened takes e4m3 and e5m2, or f16 with C in f32";
  }
}

/* Returns why form=stream is refused, or NULL. */
static const char *refuse_stream_schedule(const tsl_problem *problem, const tsl_cuda_wgmma *tile,
                                          const tsl_cuda_wgmma_schedule *schedule) {
  const int64_t tiles = schedule->tiles_m * schedule->tiles_n, clusters = schedule->blocks / tile->cluster;
  if (tile->from_registers)
    return "form=stream does not support A from registers";
  if (tiles % clusters == 0)
    return tsl_refusal("form=stream: %lld tiles fill whole rounds of %lld blocks or clusters",
                       (long long)tiles, (long long)clusters);
  return schedule->helped == 0 ? tsl_refusal("form=stream: k of %lld is one panel", (long long)problem->k)
                               : NULL;
}

/* Returns why the product, without its epilogue, is refused; NULL: it is not. */
static const char *refuse_product(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  const int64_t eights = config->value[TSL_CUDA_WGMMA_EIGHTS];
  const bool is_widened = eights == TSL_CUDA_WGMMA_WIDENED;
  const int misfit = count_misfit(problem, config->value, device);
  if (misfit > 0)
    return refuse_misfit(problem, config->value, misfit);
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(problem, config, device, TSL_CUDA_WGMMA_PLAIN);
  const int sums = tile.tile_m / tile.warpgroups * tile.tile_n / 128;
  if (problem->a.type == TESELA_F32 && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "f32 is truncated to tf32's ten binary places here: request accuracy=tf32 to allow it";
  if (sums > MAX_SUMS) /* form=flow has one warpgroup */
    return tsl_refusal("tiles of %d x %d take %d sums per thread; the limit is %d", tile.tile_m, tile.tile_n,
                       sums, MAX_SUMS);
  if (!is_widened && refuse_eights(problem, &tile, eights, sums, config))
    return refuse_eights(problem, &tile, eights, sums, config);
  if (tile.stages == 0)
    return tsl_refusal("%s stages of %d and %d rows of %d bytes do not fit into the %llu bytes of %s%s",
                       tile.is_flow ? "three" : "two", tile.tile_m, tile.tile_n, TSL_CUDA_WGMMA_PANEL,
                       (unsigned long long)device->local_bytes_inside, device->name,
                       tile.is_flow ? ", which blocks share" : "");
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2 || problem->k > INT32_MAX / 2)
    return tsl_refusal("tensor maps count rows and columns in 31 bits");
  const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, device);
  static const double most_tiles = 0x7f000000;
  if ((double)schedule.tiles_m * (double)schedule.tiles_n * (double)tsl_problem_batch(problem) > most_tiles)
    return tsl_refusal("%lld x %lld tiles of C%s are more than blocks can count", (long long)schedule.tiles_m,
                       (long long)schedule.tiles_n,
                       tsl_problem_batch(problem) > 1 ? ", of each product," : "");
  return tile.is_stream ? refuse_stream_schedule(problem, &tile, &schedule) : NULL;
}

static const char *wgmma_refuse(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const char *why = refuse_product(problem, config, device);
  return why || !tsl_problem_has_epilogue(problem) ||
                 tsl_cuda_wgmma_derive(problem, config, device, TSL_CUDA_WGMMA_EPILOGUE).stages > 0
             ? why
             : "fuses no epilogue whose vectors do not fit, or with A in registers";
}

static uint64_t wgmma_scratch(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(problem, config, device, TSL_CUDA_WGMMA_PLAIN);
  const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, device);
  return (uint64_t)tile.packed * (uint64_t)(tile.a_bytes + tile.b_bytes) + (uint64_t)schedule.sums_bytes;
}

/* Returns true if 8-bit sums of single panels are as accurate as required. */
static bool panels_suffice(const tsl_problem *problem) {
  tsl_config config = tsl_strategy_defaults(&tsl_gemm_cuda_wgmma);
  config.value[TSL_CUDA_WGMMA_EIGHTS] = TSL_CUDA_WGMMA_PANELS;
  return tsl_numeric_requirements_has_accuracy(&problem->ask) &&
         !tsl_strategy_refuse_anywhere(&tsl_gemm_cuda_wgmma, problem, &config);
}

/* Returns the order of sums. One instruction after another adds its products, whatever the tile is, unless
 * blocks share k. */
static const char *wgmma_row_order(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  const int64_t *value = config->value, form = value[TSL_CUDA_WGMMA_FORM],
                eights = value[TSL_CUDA_WGMMA_EIGHTS];
  (void)device;
  if (form == TSL_CUDA_WGMMA_STREAM || (form == TSL_CUDA_WGMMA_FLOW && value[TSL_CUDA_WGMMA_CLUSTER] > 1))
    return NULL;
  if (tsl_cuda_wgmma_is_eight(problem)) {
    const int64_t chosen = panels_suffice(problem) ? TSL_CUDA_WGMMA_PANELS : TSL_CUDA_WGMMA_WIDENED;
    return eights != chosen                   ? NULL
           : eights == TSL_CUDA_WGMMA_WIDENED ? "wgmma of widened numbers"
                                              : "wgmma, panels of 8-bit numbers";
  }
  return problem->a.type == TESELA_F32      ? "mma of tf32"
         : eights == TSL_CUDA_WGMMA_WIDENED ? "mma"
         : eights == TSL_CUDA_WGMMA_PANELS  ? "wgmma, panels of f16"
                                            : NULL;
}

const tsl_strategy tsl_gemm_cuda_wgmma = {
    .name = "cuda_wgmma",
    .idea = "narrow types by sm_90's wgmma: a producer loads panels by TMA for consumers; clusters share B",
    .lifts = "limits of OpenCL C: no tensor maps of the host, no clusters, no overlapping launches",
    .partner = "cuda_mma",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_WGMMA,
    .build_seconds = 2.5,
    .accuracy = wgmma_accuracy,
    .row_order = wgmma_row_order,
    .params = params,
    .refuse = wgmma_refuse,
    .score = tsl_cuda_wgmma_seconds,
    .build = tsl_cuda_wgmma_build,
    .run = tsl_cuda_wgmma_run,
    .release = tsl_cuda_wgmma_release,
    .fused = &tsl_cuda_wgmma_joining,
    .supports = {.types = types,
                 .why = "wgmma multiplies narrow types, and f32 as tf32",
                 .batches = true,
                 .epilogues = true},
    .tuning = {.names = {[TSL_CUDA_WGMMA_ORDER] = order_names,
                         [TSL_CUDA_WGMMA_FORM] = form_names,
                         [TSL_CUDA_WGMMA_EIGHTS] = eights_names},
               .prune = wgmma_prune},
    .resources = {.scratch = wgmma_scratch, .count_costs = tsl_cuda_wgmma_account},
    .testing = {.probes = probes},
};
