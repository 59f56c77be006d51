/* Derives cuda_wgmma's tile, memory layout and division into work tiles from a problem and a config. */
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"

enum { BOX = 64 * 128 /* bytes */, MAX_STAGES = 12, MAX_BOXES = 4, WARPGROUP = 128, WARP = 32 };
/* Bytes that all blocks of a launch prefetch to L2: what memory delivers between two products' reads. */
enum { PREFETCH_BYTES = 6 << 20 };
/* Bytes of workspace for packed copies of a batch. One product may use more. */
static const int64_t PACKED_BYTES = (int64_t)64 << 20;

bool tsl_cuda_wgmma_packs(const tsl_rows_place *place, const tsl_rows *rows, int element) {
  return (place->step != 1 && rows->elements > 1) || place->offset * element % 16 != 0 ||
         place->apart * element % 16 != 0 ||
         (rows->rows > 1 && (place->row_stride <= 0 || place->row_stride * element % 16 != 0));
}

bool tsl_cuda_wgmma_by_map(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *gemm_sizes, bool reads_c) {
  const tsl_gemm_sizes turned = tsl_launch_swapped(gemm_sizes),
                       *sizes = tile->by_columns ? &turned : gemm_sizes;
  const bool fills_box =
      tile->by_columns
          ? !tile->from_registers || tile->tile_n >= TSL_CUDA_WGMMA_BOX_COLUMNS
          : tile->tile_n >= TSL_CUDA_WGMMA_PANEL / tile->c_element ||
                (gemm_sizes->n <= tile->tile_n && !tile->from_registers); /* C ends within the box */
  return !reads_c && fills_box && sizes->c_col_stride == 1 && sizes->n * tile->c_element % 16 == 0 &&
         sizes->c_offset * tile->c_element % 16 == 0 &&
         (sizes->m == 1 || (sizes->c_row_stride > 0 && sizes->c_row_stride * tile->c_element % 16 == 0));
}

enum { RESERVED_BYTES = 1024 }; /* bytes of shared memory for each block */

/* Returns true if panels are so short that barriers and addresses take longer than their products. */
static bool has_short_panels(const tsl_cuda_wgmma *tile) {
  enum { NARROW = 64 };
  return tile->tile_m == 64 && tile->tile_n <= NARROW && tile->split_accumulators == 0 &&
         !tile->from_registers;
}

/* Returns true if a product with a long k, which may not be split, leaves a multiprocessor to each block.
 * Such blocks wait for memory. Blocks of wide tiles also leave multiprocessors to the next launch. */
static bool leaves_units_idle(const tsl_cuda_wgmma *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const int64_t tiles = tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n);
  return tsl_problem_fixes_rows(problem) && tsl_problem_batch(problem) == 1 &&
         problem->k >= (int64_t)MAX_STAGES * 2 * tile->depth &&
         (has_short_panels(tile) ? 1 : 2) * tiles * tile->cluster <= device->compute_units;
}

/* Returns the bytes of shared memory for a block: all of a multiprocessor if it has the multiprocessor alone.
 */
static int64_t get_smem_per_block(const tsl_cuda_wgmma *tile, const tsl_device *device) {
  const int sharing = tile->is_alone ? 1 : tile->resident;
  return ((int64_t)device->local_bytes_inside + RESERVED_BYTES) / sharing - RESERVED_BYTES;
}

/* Returns the panels that are requested together: adjacent bytes of rows lie in one page of DRAM. A block
 * that is alone waits for memory, and requests each panel as soon as a stage is empty. */
static int get_panels_together(const tsl_cuda_wgmma *tile) {
  return tile->is_alone || tile->stages < 4 ? 1 : tile->stages < 8 ? 2 : 4;
}

/* Returns the panels of a pipeline stage. An alone block needs four stages: two are loaded, one is
 * multiplied, and one is released late. Flowing blocks of few columns share a multiprocessor: three stages
 * suffice. A stage requests adjacent bytes of each row at once, which lie in one page of DRAM. Short main
 * loops take stages of two panels, which arrive earlier. */
static int get_stage_panels(const tsl_cuda_wgmma *tile) {
  enum { PANELS = 4, STAGES = 4, FLOW_STAGES = 3, FLOW_COLUMNS = 16 };
  if (!has_short_panels(tile))
    return 1;
  if (tile->is_alone)
    return tile->stages >= STAGES * PANELS ? PANELS : 1;
  if (!tile->is_flow || tile->tile_n > FLOW_COLUMNS)
    return 1;
  const bool is_long = tile->problem.k >= (int64_t)TSL_CUDA_WGMMA_LONG_PANELS * tile->depth * tile->cluster;
  return is_long && tile->stages >= FLOW_STAGES * PANELS ? PANELS : tile->stages >= FLOW_STAGES * 2 ? 2 : 1;
}

static int get_max_stages(const tsl_cuda_wgmma *tile) {
  return tile->is_alone ? 2 * MAX_STAGES : MAX_STAGES;
}

/* Returns the resident blocks of a multiprocessor. Narrow tiles of a thin product are bound by memory: one
 * block loads while the other stores. Small blocks of a batch have short main loops and wait for epilogues:
 * as many as registers allow. */
static int count_resident_blocks(const tsl_cuda_wgmma *tile, tsl_cuda_wgmma_launch_kind kind) {
  enum { NARROW = 32 };
  const bool is_single = tsl_problem_batch(&tile->problem) == 1;
  if (tile->is_flow)
    return TSL_CUDA_WGMMA_RESIDENT;
  if (tile->warpgroups == 1 && is_single && tile->tile_n <= NARROW && kind != TSL_CUDA_WGMMA_JOINED)
    return TSL_CUDA_WGMMA_RESIDENT;
  if (tile->warpgroups > 1 || tile->split_accumulators > 0 || is_single)
    return 1;
  return tile->tile_n <= 64 ? 3 : tile->tile_n <= 128 ? 2 : 1;
}

/* Returns the bytes of a stage: a panel of A and of B. */
static int64_t get_stage_bytes(const tsl_cuda_wgmma *tile) {
  return (int64_t)(tile->tile_m + tile->b_lines) * TSL_CUDA_WGMMA_PANEL;
}

/* Lays out the shared memory of form=flow, equal for all resident blocks. The stages also hold the sums. Of
 * two stages one would be released late, and memory would wait. */
static void layout_flow_memory(tsl_cuda_wgmma *tile, const tsl_device *device) {
  const int64_t stage = get_stage_bytes(tile),
                sums = (int64_t)tile->tile_m / 64 * tsl_ceil_div(tile->tile_n, 32) * BOX,
                beside = 1024 + 16 * get_max_stages(tile),
                fits = tsl_min((get_smem_per_block(tile, device) - beside) / stage, get_max_stages(tile));
  tile->stages = fits < 3 || fits * stage < sums ? 0 : (int)fits;
  tile->shared_bytes = (uint64_t)(tile->stages * stage + beside);
}

/* Lays out the shared memory: at most `most` boxes and as many stages as fit. Boxes of columns (A from
 * registers) come in pairs. Returns true if the stages hold all boxes of a tile. */
static bool layout_memory_with_boxes(tsl_cuda_wgmma *tile, int most, const tsl_device *device) {
  /* Threads store words of sums, whatever C's type. */
  const int64_t box_columns =
                    TSL_CUDA_WGMMA_PANEL / (tsl_cuda_wgmma_problem_by_map(tile) ? tile->c_element : 4),
                rows = tile->tile_m / tile->warpgroups / 64,
                across = tile->by_columns ? tsl_ceil_div(tile->tile_n, TSL_CUDA_WGMMA_BOX_COLUMNS) *
                                                (TSL_CUDA_WGMMA_BOX_COLUMNS / box_columns)
                                          : tsl_ceil_div(tile->tile_n, box_columns);
  tile->boxes = (int)tsl_min(rows * across, most);
  if (tile->from_registers && tile->boxes > 1)
    tile->boxes -= tile->boxes % 2;
  const int64_t stage = get_stage_bytes(tile), boxes = (int64_t)tile->warpgroups * tile->boxes * BOX,
                beside = boxes + tile->extra_smem + 1024 + 16 * get_max_stages(tile),
                fits = (get_smem_per_block(tile, device) - beside) / stage;
  tile->stages = fits < 2 ? 0 : (int)tsl_min(fits, get_max_stages(tile));
  tile->shared_bytes = (uint64_t)(tile->stages * stage + beside);
  return tile->stages * stage >= tile->warpgroups * rows * across * BOX;
}

/* Lays out the shared memory. Four stages are worth more than four boxes, unless k is so short that stores of
 * C count. Of three stages, one is multiplied and one is released late. A block's last tile is stored from
 * the stages. */
static void layout_memory(tsl_cuda_wgmma *tile, const tsl_device *device) {
  enum { STAGES = 4, LONG_PANELS = 24 };
  const bool is_long = tile->problem.k >= (int64_t)LONG_PANELS * tile->depth;
  const bool holds_tile = layout_memory_with_boxes(tile, MAX_BOXES, device);
  if (!holds_tile ||
      ((is_long || tile->split_accumulators == 2 || tile->from_registers) && tile->stages < STAGES))
    (void)layout_memory_with_boxes(tile, MAX_BOXES / 2, device);
}

bool tsl_cuda_wgmma_is_eight(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->a.type);
  return type->size == 1 && !type->is_integer;
}

bool tsl_cuda_wgmma_is_half(const tsl_problem *problem) {
  return problem->a.type == TESELA_F16 && problem->b.type == TESELA_F16 && problem->c.type == TESELA_F32;
}

/* Chooses a cluster's blocks along m and n: fewest clusters cover C. Where these are equal, a pair lies along
 * m, and larger clusters load fewest lines. */
static void lay_out_cluster(tsl_cuda_wgmma *tile, tsl_cuda_wgmma_launch_kind kind) {
  const int64_t rows = tsl_ceil_div(tile->problem.m, tile->tile_m),
                cols = tsl_ceil_div(tile->problem.n, tile->tile_n);
  const bool may_share_a = !tile->from_registers && kind != TSL_CUDA_WGMMA_JOINED;
  const int sharing = tile->is_flow ? 1 : tile->cluster;
  int64_t least = INT64_MAX;
  for (int n = 1; n <= (may_share_a ? sharing : 1); n *= 2) {
    const int m = sharing / n, a = tile->tile_m / n, b = tile->b_lines / m;
    const int64_t clusters = tsl_ceil_div(rows, m) * tsl_ceil_div(cols, n);
    if (clusters < least ||
        (clusters == least && sharing > 2 && a + b < tile->a_lines_loaded + tile->b_lines_loaded)) {
      tile->cluster_m = m, tile->cluster_n = n, least = clusters;
      tile->a_lines_loaded = a, tile->b_lines_loaded = b;
    }
  }
}

/* Returns the kernel's direction of a vector with an entry per column (by_column) or row of the product. */
static int vector_direction(bool is_swapped, bool is_there, bool by_column) {
  return !is_there                 ? TSL_CUDA_WGMMA_NO_VECTOR
         : by_column != is_swapped ? TSL_CUDA_WGMMA_BY_COLUMN
                                   : TSL_CUDA_WGMMA_BY_ROW;
}

/* Returns the direction of a scale. A per-tensor scale counts as BY_ROW, which needs no shared memory. */
static int scale_direction(bool is_swapped, tesela_scaling scaling, bool by_column) {
  return scaling == TESELA_SCALE_TENSOR ? TSL_CUDA_WGMMA_BY_ROW
                                        : vector_direction(is_swapped, scaling != TESELA_NO_SCALE, by_column);
}

/* Adds the epilogue's vectors to the tile. Each warpgroup has its own copy of vectors by column. */
static void add_epilogue_vectors(tsl_cuda_wgmma *tile, const tsl_problem *problem) {
  tile->fuses_epilogue = true;
  tile->bias = vector_direction(tile->swapped, problem->bias_axis != TESELA_NO_BIAS,
                                problem->bias_axis == TESELA_BIAS_ROW);
  tile->scale_a = scale_direction(tile->swapped, problem->scaling_a, false);
  tile->scale_b = scale_direction(tile->swapped, problem->scaling_b, true);
  const int vectors = (tile->bias == TSL_CUDA_WGMMA_BY_COLUMN) + (tile->scale_a == TSL_CUDA_WGMMA_BY_COLUMN) +
                      (tile->scale_b == TSL_CUDA_WGMMA_BY_COLUMN);
  tile->extra_smem = (int64_t)vectors * tile->tile_n * 4 * tile->warpgroups;
}

bool tsl_cuda_wgmma_problem_by_map(const tsl_cuda_wgmma *tile) {
  const tsl_problem *problem = &tile->problem;
  const tsl_gemm_sizes sizes = {.m = problem->m,
                                .n = problem->n,
                                .c_row_stride = problem->c.row_stride,
                                .c_col_stride = problem->c.col_stride};
  return tsl_cuda_wgmma_by_map(tile, &sizes, problem->beta[0] != 0);
}

/* Returns true if MN-major 8-bit integers go to registers: only where C is stored by TMA, because stores by
 * threads cost more than transposing A. The tile has the rows of a slab, and this kernel has no epilogue. */
static bool bytes_from_registers(const tsl_cuda_wgmma *wgmma) {
  tsl_cuda_wgmma tile = *wgmma;
  tile.from_registers = true;
  return tile.element == 1 && tile.eights == 0 && tile.tile_m >= TSL_CUDA_WGMMA_PANEL && !tile.is_stream &&
         tile.problem.c.type == TESELA_I32 && !tsl_problem_has_epilogue(&tile.problem) &&
         tsl_cuda_wgmma_problem_by_map(&tile);
}

tsl_cuda_wgmma tsl_cuda_wgmma_derive(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device, tsl_cuda_wgmma_launch_kind kind) {
  const int64_t *value = config->value;
  tsl_cuda_wgmma tile = {
      .rates = &tsl_model_constants_of(device)->wgmma,
      .swapped = value[TSL_CUDA_WGMMA_ORDER] == TSL_CUDA_WGMMA_SWAPPED,
      .input_bytes = (int)tsl_type(problem->a.type)->size,
      .c_element = (int)tsl_type(problem->c.type)->size,
      .tile_m = (int)value[TSL_CUDA_WGMMA_TILE_M],
      .tile_n = (int)value[TSL_CUDA_WGMMA_TILE_N],
      .cluster = (int)value[TSL_CUDA_WGMMA_CLUSTER],
      .raster_height = (int)value[TSL_CUDA_WGMMA_BAND],
  };
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  tile.by_columns = tile.problem.c.row_stride == 1 && tile.problem.c.col_stride != 1;
  tile.is_flow = value[TSL_CUDA_WGMMA_FORM] == TSL_CUDA_WGMMA_FLOW;
  tile.is_stream = value[TSL_CUDA_WGMMA_FORM] == TSL_CUDA_WGMMA_STREAM;
  tile.warpgroups = tile.tile_m > 64 && !tile.is_flow ? 2 : 1;
  tile.items = tile.is_flow ? WARPGROUP + WARP : WARPGROUP * (tile.warpgroups + 1);
  if (kind == TSL_CUDA_WGMMA_EPILOGUE)
    add_epilogue_vectors(&tile, problem);
  else if (kind == TSL_CUDA_WGMMA_JOINED)
    tile.extra_smem = (TSL_CUDA_WGMMA_JOINED_MOST + 1) * TSL_CUDA_WGMMA_JOINED_WORDS * 4;
  tile.eights = tsl_cuda_wgmma_is_eight(problem) ? (int)value[TSL_CUDA_WGMMA_EIGHTS] : 0;
  const int64_t sums = tile.eights > 0 || tsl_cuda_wgmma_is_half(problem) ? value[TSL_CUDA_WGMMA_EIGHTS] : 0;
  tile.split_accumulators = sums == TSL_CUDA_WGMMA_PANELS ? 1 : sums == TSL_CUDA_WGMMA_PAIRS ? 2 : 0;
  tile.element = tile.eights == TSL_CUDA_WGMMA_WIDENED ? 2 : tile.input_bytes;
  tile.depth = TSL_CUDA_WGMMA_PANEL / tile.element;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  /* wgmma reads elements of 8 and 32 bits from shared memory K-major only. */
  tile.from_registers = !tile.is_flow && !tsl_launch_along(a->col_stride, a->row_stride) &&
                        (tile.element == 4 || (kind == TSL_CUDA_WGMMA_PLAIN && bytes_from_registers(&tile)));
  tile.a_mn_major =
      tile.from_registers || (tile.element == 2 && !tsl_launch_along(a->col_stride, a->row_stride));
  tile.b_mn_major = tile.element == 2 && !tsl_launch_along(b->row_stride, b->col_stride);
  tile.b_lines = tile.b_mn_major ? (int)tsl_round_up(tile.tile_n, TSL_CUDA_WGMMA_SLAB) : tile.tile_n;
  lay_out_cluster(&tile, kind);
  tile.resident =
      tile.from_registers && tsl_problem_batch(problem) == 1 ? 1 : count_resident_blocks(&tile, kind);
  const tsl_rows rows_a = tsl_rows_of(tile.problem.m, problem->k, tile.a_mn_major, tile.element),
                 rows_b = tsl_rows_of(tile.problem.n, problem->k, tile.b_mn_major, tile.element);
  tile.a_bytes = tsl_rows_bytes(&rows_a);
  tile.b_bytes = tsl_rows_bytes(&rows_b);
  tile.packed = tile.input_bytes == 1
                    ? 1
                    : tsl_max(1, tsl_min(tsl_problem_batch(problem),
                                         PACKED_BYTES / tsl_max(1, tile.a_bytes + tile.b_bytes)));
  tile.is_alone = leaves_units_idle(&tile, device);
  if (tile.is_flow)
    layout_flow_memory(&tile, device);
  else
    layout_memory(&tile, device);
  tile.together = get_panels_together(&tile);
  tile.stage_panels = get_stage_panels(&tile);
  if (tile.stage_panels > 1)
    tile.together = 1;
  tile.stages -= tile.stages % tile.stage_panels;
  /* The kernel with A from registers has neither an epilogue nor a table. */
  if (tile.from_registers && kind != TSL_CUDA_WGMMA_PLAIN)
    tile.stages = 0;
  return tile;
}

int64_t tsl_cuda_wgmma_units(int64_t cluster, int64_t units) {
  return cluster > 2 ? units * 10 / 11 : units;
}

/* Minimal panels of a split-k part; with A from registers tiles are small: a second launch costs more. */
enum { PART_PANELS = 4, PART_PANELS_ACROSS = 16 };

/* Returns the panels that each of the blocks prefetches to L2 before it may start. */
static int64_t count_prefetched(const tsl_cuda_wgmma *tile, int64_t blocks) {
  return tsl_ceil_div(PREFETCH_BYTES, get_stage_bytes(tile) * tsl_max(1, blocks));
}

/* Divides a product for form=flow. Split-k is limited to one block per multiprocessor, so that the next
 * launch's blocks can be resident too. */
static tsl_cuda_wgmma_schedule flow_schedule(const tsl_cuda_wgmma *tile, const tsl_device *device) {
  const int64_t m = tile->problem.m, n = tile->problem.n, blocks = device->compute_units,
                panels = tsl_ceil_div(tile->problem.k, tile->depth);
  tsl_cuda_wgmma_schedule schedule = {.tiles_m = tsl_ceil_div(m, tile->tile_m),
                                      .tiles_n = tsl_ceil_div(n, tile->tile_n),
                                      .parts = 1,
                                      .pitch = tsl_round_up(n, 32)};
  const int64_t clusters = schedule.tiles_m * schedule.tiles_n;
  if (clusters > 0 && !tsl_problem_fixes_rows(&tile->problem))
    schedule.parts = tsl_max(
        1, tsl_min(blocks / (clusters * tile->cluster), panels / ((int64_t)PART_PANELS * tile->cluster)));
  schedule.blocks = clusters * schedule.parts * tile->cluster;
  schedule.prefetched = count_prefetched(tile, schedule.blocks);
  schedule.sums_bytes = schedule.parts > 1 ? schedule.parts * tsl_round_up(m * schedule.pitch * 4, 128) : 0;
  return schedule;
}

/* Costs in panels: publishing a part's sums, waiting for a flag, adding a part. Parts of a tile. */
enum { PUBLISH_PANELS = 3, WAIT_PANELS = 2, ADD_PANELS = 3, MAX_PARTS = 16 };

/* Returns the predicted end of the last round, in panels: each helper computes `turns` parts. */
static int64_t predict_end(int64_t panels, int64_t owned, int64_t parts, int64_t turns) {
  return tsl_max(owned, turns * (tsl_ceil_div(panels - owned, parts) + PUBLISH_PANELS) + WAIT_PANELS) +
         parts * ADD_PANELS;
}

/* Divides a partial last round: clusters without a tile help. One helper may serve several tiles, or several
 * helpers one tile. Chooses the owner's panels and the parts that end first. */
static void schedule_last_round(int64_t clusters, int64_t panels, tsl_cuda_wgmma_schedule *schedule) {
  const int64_t tiles = schedule->tiles_m * schedule->tiles_n, last = tiles % clusters,
                helpers = clusters - last;
  if (last == 0 || panels < 2)
    return;
  const int64_t turns = tsl_ceil_div(last, helpers),
                most = tsl_min(tsl_min(tsl_max(1, helpers / last), panels - 1), MAX_PARTS);
  schedule->whole = tiles - last;
  for (int64_t parts = 1; parts <= most; parts++) {
    /* Owner and helpers end together: owned = turns ((panels - owned) / parts + PUBLISH) + WAIT. */
    const int64_t even = tsl_ceil_div(turns * (panels + parts * PUBLISH_PANELS) + parts * WAIT_PANELS,
                                      parts + turns),
                  owned = tsl_min(even, panels - parts), ending = predict_end(panels, owned, parts, turns);
    if (schedule->helped == 0 || ending < schedule->ending)
      schedule->owned = owned, schedule->helped = parts, schedule->ending = ending;
  }
}

/* Completes the schedule for form=stream: the last round, blocks, and bytes of flags and sums. */
static void schedule_stream(const tsl_cuda_wgmma *tile, int64_t clusters, int64_t panels,
                            tsl_cuda_wgmma_schedule *schedule) {
  enum { FLAG = 8, LINE = 128 };
  schedule_last_round(clusters, panels, schedule);
  const int64_t parts = schedule->helped > 0 ? (schedule->tiles_m * schedule->tiles_n - schedule->whole) *
                                                   schedule->helped * tile->cluster
                                             : 0;
  schedule->blocks = clusters * tile->cluster;
  if (tile->resident > 1)
    schedule->prefetched = count_prefetched(tile, schedule->blocks);
  schedule->flags_bytes = tsl_round_up(parts * tile->warpgroups * FLAG, LINE);
  schedule->sums_bytes = schedule->flags_bytes + parts * (int64_t)tile->tile_m * tile->tile_n * 4;
}

tsl_cuda_wgmma_schedule tsl_cuda_wgmma_get_schedule(const tsl_cuda_wgmma *tile, const tsl_device *device) {
  if (tile->is_flow)
    return flow_schedule(tile, device);
  const int64_t m = tile->problem.m, n = tile->problem.n, k = tile->problem.k,
                units = tsl_cuda_wgmma_units(tile->cluster, device->compute_units),
                clusters = tsl_max(1, units * tile->resident / tile->cluster),
                products = tsl_problem_batch(&tile->problem), panels = tsl_ceil_div(k, tile->depth);
  tsl_cuda_wgmma_schedule schedule = {.tiles_m = tsl_ceil_div(m, (int64_t)tile->tile_m * tile->cluster_m),
                                      .tiles_n = tsl_ceil_div(n, (int64_t)tile->tile_n * tile->cluster_n),
                                      .parts = 1};
  const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
  if (tile->is_stream) {
    schedule_stream(tile, clusters, panels, &schedule);
    return schedule;
  }
  if (tiles > 0 && products == 1 && !tsl_problem_fixes_rows(&tile->problem))
    schedule.parts = tsl_max(1, tsl_min(units / (tiles * tile->cluster),
                                        panels / (tile->from_registers ? PART_PANELS_ACROSS : PART_PANELS)));
  schedule.blocks = tsl_min(tiles * schedule.parts * products, clusters) * tile->cluster;
  if (products == 1 && tile->resident > 1)
    schedule.prefetched = count_prefetched(tile, schedule.blocks);
  schedule.pitch = tsl_round_up(n, 32);
  schedule.sums_bytes = schedule.parts > 1 ? schedule.parts * tsl_round_up(m * schedule.pitch * 4, 128) : 0;
  return schedule;
}

int64_t tsl_cuda_wgmma_count_blocks(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                                    int64_t products, int64_t units) {
  /* A block of form=flow computes one part of a tile, and stream-k needs exactly the blocks of its schedule.
   */
  if (tile->is_flow || tile->is_stream)
    return schedule->blocks;
  const int64_t all = schedule->tiles_m * schedule->tiles_n * schedule->parts * products * tile->cluster,
                usable = tsl_cuda_wgmma_units(tile->cluster, units),
                room = tsl_max(tile->cluster, usable * tile->resident / tile->cluster * tile->cluster);
  return tsl_min(tsl_min(schedule->blocks, room), all);
}
