/* Kernels of judge/device_checksum.h that read no operand. bound: the largest sum of magnitudes of all
 * segments, t / e. It does not underflow. compare: sums of C against the sums of all chunks of A's products.
 * A group has 32 rows and 8 segments at once. */
#include "checksum_elements.h"

TSL_KERNEL(TSL_DEVICE_CHECKSUM_ITEMS, 1, 1)
tsl_device_checksum_bound(TSL_GLOBAL double *numbers, const tsl_device_checksum_arguments g) {
  TSL_GLOBAL checksum_number *sizes = (TSL_GLOBAL checksum_number *)(numbers + g.first_size),
                             *vectors = (TSL_GLOBAL checksum_number *)(numbers + g.first_vector),
                             *bound = (TSL_GLOBAL checksum_number *)(numbers + g.first_bound);
  const TSL_INDEX l = TSL_GLOBAL_ITEM(0), place = checksum_place(l, (int)g.at_once);
  double most = 0;
  if (l >= g.k)
    return;
  for (TSL_INDEX p = 0; p < g.segments; p++) {
    const double size = sizes[p * g.pitch + place];
    if (size - size != 0)
      for (int part = 0; part < CHECKSUM_PARTS; part++) /* NaN: the segment is not checked */
        vectors[(p * CHECKSUM_PARTS + part) * g.pitch + checksum_place(l * CHECKSUM_PARTS, (int)g.at_once)] =
            (checksum_number)(size - size);
    else if (size > most)
      most = size;
  }
  most = (most + g.flushes * (double)g.width / g.relative) * checksum_power((int)g.vector_scale);
  for (int part = 0; part < CHECKSUM_PARTS; part++)
    bound[checksum_place(l * CHECKSUM_PARTS + part, (int)g.at_once)] = (checksum_number)most;
}

/* Comparisons of one row so far. */
typedef struct checksum_block {
  double unchecked, wrong, hidden, segment, off, bound, row;
} checksum_block;

/* Returns the comparisons of two sets of rows; the place has the larger |d| / T. */
TSL_FUNCTION checksum_block checksum_merge(checksum_block a, checksum_block b) {
  checksum_block both = a.wrong == 0 || (b.wrong != 0 && !(b.off / b.bound <= a.off / a.bound)) ? b : a;
  both.unchecked = a.unchecked + b.unchecked;
  both.wrong = a.wrong + b.wrong;
  both.hidden = a.hidden > b.hidden ? a.hidden : b.hidden;
  return both;
}

/* Returns the row of a vector's products in a chunk: passes with CHECKSUM_SUMS rows. */
TSL_FUNCTION TSL_INDEX checksum_product_row(TSL_INDEX vector) {
  return vector / CHECKSUM_VECTORS * CHECKSUM_SUMS + vector % CHECKSUM_VECTORS;
}

/* Returns a segment's sum of C after the run for one row, from sums of c_width columns, `sums` for each. */
TSL_FUNCTION checksum_sum checksum_sum_of_c(const tsl_device_checksum_arguments *g,
                                            TSL_GLOBAL const double *numbers, TSL_INDEX row, TSL_INDEX p,
                                            TSL_INDEX first, TSL_INDEX sums) {
  TSL_GLOBAL const checksum_sum *c = (TSL_GLOBAL const checksum_sum *)(numbers + g->first_c);
  const TSL_INDEX tiles = (g->n + g->c_width - 1) / g->c_width,
                  own = (g->width + g->c_width - 1) / g->c_width;
  checksum_sum sum = 0;
  TSL_UNROLL_BY(8)
  for (TSL_INDEX t = p * own; t < (p + 1) * own && t < tiles; t++)
    sum += c[(tiles * first + t * sums) * g->m + row];
  return sum;
}

#if CHECKSUM_INTEGER
TSL_FUNCTION checksum_block checksum_compare(const tsl_device_checksum_arguments *g,
                                             TSL_GLOBAL const double *numbers, TSL_INDEX row, TSL_INDEX p) {
  TSL_GLOBAL const unsigned *product = (TSL_GLOBAL const unsigned *)(numbers + g->first_product),
                            *before = (TSL_GLOBAL const unsigned *)(numbers + g->first_before);
  checksum_block block;
  unsigned y = 0;
  TSL_UNROLL_BY(4)
  for (TSL_INDEX chunk = 0; chunk < g->chunks; chunk++)
    y += product[(chunk * g->passes * CHECKSUM_SUMS + checksum_product_row(p)) * g->m + row];
  const unsigned off = checksum_sum_of_c(g, numbers, row, p, 0, 1) - (unsigned)(TSL_INDEX)g->alpha[0] * y -
                       (g->reads_c ? (unsigned)(TSL_INDEX)g->beta[0] * before[p * g->m + row] : 0u);
  block.unchecked = block.hidden = 0;
  block.segment = (double)p;
  block.row = (double)row;
  block.off = off;
  block.bound = 1;
  block.wrong = off != 0 ? 1 : 0;
  return block;
}
#else
/* Compares one segment of a row. See compare_segment() of judge/checksum.c. */
TSL_FUNCTION checksum_block checksum_compare(const tsl_device_checksum_arguments *g,
                                             TSL_GLOBAL const double *numbers, TSL_INDEX row, TSL_INDEX p) {
  TSL_GLOBAL const checksum_number *product =
      (TSL_GLOBAL const checksum_number *)(numbers + g->first_product);
  TSL_GLOBAL const double *before = numbers + g->first_before;
  const TSL_INDEX vectors = g->segments * CHECKSUM_PARTS, left = g->n - p * g->width;
  double y[CHECKSUM_PARTS], off = 0, all = 0;
  bool is_known = true;
  checksum_block block;
  for (int part = 0; part < CHECKSUM_PARTS; part++)
    y[part] = 0;
  TSL_UNROLL_BY(4)
  for (TSL_INDEX chunk = 0; chunk < g->chunks; chunk++) {
    for (int part = 0; part < CHECKSUM_PARTS; part++)
      y[part] +=
          product[(chunk * g->passes * CHECKSUM_SUMS + checksum_product_row(p * CHECKSUM_PARTS + part)) *
                      g->m +
                  row];
    all += product[(chunk * g->passes * CHECKSUM_SUMS + CHECKSUM_VECTORS) * g->m + row];
  }
  const double roundings = g->c_error * checksum_sum_of_c(g, numbers, row, p, CHECKSUM_PARTS, 1);
  all = g->alpha1 * all + (g->reads_c ? g->beta1 * g->relative * before[(vectors + p) * g->m + row] : 0);
  const bool may_overflow = all > g->limit;
  all += g->fixed;
  for (int part = 0; part < CHECKSUM_PARTS; part++) {
    const TSL_INDEX at = (p * CHECKSUM_PARTS + part) * g->m + row;
    double expected = g->alpha[0] * y[part] + (g->reads_c ? g->beta[0] * before[at] : 0);
#if CHECKSUM_PARTS == 2
    const TSL_INDEX other = (p * CHECKSUM_PARTS + (1 - part)) * g->m + row;
    const double sign = part == 0 ? -1 : 1;
    if (g->alpha[1] != 0)
      expected += sign * g->alpha[1] * y[1 - part];
    if (g->reads_c && g->beta[1] != 0)
      expected += sign * g->beta[1] * before[other];
#endif
    const double own =
        fabs(checksum_sum_of_c(g, numbers + part * g->m, row, p, 0, CHECKSUM_PARTS) - expected);
    off = off != off || own <= off ? off : own; /* NaN stays */
    is_known = is_known && y[part] - y[part] == 0;
  }
  const bool is_finite = off - off == 0 && roundings - roundings == 0;
  block.unchecked = block.wrong = block.hidden = 0;
  block.segment = (double)p;
  block.row = (double)row;
  block.off = off;
  block.bound = all;
  if (all - all != 0 || !is_known || (!is_finite && may_overflow)) {
    block.unchecked = (double)(left < g->width ? left : g->width);
    return block;
  }
  if (is_finite)
    block.bound += roundings;
  block.hidden = 2 * block.bound / (1 - g->rounding);
  block.wrong = is_finite && off <= block.bound ? 0 : 1;
  return block;
}
#endif

TSL_KERNEL(TSL_DEVICE_CHECKSUM_ITEMS, 1, 1)
tsl_device_checksum_compare(TSL_GLOBAL double *numbers, const tsl_device_checksum_arguments g) {
  TSL_LOCAL checksum_block blocks[TSL_DEVICE_CHECKSUM_ITEMS];
  const int item = TSL_ITEM(0), sets = TSL_DEVICE_CHECKSUM_ITEMS / TSL_DEVICE_CHECKSUM_ROWS;
  const TSL_INDEX row = (TSL_INDEX)TSL_GROUP(0) * TSL_DEVICE_CHECKSUM_ROWS + item % TSL_DEVICE_CHECKSUM_ROWS;
  checksum_block block;
  block.unchecked = block.wrong = block.hidden = block.segment = block.off = block.row = 0;
  block.bound = 1;
  for (TSL_INDEX p = item / TSL_DEVICE_CHECKSUM_ROWS; p < g.segments && row < g.m; p += sets)
    block = checksum_merge(block, checksum_compare(&g, numbers, row, p));
  for (int left = TSL_DEVICE_CHECKSUM_ITEMS / 2; left >= 1; left /= 2) {
    blocks[item] = block;
    TSL_BARRIER();
    if (item < left)
      block = checksum_merge(block, blocks[item + left]);
    TSL_BARRIER();
  }
  if (item != 0)
    return;
  TSL_GLOBAL double *out = (g.host_block != 0 ? (TSL_GLOBAL double *)g.host_block : numbers + g.first_block) +
                           TSL_GROUP(0) * TSL_DEVICE_CHECKSUM_NUMBERS;
  out[0] = block.unchecked;
  out[1] = block.wrong;
  out[2] = block.hidden;
  out[3] = block.row;
  out[4] = block.segment;
  out[5] = block.off;
  out[6] = block.bound;
}
