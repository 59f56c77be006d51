/* Idea: the superaccumulator of the host (exact.c has a picture), one for each work-item, which adds the products of an element of C
 * to it one by one, as integers: the same sum on any device, and one rounding at the end.
 * What it adds to `element`: no rounding but the last, so that a device's bits are the processor's. The dot `exact` has the
 * arithmetic, exact_shared.h, which the host compiles, too.
 *
 *   item (x, y) owns C(row, col) as in `element`; its numbers, 8 bytes each, in memory of its own:
 *
 *   digits  | 83 | ... | 1 | 0 |   52 bits each from 2^-2150 on (floats: 19 from 2^-560)
 *   wide    | 259 | ...    | 0 |   26 bits each of alpha times that, and beta c (floats: 96)
 *
 * Limits: real types; double precision, with subnormal numbers. Slow: a product takes about 60 instructions on integers and six accesses
 * to memory (floats: 20 and two). No parameters; any sizes and strides. */
#ifndef TSL_REAL_IS_DOUBLE
#define TSL_EXACT_OF_FLOATS
#endif
#include "elements.h"
#include "gemm.h"

/* An item's numbers are its own here, and not the group's. */
#undef TSL_LOCAL_POINTER
#define TSL_LOCAL_POINTER
#include "../../exact_shared.h"

#define COLUMNS 16
#define ROWS 4
/* Products between two settlings: each adds less than 3 * (2^53 + 2^52) to a digit. */
#define SETTLE_TERMS 256

/* Products of two floats are doubles without an error. */
TSL_FUNCTION int exact_add_term(TSL_INDEX *digits, double x, double y) {
  if (!tsl_exact_is_finite(x) || !tsl_exact_is_finite(y))
    return tsl_exact_special(x * y);
#ifdef TSL_REAL_IS_DOUBLE
  tsl_exact_add_product(digits, x, y);
#else
  tsl_exact_add_double(digits, x * y);
#endif
  return 0;
}

TSL_FUNCTION void exact_element(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                TSL_GLOBAL tsl_result *c, const tsl_gemm_arguments *g) {
  TSL_INDEX digits[TSL_EXACT_DIGITS], wide[TSL_EXACT_WIDE];
  int flags = 0;
  for (int i = 0; i < TSL_EXACT_DIGITS; i++)
    digits[i] = 0;
  for (int i = 0; i < TSL_EXACT_WIDE; i++)
    wide[i] = 0;
  for (TSL_INDEX l = 0; l < g->k; l++) {
    flags |= exact_add_term(digits, tsl_number(a[l * g->a_col_stride], true),
                            tsl_number(b[l * g->b_row_stride], true));
    if (l % SETTLE_TERMS == SETTLE_TERMS - 1)
      tsl_exact_settle(digits);
  }
  tsl_exact_settle(digits);
  /* A sum of nothing is not scaled. */
  const double result =
      tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, flags, g->k == 0 ? 0 : g->alpha, g->beta,
                       g->beta == 0 ? 0 : tsl_before(*c), wide, TSL_C_DIGITS, TSL_C_LEAST);
  *c = tsl_rounded(result == result ? (TSL_REAL)result : TSL_NAN(TSL_REAL));
}

TSL_KERNEL(COLUMNS, ROWS, 1)
tsl_gemm_exact(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0);
  if (col >= g.n)
    return;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < g.m; row += (TSL_INDEX)TSL_GROUPS(1) * ROWS)
    exact_element(a + g.a_offset + row * g.a_row_stride, b + g.b_offset + col * g.b_col_stride,
                  c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, &g);
}
