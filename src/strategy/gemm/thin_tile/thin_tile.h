/* Between the files of thin_tile: its parameters, its model, its launches. */
#ifndef TSL_STRATEGY_GEMM_THIN_TILE_THIN_TILE_H
#define TSL_STRATEGY_GEMM_THIN_TILE_THIN_TILE_H

#include "strategy/launch.h"

/* Places in the table of parameters. Those that rule most out come first. */
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

/* A problem as the kernels see it, swapped or not, and a config, with what follows from both. */
typedef struct tsl_thin_tile {
  int vector, micro_m, micro_n, items_m, items_n, slices, steps, flight, split;
  tsl_problem problem; /* m is not the longer side */
  bool swapped;        /* C' = B' A' is computed */
  bool b_along_k;      /* columns of B are read along k */
  bool processor;      /* a group is one item */
  int size;            /* bytes of an element */
  int lanes;           /* elements of a vector */
  int items;           /* work-items of a group */
  int tile_m, tile_n;
  int chunk; /* products along k that a group takes at once */
} tsl_thin_tile;

tsl_thin_tile tsl_thin_tile_of(const tsl_problem *problem, const tsl_config *config);
/* Rows of each micro-tile that thin_tile.cl adds at once where slices share sums; local memory of a group. */
int tsl_thin_tile_fold_rows(const tsl_thin_tile *tile);
int64_t tsl_thin_tile_local_bytes(const tsl_thin_tile *tile);
/* 32-bit registers that an item is likely to need. */
int tsl_thin_tile_registers(const tsl_thin_tile *tile);
/* A compute unit's registers of 32 bits. NVIDIA's and AMD's have so many; others hide it. */
enum { TSL_THIN_TILE_UNIT_REGISTERS = 65536 };
/* Groups that find room on a compute unit at once: by registers, local memory and work-items. */
int tsl_thin_tile_groups(const tsl_thin_tile *tile, const tsl_device *device);
/* Elements from row to row of a part of C in scratch memory. */
int64_t tsl_thin_tile_pitch(const tsl_thin_tile *tile);

/* The grids of a run's launches, of a product that is swapped already; no groups in `sum` where k is one
 * part. */
typedef struct tsl_thin_tile_grids {
  tsl_grid multiply, sum;
} tsl_thin_tile_grids;
tsl_thin_tile_grids tsl_thin_tile_grids_of(const tsl_thin_tile *tile, int64_t m, int64_t n, int64_t batch,
                                           const tsl_device *device);

/* thin_tile_sum.cl: vectors of a row that a group adds, and items that share each. */
enum { TSL_THIN_TILE_SUM_WIDTH = 16, TSL_THIN_TILE_SUM_SHARES = 8 };

/* Predicted seconds: thin_tile_model.c. */
double tsl_thin_tile_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves: thin_tile_account.c. */
void tsl_thin_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account);

/* thin_tile_run.c */
tesela_status tsl_thin_tile_build(tsl_work *work);
tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_thin_tile_release(tsl_work *work);

#endif
