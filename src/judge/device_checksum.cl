/* Checksums of a whole product on the device (judge/checksum.h): three kernels that read B, A and C once.
 *
 *              B   | J |         sums:     s(J, l), the weighted sums of B's rows by segments, and of C's
 * rows s(J)| s |         bound:    t(l) / e, which does not underflow, for all segments A        C compare:
 * 32 rows of A times eight vectors s at once, against the sums of C
 *     ----       |---|
 *
 * A group has 32 lanes x 8 items. In `sums` the lanes go along the direction in which elements are
 * contiguous. Floats are summed in double, integers modulo 2^32 with odd weights. From the host: TSL_REAL and
 * types of elements (kernel/kernel_elements.h), CHECKSUM_OF_C: `sums` reads C, else B. Any strides. Floats
 * need double precision. */
#include "kernel_elements.h"
#include "kernel_gemm.h"

#include "device_checksum_shared.h"

#define CHECKSUM_ROWS TSL_DEVICE_CHECKSUM_ROWS
#define CHECKSUM_LANES TSL_DEVICE_CHECKSUM_LANES
#define CHECKSUM_GROUP_ROWS TSL_DEVICE_CHECKSUM_GROUP_ROWS
#define CHECKSUM_VECTORS TSL_DEVICE_CHECKSUM_VECTORS
#define CHECKSUM_ITEM_ROWS (CHECKSUM_ROWS / CHECKSUM_GROUP_ROWS)
#define CHECKSUM_PITCH (CHECKSUM_LANES + 1)
/* Loads of an item before it uses their numbers. */
#define CHECKSUM_AHEAD 4

#ifdef TSL_REAL_IS_INTEGER
typedef unsigned checksum_number;
#else
typedef double checksum_number;
#endif
#if CHECKSUM_OF_C
typedef tsl_result checksum_source;
#else
typedef tsl_element checksum_source;
#endif

TSL_FUNCTION checksum_number checksum_magnitude(checksum_number x) {
#ifdef TSL_REAL_IS_INTEGER
  return x;
#else
  return x < 0 ? -x : x;
#endif
}

/* Returns the weight of a column: an odd number, or 1 with a sign. The mixer has constants of Wellons (2018).
 */
TSL_FUNCTION checksum_number checksum_weight(TSL_INDEX col) {
  unsigned x = (unsigned)col + 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  x ^= x >> 16;
#ifdef TSL_REAL_IS_INTEGER
  return x | 1;
#else
  return x & 1 ? -1.0 : 1.0;
#endif
}

TSL_FUNCTION checksum_number checksum_source_number(checksum_source x) {
#if CHECKSUM_OF_C
  return (checksum_number)tsl_widen_result(x);
#else
  return (checksum_number)tsl_number(x, TSL_SIGNED_B);
#endif
}

/* Sums partial[row][0 .. count) of 32 rows into partial[row][0]. All items of the group call it. */
TSL_FUNCTION void checksum_join(TSL_LOCAL_POINTER checksum_number *partial, int count) {
  const int item = TSL_ITEM(1) * CHECKSUM_LANES + TSL_ITEM(0);
  TSL_BARRIER();
  if (item < CHECKSUM_ROWS * 4) {
    TSL_LOCAL_POINTER checksum_number *own = partial + item / 4 * CHECKSUM_PITCH;
    checksum_number sum = own[item % 4];
    for (int i = item % 4 + 4; i < count; i += 4)
      sum += own[i];
    own[item % 4] = sum;
  }
  TSL_BARRIER();
  if (item < CHECKSUM_ROWS) {
    TSL_LOCAL_POINTER checksum_number *own = partial + item * CHECKSUM_PITCH;
    own[0] = (own[0] + own[1]) + (own[2] + own[3]);
  }
  TSL_BARRIER();
}

TSL_KERNEL(TSL_DEVICE_CHECKSUM_LANES, TSL_DEVICE_CHECKSUM_GROUP_ROWS, 1)
tsl_device_checksum_sums(TSL_GLOBAL const checksum_source *from, TSL_GLOBAL double *numbers,
                         const tsl_device_checksum_arguments g, const TSL_INDEX first) {
  TSL_LOCAL checksum_number partial[CHECKSUM_ROWS * CHECKSUM_PITCH];
#if CHECKSUM_OF_C
  const TSL_INDEX rows = g.m, offset = g.c_offset, row_stride = g.c_row_stride, col_stride = g.c_col_stride;
#else
  const TSL_INDEX rows = g.k, offset = g.b_offset, row_stride = g.b_row_stride, col_stride = g.b_col_stride;
#endif
  const TSL_INDEX first_row = (TSL_INDEX)TSL_GROUP(0) * CHECKSUM_ROWS, segment = TSL_GROUP(1),
                  begin = segment * g.width, end = begin + g.width < g.n ? begin + g.width : g.n;
  const TSL_INDEX row_distance = row_stride < 0 ? -row_stride : row_stride,
                  col_distance = col_stride < 0 ? -col_stride : col_stride;
  const bool is_along = col_distance <= row_distance;
  checksum_number sums[CHECKSUM_ITEM_ROWS], sizes[CHECKSUM_ITEM_ROWS];
  TSL_UNROLL
  for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
    sums[r] = sizes[r] = 0;
  if (is_along)
    for (TSL_INDEX j = begin + TSL_ITEM(0); j < end; j += CHECKSUM_AHEAD * CHECKSUM_LANES) {
      checksum_number x[CHECKSUM_AHEAD][CHECKSUM_ITEM_ROWS];
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const TSL_INDEX col = j + u * CHECKSUM_LANES;
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
          const TSL_INDEX row = first_row + r * CHECKSUM_GROUP_ROWS + TSL_ITEM(1);
          x[u][r] = 0;
          if (row < rows && col < end)
            x[u][r] = checksum_source_number(from[offset + row * row_stride + col * col_stride]);
        }
      }
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const checksum_number weight = checksum_weight(j + u * CHECKSUM_LANES);
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
          sums[r] += x[u][r] * weight;
          sizes[r] += checksum_magnitude(x[u][r]);
        }
      }
    }
  else if (first_row + TSL_ITEM(0) < rows)
    for (TSL_INDEX j = begin + TSL_ITEM(1); j < end; j += CHECKSUM_AHEAD * CHECKSUM_GROUP_ROWS) {
      checksum_number x[CHECKSUM_AHEAD];
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const TSL_INDEX col = j + u * CHECKSUM_GROUP_ROWS;
        x[u] = 0;
        if (col < end)
          x[u] = checksum_source_number(
              from[offset + (first_row + TSL_ITEM(0)) * row_stride + col * col_stride]);
      }
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        sums[0] += x[u] * checksum_weight(j + u * CHECKSUM_GROUP_ROWS);
        sizes[0] += checksum_magnitude(x[u]);
      }
    }
  const int item = TSL_ITEM(1) * CHECKSUM_LANES + TSL_ITEM(0);
  for (int what = 0; what < 2; what++) {
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
      if (is_along)
        partial[(r * CHECKSUM_GROUP_ROWS + TSL_ITEM(1)) * CHECKSUM_PITCH + TSL_ITEM(0)] =
            what == 0 ? sums[r] : sizes[r];
    if (!is_along)
      partial[TSL_ITEM(0) * CHECKSUM_PITCH + TSL_ITEM(1)] = what == 0 ? sums[0] : sizes[0];
    checksum_join(partial, is_along ? CHECKSUM_LANES : CHECKSUM_GROUP_ROWS);
    if (item < CHECKSUM_ROWS && first_row + item < rows)
      ((TSL_GLOBAL checksum_number *)(numbers +
                                      first))[(what * g.segments + segment) * rows + first_row + item] =
          partial[item * CHECKSUM_PITCH];
    TSL_BARRIER();
  }
}

TSL_KERNEL(TSL_DEVICE_CHECKSUM_LANES *TSL_DEVICE_CHECKSUM_GROUP_ROWS, 1, 1)
tsl_device_checksum_bound(TSL_GLOBAL double *numbers, const tsl_device_checksum_arguments g) {
  const TSL_INDEX l = TSL_GLOBAL_ITEM(0);
  double most = 0;
  if (l >= g.k)
    return;
  for (TSL_INDEX p = 0; p < g.segments; p++) {
    const double size = numbers[g.first_size + p * g.k + l];
    if (size - size != 0)
      numbers[g.first_vector + p * g.k + l] = size - size; /* NaN: the segment is not checked */
    else if (size > most)
      most = size;
  }
  numbers[g.first_bound + l] = most + g.flushes * (double)g.width / g.relative;
}

/* Comparisons of one row so far. */
typedef struct checksum_block {
  double unchecked, wrong, hidden, segment, off, bound;
} checksum_block;

/* Compares one segment of a row. See compare_segment() of judge/checksum.c. */
TSL_FUNCTION checksum_block checksum_compare(checksum_block block, const tsl_device_checksum_arguments *g,
                                             TSL_INDEX segment, double y, double c, double before,
                                             double before_size, double bound) {
  const TSL_INDEX begin = segment * g->width, left = g->n - begin;
  const double all = bound + (g->beta < 0 ? -g->beta : g->beta) * g->relative * before_size;
  const double off = checksum_magnitude(c - (g->alpha * y + (g->reads_c ? g->beta * before : 0)));
  if (all - all != 0 || y - y != 0 || (off - off != 0 && all > g->limit)) {
    block.unchecked += (double)(left < g->width ? left : g->width);
    return block;
  }
  const double hidden = 2 * all / (1 - g->rounding);
  block.hidden = hidden > block.hidden ? hidden : block.hidden;
  if (off <= all)
    return block;
  if (block.wrong == 0 || !(off / all <= block.off / block.bound)) {
    block.segment = (double)segment;
    block.off = off;
    block.bound = all;
  }
  block.wrong += 1;
  return block;
}

TSL_KERNEL(TSL_DEVICE_CHECKSUM_LANES, TSL_DEVICE_CHECKSUM_GROUP_ROWS, 1)
tsl_device_checksum_compare(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL double *numbers,
                            const tsl_device_checksum_arguments g) {
  TSL_LOCAL checksum_number partial[CHECKSUM_ROWS * CHECKSUM_PITCH];
  TSL_LOCAL double row_unchecked[CHECKSUM_ROWS], row_wrong[CHECKSUM_ROWS], row_hidden[CHECKSUM_ROWS],
      row_segment[CHECKSUM_ROWS], row_off[CHECKSUM_ROWS], row_bound[CHECKSUM_ROWS];
  const int item = TSL_ITEM(1) * CHECKSUM_LANES + TSL_ITEM(0);
  const TSL_INDEX first_row = (TSL_INDEX)TSL_GROUP(0) * CHECKSUM_ROWS, own_row = first_row + item;
  const TSL_INDEX terms = g.reads_factors ? g.k : 0;
  TSL_GLOBAL const checksum_number *vector = (TSL_GLOBAL const checksum_number *)(numbers + g.first_vector);
  TSL_GLOBAL const checksum_number *before = (TSL_GLOBAL const checksum_number *)(numbers + g.first_before);
  TSL_GLOBAL const checksum_number *c = (TSL_GLOBAL const checksum_number *)(numbers + g.first_c);
  checksum_block block;
  block.unchecked = block.wrong = block.hidden = block.segment = block.off = 0;
  block.bound = 1;
  double row_fixed = g.fixed;
  for (TSL_INDEX first = 0; first < g.segments; first += CHECKSUM_VECTORS) {
    checksum_number sums[CHECKSUM_ITEM_ROWS][CHECKSUM_VECTORS];
    double bounds[CHECKSUM_ITEM_ROWS], bound_sum = 0;
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
      bounds[r] = 0;
      TSL_UNROLL
      for (int q = 0; q < CHECKSUM_VECTORS; q++)
        sums[r][q] = 0;
    }
    for (TSL_INDEX l = TSL_ITEM(0); l < terms; l += CHECKSUM_AHEAD * CHECKSUM_LANES) {
      checksum_number x[CHECKSUM_AHEAD][CHECKSUM_ITEM_ROWS];
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const TSL_INDEX term = l + u * CHECKSUM_LANES;
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
          const TSL_INDEX row = first_row + TSL_ITEM(1) * CHECKSUM_ITEM_ROWS + r;
          x[u][r] = 0;
          if (row < g.m && term < terms)
            x[u][r] = (checksum_number)tsl_number(
                a[g.a_offset + row * g.a_row_stride + term * g.a_col_stride], TSL_SIGNED_A);
        }
      }
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const TSL_INDEX term = l + u * CHECKSUM_LANES;
        TSL_UNROLL
        for (int q = 0; q < CHECKSUM_VECTORS; q++)
          if (first + q < g.segments && term < terms) {
            const checksum_number s = vector[(first + q) * g.k + term];
            TSL_UNROLL
            for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
              sums[r][q] += x[u][r] * s;
          }
#ifndef TSL_REAL_IS_INTEGER
        if (first == 0 && term < terms) {
          const double t = numbers[g.first_bound + term];
          bound_sum += t;
          TSL_UNROLL
          for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
            bounds[r] += checksum_magnitude(x[u][r]) * t;
        }
#endif
      }
    }
#ifndef TSL_REAL_IS_INTEGER
    /* T of the row, and the sum of t for the errors of flushed factors of A */
    for (int what = 0; what < 2 && first == 0; what++) {
      TSL_UNROLL
      for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
        partial[(TSL_ITEM(1) * CHECKSUM_ITEM_ROWS + r) * CHECKSUM_PITCH + TSL_ITEM(0)] =
            what == 0 ? bounds[r] : bound_sum;
      checksum_join(partial, CHECKSUM_LANES);
      if (item < CHECKSUM_ROWS)
        row_fixed += checksum_magnitude(g.alpha) * partial[item * CHECKSUM_PITCH] *
                     (what == 0 ? g.relative : g.flushes);
      TSL_BARRIER();
    }
#endif
    for (int q = 0; q < CHECKSUM_VECTORS && first + q < g.segments; q++) {
      TSL_UNROLL
      for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
        checksum_number own = 0;
        TSL_UNROLL
        for (int i = 0; i < CHECKSUM_VECTORS; i++)
          own = i == q ? sums[r][i] : own;
        partial[(TSL_ITEM(1) * CHECKSUM_ITEM_ROWS + r) * CHECKSUM_PITCH + TSL_ITEM(0)] = own;
      }
      checksum_join(partial, CHECKSUM_LANES);
      if (item < CHECKSUM_ROWS && own_row < g.m) {
        const TSL_INDEX at = (first + q) * g.m + own_row;
#ifdef TSL_REAL_IS_INTEGER
        const unsigned off = c[at] - (unsigned)(TSL_INDEX)g.alpha * partial[item * CHECKSUM_PITCH] -
                             (g.reads_c ? (unsigned)(TSL_INDEX)g.beta * before[at] : 0u);
        block.wrong += off != 0 ? 1 : 0;
        block.off = off;
#else
        block = checksum_compare(block, &g, first + q, partial[item * CHECKSUM_PITCH], c[at],
                                 g.reads_c ? before[at] : 0, g.reads_c ? before[g.segments * g.m + at] : 0,
                                 row_fixed + g.rounding * c[g.segments * g.m + at]);
#endif
      }
      TSL_BARRIER();
    }
  }
  if (item < CHECKSUM_ROWS) {
    row_unchecked[item] = block.unchecked;
    row_wrong[item] = block.wrong;
    row_hidden[item] = block.hidden;
    row_segment[item] = block.segment;
    row_off[item] = block.off;
    row_bound[item] = block.bound;
  }
  TSL_BARRIER();
  if (item != 0)
    return;
  int worst = 0;
  for (int i = 1; i < CHECKSUM_ROWS; i++) {
    if (row_wrong[i] != 0 &&
        (row_wrong[worst] == 0 || !(row_off[i] / row_bound[i] <= row_off[worst] / row_bound[worst])))
      worst = i;
  }
  TSL_GLOBAL double *out = numbers + g.first_block + TSL_GROUP(0) * TSL_DEVICE_CHECKSUM_NUMBERS;
  double unchecked = 0, wrong = 0, hidden = 0;
  for (int i = 0; i < CHECKSUM_ROWS; i++) {
    unchecked += row_unchecked[i];
    wrong += row_wrong[i];
    hidden = row_hidden[i] > hidden ? row_hidden[i] : hidden;
  }
  out[0] = unchecked;
  out[1] = wrong;
  out[2] = hidden;
  out[3] = (double)(first_row + worst);
  out[4] = row_segment[worst];
  out[5] = row_off[worst];
  out[6] = row_bound[worst];
}
