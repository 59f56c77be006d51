/* Common part of opencl_mma and subgroup_mma, which multiply narrow types by a GPU's matrix units in OpenCL
 * C. A group computes a tile of C, each of its warps or sub-groups a part of the tile. */
#ifndef TSL_STRATEGY_GEMM_OPENCL_MATRIX_UNITS_H
#define TSL_STRATEGY_GEMM_OPENCL_MATRIX_UNITS_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

/* Indices of the first parameters of both strategies. */
enum {
  TSL_MATRIX_UNITS_TILE_M,
  TSL_MATRIX_UNITS_TILE_N,
  TSL_MATRIX_UNITS_PART_M,
  TSL_MATRIX_UNITS_PART_N,
  TSL_MATRIX_UNITS_DEPTH,
  TSL_MATRIX_UNITS_PARAMS
};

typedef struct tsl_matrix_tile {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  int size;                    /* bytes of an element of A and B */
  int tile_m, tile_n, part_m, part_n, depth; /* parameters; depth: bytes of a line in a panel */
  int64_t tiles_m, tiles_n;                  /* tiles in a column and a row of C */
  int items;                                 /* of a group; 0: the parameters do not fit */
  int64_t local_bytes;                       /* local memory of a group */
} tsl_matrix_tile;

/* Returns a tile without `items` and `local_bytes`. */
tsl_matrix_tile tsl_matrix_tile_of(const tsl_problem *problem, const tsl_config *config);

/* Counts the tiles by `groups` groups, which read `read` bytes of local memory for a panel; `rate`:
 * operations per second of the matrix units. */
void tsl_matrix_tile_account(const tsl_problem *problem, const tsl_matrix_tile *tile, double groups,
                             double read, double rate, const tsl_device *device, tsl_cost_counts *account);

#endif
