/* What the files of subgroup_mma share. */
#ifndef TSL_STRATEGY_GEMM_SUBGROUP_MMA_H
#define TSL_STRATEGY_GEMM_SUBGROUP_MMA_H

#include "strategy/launch.h"

enum {
  TSL_SUBGROUP_MMA_TILE_M,
  TSL_SUBGROUP_MMA_TILE_N,
  TSL_SUBGROUP_MMA_SUB_M,
  TSL_SUBGROUP_MMA_SUB_N,
  TSL_SUBGROUP_MMA_DEPTH
};

/* A problem and a config as the kernel sees them. */
typedef struct tsl_subgroup_mma {
  tsl_problem problem; /* swapped where C's columns are dense */
  bool swapped;
  bool a_across, b_across; /* rows of A (columns of B) lie side by side in memory, numbers along k do not */
  int size;                /* bytes of an element of A and B */
  int tile_m, tile_n, sub_m, sub_n, depth;
  int items;     /* of a group; 0 where a sub-group's tile is none of the instruction's */
  int registers; /* of an item, estimated */
  int64_t local_bytes;
} tsl_subgroup_mma;

tsl_subgroup_mma tsl_subgroup_mma_of(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_fragments *fragments);

/* Predicted seconds; docs/lab/subgroup_mma.md says what of. */
double tsl_subgroup_mma_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
/* What it moves: subgroup_mma_account.c. */
void tsl_subgroup_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif
