#ifndef TSL_STRATEGY_GEMM_BLOCKED_BLOCKED_BLOCK_H
#define TSL_STRATEGY_GEMM_BLOCKED_BLOCKED_BLOCK_H

#include "host/host_isa.h"
#include "host/host_view.h"

/* Multiples of every tile's height and width: units of block sizes and packed copies. */
enum { TSL_BLOCK_ROWS_UNIT = 12, TSL_BLOCK_COLUMNS_UNIT = 32 };

/* Blocks of rows x columns of C and panels of `depth` steps of k. Views' k is 0 if alpha is 0. */
typedef struct tsl_cache_blocks {
  tsl_views views;
  int64_t rows, columns, depth; /* limits of a block of C, and of the terms of a panel */
  double alpha, beta;
} tsl_cache_blocks;

/* Computes the block of C whose first element is (row, column). The copies are the worker's memory for a
 * packed block of A and B, rounded up to the units above. */
typedef void (*tsl_block_function)(const tsl_cache_blocks *job, int64_t row, int64_t column, void *a_copy,
                                   void *b_copy);

typedef struct tsl_block_kernel {
  tsl_block_function multiply;
  int tile_rows, tile_columns; /* size of a tile of C in registers */
} tsl_block_kernel;

#define TSL_BLOCK_DECLARE(isa, header, needs, ...)                                                           \
  extern const tsl_block_kernel tsl_block_##isa##_f32, tsl_block_##isa##_f64;
TSL_ISA_LIST(TSL_BLOCK_DECLARE)
#undef TSL_BLOCK_DECLARE

#endif
