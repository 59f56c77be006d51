#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include "host/int_math.h"

tsl_thin_tile tsl_thin_tile_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  tsl_thin_tile tile = {
      .vector = (int)value[TSL_THIN_TILE_VECTOR],
      .micro_m = (int)value[TSL_THIN_TILE_MICRO_M],
      .micro_n = (int)value[TSL_THIN_TILE_MICRO_N],
      .items_m = (int)value[TSL_THIN_TILE_ITEMS_M],
      .items_n = (int)value[TSL_THIN_TILE_ITEMS_N],
      .slices = (int)value[TSL_THIN_TILE_SLICES],
      .steps = (int)value[TSL_THIN_TILE_STEPS],
      .flight = (int)value[TSL_THIN_TILE_FLIGHT],
      .split = (int)value[TSL_THIN_TILE_SPLIT],
      .swapped = problem->n < problem->m,
      .size = (int)tsl_type(problem->c.type)->size,
  };
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  tile.b_along_k = tsl_launch_along(tile.problem.b.row_stride, tile.problem.b.col_stride);
  tile.processor = tile.vector > 16;
  tile.lanes = tile.vector / tile.size;
  tile.items = tile.items_m * tile.items_n * tile.slices;
  tile.tile_m = tile.micro_m * tile.items_m;
  tile.tile_n = tile.micro_n * tile.items_n;
  tile.chunk = tile.slices * tile.lanes * tile.steps;
  tile.parts = tsl_row_parts_of(problem);
  return tile;
}

static int64_t numbers_of_fold_row(const tsl_thin_tile *tile) {
  return (int64_t)tile->slices * tile->items_m * (tile->tile_n + tile->lanes);
}

int tsl_thin_tile_fold_rows(const tsl_thin_tile *tile) {
  int rows = 1;
  while (rows < tile->micro_m && 2 * rows * numbers_of_fold_row(tile) * tile->size <= 16384)
    rows *= 2;
  return rows;
}

int64_t tsl_thin_tile_local_bytes(const tsl_thin_tile *tile) {
  const int64_t panels = (int64_t)2 * tile->tile_m * (tile->chunk + tile->lanes);
  const int64_t fold = tile->slices == 1 ? 0 : tsl_thin_tile_fold_rows(tile) * numbers_of_fold_row(tile);
  return (panels > fold ? panels : fold) * tile->size;
}

int tsl_thin_tile_registers(const tsl_thin_tile *tile) {
  const int sums = tile->micro_m * tile->micro_n, held = tile->flight * tile->micro_n * tile->lanes;
  const int passes = (tile->tile_m * tile->chunk / tile->lanes + tile->items - 1) / tile->items;
  const int lines = tile->b_along_k ? tile->micro_n : tile->micro_n / tile->lanes;
  return (sums + held + (passes + 1) * tile->lanes) * tile->size / 4 + 2 * lines + 36;
}

int tsl_thin_tile_groups(const tsl_thin_tile *tile, const tsl_device *device) {
  const int registers = TSL_UNIT_REGISTERS / (tile->items * tsl_thin_tile_registers(tile));
  const int items = TSL_UNIT_ITEMS / tile->items;
  /* a unit has about four times the local memory that one group may declare */
  const int64_t local = 4 * (int64_t)device->local_bytes / tsl_thin_tile_local_bytes(tile);
  const int least = registers < items ? registers : items;
  return least < 1 ? 1 : local < least ? (int)local : least;
}

int64_t tsl_thin_tile_pitch(const tsl_thin_tile *tile) {
  return tsl_round_up(tile->problem.n, tile->lanes);
}

tsl_thin_tile_grids tsl_thin_tile_grids_of(const tsl_thin_tile *tile, int64_t m, int64_t n, int64_t batch,
                                           const tsl_device *device) {
  const uint64_t tiles = (uint64_t)(tsl_ceil_div(m, tile->tile_m) * tsl_ceil_div(n, tile->tile_n));
  const tsl_split_k_sum sum = tsl_thin_tile_sum(tile);
  return (tsl_thin_tile_grids){{{tiles, (uint64_t)tile->split, (uint64_t)batch}, {tile->items, 1, 1}},
                               tsl_split_k_sum_grid(&sum, tile->problem.c.type, m, n, batch, device)};
}
