/* Blocks for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/blocked/blocks.h"

#define VECTOR_BYTES 64
#define TILE_ROWS 12
#define TILE_VECTORS 2
#define REAL float
#define NAME(word) word##_f32
#include "strategy/gemm/blocked/block.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(word) word##_f64
#include "strategy/gemm/blocked/block.h"

const tsl_block_functions tsl_block_functions_avx512 = {multiply_block_f32, multiply_block_f64, TILE_ROWS,
                                                        TILE_VECTORS *VECTOR_BYTES};
