#ifndef TSL_STRATEGY_GEMM_SUBGROUP_MMA_H
#define TSL_STRATEGY_GEMM_SUBGROUP_MMA_H

#include "strategy/kernel_launch/launch.h"

enum {
  TSL_SUBGROUP_MMA_TILE_M,
  TSL_SUBGROUP_MMA_TILE_N,
  TSL_SUBGROUP_MMA_SUB_M,
  TSL_SUBGROUP_MMA_SUB_N,
  TSL_SUBGROUP_MMA_DEPTH
};

typedef struct tsl_subgroup_mma {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  int size;                    /* bytes of an element of A and B */
  int tile_m, tile_n, sub_m, sub_n, depth; /* parameters */
  int items;     /* items of a group; 0 if a sub-group's tile is not a multiple of the instruction's */
  int registers; /* estimated registers of an item */
  int64_t local_bytes;
} tsl_subgroup_mma;

tsl_subgroup_mma tsl_subgroup_mma_of(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_fragments *fragments);

/* Returns the predicted seconds; derived in docs/lab/subgroup_mma.md. */
double tsl_subgroup_mma_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
void tsl_subgroup_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif
