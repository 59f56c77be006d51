/* Between the files of register_tile: its parameters, its model, its launches. */
#ifndef TSL_STRATEGY_GEMM_REGISTER_TILE_REGISTER_TILE_H
#define TSL_STRATEGY_GEMM_REGISTER_TILE_REGISTER_TILE_H

#include "strategy/launch.h"

#include "strategy/gemm/register_tile/register_tile_shared.h"

/* Places in the table of parameters. Those that rule most out come first. */
enum {
  TSL_REGISTER_TILE_FORM,
  TSL_REGISTER_TILE_VECTOR,
  TSL_REGISTER_TILE_TILE_M,
  TSL_REGISTER_TILE_TILE_N,
  TSL_REGISTER_TILE_MICRO_M,
  TSL_REGISTER_TILE_MICRO_N,
  TSL_REGISTER_TILE_TILE_K,
  TSL_REGISTER_TILE_STAGES,
  TSL_REGISTER_TILE_SLICES,
  TSL_REGISTER_TILE_SPLIT
};

/* A config with what follows from it. */
typedef struct tsl_register_tile {
  int form, vector, tile_m, tile_n, tile_k, micro_m, micro_n, stages, slices, split;
  bool local;           /* panels in local memory */
  bool complex, copied; /* copied: into units, because its elements are not what those forms multiply */
  int products;         /* along k of a unit: 4 of bytes in those forms, else 1 */
  int size;             /* bytes of an element of sums */
  int numbers;          /* of an element: 2 of complex ones */
  int lanes;            /* numbers of a vector */
  int items;            /* work-items of a group */
} tsl_register_tile;

tsl_register_tile tsl_register_tile_of(const tsl_problem *problem, const tsl_config *config);
/* Local memory of a group; 0 for forms without. */
int64_t tsl_register_tile_local_bytes(const tsl_register_tile *tile);
/* 32-bit registers that an item is likely to need. */
int tsl_register_tile_registers(const tsl_register_tile *tile);
/* A compute unit's registers of 32 bits. NVIDIA's and AMD's have so many; others hide how many they have. */
enum { TSL_REGISTER_TILE_UNIT_REGISTERS = 65536 };
/* Groups that find room on a compute unit at once: by registers, local memory and work-items. */
int tsl_register_tile_groups(const tsl_register_tile *tile, const tsl_device *device);
/* Bytes of scratch memory: copies of A and B, as units or as panels, and parts of C. */
double tsl_register_tile_scratch(const tsl_problem *problem, const tsl_register_tile *tile);
/* Those of A and B alone. */
double tsl_register_tile_copies(const tsl_problem *problem, const tsl_register_tile *tile);

/* The grids of a run's launches, of a product (or a batch of them) that is swapped already. */
typedef struct tsl_register_tile_grids {
  tsl_grid copy_a, copy_b; /* into units, or into panels; no groups where neither is made */
  tsl_grid multiply, sum;  /* the last where k is cut into parts, else no groups */
} tsl_register_tile_grids;
tsl_register_tile_grids tsl_register_tile_grids_of(const tsl_register_tile *tile, int64_t m, int64_t n,
                                                   int64_t k, int64_t batch, const tsl_device *device);

/* Predicted seconds: register_tile_model.c. */
double tsl_register_tile_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);
/* What it moves: register_tile_account.c. */
void tsl_register_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account);

/* Where rows of C lie one after the other along columns, C' = B' A' is computed instead, so that C is written
 * along what is contiguous. */
tsl_problem tsl_register_tile_swapped(const tsl_problem *problem);

/* register_tile_run.c */
tesela_status tsl_register_tile_build(tsl_work *work);
tesela_status tsl_register_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_register_tile_release(tsl_work *work);

#endif
