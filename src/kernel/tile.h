#ifndef TSL_KERNEL_TILE_H
#define TSL_KERNEL_TILE_H

#include "dialect.h"

/* Returns element (row, col) of a rows x cols matrix from `matrix` on; 0 outside, so edges are normal. */
TSL_FUNCTION TSL_REAL tsl_load_or_zero(TSL_GLOBAL const TSL_REAL *matrix, TSL_INDEX row, TSL_INDEX col,
                                       TSL_INDEX rows, TSL_INDEX cols, TSL_INDEX row_stride,
                                       TSL_INDEX col_stride) {
  return row < rows && col < cols ? matrix[row * row_stride + col * col_stride] : (TSL_REAL)0;
}

#endif
