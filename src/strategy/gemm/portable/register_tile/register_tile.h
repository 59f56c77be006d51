#ifndef TSL_STRATEGY_GEMM_REGISTER_TILE_REGISTER_TILE_H
#define TSL_STRATEGY_GEMM_REGISTER_TILE_REGISTER_TILE_H

#include "strategy/kernel_launch/split_k_sum.h"
#include "strategy/model_constants.h"
#include "strategy/row_parts.h"

#include "strategy/gemm/portable/register_tile/register_tile_shared.h"

/* Indices of the parameters. Parameters that exclude most configs come first. */
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

typedef struct tsl_register_tile {
  const tsl_register_constants *rates; /* of the model, which sets it */
  int form, vector, tile_m, tile_n, tile_k, micro_m, micro_n, stages, slices, split; /* parameters */
  bool local; /* panels are in local memory */
  /* copied: operands are copied to units, since the kernel cannot multiply their elements */
  bool complex, copied;
  tesela_type sums; /* type of the sums */
  int products;     /* k of a unit: 4 for bytes in forms that copy, else 1 */
  int size;         /* bytes of an element of the sums */
  int numbers;      /* numbers of an element: 2 for complex, else 1 */
  int planes;       /* planes of a panel in local memory: 2 if complex parts are apart, else 1 */
  int pad_a, pad_b; /* elements of padding of a plane */
  int lanes;        /* numbers of a vector */
  int items;        /* work-items of a group */
  tsl_row_parts parts;
  bool part_slices; /* each slice has a part of k of its own; with several splits it leaves one */
  int splits;       /* k splits of C that are added by a launch; 1: none */
  bool folds;       /* a group adds several parts of k in order */
  bool a_k_vectors, b_k_vectors; /* panels in local memory have vectors along k */
  bool local_totals;             /* these parts' totals are in local memory, not in registers */
} tsl_register_tile;

tsl_register_tile tsl_register_tile_of(const tsl_problem *problem, const tsl_config *config);
/* Returns the local memory of a group in bytes; 0 for packed forms. */
int64_t tsl_register_tile_local_bytes(const tsl_register_tile *tile);
/* Returns true if a launch requests the local memory, instead of a declaration in the kernel. */
static inline bool tsl_register_tile_requests_memory(const tsl_register_tile *tile) {
  return tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC || tile->local_totals;
}
/* Returns the estimated 32-bit registers of an item. */
int tsl_register_tile_registers(const tsl_register_tile *tile);
/* Returns the groups of a compute unit for which the compiler limits the registers of an item. */
int tsl_register_tile_groups_wanted(const tsl_register_tile *tile);
/* Returns the resident groups of a compute unit, limited by registers, local memory and work-items. */
int tsl_register_tile_groups(const tsl_register_tile *tile, const tsl_device *device);
/* Returns the workspace bytes: copies of A and B as units or panels, and k splits of C. */
uint64_t tsl_register_tile_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device);
/* Returns true if the kernel has no loop over panels: k has no parts and fills at most one panel. With
 * asynchronous copies it fills half of it: a longer k was faster in the loop (docs/lab/register_tile.md). */
static inline bool tsl_register_tile_is_short(const tsl_problem *problem, const tsl_register_tile *tile) {
  const int panel = tile->tile_k * tile->products;
  return tile->local && tile->parts.count <= 1 &&
         problem->k <= (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC ? panel / 2 : panel);
}
/* Returns the workspace bytes of the copies of A and B alone. */
double tsl_register_tile_copies(const tsl_problem *problem, const tsl_register_tile *tile);

/* Returns the launch that adds the k splits. */
static inline tsl_split_k_sum tsl_register_tile_sum(const tsl_register_tile *tile) {
  return (tsl_split_k_sum){.splits = tile->splits, .vector = tile->vector, .shares = 1};
}

/* Grids of a run, for a product or batch that is already swapped. */
typedef struct tsl_register_tile_grids {
  tsl_grid copy;          /* copies of both operands to units or panels; no groups without copies */
  tsl_grid multiply, sum; /* `sum` has no groups without split-k */
} tsl_register_tile_grids;
tsl_register_tile_grids tsl_register_tile_grids_of(const tsl_register_tile *tile, int64_t m, int64_t n,
                                                   int64_t k, int64_t batch, const tsl_device *device);

double tsl_register_tile_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);
void tsl_register_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account);

/* Returns the problem; for column-major C the swapped problem C' = B' A', written contiguously. */
tsl_problem tsl_register_tile_swapped(const tsl_problem *problem);

tesela_status tsl_register_tile_build(tsl_work *work);
tesela_status tsl_register_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
