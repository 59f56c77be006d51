/* A panel: TSL_PARAM_PANEL consecutive numbers of a row of A in an item's private memory. Every index into it
 * is a constant once the loops are unrolled, so that it may live in registers; a last panel with fewer than
 * TSL_PARAM_PANEL numbers ends in zeros, and guards instead of a loop of its own keep it so. */
#ifndef TSL_KERNEL_PANEL_H
#define TSL_KERNEL_PANEL_H

#include "dialect.h"

/* The numbers that are left from l on, at most a panel of them. */
TSL_FUNCTION int tsl_panel_count(TSL_INDEX l, TSL_INDEX k) {
  return k - l < TSL_PARAM_PANEL ? (int)(k - l) : TSL_PARAM_PANEL;
}

/* panel[i] = a[i * stride] for i < count, 0 beyond. */
TSL_FUNCTION void tsl_panel_load(TSL_REAL *panel, TSL_GLOBAL const TSL_REAL *a, TSL_INDEX stride, int count) {
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_PANEL; i++)
    panel[i] = i < count ? a[i * stride] : (TSL_REAL)0;
}

#endif
