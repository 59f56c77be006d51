/* One block of C, once per instruction set. */
#ifndef TSL_GEMM_BLOCKED_BLOCKS_H
#define TSL_GEMM_BLOCKED_BLOCKS_H

#include "strategy/strategy.h"

/* Every tile's height divides the one, its width the other: sizes of blocks and of their copies are multiples of
 * these. */
enum { TSL_BLOCK_ROWS_UNIT = 12, TSL_BLOCK_COLUMNS_UNIT = 32 };

/* A product in blocks: C is m x n, cut into blocks of rows x columns; k is cut into panels of depth. */
typedef struct tsl_blocks {
  int64_t m, n, k; /* k is 0 where alpha is 0 */
  tsl_operand a, b, c;
  int64_t rows, columns, depth;
  double alpha, beta;
} tsl_blocks;

/* Computes the block of C whose first element is (row, column). `a_copy` and `b_copy` have room for a block of A
 * and one of B, rounded up to the units above. */
typedef void (*tsl_block_function)(const tsl_blocks *job, int64_t row, int64_t column, void *a_copy,
                                   void *b_copy);

/* The functions of one instruction set. */
typedef struct tsl_block_functions {
  tsl_block_function f32, f64;
  int tile_rows, tile_bytes; /* of a tile of C in registers: its rows, bytes of each */
} tsl_block_functions;

static inline int64_t tsl_blocks_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

extern const tsl_block_functions tsl_block_functions_generic;
extern const tsl_block_functions tsl_block_functions_avx2;
extern const tsl_block_functions tsl_block_functions_avx512;

#endif
