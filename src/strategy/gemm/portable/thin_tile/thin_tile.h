#ifndef TSL_STRATEGY_GEMM_THIN_TILE_THIN_TILE_H
#define TSL_STRATEGY_GEMM_THIN_TILE_THIN_TILE_H

#include "strategy/kernel_launch/split_k_sum.h"
#include "strategy/model_constants.h"
#include "strategy/row_parts.h"

/* Indices of the parameters. Parameters that exclude most configs come first. */
enum {
  TSL_THIN_TILE_VECTOR,
  TSL_THIN_TILE_MICRO_M,
  TSL_THIN_TILE_MICRO_N,
  TSL_THIN_TILE_ITEMS_M,
  TSL_THIN_TILE_ITEMS_N,
  TSL_THIN_TILE_SLICES,
  TSL_THIN_TILE_STEPS,
  TSL_THIN_TILE_FLIGHT,
  TSL_THIN_TILE_SPLIT
};

/* Problem as the kernels see it, a config, and the sizes derived from both. */
typedef struct tsl_thin_tile {
  const tsl_thin_constants *rates; /* of the model, which sets it */
  int vector, micro_m, micro_n, items_m, items_n, slices, steps, flight, split; /* the config's */
  tsl_problem problem;                                                          /* m <= n */
  bool swapped;                                                                 /* C' = B' A' is computed */
  bool b_along_k; /* columns of B are read along k */
  bool processor; /* a group is one item (CPUs) */
  int size;       /* bytes of an element */
  int lanes;      /* elements of a vector */
  int items;      /* work-items of a group */
  int tile_m, tile_n;
  int chunk; /* k that a group processes at a time */
  tsl_row_parts parts;
} tsl_thin_tile;

tsl_thin_tile tsl_thin_tile_of(const tsl_problem *problem, const tsl_config *config);
/* Returns the rows of each micro-tile that are added at a time where slices share sums. */
int tsl_thin_tile_fold_rows(const tsl_thin_tile *tile);
/* Returns the local memory of a group in bytes. */
int64_t tsl_thin_tile_local_bytes(const tsl_thin_tile *tile);
/* Returns the estimated 32-bit registers of an item. */
int tsl_thin_tile_registers(const tsl_thin_tile *tile);
/* Returns the resident groups of a compute unit, limited by registers, local memory and work-items. */
int tsl_thin_tile_groups(const tsl_thin_tile *tile, const tsl_device *device);
/* Returns the elements between rows of a k split of C in the workspace. */
int64_t tsl_thin_tile_pitch(const tsl_thin_tile *tile);

/* Grids of a run, for a product that is already swapped; `sum` has no groups without split-k. */
typedef struct tsl_thin_tile_grids {
  tsl_grid multiply, sum;
} tsl_thin_tile_grids;
tsl_thin_tile_grids tsl_thin_tile_grids_of(const tsl_thin_tile *tile, int64_t m, int64_t n, int64_t batch,
                                           const tsl_device *device);

/* Returns the launch that adds the k splits. */
static inline tsl_split_k_sum tsl_thin_tile_sum(const tsl_thin_tile *tile) {
  /* bits=rows: added one after the other, which items that share a sum do up to their number */
  const int shares = 8;
  return (tsl_split_k_sum){
      .splits = tile->split, .vector = tile->vector, .shares = tile->parts.count > shares ? 1 : shares};
}

/* Returns the product by two launches, without a grid and without its depth. */
static inline tsl_split_k_product tsl_thin_tile_product(const tsl_thin_tile *tile) {
  return (tsl_split_k_product){
      .sum = tsl_thin_tile_sum(tile), .pitch = tsl_thin_tile_pitch(tile), .numbers = 1, .size = tile->size};
}

double tsl_thin_tile_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_thin_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account);

tesela_status tsl_thin_tile_build(tsl_work *work);
tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
