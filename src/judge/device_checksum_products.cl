/* Rows of A times CHECKSUM_VECTORS vectors at once, and their magnitudes times the bound, for a chunk of k
 * (kernel/checksum_elements.h). */
#include "checksum_elements.h"

/* AHEAD: loads for each row before their use. Eight vectors and conversions of f32 need so many registers
 * that only one group fits on a unit; with fewer registers they are spilled. */
#if CHECKSUM_FORMAT == CHECKSUM_F64 && CHECKSUM_BY_ROW
#define PRODUCTS_AHEAD 1
#else
#define PRODUCTS_AHEAD 2
#endif
#if CHECKSUM_FORMAT == CHECKSUM_F32 && !CHECKSUM_SINGLE
#define PRODUCTS_GROUPS 1
#else
#define PRODUCTS_GROUPS 2
#endif

/* Sums of a row: with vectors, and of magnitudes with the bound. */
typedef checksum_number checksum_row[CHECKSUM_SUMS];

/* Adds a number of A times the terms of the vectors. */
TSL_FUNCTION void checksum_add_term(checksum_number number, const checksum_number *terms,
                                    checksum_number *sums) {
  TSL_UNROLL
  for (int q = 0; q < CHECKSUM_VECTORS; q++)
    sums[q] += number * terms[q];
#if !CHECKSUM_INTEGER
  sums[CHECKSUM_VECTORS] += checksum_magnitude(number) * terms[CHECKSUM_VECTORS];
#endif
}

TSL_FUNCTION void checksum_load_terms(TSL_GLOBAL const checksum_number *vectors,
                                      TSL_GLOBAL const checksum_number *bound, TSL_INDEX pitch,
                                      TSL_INDEX place, checksum_number *terms) {
  TSL_UNROLL
  for (int q = 0; q < CHECKSUM_VECTORS; q++)
    terms[q] = vectors[q * pitch + place];
#if !CHECKSUM_INTEGER
  terms[CHECKSUM_VECTORS] = bound[place];
#endif
}

/* Returns sum q of an item for the local memory. The last sum, with the bound, gets the factors of errors. */
TSL_FUNCTION checksum_number checksum_item_sum(const tsl_device_checksum_arguments *g, checksum_number sum,
                                               checksum_number bound_sum, int q) {
#if CHECKSUM_INTEGER
  return sum;
#else
#if CHECKSUM_HIDES_NAN
  sum *= checksum_power(CHECKSUM_SCALE - (int)g->vector_scale);
#endif
  return q == CHECKSUM_VECTORS
             ? (checksum_number)(g->relative * sum +
                                 g->flushes * (bound_sum * checksum_power(-(int)g->vector_scale)))
             : sum;
#endif
}

/* Adds components begin to end of CHECKSUM_ITEM_ROWS rows from `row` on; *bound_sum gets the sum of the
 * bound.
 */
#if CHECKSUM_BY_ROW
TSL_FUNCTION void checksum_multiply_rows(TSL_GLOBAL const checksum_component *from, checksum_lines lines,
                                         TSL_INDEX row, TSL_INDEX begin, TSL_INDEX end,
                                         TSL_GLOBAL const checksum_number *vectors,
                                         TSL_GLOBAL const checksum_number *bound, TSL_INDEX pitch,
                                         checksum_row sums[CHECKSUM_ITEM_ROWS], checksum_number *bound_sum) {
  const int lane = CHECKSUM_LANE;
  unsigned nan[CHECKSUM_ITEM_ROWS] = {0};
  const TSL_INDEX left = lines.rows - row;
  checksum_number terms[CHECKSUM_SUMS];
  TSL_INDEX next = begin;
  if (left <= 0)
    return;
  from += row * lines.row_stride;
  if (lines.is_wide) {
    next += (end - begin) / CHECKSUM_AT_ONCE * CHECKSUM_AT_ONCE;
    for (TSL_INDEX block = begin; block < next; block += PRODUCTS_AHEAD * 32 * CHECKSUM_AT_ONCE) {
      checksum_load x[PRODUCTS_AHEAD][CHECKSUM_ITEM_ROWS];
      TSL_UNROLL
      for (int u = 0; u < PRODUCTS_AHEAD; u++) {
        const TSL_INDEX l = block + (u * 32 + lane) * CHECKSUM_AT_ONCE;
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
          x[u][r] = checksum_no_load();
          if (l < next && r < left)
            x[u][r] = checksum_load_whole(from + r * lines.row_stride + l);
        }
      }
      TSL_UNROLL
      for (int u = 0; u < PRODUCTS_AHEAD; u++) {
        const TSL_INDEX start = block + u * 32 * CHECKSUM_AT_ONCE;
        if (start + lane * CHECKSUM_AT_ONCE >= next)
          break;
        TSL_UNROLL
        for (int e = 0; e < CHECKSUM_AT_ONCE; e++) {
          checksum_load_terms(vectors, bound, pitch, start + e * 32 + lane, terms);
          *bound_sum += terms[CHECKSUM_SUMS - 1];
          TSL_UNROLL
          for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
            checksum_add_term(checksum_get(x[u][r], e), terms, sums[r]);
        }
        TSL_UNROLL
        for (int i = 0; i < CHECKSUM_ITEM_ROWS * CHECKSUM_WORDS; i++)
          nan[i / CHECKSUM_WORDS] |= checksum_find_nan(x[u][i / CHECKSUM_WORDS].word[i % CHECKSUM_WORDS]);
      }
    }
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
      checksum_set_nan(sums[r], CHECKSUM_SUMS, nan[r] != 0);
  }
  for (TSL_INDEX l = next + lane; l < end; l += 32) {
    checksum_load_terms(vectors, bound, pitch, checksum_place(l, CHECKSUM_AT_ONCE), terms);
    *bound_sum += terms[CHECKSUM_SUMS - 1];
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
      if (r < left)
        checksum_add_term(
            checksum_decode(
                from[r * lines.row_stride + l / CHECKSUM_PARTS * lines.step + l % CHECKSUM_PARTS]),
            terms, sums[r]);
  }
}
#else
TSL_FUNCTION void checksum_multiply_rows(TSL_GLOBAL const checksum_component *from, checksum_lines lines,
                                         TSL_INDEX row, TSL_INDEX begin, TSL_INDEX end,
                                         TSL_GLOBAL const checksum_number *vectors,
                                         TSL_GLOBAL const checksum_number *bound, TSL_INDEX pitch,
                                         checksum_row sums[CHECKSUM_ITEM_ROWS], checksum_number *bound_sum) {
  const TSL_INDEX left = lines.rows - row;
  const bool is_whole = lines.is_wide && left >= CHECKSUM_ELEMENTS;
  unsigned nan[CHECKSUM_WORDS] = {0};
  checksum_number terms[CHECKSUM_SUMS];
  if (left <= 0)
    return;
  from += row * lines.row_stride;
  for (TSL_INDEX l = begin / CHECKSUM_PARTS + CHECKSUM_LANE; l < end / CHECKSUM_PARTS;
       l += PRODUCTS_AHEAD * 32) {
    checksum_load x[PRODUCTS_AHEAD];
    TSL_UNROLL
    for (int u = 0; u < PRODUCTS_AHEAD; u++) {
      x[u] = checksum_no_load();
      if (is_whole && l + u * 32 < end / CHECKSUM_PARTS)
        x[u] = checksum_load_whole(from + (l + u * 32) * lines.step);
    }
    TSL_UNROLL
    for (int u = 0; u < PRODUCTS_AHEAD; u++) {
      const TSL_INDEX term = l + u * 32;
      if (term >= end / CHECKSUM_PARTS)
        break;
      TSL_UNROLL
      for (int part = 0; part < CHECKSUM_PARTS; part++) {
        checksum_load_terms(vectors, bound, pitch,
                            checksum_place(term * CHECKSUM_PARTS + part, CHECKSUM_AT_ONCE), terms);
        *bound_sum += terms[CHECKSUM_SUMS - 1];
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ELEMENTS; r++) {
          checksum_number number = checksum_get(x[u], r * CHECKSUM_PARTS + part);
          if (!is_whole && r < left)
            number = checksum_decode(from[r * lines.row_stride + term * lines.step + part]);
          checksum_add_term(number, terms, sums[r]);
        }
      }
      TSL_UNROLL
      for (int i = 0; i < CHECKSUM_WORDS; i++)
        nan[i] |= checksum_find_nan(x[u].word[i]);
    }
  }
  TSL_UNROLL
  for (int e = 0; e < CHECKSUM_AT_ONCE; e++)
    checksum_set_nan(sums[e / CHECKSUM_PARTS], CHECKSUM_SUMS, checksum_is_flagged(nan, e));
}
#endif

TSL_KERNEL_SHARING(TSL_DEVICE_CHECKSUM_ITEMS, 1, 1, PRODUCTS_GROUPS)
tsl_device_checksum_products(TSL_GLOBAL const checksum_component *from, TSL_GLOBAL double *numbers,
                             const tsl_device_checksum_arguments g) {
  TSL_LOCAL checksum_number partial[CHECKSUM_ROWS * CHECKSUM_PITCH];
  checksum_lines lines;
  lines.rows = g.m;
  lines.row_stride = g.a_row_stride * CHECKSUM_PARTS;
  lines.step = g.a_col_stride * CHECKSUM_PARTS;
  lines.is_wide = (g.wide & 1) != 0;
  from += g.a_offset * CHECKSUM_PARTS;
  const int own_place = CHECKSUM_ITEM_ROW * CHECKSUM_PITCH + CHECKSUM_LANE;
  const TSL_INDEX first_row = (TSL_INDEX)TSL_GROUP(0) * CHECKSUM_ROWS, chunk = TSL_GROUP(1),
                  begin = chunk * g.chunk, terms = g.k * CHECKSUM_PARTS,
                  end = begin + g.chunk < terms ? begin + g.chunk : terms;
  TSL_GLOBAL const checksum_number *vector = (TSL_GLOBAL const checksum_number *)(numbers + g.first_vector),
                                   *bound = (TSL_GLOBAL const checksum_number *)(numbers + g.first_bound);
  TSL_GLOBAL checksum_number *out =
      (TSL_GLOBAL checksum_number *)(numbers + g.first_product) + chunk * g.passes * CHECKSUM_SUMS * g.m;
  for (TSL_INDEX pass = 0; pass < g.passes; pass++) {
    TSL_GLOBAL const checksum_number *own_vectors = vector + pass * CHECKSUM_VECTORS * g.pitch;
    checksum_row sums[CHECKSUM_ITEM_ROWS];
    checksum_number bound_sum = 0;
    TSL_UNROLL
    for (int q = 0; q < CHECKSUM_SUMS; q++) {
      TSL_UNROLL
      for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
        sums[r][q] = 0;
    }
    checksum_multiply_rows(from, lines, first_row + CHECKSUM_ITEM_ROW, begin, end, own_vectors, bound,
                           g.pitch, sums, &bound_sum);
    CHECKSUM_UNROLL_JOINS
    for (int q = 0; q < CHECKSUM_SUMS; q++) {
      TSL_UNROLL
      for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
        partial[own_place + r * CHECKSUM_PITCH] = checksum_item_sum(&g, sums[r][q], bound_sum, q);
      checksum_join(partial, CHECKSUM_ROWS);
      for (int r = TSL_ITEM(0); r < CHECKSUM_ROWS; r += TSL_DEVICE_CHECKSUM_ITEMS)
        if (first_row + r < lines.rows)
          out[(pass * CHECKSUM_SUMS + q) * g.m + first_row + r] = partial[r * CHECKSUM_PITCH];
      TSL_BARRIER();
    }
  }
}
