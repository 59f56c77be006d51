/* Guarded access to matrices: what lies outside reads as zero, so that edges need no path of their own. */
#ifndef TSL_KERNEL_TILE_H
#define TSL_KERNEL_TILE_H

#include "dialect.h"

/* Element (row, col) of a rows x cols matrix whose element (0, 0) is at `matrix`; 0 outside. */
TSL_FUNCTION TSL_REAL tsl_get(TSL_GLOBAL const TSL_REAL *matrix, TSL_INDEX row, TSL_INDEX col, TSL_INDEX rows,
                              TSL_INDEX cols, TSL_INDEX row_stride, TSL_INDEX col_stride) {
  return row < rows && col < cols ? matrix[row * row_stride + col * col_stride] : (TSL_REAL)0;
}

#endif
