/* Strategies; the first of an operation is rung 1 of its ladder. X(op, name): the folder
 * src/strategy/<op>/<name> defines `const tsl_strategy tsl_<op>_<name>`. */
#ifndef TSL_STRATEGY_STRATEGY_LIST_H
#define TSL_STRATEGY_STRATEGY_LIST_H

#define TSL_STRATEGY_LIST(X)                                                                                 \
  X(gemm, sequential)                                                                                        \
  X(gemm, sequential_optimized)                                                                              \
  X(gemm, element)                                                                                           \
  X(gemm, row)                                                                                               \
  X(gemm, row_private)                                                                                       \
  X(gemm, row_private_column_local)                                                                          \
  X(gemm, tile_local)                                                                                        \
  X(gemm, image_microtile)                                                                                   \
  X(gemm, register_tile)                                                                                     \
  X(gemm, thin_tile)                                                                                         \
  X(gemm, opencl_mma)                                                                                        \
  X(gemm, cuda_wgmma)                                                                                        \
  X(gemm, cuda_mma)                                                                                          \
  X(gemm, cuda_whole)                                                                                        \
  X(gemm, cuda_dmma)                                                                                         \
  X(gemm, subgroup_mma)                                                                                      \
  X(gemm, exact)                                                                                             \
  X(gemm, residue_int8)                                                                                      \
  X(gemm, slices)                                                                                            \
  X(gemm, halves)                                                                                            \
  X(gemm, blocked)                                                                                           \
  X(gemm, host_packed)                                                                                       \
  X(gemm, host_small)                                                                                        \
  X(gemm, host_slim)                                                                                         \
  X(gemm, host_thin)                                                                                         \
  X(gemm, host_amx)                                                                                          \
  X(gemm, streamed)                                                                                          \
  X(gemm, several)                                                                                           \
  X(gemm, structured)                                                                                        \
  X(gemm, complex_real)                                                                                      \
  X(gemm, vendor_openblas)                                                                                   \
  X(gemm, vendor_clblast)                                                                                    \
  X(gemm, vendor_cublas)                                                                                     \
  X(gemm, vendor_cublaslt)                                                                                   \
  X(dot, sequential)                                                                                         \
  X(dot, block_tree)                                                                                         \
  X(dot, fixed_tree)                                                                                         \
  X(dot, exact)                                                                                              \
  X(transpose, element)                                                                                      \
  X(transpose, tile_local)                                                                                   \
  X(transpose, vector)                                                                                       \
  X(solve, sequential)                                                                                       \
  X(solve, host_blocked)                                                                                     \
  X(solve, device_blocked)

#endif
