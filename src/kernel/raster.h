#ifndef TSL_KERNEL_RASTER_H
#define TSL_KERNEL_RASTER_H

#include "dialect.h"

/* Gets tile number `group` of rows x cols tiles. Bands of `band` rows of tiles are traversed column by
 * column: concurrent groups share rows of A and columns of B in the caches. */
TSL_FUNCTION void tsl_raster_tile(TSL_INDEX group, TSL_INDEX rows, TSL_INDEX cols, TSL_INDEX band,
                                  TSL_INDEX *row, TSL_INDEX *col) {
  const TSL_INDEX above = group / (band * cols) * band, index_in_band = group % (band * cols);
  const TSL_INDEX height = rows - above < band ? rows - above : band;
  *row = above + index_in_band % height;
  *col = index_in_band / height;
}

#endif
