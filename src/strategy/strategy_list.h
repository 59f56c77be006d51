/* Strategies. The rungs of the course come first, in their order. X(op, family, name): the folder
 * src/strategy/<op>/<family>/<name> defines `const tsl_strategy tsl_<op>_<name>`. */
#ifndef TSL_STRATEGY_STRATEGY_LIST_H
#define TSL_STRATEGY_STRATEGY_LIST_H

#include "strategy/strategy.h"

#define TSL_STRATEGY_LIST(X)                                                                                 \
  X(gemm, ladder, sequential)                                                                                \
  X(gemm, ladder, sequential_optimized)                                                                      \
  X(gemm, ladder, element)                                                                                   \
  X(gemm, ladder, row)                                                                                       \
  X(gemm, ladder, row_private)                                                                               \
  X(gemm, ladder, row_private_column_local)                                                                  \
  X(gemm, ladder, tile_local)                                                                                \
  X(gemm, ladder, image_microtile)                                                                           \
  X(gemm, ladder, blocked)                                                                                   \
  X(gemm, portable, register_tile)                                                                           \
  X(gemm, portable, thin_tile)                                                                               \
  X(gemm, portable, few_rows)                                                                                \
  X(gemm, portable, outer_product)                                                                           \
  X(gemm, portable, opencl_mma)                                                                              \
  X(gemm, nvidia, cuda_wgmma)                                                                                \
  X(gemm, nvidia, cuda_mma)                                                                                  \
  X(gemm, nvidia, cuda_whole)                                                                                \
  X(gemm, nvidia, cuda_strip)                                                                                \
  X(gemm, nvidia, cuda_few_rows)                                                                             \
  X(gemm, nvidia, cuda_dmma)                                                                                 \
  X(gemm, portable, subgroup_mma)                                                                            \
  X(gemm, emulated, exact)                                                                                   \
  X(gemm, emulated, residue_int8)                                                                            \
  X(gemm, emulated, split_precision)                                                                         \
  X(gemm, host, host_packed)                                                                                 \
  X(gemm, host, host_small)                                                                                  \
  X(gemm, host, host_skinny)                                                                                 \
  X(gemm, host, host_amx)                                                                                    \
  X(gemm, composite, streamed)                                                                               \
  X(gemm, composite, several)                                                                                \
  X(gemm, composite, structured)                                                                             \
  X(gemm, composite, complex_real)                                                                           \
  X(gemm, peer, vendor_openblas)                                                                             \
  X(gemm, peer, vendor_clblast)                                                                              \
  X(gemm, peer, vendor_cublas)                                                                               \
  X(gemm, peer, vendor_cublaslt)                                                                             \
  X(dot, ladder, sequential)                                                                                 \
  X(dot, portable, block_tree)                                                                               \
  X(dot, portable, fixed_tree)                                                                               \
  X(dot, emulated, exact)                                                                                    \
  X(transpose, ladder, element)                                                                              \
  X(transpose, ladder, tile_local)                                                                           \
  X(transpose, host, vector)                                                                                 \
  X(solve, ladder, sequential)                                                                               \
  X(solve, host, host_blocked)                                                                               \
  X(solve, portable, device_blocked)

/* Strategies that the dispatcher selects by sizes (dispatch/dispatch.h). */
extern const struct tsl_strategy tsl_gemm_host_small, tsl_gemm_host_packed, tsl_solve_host_blocked;

/* Returns strategy `index` of all strategies, in ladder order for each op; NULL past the end. */
const tsl_strategy *tsl_strategy_at(int index);
/* Returns strategy `index` of those with a value of `skips` (strategy.h); NULL after the last. */
const tsl_strategy *tsl_strategy_skipping_at(int index);
/* Returns the path of the strategy's folder from src/, "strategy/gemm/ladder/element". */
const char *tsl_strategy_folder(const tsl_strategy *strategy);
/* Finds a strategy by op and name; NULL: none. */
const tsl_strategy *tsl_strategy_find(tsl_op op, const char *name);

/* Returns the first rung of an operation's ladder, never NULL. For products it runs on the cpu, needs no
 * build and no memory, and supports every combination of types and layouts that any strategy supports. */
const tsl_strategy *tsl_strategy_specification(tsl_op op);

/* Returns the strategy that explanations compare with (member `partner`); NULL: none. */
const tsl_strategy *tsl_strategy_partner(const tsl_strategy *strategy);

#endif
