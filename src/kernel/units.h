/* Operands of multiply-adds. A unit of an operand is a number, or with TSL_QUADS four bytes along k. */
#ifndef TSL_KERNEL_UNITS_H
#define TSL_KERNEL_UNITS_H

#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "lanes.h"

/* Numbers of an element (TSL_NUMBERS), and products along k of a unit (TSL_UNIT_PRODUCTS). */
#ifdef TSL_COMPLEX
#define TSL_NUMBERS 2
#else
#define TSL_NUMBERS 1
#endif
#ifdef TSL_QUADS
#define TSL_UNIT_PRODUCTS 4
#else
#define TSL_UNIT_PRODUCTS 1
#endif

/* Returns a unit from the element at `from` and, with TSL_QUADS, the next elements, `step` apart; the first
 * `count` exist, the others are 0. `is_signed` is for bytes. */
TSL_FUNCTION TSL_REAL tsl_load_unit(TSL_GLOBAL const tsl_element *from, TSL_INDEX step, TSL_INDEX count,
                                    bool is_signed) {
#ifdef TSL_QUADS
  unsigned unit = from[0];
  TSL_UNROLL
  for (int i = 1; i < 4; i++)
    if (i < count)
      unit |= (unsigned)from[i * step] << 8 * i;
  return (TSL_REAL)unit;
#else
  return tsl_number(*from, is_signed);
#endif
}

/* a * b + sum, of units. */
#if defined(TSL_QUADS) && TSL_SIGNED_A && TSL_SIGNED_B
#define TSL_UNIT_FMA(a, b, sum) TSL_DOT4(s, s, a, b, sum)
#elif defined(TSL_QUADS) && TSL_SIGNED_A
#define TSL_UNIT_FMA(a, b, sum) TSL_DOT4(s, u, a, b, sum)
#elif defined(TSL_QUADS) && TSL_SIGNED_B
#define TSL_UNIT_FMA(a, b, sum) TSL_DOT4(u, s, a, b, sum)
#elif defined(TSL_QUADS)
#define TSL_UNIT_FMA(a, b, sum) TSL_DOT4(u, u, a, b, sum)
#else
#define TSL_UNIT_FMA(a, b, sum) TSL_LANES_FMA(a, b, sum)
#endif

#if defined(TSL_COMPLEX) || TSL_TYPE_C != TSL_TYPE_REAL
#ifdef TSL_COMPLEX
/* Replaces a sum by the element of C: alpha sum + beta C. beta = 0 reads nothing; k = 0 scales nothing. */
TSL_FUNCTION void tsl_scale_element_of_c(TSL_REAL *sum, TSL_GLOBAL const tsl_result *data,
                                         const tsl_gemm_arguments *g) {
  TSL_REAL x = g->k == 0 ? (TSL_REAL)0 : g->alpha * sum[0] - g->alpha_imaginary * sum[1];
  TSL_REAL y = g->k == 0 ? (TSL_REAL)0 : g->alpha * sum[1] + g->alpha_imaginary * sum[0];
  if (g->beta != 0 || g->beta_imaginary != 0) {
    const TSL_REAL before = data[0], before_imaginary = data[1];
    x += g->beta * before - g->beta_imaginary * before_imaginary;
    y += g->beta * before_imaginary + g->beta_imaginary * before;
  }
  sum[0] = x;
  sum[1] = y;
}
#endif

/* Stores one element of C from the numbers of its sum, which are scaled. */
TSL_FUNCTION void tsl_store_element_of_c(TSL_GLOBAL tsl_result *data, TSL_REAL *sum,
                                         const tsl_gemm_arguments *g) {
#ifdef TSL_COMPLEX
  tsl_scale_element_of_c(sum, data, g);
  data[0] = sum[0];
  data[1] = sum[1];
#else
  tsl_store_scaled(data, sum[0], g->alpha, g->beta);
#endif
}
#endif

/* Stores TSL_LANES numbers of a row of C, `count` elements inside; as_vectors as in tsl_lanes_store(). */
TSL_FUNCTION void tsl_store_units_of_c(TSL_GLOBAL tsl_result *data, TSL_INDEX stride, TSL_INDEX count,
                                       bool as_vectors, tsl_lanes sum, const tsl_gemm_arguments *g) {
#if defined(TSL_COMPLEX) || TSL_TYPE_C != TSL_TYPE_REAL
  TSL_REAL line[TSL_LANES];
  tsl_lanes_to_array(line, sum);
#if defined(TSL_COMPLEX) && TSL_PARAM_VECTOR <= 16
  if (as_vectors && count >= TSL_LANES / TSL_NUMBERS) {
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e += TSL_NUMBERS)
      tsl_scale_element_of_c(line + e, data + e, g);
    TSL_STORE_ALIGNED(TSL_REAL, TSL_LANES, data, tsl_lanes_from_array(line));
    return;
  }
#else
  (void)as_vectors;
#endif
#if TSL_PARAM_VECTOR > 16
  TSL_UNROLL_BY(1)
#else
  TSL_UNROLL
#endif
  for (int e = 0; e < TSL_LANES / TSL_NUMBERS; e++)
    if (e < count)
      tsl_store_element_of_c(data + e * TSL_NUMBERS * stride, line + e * TSL_NUMBERS, g);
#else
  tsl_lanes_store(data, stride, count, as_vectors, sum, g->alpha, g->beta);
#endif
}

#endif
