/* Idea: one or two vectors are read once, in steps of several registers, which hide the latency of additions
 * and the cost of the loop. The time of the loads remains.
 *
 *   x   [ v ][ v ][ v ][ v ] [ v ][ v ][ v ][ v ] ... [ v ] [part]
 *         |    |    |    |                              |      |
 *   sums s0   s1   s2   s3    (of a dot)               s0     s3       the last part with a mask
 *
 * A complex vector is interleaved components. With swap_pairs(x) = (im, re), c x is re(c) x + (-im(c), im(c))
 * swap_pairs(x); x[i] y[i] comes from x y and swap_pairs(x) y, whose lanes are added with signs at the end.
 * Blocks of f32 sums are added in f64. Fused operations are explicit: an element's bits must not depend on
 * its position, as programs with equal columns in several matrices expect. Limits: only step 1 is fast. */
#include "vector/kernels/elements_kernel.h"

#include "host/int_math.h"

enum { BLOCK = 1 << 13 };

/* Returns a b + c of single numbers, fused if the instruction set's vectors are. */
static inline REAL fused(REAL a, REAL b, REAL c) {
  return NAME(fma_number)(c, a, b);
}

static inline bool exceeds_l1(int64_t count) {
  return HAS_LOAD_FAR && count > (int64_t)FAR;
}

/* Factors for a vector x, or its conjugate, with the signs of times_i(). */
typedef struct factor {
  vector re, im;
} factor;

static inline factor factor_of(tsl_vector_number a, bool conjugate) {
  factor factor_by = {splat((REAL)a.re), splat((REAL)a.im)};
  if (PARTS == 2) {
    if (conjugate)
      factor_by.re *= alternating_signs();
    else
      factor_by.im *= -alternating_signs();
  }
  return factor_by;
}
TSL_INLINE vector multiply_by(factor factor_by, vector x) {
  if (PARTS == 1)
    return factor_by.re * x;
  x = keep_in_register(x);
  return NAME(fma_vectors)(factor_by.im * NAME(swap_pairs)(x), factor_by.re, x);
}
TSL_INLINE vector add_multiple(vector sum, factor factor_by, vector x) {
  if (PARTS == 1)
    return sum + factor_by.re * x;
  x = keep_in_register(x);
  return (sum + factor_by.re * x) + factor_by.im * NAME(swap_pairs)(x);
}

/* Adds in steps of four vectors; returns the end. */
TSL_INLINE int64_t add_steps(int64_t count, factor factor_by, const REAL *x, REAL *y, bool uses_far_load) {
  int64_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int64_t v = i; v < i + 4 * LANES; v += LANES) NAME(store)(
        y + v, add_multiple(load_whole(y + v, uses_far_load), factor_by, load_whole(x + v, uses_far_load)));
  return i;
}

static void add_multiple_of_dense(int64_t count, factor factor_by, const REAL *x, REAL *y) {
  int64_t i =
      exceeds_l1(count) ? add_steps(count, factor_by, x, y, true) : add_steps(count, factor_by, x, y, false);
  for (; i + LANES <= count; i += LANES)
    NAME(store)(y + i, add_multiple(NAME(load)(y + i), factor_by, NAME(load)(x + i)));
  if (i < count)
    NAME(store_part)
  (y + i, add_multiple(NAME(load_part)(y + i, count - i), factor_by, NAME(load_part)(x + i, count - i)),
   count - i);
}

static void add_multiple_of_line(int64_t n, tsl_vector_number a, const void *x_data, int64_t x_step,
                                 bool conjugate, void *y_data, int64_t y_step) {
  const REAL *x = x_data, re = (REAL)a.re, im = (REAL)a.im;
  REAL *y = y_data;
  if (x_step == 1 && y_step == 1) {
    add_multiple_of_dense(n * PARTS, factor_of(a, conjugate && PARTS == 2), x, y);
    return;
  }
  const REAL sign = conjugate ? -1 : 1;
  for (; n > 0; n--, x += PARTS * x_step, y += PARTS * y_step)
    if (PARTS == 1) {
      y[0] = fused(re, x[0], y[0]);
    } else {
      const REAL x_re = x[0], x_im = sign * x[PARTS - 1];
      y[0] = fused(im, -x_im, fused(re, x_re, y[0]));
      y[PARTS - 1] = fused(im, x_re, fused(re, x_im, y[PARTS - 1]));
    }
}

/* Computes z += a x + b y. */
static void add_two_multiples(int64_t n, tsl_vector_number a, const void *x_data, tsl_vector_number b,
                              const void *y_data, void *z_data) {
  const REAL *x = x_data, *y = y_data;
  REAL *z = z_data;
  const factor by_a = factor_of(a, false), by_b = factor_of(b, false);
  const int64_t count = n * PARTS;
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES)
    NAME(store)
  (z + i, add_multiple(add_multiple(NAME(load)(z + i), by_a, NAME(load)(x + i)), by_b, NAME(load)(y + i)));
  const int64_t rest = count - i;
  if (rest > 0)
    NAME(store_part)
  (z + i,
   add_multiple(add_multiple(NAME(load_part)(z + i, rest), by_a, NAME(load_part)(x + i, rest)), by_b,
                NAME(load_part)(y + i, rest)),
   rest);
}

TSL_INLINE vector scale_vector(factor factor_by, bool is_real, vector x) {
  if (is_real)
    return factor_by.re * x;
  return multiply_by(factor_by, x);
}

static void scale_dense(int64_t count, factor factor_by, bool is_real, REAL *x) {
  int64_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int64_t v = i; v < i + 4 * LANES; v += LANES) {
      const vector old = NAME(load)(x + v);
      NAME(store)(x + v, scale_vector(factor_by, is_real, old));
    }
  for (; i < count; i += LANES) {
    const int64_t valid_count = tsl_min(LANES, count - i);
    const vector old = NAME(load_part)(x + i, valid_count);
    NAME(store_part)(x + i, scale_vector(factor_by, is_real, old), valid_count);
  }
}

static void scale_line(int64_t n, tsl_vector_number a, void *data, int64_t step) {
  REAL *x = data, re = (REAL)a.re, im = (REAL)a.im;
  if (step == 1) {
    scale_dense(n * PARTS, factor_of(a, false), PARTS == 1, x);
    return;
  }
  for (; n > 0; n--, x += PARTS * step) {
    const REAL old = x[0], old_im = x[PARTS - 1];
    x[0] = PARTS == 1 ? re * old : fused(re, old, im * -old_im);
    if (PARTS == 2)
      x[PARTS - 1] = fused(re, old_im, im * old);
  }
}

static void scale_line_by_real(int64_t n, double a, void *data, int64_t step) {
  REAL *x = data, factor_by = (REAL)a;
  if (step == 1) {
    scale_dense(n * PARTS, (factor){splat(factor_by), splat(factor_by)}, true, x);
    return;
  }
  for (; n > 0; n--, x += PARTS * step)
    for (int part = 0; part < PARTS; part++)
      x[part] *= factor_by;
}

/* Element, moved as a whole; four per iteration hide the loop's overhead. */
typedef struct whole {
  REAL parts[PARTS];
} whole;
static void copy_elements(int64_t n, const REAL *x, int64_t x_step, REAL *y, int64_t y_step) {
  enum { ELEMENTS = 4 };
  whole elements[ELEMENTS];
  for (; n >= ELEMENTS; n -= ELEMENTS, x += ELEMENTS * x_step, y += ELEMENTS * y_step) {
    TSL_UNROLL for (int i = 0; i < ELEMENTS; i++) memcpy(&elements[i], x + i * x_step, sizeof *elements);
    TSL_UNROLL for (int i = 0; i < ELEMENTS; i++) memcpy(y + i * y_step, &elements[i], sizeof *elements);
  }
  for (; n > 0; n--, x += x_step, y += y_step) {
    memcpy(elements, x, sizeof *elements);
    memcpy(y, elements, sizeof *elements);
  }
}

static void copy_line(int64_t n, const void *x_data, int64_t x_step, bool conjugate, void *y_data,
                      int64_t y_step) {
  const REAL *x = x_data, sign = conjugate ? -1 : 1;
  REAL *y = y_data;
  if (x_step == 1 && y_step == 1 && !(conjugate && PARTS == 2)) {
    memmove(y, x, (size_t)n * PARTS * sizeof *x);
    return;
  }
  if (!conjugate || PARTS == 1) {
    copy_elements(n, x, PARTS * x_step, y, PARTS * y_step);
    return;
  }
  for (; n > 0; n--, x += PARTS * x_step, y += PARTS * y_step) {
    y[0] = x[0];
    if (PARTS == 2)
      y[PARTS - 1] = sign * x[PARTS - 1];
  }
}

static void swap_lines(int64_t n, void *x_data, int64_t x_step, void *y_data, int64_t y_step) {
  REAL *x = x_data, *y = y_data;
  if (x_step == 1 && y_step == 1) {
    const int64_t count = n * PARTS;
    for (int64_t i = 0; i < count; i += LANES) {
      const int64_t valid_count = tsl_min(LANES, count - i);
      const vector from_x = NAME(load_edge)(x + i, valid_count), from_y = NAME(load_edge)(y + i, valid_count);
      NAME(store_edge)(x + i, from_y, valid_count);
      NAME(store_edge)(y + i, from_x, valid_count);
    }
    return;
  }
  for (; n > 0; n--, x += PARTS * x_step, y += PARTS * y_step)
    for (int part = 0; part < PARTS; part++) {
      const REAL elements = x[part];
      x[part] = y[part];
      y[part] = elements;
    }
}

static void rotate_lines(int64_t n, void *x_data, int64_t x_step, void *y_data, int64_t y_step,
                         const double h[4]) {
  REAL *x = x_data, *y = y_data;
  const REAL xx = (REAL)h[0], xy = (REAL)h[1], yx = (REAL)h[2], yy = (REAL)h[3];
  if (x_step == 1 && y_step == 1) {
    const int64_t count = n * PARTS;
    for (int64_t i = 0; i < count; i += LANES) {
      const int64_t valid_count = tsl_min(LANES, count - i);
      const vector from_x = NAME(load_edge)(x + i, valid_count), from_y = NAME(load_edge)(y + i, valid_count);
      NAME(store_edge)(x + i, NAME(fma)(xy * from_y, xx, from_x), valid_count);
      NAME(store_edge)(y + i, NAME(fma)(yy * from_y, yx, from_x), valid_count);
    }
    return;
  }
  for (; n > 0; n--, x += PARTS * x_step, y += PARTS * y_step)
    for (int part = 0; part < PARTS; part++) {
      const REAL from_x = x[part], from_y = y[part];
      x[part] = fused(xx, from_x, xy * from_y);
      y[part] = fused(yx, from_x, yy * from_y);
    }
}

typedef struct sums {
  vector plain, turned;
} sums;

TSL_INLINE void add_to_sums(sums *target, vector x, vector y) {
  if (PARTS == 2) {
    x = keep_in_register(x);
    y = keep_in_register(y);
    target->turned += NAME(swap_pairs)(x) * y;
  }
  target->plain += x * y;
}

/* Adds the lanes of a dot: x y has re re and im im, swap_pairs(x) y has im re and re im. */
static inline tsl_vector_number complex_dot_from_lanes(sums s, bool conjugate) {
  if (PARTS == 1)
    return (tsl_vector_number){(double)NAME(sum_lanes)(s.plain), 0};
  const vector signs = alternating_signs();
  return conjugate ? (tsl_vector_number){(double)NAME(sum_lanes)(s.plain),
                                         -(double)NAME(sum_lanes)(s.turned * signs)}
                   : (tsl_vector_number){(double)NAME(sum_lanes)(s.plain * signs),
                                         (double)NAME(sum_lanes)(s.turned)};
}

TSL_INLINE tsl_vector_number dot_block(int64_t count, const REAL *x, const REAL *y, bool conjugate,
                                       bool uses_far_load) {
  sums s[4];
  for (int v = 0; v < 4; v++)
    s[v] = (sums){{0}, {0}};
  int64_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int v = 0; v < 4; v++) add_to_sums(&s[v], load_whole(x + i + v * LANES, uses_far_load),
                                                       load_whole(y + i + v * LANES, uses_far_load));
  TSL_UNROLL for (int v = 0; v < 3; v++) if (i + LANES <= count) {
    add_to_sums(&s[v], NAME(load)(x + i), NAME(load)(y + i));
    i += LANES;
  }
  if (i < count)
    add_to_sums(&s[3], NAME(load_part)(x + i, count - i), NAME(load_part)(y + i, count - i));
  const sums all_of = {(s[0].plain + s[1].plain) + (s[2].plain + s[3].plain),
                       (s[0].turned + s[1].turned) + (s[2].turned + s[3].turned)};
  return complex_dot_from_lanes(all_of, conjugate);
}

static tsl_vector_number dot_of_lines(int64_t n, const void *x_data, int64_t x_step, bool conjugate,
                                      const void *y_data, int64_t y_step) {
  const REAL *x = x_data, *y = y_data;
  tsl_vector_number sum = {0, 0};
  /* a separate path for one block: for a running sum compilers build a vector that stalls */
  if (x_step == 1 && y_step == 1 && n * PARTS <= BLOCK)
    return dot_block(n * PARTS, x, y, conjugate, false);
  if (x_step == 1 && y_step == 1) {
    for (int64_t i = 0; i < n * PARTS; i += BLOCK) {
      const tsl_vector_number block =
          dot_block(tsl_min(BLOCK, n * PARTS - i), x + i, y + i, conjugate, HAS_LOAD_FAR);
      sum.re += block.re;
      sum.im += block.im;
    }
    return sum;
  }
  const double sign = conjugate ? -1 : 1;
  for (; n > 0; n--, x += PARTS * x_step, y += PARTS * y_step) {
    sum.re += (double)x[0] * (double)y[0];
    if (PARTS == 2) {
      const double x_im = sign * (double)x[PARTS - 1];
      sum.re -= x_im * (double)y[PARTS - 1];
      sum.im += fma_number_f64(x_im * (double)y[0], (double)x[0], (double)y[PARTS - 1]);
    }
  }
  return sum;
}

static inline vector absolute(vector x) {
  const vector sign = -(vector){0};
  return (vector)((vector_i32)x & ~(vector_i32)sign);
}

TSL_INLINE vector magnitude_or_square(vector x, bool squared) {
  if (squared)
    return x * x;
  return absolute(x);
}
TSL_INLINE double sum_block(int64_t count, const REAL *x, bool squared, bool uses_far_load) {
  vector s[4] = {{0}, {0}, {0}, {0}}, more[4] = {{0}, {0}, {0}, {0}};
  int64_t i = 0;
  for (; i + 8 * LANES <= count; i += 8 * LANES) {
    TSL_UNROLL for (int v = 0; v < 4; v++) s[v] +=
        magnitude_or_square(load_whole(x + i + v * LANES, uses_far_load), squared);
    TSL_UNROLL for (int v = 0; v < 4; v++) more[v] +=
        magnitude_or_square(load_whole(x + i + (4 + v) * LANES, uses_far_load), squared);
  }
  if (i + 4 * LANES <= count) {
    TSL_UNROLL for (int v = 0; v < 4; v++) s[v] +=
        magnitude_or_square(NAME(load)(x + i + v * LANES), squared);
    i += 4 * LANES;
  }
  TSL_UNROLL for (int v = 0; v < 3; v++) if (i + LANES <= count) {
    s[v] += magnitude_or_square(NAME(load)(x + i), squared);
    i += LANES;
  }
  if (i < count)
    s[3] += magnitude_or_square(NAME(load_part)(x + i, count - i), squared);
  TSL_UNROLL for (int v = 0; v < 4; v++) s[v] += more[v];
  return (double)NAME(sum_lanes)((s[0] + s[1]) + (s[2] + s[3]));
}

TSL_INLINE double sum_all(int64_t n, const void *data, int64_t step, bool squared) {
  const REAL *x = data;
  double sum = 0;
  if (step == 1 && n * PARTS <= BLOCK)
    return sum_block(n * PARTS, x, squared, false);
  if (step == 1) {
    for (int64_t i = 0; i < n * PARTS; i += BLOCK)
      sum += sum_block(tsl_min(BLOCK, n * PARTS - i), x + i, squared, HAS_LOAD_FAR);
    return sum;
  }
  for (; n > 0; n--, x += PARTS * step)
    for (int part = 0; part < PARTS; part++)
      sum += squared ? (double)(x[part] * x[part]) : (double)(x[part] < 0 ? -x[part] : x[part]);
  return sum;
}

static double sum_of_squares(int64_t n, const void *x, int64_t step) {
  return sum_all(n, x, step, true);
}
static double sum_of_absolutes(int64_t n, const void *x, int64_t step) {
  return sum_all(n, x, step, false);
}

static inline double magnitude_of_element(const REAL *x) {
  REAL size = x[0] < 0 ? -x[0] : x[0];
  if (PARTS == 2)
    size += x[PARTS - 1] < 0 ? -x[PARTS - 1] : x[PARTS - 1];
  return (double)size;
}

/* Returns the magnitudes of a vector's elements; for complex elements twice each. */
static inline vector magnitudes_of(vector x) {
  const vector parts = absolute(x);
  if (PARTS == 2)
    return parts + NAME(swap_pairs)(parts);
  return parts;
}

/* Returns the magnitudes from i on. A last partial vector repeats earlier elements, or ends with zeros. */
static inline vector magnitudes_from(const REAL *x, int64_t i, int64_t count) {
  if (i + LANES <= count)
    return magnitudes_of(NAME(load)(x + i));
  return magnitudes_of(count >= LANES ? NAME(load)(x + count - LANES)
                                      : NAME(load_part)(x, count & (LANES - 1)));
}

/* Returns the maxima by lane; -1, or 0 after a partial vector, if all elements are NaN. */
static inline vector largest_by_lane(int64_t count, const REAL *x) {
  vector most[4] = {splat(-1), splat(-1), splat(-1), splat(-1)};
  int64_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int v = 0; v < 4; v++) most[v] =
        NAME(max_lanes)(magnitudes_of(NAME(load)(x + i + v * LANES)), most[v]);
  TSL_UNROLL for (int v = 0; v < 4; v++) if (i < count) {
    most[v] = NAME(max_lanes)(magnitudes_from(x, i, count), most[v]);
    i += LANES;
  }
  return NAME(max_lanes)(NAME(max_lanes)(most[0], most[1]), NAME(max_lanes)(most[2], most[3]));
}

static inline vector splat_largest_lane(vector state) {
  REAL lanes[LANES];
  NAME(store)(lanes, state);
  TSL_UNROLL for (int half = LANES / 2; half >= PARTS; half /= 2) {
    TSL_UNROLL for (int l = 0; l < half; l++) lanes[l] =
        lanes[l + half] > lanes[l] ? lanes[l + half] : lanes[l];
  }
  return splat(lanes[0]);
}

/* Returns the position, in components, of the first element with this magnitude; `count`: none. */
static inline int64_t find_first_magnitude(int64_t count, const REAL *x, vector size) {
  for (int64_t i = 0; i < count; i += LANES) {
    const uint32_t equal = NAME(equal_lane_bits)(magnitudes_from(x, i, count), size);
    const int64_t place =
        (i + LANES <= count || count < LANES ? i : count - LANES) + __builtin_ctz(equal | 1u << 31);
    if (equal)
      return place;
  }
  return count;
}

static int64_t largest_with_step(int64_t n, const REAL *x, int64_t step, double *value) {
  int64_t found = -1;
  *value = -1;
  for (int64_t i = 0; i < n; i++) {
    const double size = magnitude_of_element(x + PARTS * step * i);
    if (size > *value) {
      *value = size;
      found = i;
    }
  }
  return found;
}

/* Finds the maximum and its index: first the block with the maximum, then the position in it. */
static int64_t index_of_largest(int64_t n, const void *data, int64_t step, double *value) {
  const REAL *x = data;
  enum { PIECE = 1 << 11 };
  int64_t found = -1;
  *value = -1;
  if (step != 1)
    return largest_with_step(n, x, step, value);
  const int64_t count = n * PARTS;
  for (int64_t i = 0; i < count; i += PIECE) {
    const double valid_count =
        (double)splat_largest_lane(largest_by_lane(tsl_min(PIECE, count - i), x + i))[0];
    if (valid_count > *value) {
      *value = valid_count;
      found = i;
    }
  }
  if (found < 0)
    return -1;
  const int64_t valid_count = tsl_min(PIECE, count - found),
                place = find_first_magnitude(valid_count, x + found, splat((REAL)*value));
  if (place == valid_count) {
    *value = -1;
    return -1;
  }
  return (found + place) / PARTS;
}

const tsl_line_kernels TSL_ISA_NAME(tsl_lines) = {.add = add_multiple_of_line,
                                                  .add_two = add_two_multiples,
                                                  .scale = scale_line,
                                                  .scale_by_real = scale_line_by_real,
                                                  .copy = copy_line,
                                                  .swap = swap_lines,
                                                  .rotate = rotate_lines,
                                                  .dot = dot_of_lines,
                                                  .squares = sum_of_squares,
                                                  .absolutes = sum_of_absolutes,
                                                  .largest = index_of_largest};
