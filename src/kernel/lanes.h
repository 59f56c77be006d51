/* Vectors of TSL_PARAM_VECTOR bytes with TSL_LANES numbers, and conversions to and from arrays for loops. */
#ifndef TSL_KERNEL_LANES_H
#define TSL_KERNEL_LANES_H

#include "kernel_elements.h"

#ifdef TSL_REAL_IS_DOUBLE
#define TSL_LANES_SINGLE (TSL_PARAM_VECTOR / 2)
#else
#define TSL_LANES_SINGLE TSL_PARAM_VECTOR
#endif
/* a literal, because OpenCL pastes it to the type's name */
#if TSL_LANES_SINGLE == 8
#define TSL_LANES 2
#elif TSL_LANES_SINGLE == 16
#define TSL_LANES 4
#elif TSL_LANES_SINGLE == 32
#define TSL_LANES 8
#else
#define TSL_LANES 16
#endif
typedef TSL_VECTOR(TSL_REAL, TSL_LANES) tsl_lanes;

#define TSL_LANES_FMA(a, b, c) TSL_REAL_FMA(a, b, c)

TSL_FUNCTION void tsl_lanes_to_array(TSL_REAL *dst, tsl_lanes from) {
  dst[0] = TSL_LANE(from, 0);
  dst[1] = TSL_LANE(from, 1);
#if TSL_LANES >= 4
  dst[2] = TSL_LANE(from, 2);
  dst[3] = TSL_LANE(from, 3);
#endif
#if TSL_LANES >= 8
  dst[4] = TSL_LANE(from, 4);
  dst[5] = TSL_LANE(from, 5);
  dst[6] = TSL_LANE(from, 6);
  dst[7] = TSL_LANE(from, 7);
#endif
#if TSL_LANES >= 16
  dst[8] = TSL_LANE(from, 8);
  dst[9] = TSL_LANE(from, 9);
  dst[10] = TSL_LANE(from, a);
  dst[11] = TSL_LANE(from, b);
  dst[12] = TSL_LANE(from, c);
  dst[13] = TSL_LANE(from, d);
  dst[14] = TSL_LANE(from, e);
  dst[15] = TSL_LANE(from, f);
#endif
}

TSL_FUNCTION tsl_lanes tsl_lanes_from_array(const TSL_REAL *from) {
  tsl_lanes to = TSL_SPLAT(TSL_REAL, TSL_LANES, from[0]);
  TSL_LANE(to, 1) = from[1];
#if TSL_LANES >= 4
  TSL_LANE(to, 2) = from[2];
  TSL_LANE(to, 3) = from[3];
#endif
#if TSL_LANES >= 8
  TSL_LANE(to, 4) = from[4];
  TSL_LANE(to, 5) = from[5];
  TSL_LANE(to, 6) = from[6];
  TSL_LANE(to, 7) = from[7];
#endif
#if TSL_LANES >= 16
  TSL_LANE(to, 8) = from[8];
  TSL_LANE(to, 9) = from[9];
  TSL_LANE(to, a) = from[10];
  TSL_LANE(to, b) = from[11];
  TSL_LANE(to, c) = from[12];
  TSL_LANE(to, d) = from[13];
  TSL_LANE(to, e) = from[14];
  TSL_LANE(to, f) = from[15];
#endif
  return to;
}

/* Stores TSL_LANES numbers of a row of C from their sums; the first, at `data`, to `count` are inside of C.
 * `as_vectors`: contiguous, and aligned to a vector of at most 16 bytes. beta = 0 reads nothing. */
TSL_FUNCTION void tsl_lanes_store(TSL_GLOBAL TSL_REAL *data, TSL_INDEX stride, TSL_INDEX count,
                                  bool as_vectors, tsl_lanes sum, TSL_REAL alpha, TSL_REAL beta) {
  const tsl_lanes scaled = TSL_SPLAT(TSL_REAL, TSL_LANES, alpha) * sum;
  if (as_vectors && count >= TSL_LANES) {
    tsl_lanes made = scaled;
#if TSL_PARAM_VECTOR <= 16
    if (beta != 0) {
      const tsl_lanes factor = TSL_SPLAT(TSL_REAL, TSL_LANES, beta);
      const tsl_lanes before = TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, data);
      made = TSL_LANES_FMA(factor, before, scaled);
    }
    TSL_STORE_ALIGNED(TSL_REAL, TSL_LANES, data, made);
#else
    if (beta != 0) {
      const tsl_lanes factor = TSL_SPLAT(TSL_REAL, TSL_LANES, beta);
      const tsl_lanes before = TSL_LOAD(TSL_REAL, TSL_LANES, data);
      made = TSL_LANES_FMA(factor, before, scaled);
    }
    TSL_STORE(TSL_REAL, TSL_LANES, data, made);
#endif
    return;
  }
  TSL_REAL line[TSL_LANES];
  tsl_lanes_to_array(line, scaled);
  /* not unrolled for long vectors: this path is rare on processors, and slow to compile */
#if TSL_PARAM_VECTOR > 16
  TSL_UNROLL_BY(1)
#else
  TSL_UNROLL
#endif
  for (int e = 0; e < TSL_LANES; e++)
    if (e < count)
      data[e * stride] = beta == 0 ? line[e] : TSL_LANES_FMA(beta, data[e * stride], line[e]);
}

/* Returns true if rows of C from this offset on are `as_vectors` for tsl_lanes_store(). */
TSL_FUNCTION bool tsl_lanes_are_vectors(TSL_INDEX offset, TSL_INDEX row_stride, TSL_INDEX col_stride) {
  return col_stride == 1 && (TSL_PARAM_VECTOR > 16 || (offset | row_stride) % TSL_LANES == 0);
}

#endif
