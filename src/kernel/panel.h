/* Panel: TSL_PARAM_PANEL consecutive numbers of a row of A, with constant indices after unrolling, so that it
 * may be in registers. A shorter last panel ends with zeros. */
#ifndef TSL_KERNEL_PANEL_H
#define TSL_KERNEL_PANEL_H

#include "dialect.h"

TSL_FUNCTION int tsl_panel_length(TSL_INDEX l, TSL_INDEX k) {
  return k - l < TSL_PARAM_PANEL ? (int)(k - l) : TSL_PARAM_PANEL;
}

/* Sets panel[i] = a[i * stride] for i < count, else 0. */
TSL_FUNCTION void tsl_panel_load(TSL_REAL *panel, TSL_GLOBAL const TSL_REAL *a, TSL_INDEX stride, int count) {
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_PANEL; i++)
    panel[i] = i < count ? a[i * stride] : (TSL_REAL)0;
}

#endif
