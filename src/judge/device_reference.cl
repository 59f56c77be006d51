/* Reference sums of sampled elements of a product on the device, where sampled rows and columns of C meet.
 *
 *            B   |  | |      a group: 16 x 16 elements, one an item, and one part of their terms, 32 at once:
 *                |  | |
 *     A      C               A's lines, a double each       B's lines      sum of item (x, y)
 *     ----     --o--o-o      y  [ . . . 32 . . . ]          x  [ ... ]     A(y, .) B(., x)
 *
 * Sums of floats are made in double, which holds their products; with REFERENCE_TWICE in pairs of doubles
 * (kernel/twofold.h). A second kernel joins the parts in order, so that every device has equal bits, and
 * copies the elements of C. From the host: TSL_REAL and types of elements (kernel/kernel_elements.h),
 * REFERENCE_TWICE, REFERENCE_FLUSHES. Any strides. Needs double precision. */
#include "kernel_elements.h"
#include "kernel_gemm.h"
#include "twofold.h"

#include "device_reference_shared.h"

#define REFERENCE_PITCH (TSL_DEVICE_REFERENCE_STEP + 1)
#define REFERENCE_AHEAD 4
#if REFERENCE_FLUSHES
#define REFERENCE_NUMBERS TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS
#else
#define REFERENCE_NUMBERS TSL_DEVICE_REFERENCE_NUMBERS
#endif

typedef struct reference_sum {
  tsl_twofold sum;
  double magnitude, max_a, max_b; /* sum of magnitudes; largest magnitude of the terms in A and B */
} reference_sum;

TSL_FUNCTION reference_sum reference_zero_sum(void) {
  reference_sum made;
  made.sum.high = made.sum.low = made.magnitude = made.max_a = made.max_b = 0;
  return made;
}

TSL_FUNCTION double magnitude_of(double x) {
  return x < 0 ? -x : x;
}

/* Returns the larger of two magnitudes; non-finite values are ignored. */
TSL_FUNCTION double max_finite_magnitude(double most, double size) {
  return size - size == 0 && size > most ? size : most;
}

TSL_FUNCTION reference_sum reference_add_term(reference_sum total, double x, double y) {
#if REFERENCE_TWICE
  total.sum = tsl_twofold_add_product(total.sum, x, y);
#else
  total.sum.high = TSL_FMA(x, y, total.sum.high);
#endif
  total.magnitude = TSL_FMA(magnitude_of(x), magnitude_of(y), total.magnitude);
#if REFERENCE_FLUSHES
  total.max_a = max_finite_magnitude(total.max_a, magnitude_of(x));
  total.max_b = max_finite_magnitude(total.max_b, magnitude_of(y));
#endif
  return total;
}

TSL_FUNCTION reference_sum reference_add_sum(reference_sum a, reference_sum b) {
  a.sum = tsl_twofold_sum(a.sum, b.sum);
  a.magnitude += b.magnitude;
  a.max_a = max_finite_magnitude(a.max_a, b.max_a);
  a.max_b = max_finite_magnitude(a.max_b, b.max_b);
  return a;
}

TSL_FUNCTION void reference_store(TSL_GLOBAL double *dst, TSL_INDEX step, reference_sum total) {
  dst[0] = total.sum.high;
  dst[step] = total.sum.low;
  dst[2 * step] = total.magnitude;
#if REFERENCE_FLUSHES
  dst[3 * step] = total.max_a;
  dst[4 * step] = total.max_b;
#endif
}

TSL_FUNCTION reference_sum reference_load(TSL_GLOBAL const double *from, TSL_INDEX step) {
  reference_sum made = reference_zero_sum();
  made.sum.high = from[0];
  made.sum.low = from[step];
  made.magnitude = from[2 * step];
#if REFERENCE_FLUSHES
  made.max_a = from[3 * step];
  made.max_b = from[4 * step];
#endif
  return made;
}

/* Loads terms from `first` on of `count` sampled lines of A or of B; terms from `end` on are zero. */
TSL_FUNCTION void reference_load_terms(TSL_GLOBAL const tsl_element *from, TSL_INDEX line_stride,
                                       TSL_INDEX step, TSL_GLOBAL const TSL_INDEX *indices,
                                       TSL_INDEX first_line, TSL_INDEX count, TSL_INDEX first, TSL_INDEX end,
                                       TSL_LOCAL_POINTER double *dst) {
  for (int e = TSL_ITEM(1) * TSL_DEVICE_REFERENCE_SIDE + TSL_ITEM(0);
       e < TSL_DEVICE_REFERENCE_SIDE * TSL_DEVICE_REFERENCE_STEP;
       e += TSL_DEVICE_REFERENCE_SIDE * TSL_DEVICE_REFERENCE_SIDE) {
    const int line = e / TSL_DEVICE_REFERENCE_STEP, l = e % TSL_DEVICE_REFERENCE_STEP;
    const bool is_inside = first_line + line < count && first + l < end;
    dst[line * REFERENCE_PITCH + l] =
        is_inside
            ? (double)tsl_number(from[indices[first_line + line] * line_stride + (first + l) * step], true)
            : 0;
  }
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_SIDE, TSL_DEVICE_REFERENCE_SIDE, 1)
tsl_device_reference_terms(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                           TSL_GLOBAL const TSL_INDEX *indices, TSL_GLOBAL double *numbers,
                           const tsl_device_reference_arguments g) {
  TSL_LOCAL double of_a[TSL_DEVICE_REFERENCE_SIDE * REFERENCE_PITCH];
  TSL_LOCAL double of_b[TSL_DEVICE_REFERENCE_SIDE * REFERENCE_PITCH];
  const TSL_INDEX part = TSL_GROUP(0), first_col = (TSL_INDEX)TSL_GROUP(1) * TSL_DEVICE_REFERENCE_SIDE,
                  first_row = (TSL_INDEX)TSL_GROUP(2) * TSL_DEVICE_REFERENCE_SIDE;
  const TSL_INDEX begin = part * g.depth, end = begin + g.depth < g.k ? begin + g.depth : g.k;
  reference_sum own = reference_zero_sum();
  for (TSL_INDEX first = begin; first < end; first += TSL_DEVICE_REFERENCE_STEP) {
    TSL_BARRIER();
    reference_load_terms(a + g.a_offset, g.a_row_stride, g.a_col_stride, indices, first_row, g.rows, first,
                         end, of_a);
    reference_load_terms(b + g.b_offset, g.b_col_stride, g.b_row_stride, indices + g.rows, first_col, g.cols,
                         first, end, of_b);
    TSL_BARRIER();
    for (int l = 0; l < TSL_DEVICE_REFERENCE_STEP; l++)
      own = reference_add_term(own, of_a[TSL_ITEM(1) * REFERENCE_PITCH + l],
                               of_b[TSL_ITEM(0) * REFERENCE_PITCH + l]);
  }
  const TSL_INDEX row = first_row + TSL_ITEM(1), col = first_col + TSL_ITEM(0), all = g.rows * g.cols;
  if (row < g.rows && col < g.cols)
    reference_store(numbers + g.first_partial_sum + part * REFERENCE_NUMBERS * all + row * g.cols + col, all,
                    own);
}

TSL_FUNCTION void reference_copy_element(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *indices,
                                         TSL_GLOBAL tsl_result *saved_c,
                                         const tsl_device_reference_arguments *g, TSL_INDEX element) {
  const TSL_INDEX row = indices[element / g->cols], col = indices[g->rows + element % g->cols];
  saved_c[g->first_saved_c + element] = c[g->c_offset + row * g->c_row_stride + col * g->c_col_stride];
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_ELEMENTS, TSL_DEVICE_REFERENCE_LANES, 1)
tsl_device_reference_join(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *indices,
                          TSL_GLOBAL const double *parts, TSL_GLOBAL double *sums,
                          TSL_GLOBAL tsl_result *saved_c, const tsl_device_reference_arguments g) {
  TSL_LOCAL double lanes[REFERENCE_NUMBERS * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS];
  const TSL_INDEX all = g.rows * g.cols,
                  element = (TSL_INDEX)TSL_GROUP(0) * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
  reference_sum own = reference_zero_sum();
  if (element < all)
    for (TSL_INDEX part = TSL_ITEM(1); part < g.parts; part += REFERENCE_AHEAD * TSL_DEVICE_REFERENCE_LANES) {
      reference_sum some[REFERENCE_AHEAD];
      TSL_UNROLL
      for (int i = 0; i < REFERENCE_AHEAD; i++) {
        const TSL_INDEX there = part + i * TSL_DEVICE_REFERENCE_LANES;
        some[i] = reference_zero_sum();
        if (there < g.parts)
          some[i] =
              reference_load(parts + g.first_partial_sum + there * REFERENCE_NUMBERS * all + element, all);
      }
      TSL_UNROLL
      for (int i = 0; i < REFERENCE_AHEAD; i++)
        own = reference_add_sum(own, some[i]);
    }
  const int place = TSL_ITEM(1) * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
  lanes[place] = own.sum.high;
  lanes[TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.sum.low;
  lanes[2 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.magnitude;
#if REFERENCE_FLUSHES
  lanes[3 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.max_a;
  lanes[4 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + place] = own.max_b;
#endif
  TSL_BARRIER();
  if (element >= all)
    return;
  if (TSL_ITEM(1) == 1)
    reference_copy_element(c, indices, saved_c, &g, element);
  if (TSL_ITEM(1) != 0)
    return;
  for (int lane = 1; lane < TSL_DEVICE_REFERENCE_LANES; lane++) {
    const int there = lane * TSL_DEVICE_REFERENCE_ELEMENTS + TSL_ITEM(0);
    reference_sum other = reference_zero_sum();
    other.sum.high = lanes[there];
    other.sum.low = lanes[TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
    other.magnitude = lanes[2 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
#if REFERENCE_FLUSHES
    other.max_a = lanes[3 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
    other.max_b = lanes[4 * TSL_DEVICE_REFERENCE_LANES * TSL_DEVICE_REFERENCE_ELEMENTS + there];
#endif
    own = reference_add_sum(own, other);
  }
  reference_store(sums + g.first_sum + element, all, own);
}

TSL_KERNEL(TSL_DEVICE_REFERENCE_ELEMENTS *TSL_DEVICE_REFERENCE_LANES, 1, 1)
tsl_device_reference_save(TSL_GLOBAL const tsl_result *c, TSL_GLOBAL const TSL_INDEX *indices,
                          TSL_GLOBAL tsl_result *saved_c, const tsl_device_reference_arguments g) {
  const TSL_INDEX element = TSL_GLOBAL_ITEM(0);
  if (element < g.rows * g.cols)
    reference_copy_element(c, indices, saved_c, &g, element);
}
