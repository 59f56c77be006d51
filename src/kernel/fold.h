#ifndef TSL_KERNEL_FOLD_H
#define TSL_KERNEL_FOLD_H

#include "dialect.h"

/* Returns line[0] + ... + line[items - 1] to every item, by halving; the group has `items` along dimension 0:
 *
 *   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |    0 += 4, 1 += 5, 2 += 6, 3 += 7
 *   | 0 | 1 | 2 | 3 |                    barrier; 0 += 2, 1 += 3
 *   | 0 | 1 |                            barrier; 0 += 1
 *
 * With an odd number, the middle number waits. The caller needs a barrier before it reuses the line. */
TSL_FUNCTION TSL_REAL tsl_sum_of_group(TSL_LOCAL_POINTER TSL_REAL *line, int items) {
  const int item = TSL_ITEM(0);
  TSL_BARRIER();
  for (int left = items, distance; left > 1; left = distance) {
    distance = (left + 1) / 2;
    if (item + distance < left)
      line[item] += line[item + distance];
    TSL_BARRIER();
  }
  return line[0];
}

#endif
