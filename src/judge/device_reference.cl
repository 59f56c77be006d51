/* Reference sums of sampled elements of a product on the device, where sampled rows and columns of C meet.
 *
 *            B   |  | |      a group: 16 x 16 elements, one an item, and one part of their terms, 32 at once:
 *                |  | |
 *     A      C               A's lines, a double each       B's lines      sum of item (x, y)
 *     ----     --o--o-o      y  [ . . . 32 . . . ]          x  [ ... ]     A(y, .) B(., x)
 *
 * Sums of floats are made in double, which holds their products; with LOOK_TWICE in pairs of doubles
 * (kernel/twofold.h). A second kernel joins the parts in order, so that every device has equal bits, and
 * copies the elements of C. From the host: TSL_REAL and types of elements (kernel/kernel_elements.h),
 * LOOK_TWICE, LOOK_FLUSHES. Any strides. Needs double precision. */
#include "kernel_elements.h"
#include "kernel_gemm.h"
#include "twofold.h"

#include "look_shared.h"

#define LOOK_PITCH (TSL_DEVICE_REFERENCE_STEP + 1)
#define LOOK_AHEAD 4
#if LOOK_FLUSHES
#define LOOK_NUMBERS TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS
#else
#define LOOK_NUMBERS TSL_DEVICE_REFERENCE_NUMBERS
#endif

typedef struct look_sum {
  tsl_twofold sum;
  double size, max_a, max_b; /* sum of magnitudes; largest magnitude of the terms in A and B */
} look_sum;

TSL_FUNCTION look_sum look_zero_sum(void) {
  look_sum made;
  made.sum.high = made.sum.low = made.size = made.max_a = made.max_b = 0;
  return made;
}

TSL_FUNCTION double look_magnitude(double x) {
  return x < 0 ? -x : x;
}

/* Returns the larger of two magnitudes; non-finite values are ignored. */
TSL_FUNCTION double look_max_finite(double most, double size) {
  return size - size == 0 && size > most ? size : most;
}

TSL_FUNCTION look_sum look_add_term(look_sum total, double x, double y) {
#if LOOK_TWICE
  total.sum = tsl_twofold_add_product(total.sum, x, y);
#else
  total.sum.high = TSL_FMA(x, y, total.sum.high);
#endif
  total.size = TSL_FMA(look_magnitude(x), look_magnitude(y), total.size);
#if LOOK_FLUSHES
  total.max_a = look_max_finite(total.max_a, look_magnitude(x));
  total.max_b = look_max_finite(total.max_b, look_magnitude(y));
#endif
  return total;
}

TSL_FUNCTION look_sum look_add_sum(look_sum a, look_sum b) {
  a.sum = tsl_twofold_sum(a.sum, b.sum);
  a.size += b.size;
  a.max_a = look_max_finite(a.max_a, b.max_a);
  a.max_b = look_max_finite(a.max_b, b.max_b);
  return a;
}

TSL_FUNCTION void look_store(TSL_GLOBAL double *dst, TSL_INDEX step, look_sum total) {
  dst[0] = total.sum.high;
  dst[step] = total.sum.low;
  dst[2 * step] = total.size;
#if LOOK_FLUSHES
  dst[3 * step] = total.max_a;
  dst[4 * step] = total.max_b;
#endif
}

TSL_FUNCTION look_sum look_load(TSL_GLOBAL const double *from, TSL_INDEX step) {
  look_sum made = look_zero_sum();
  made.sum.high = from[0];
  made.sum.low = from[step];
  made.size = from[2 * step];
#if LOOK_FLUSHES
  made.max_a = from[3 * step];
  made.max_b = from[4 * step];
#endif
  return made;
}

/* Loads terms from `first` on of `count` sampled lines of A or of B; terms from `end` on are zero. */
TSL_FUNCTION void look_load_terms(TSL_GLOBAL const tsl_element *from, TSL_INDEX line_stride, TSL_INDEX step,
                                  TSL_GLOBAL const TSL_INDEX *src, TSL_INDEX first_line, TSL_INDEX count,
                                  TSL_INDEX first, TSL_INDEX end, TSL_LOCAL_POINTER double *dst) {
  for (int e = TSL_ITEM(1) * TSL_DEVICE_REFERENCE_SIDE + TSL_ITEM(0);
       e < TSL_DEVICE_REFERENCE_SIDE * TSL_DEVICE_REFERENCE_STEP;
       e += TSL_DEVICE_REFERENCE_SIDE * TSL_DEVICE_REFERENCE_SIDE) {
    const int line = e / TSL_DEVICE_REFERENCE_STEP, l = e % TSL_DEVICE_REFERENCE_STEP;
    const bool is_inside = first_line + line < count && first + l < end;
    dst[line * LOOK_PITCH + l] =
        is_inside ? (double)tsl_number(from[src[first_line + line] * line_stride + (first + l) * step], true)
                  : 0;
  }
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_SIDE, TSL_DEVICE_REFERENCE_SIDE, 1)
tsl_device_reference_terms(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                           TSL_GLOBAL const TSL_INDEX *src, TSL_GLOBAL double *numbers,
                           const tsl_device_reference_arguments g) {
  TSL_LOCAL double of_a[TSL_DEVICE_REFERENCE_SIDE * LOOK_PITCH];
  TSL_LOCAL double of_b[TSL_DEVICE_REFERENCE_SIDE * LOOK_PITCH];
  const TSL_INDEX part = TSL_GROUP(0), first_col = (TSL_INDEX)TSL_GROUP(1) * TSL_DEVICE_REFERENCE_SIDE,
                  first_row = (TSL_INDEX)TSL_GROUP(2) * TSL_DEVICE_REFERENCE_SIDE;
  const TSL_INDEX begin = part * g.depth, end = begin + g.depth < g.k ? begin + g.depth : g.k;
  look_sum own = look_zero_sum();
  for (TSL_INDEX first = begin; first < end; first += TSL_DEVICE_REFERENCE_STEP) {
    TSL_BARRIER();
    look_load_terms(a + g.a_offset, g.a_row_stride, g.a_col_stride, src, first_row, g.rows, first, end, of_a);
    look_load_terms(b + g.b_offset, g.b_col_stride, g.b_row_stride, src + g.rows, first_col, g.cols, first,
                    end, of_b);
    TSL_BARRIER();
    for (int l = 0; l < TSL_DEVICE_REFERENCE_STEP; l++)
      own = look_add_term(own, of_a[TSL_ITEM(1) * LOOK_PITCH + l], of_b[TSL_ITEM(0) * LOOK_PITCH + l]);
  }
  const TSL_INDEX row = first_row + TSL_ITEM(1), col = first_col + TSL_ITEM(0), all = g.rows * g.cols;
  if (row < g.rows && col < g.cols)
    look_store(numbers + g.partial + part * LOOK_NUMBERS * all + row * g.cols + col, all, own);
}

TSL_FUNCTION void look_copy_element(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *src,
                                    TSL_GLOBAL tsl_result *saved_c, const tsl_device_reference_arguments *g,
                                    TSL_INDEX element) {
  const TSL_INDEX row = src[element / g->cols], col = src[g->rows + element % g->cols];
  saved_c[g->saved_c + element] = c[g->c_offset + row * g->c_row_stride + col * g->c_col_stride];
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_ELEMENTS, TSL_DEVICE_REFERENCE_LANES, 1)
tsl_device_reference_join(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *src,
                          TSL_GLOBAL const double *parts, TSL_GLOBAL double *sums,
                          TSL_GLOBAL tsl_result *saved_c, const tsl_device_reference_arguments g) {
  TSL_LOCAL double lanes[LOOK_NUMBERS * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS];
  const TSL_INDEX all = g.rows * g.cols,
                  element = (TSL_INDEX)TSL_GROUP(0) * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
  look_sum own = look_zero_sum();
  if (element < all)
    for (TSL_INDEX part = TSL_ITEM(1); part < g.parts; part += LOOK_AHEAD * TSL_DEVICE_REFERENCE_LANES) {
      look_sum some[LOOK_AHEAD];
      TSL_UNROLL
      for (int i = 0; i < LOOK_AHEAD; i++) {
        const TSL_INDEX there = part + i * TSL_DEVICE_REFERENCE_LANES;
        some[i] = look_zero_sum();
        if (there < g.parts)
          some[i] = look_load(parts + g.partial + there * LOOK_NUMBERS * all + element, all);
      }
      TSL_UNROLL
      for (int i = 0; i < LOOK_AHEAD; i++)
        own = look_add_sum(own, some[i]);
    }
  const int place = TSL_ITEM(1) * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
  lanes[place] = own.sum.high;
  lanes[TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.sum.low;
  lanes[2 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.size;
#if LOOK_FLUSHES
  lanes[3 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.max_a;
  lanes[4 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.max_b;
#endif
  TSL_BARRIER();
  if (element >= all)
    return;
  if (TSL_ITEM(1) == 1)
    look_copy_element(c, src, saved_c, &g, element);
  if (TSL_ITEM(1) != 0)
    return;
  for (int lane = 1; lane < TSL_DEVICE_REFERENCE_LANES; lane++) {
    const int there = lane * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
    look_sum other = look_zero_sum();
    other.sum.high = lanes[there];
    other.sum.low = lanes[TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
    other.size = lanes[2 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
#if LOOK_FLUSHES
    other.max_a = lanes[3 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
    other.max_b = lanes[4 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
#endif
    own = look_add_sum(own, other);
  }
  look_store(sums + g.sums + element, all, own);
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_ELEMENTS *TSL_DEVICE_REFERENCE_LANES, 1, 1)
tsl_device_reference_save(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *src,
                          TSL_GLOBAL tsl_result *saved_c, const tsl_device_reference_arguments g) {
  const TSL_INDEX element = TSL_GLOBAL_ITEM(0);
  if (element < g.rows * g.cols)
    look_copy_element(c, src, saved_c, &g, element);
}
