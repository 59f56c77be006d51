/* Blocks for any processor: vectors of 16 bytes, which SSE2 and Advanced SIMD have; flags.cmake has the compiler's flags. */
#include "strategy/gemm/blocked/blocks.h"

#define VECTOR_BYTES 16
#define TILE_ROWS 6
#define TILE_VECTORS 2
#define REAL float
#define NAME(word) word##_f32
#include "strategy/gemm/blocked/block.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(word) word##_f64
#include "strategy/gemm/blocked/block.h"

const tsl_block_functions tsl_block_functions_generic = {multiply_block_f32, multiply_block_f64, TILE_ROWS,
                                                         TILE_VECTORS *VECTOR_BYTES};
