/* Copies of both operands to units (kernel/units.h), for elements that the multiply-adds do not take. A line
 * is a row of A or a column of B; a complex number is two numbers; a depth of quads is four k. Padding lines
 * up to the pitch are zeros: vectors read them, too.
 *
 *   depth 0  | line 0 | line 1 | ... up to `pitch` numbers
 *   depth 1  | line 0 | line 1 | ...
 *
 * An item copies a line's next DEPTHS units, so that adjacent reads along k use the same cache lines.
 * Dimension 2 counts the operands. */
#include "units.h"

#include "register_tile_shared.h"

#define DEPTHS TSL_REGISTER_TILE_COPY_DEPTHS

TSL_KERNEL(TSL_REGISTER_TILE_COPY_ITEMS, 1, 1)
tsl_gemm_register_tile_units(TSL_GLOBAL const tsl_element *TSL_RESTRICT a,
                             TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                             TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst, const tsl_register_tile_operands copies) {
  if (tsl_is_unwanted(copies.wanted, copies.wanted_above))
    return;
  TSL_GLOBAL const tsl_element *from = TSL_GROUP(2) == 0 ? a : b;
  const tsl_register_tile_units g = TSL_GROUP(2) == 0 ? copies.a : copies.b;
  const TSL_INDEX line = TSL_GLOBAL_ITEM(0), units = (g.k + TSL_UNIT_PRODUCTS - 1) / TSL_UNIT_PRODUCTS;
  if (line * TSL_NUMBERS >= g.pitch)
    return;
  const bool inside = line < g.lines;
  for (TSL_INDEX start = (TSL_INDEX)TSL_GROUP(1) * DEPTHS; start < units;
       start += (TSL_INDEX)TSL_GROUPS(1) * DEPTHS)
    TSL_UNROLL_BY(4)
  for (TSL_INDEX u = start; u < units && u < start + DEPTHS; u++) {
    const TSL_INDEX l = u * TSL_UNIT_PRODUCTS;
    TSL_GLOBAL const tsl_element *at =
        from + TSL_NUMBERS * (g.from + line * g.line_stride + l * g.depth_stride);
    TSL_GLOBAL TSL_REAL *unit = dst + g.to + u * g.pitch + line * TSL_NUMBERS;
#ifdef TSL_COMPLEX
    unit[0] = inside ? at[0] : 0;
    unit[1] = inside ? g.sign * at[1] : 0;
#else
    *unit = inside ? tsl_load_unit(at, g.depth_stride, g.k - l, false) : (TSL_REAL)0;
#endif
  }
}
