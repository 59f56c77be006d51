/* The group's fold: the numbers of a line in local memory become one. */
#ifndef TSL_KERNEL_FOLD_H
#define TSL_KERNEL_FOLD_H

#include "dialect.h"

/* Returns line[0] + ... + line[items - 1] to every item, by halves; `items` is a power of two, and the group has that
 * many along dimension 0:
 *
 *   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |    0 += 4, 1 += 5, 2 += 6, 3 += 7
 *   | 0 | 1 | 2 | 3 |                    barrier; 0 += 2, 1 += 3
 *   | 0 | 1 |                            barrier; 0 += 1
 *
 * The items have stored their numbers; a barrier follows before the line is used again. */
TSL_FUNCTION TSL_REAL tsl_fold(TSL_LOCAL_POINTER TSL_REAL *line, int items) {
  const int item = TSL_ITEM(0);
  TSL_BARRIER();
  for (int apart = items / 2; apart > 0; apart /= 2) {
    if (item < apart)
      line[item] += line[item + apart];
    TSL_BARRIER();
  }
  return line[0];
}

#endif
