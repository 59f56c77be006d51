/* Test kernel for kernel_fragments.h: one step from local memory to C. It tests a device's compiler. */
#include "kernel_fragments.h"

TSL_FRAGMENT_KERNEL(TSL_FRAGMENT_ITEMS) tsl_fragments_probe(TSL_GLOBAL TSL_REAL *c) {
  TSL_LOCAL_LINES char lines[TSL_FRAGMENT_BYTES * (TSL_FRAGMENT_ROWS + TSL_FRAGMENT_COLS)];
  for (int i = TSL_ITEM(0); i < TSL_FRAGMENT_BYTES * (TSL_FRAGMENT_ROWS + TSL_FRAGMENT_COLS);
       i += TSL_FRAGMENT_ITEMS)
    lines[i] = (char)c[i];
  TSL_BARRIER();
  tsl_fragment_sums sums = TSL_SPLAT(TSL_REAL, TSL_FRAGMENT_SUMS, 0);
  sums = tsl_fragment_multiply(
      tsl_fragment_load_a(lines, TSL_FRAGMENT_BYTES),
      tsl_fragment_load_b(lines + TSL_FRAGMENT_ROWS * TSL_FRAGMENT_BYTES, TSL_FRAGMENT_BYTES), sums);
  TSL_REAL own[TSL_FRAGMENT_SUMS];
  tsl_fragment_spread(own, sums);
  TSL_UNROLL
  for (int e = 0; e < TSL_FRAGMENT_SUMS; e++)
    c[TSL_FRAGMENT_ROW(TSL_FRAGMENT_ITEM(), e) * TSL_FRAGMENT_COLS +
      TSL_FRAGMENT_COL(TSL_FRAGMENT_ITEM(), e)] = own[e];
}
