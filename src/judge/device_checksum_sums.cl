/* Sums of the rows of B, or of C, by segments of columns (kernel/checksum_elements.h). Each part of the
 * elements has a sum with weights. Magnitudes have one sum. */
#include "checksum_elements.h"

/* Sums elements begin to end of CHECKSUM_ITEM_ROWS rows from `row` on. */
#if CHECKSUM_BY_ROW
TSL_FUNCTION void checksum_sum_rows(TSL_GLOBAL const checksum_component *from, checksum_lines lines,
                                    TSL_INDEX row, TSL_INDEX begin, TSL_INDEX end,
                                    checksum_number sums[CHECKSUM_ITEM_ROWS][CHECKSUM_PARTS + 1]) {
  const int lane = CHECKSUM_LANE;
  unsigned nan[CHECKSUM_ITEM_ROWS] = {0};
  const TSL_INDEX left = lines.rows - row;
  TSL_INDEX next = begin;
  if (left <= 0)
    return;
  from += row * lines.row_stride;
  if (lines.is_wide) {
    next += (end - begin) / CHECKSUM_ELEMENTS * CHECKSUM_ELEMENTS;
    for (TSL_INDEX j = begin + lane * CHECKSUM_ELEMENTS; j < next;
         j += CHECKSUM_AHEAD * 32 * CHECKSUM_ELEMENTS) {
      checksum_load x[CHECKSUM_AHEAD][CHECKSUM_ITEM_ROWS];
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        const TSL_INDEX col = j + u * 32 * CHECKSUM_ELEMENTS;
        TSL_UNROLL
        for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
          x[u][r] = checksum_no_load();
          if (col < next && r < left)
            x[u][r] = checksum_load_whole(from + r * lines.row_stride + col * CHECKSUM_PARTS);
        }
      }
      TSL_UNROLL
      for (int u = 0; u < CHECKSUM_AHEAD; u++) {
        checksum_number weights[CHECKSUM_ELEMENTS];
        checksum_set_weights(j + u * 32 * CHECKSUM_ELEMENTS, CHECKSUM_ELEMENTS, weights);
        TSL_UNROLL
        for (int i = 0; i < CHECKSUM_ITEM_ROWS * CHECKSUM_AT_ONCE; i++) {
          const int r = i / CHECKSUM_AT_ONCE, e = i % CHECKSUM_AT_ONCE;
          const checksum_number number = checksum_get(x[u][r], e);
          sums[r][e % CHECKSUM_PARTS] += number * weights[e / CHECKSUM_PARTS];
          sums[r][CHECKSUM_PARTS] += checksum_magnitude(number);
          if (e < CHECKSUM_WORDS)
            nan[r] |= checksum_find_nan(x[u][r].word[e % CHECKSUM_WORDS]);
        }
      }
    }
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
      checksum_set_nan(sums[r], CHECKSUM_PARTS + 1, nan[r] != 0);
  }
  for (TSL_INDEX j = next + lane; j < end; j += 32) {
    checksum_number weight[1];
    checksum_set_weights(j, 1, weight);
    TSL_UNROLL
    for (int i = 0; i < CHECKSUM_ITEM_ROWS * CHECKSUM_PARTS; i++) {
      const int r = i / CHECKSUM_PARTS, part = i % CHECKSUM_PARTS;
      checksum_number number = 0;
      if (r < left)
        number = checksum_decode(from[r * lines.row_stride + j * lines.step + part]);
      sums[r][part] += number * weight[0];
      sums[r][CHECKSUM_PARTS] += checksum_magnitude(number);
    }
  }
}

#else
TSL_FUNCTION void checksum_sum_rows(TSL_GLOBAL const checksum_component *from, checksum_lines lines,
                                    TSL_INDEX row, TSL_INDEX begin, TSL_INDEX end,
                                    checksum_number sums[CHECKSUM_ITEM_ROWS][CHECKSUM_PARTS + 1]) {
  const TSL_INDEX left = lines.rows - row;
  const bool is_whole = lines.is_wide && left >= CHECKSUM_ELEMENTS;
  unsigned nan[CHECKSUM_WORDS] = {0};
  if (left <= 0)
    return;
  from += row * lines.row_stride;
  for (TSL_INDEX j = begin + CHECKSUM_LANE; j < end; j += CHECKSUM_AHEAD * 32) {
    checksum_load x[CHECKSUM_AHEAD];
    TSL_UNROLL
    for (int u = 0; u < CHECKSUM_AHEAD; u++) {
      x[u] = checksum_no_load();
      if (is_whole && j + u * 32 < end)
        x[u] = checksum_load_whole(from + (j + u * 32) * lines.step);
    }
    TSL_UNROLL
    for (int u = 0; u < CHECKSUM_AHEAD; u++) {
      const TSL_INDEX col = j + u * 32;
      checksum_number weight[1];
      checksum_set_weights(col, 1, weight);
      TSL_UNROLL
      for (int e = 0; e < CHECKSUM_AT_ONCE; e++) {
        checksum_number number = checksum_get(x[u], e);
        if (!is_whole && e / CHECKSUM_PARTS < left && col < end)
          number = checksum_decode(
              from[e / CHECKSUM_PARTS * lines.row_stride + col * lines.step + e % CHECKSUM_PARTS]);
        sums[e / CHECKSUM_PARTS][e % CHECKSUM_PARTS] += number * weight[0];
        sums[e / CHECKSUM_PARTS][CHECKSUM_PARTS] += checksum_magnitude(number);
        if (e < CHECKSUM_WORDS)
          nan[e % CHECKSUM_WORDS] |= checksum_find_nan(x[u].word[e % CHECKSUM_WORDS]);
      }
    }
  }
  TSL_UNROLL
  for (int e = 0; e < CHECKSUM_AT_ONCE; e++)
    checksum_set_nan(sums[e / CHECKSUM_PARTS], CHECKSUM_PARTS + 1, checksum_is_flagged(nan, e));
}
#endif

/* Stores a sum of a segment, of one part: for C a row of numbers, for B the terms of vectors. */
TSL_FUNCTION void checksum_store_sum(TSL_GLOBAL double *buffer, const tsl_device_checksum_arguments *g,
                                     bool is_b, TSL_INDEX segment, TSL_INDEX row, int what,
                                     checksum_number sum) {
  TSL_GLOBAL checksum_number *numbers = (TSL_GLOBAL checksum_number *)buffer;
  const bool is_size = what == CHECKSUM_PARTS;
#if CHECKSUM_HIDES_NAN
  sum *= checksum_power(CHECKSUM_SCALE);
#endif
  if (!is_b) {
    ((TSL_GLOBAL checksum_sum *)
         buffer)[(is_size ? g->segments * CHECKSUM_PARTS + segment : segment * CHECKSUM_PARTS + what) * g->m +
                 row] = sum;
    return;
  }
  if (is_size) {
#if !CHECKSUM_INTEGER
    numbers = (TSL_GLOBAL checksum_number *)(buffer + g->first_size);
    numbers[segment * g->pitch + checksum_place(row, (int)g->at_once)] = sum;
#endif
    return;
  }
#if !CHECKSUM_INTEGER && !CHECKSUM_SINGLE
  sum *= checksum_power((int)g->vector_scale);
#endif
#if CHECKSUM_PARTS == 1
  numbers[segment * g->pitch + checksum_place(row, (int)g->at_once)] = sum;
#else
  /* (x + iy) (s + it): rows x s - y t and x t + y s; conjugation of A and of B changes signs */
  const TSL_INDEX re = checksum_place(2 * row, (int)g->at_once),
                  im = checksum_place(2 * row + 1, (int)g->at_once);
  TSL_GLOBAL checksum_number *of_re = numbers + 2 * segment * g->pitch, *of_im = of_re + g->pitch;
  const checksum_number own = what == 1 && g->conjugate_b ? -sum : sum, turned = g->conjugate_a ? -own : own;
  (what == 0 ? of_re : of_im)[re] = own;
  (what == 0 ? of_im : of_re)[im] = what == 0 ? turned : -turned;
#endif
}

TSL_KERNEL_SHARING(TSL_DEVICE_CHECKSUM_ITEMS, 1, 1, 2)
tsl_device_checksum_sums(TSL_GLOBAL const checksum_component *from, TSL_GLOBAL double *numbers,
                         const tsl_device_checksum_arguments g, const TSL_INDEX first,
                         const TSL_INDEX operand) {
  TSL_LOCAL checksum_number partial[CHECKSUM_ROWS * CHECKSUM_PITCH];
  const bool is_b = operand == CHECKSUM_B;
  checksum_lines lines;
  lines.rows = is_b ? g.k : g.m;
  lines.row_stride = (is_b ? g.b_row_stride : g.c_row_stride) * CHECKSUM_PARTS;
  lines.step = (is_b ? g.b_col_stride : g.c_col_stride) * CHECKSUM_PARTS;
  lines.is_wide = (g.wide >> operand & 1) != 0;
  from += (is_b ? g.b_offset : g.c_offset) * CHECKSUM_PARTS;
  const int own_place = CHECKSUM_ITEM_ROW * CHECKSUM_PITCH + CHECKSUM_LANE;
  const TSL_INDEX first_row = (TSL_INDEX)TSL_GROUP(0) * CHECKSUM_ROWS, segment = TSL_GROUP(1),
                  begin = segment * g.width, end = begin + g.width < g.n ? begin + g.width : g.n;
  checksum_number sums[CHECKSUM_ITEM_ROWS][CHECKSUM_PARTS + 1];
  TSL_UNROLL
  for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++) {
    TSL_UNROLL
    for (int what = 0; what <= CHECKSUM_PARTS; what++)
      sums[r][what] = 0;
  }
  checksum_sum_rows(from, lines, first_row + CHECKSUM_ITEM_ROW, begin, end, sums);
  CHECKSUM_UNROLL_JOINS
  for (int what = 0; what <= CHECKSUM_PARTS; what++) {
    TSL_UNROLL
    for (int r = 0; r < CHECKSUM_ITEM_ROWS; r++)
      partial[own_place + r * CHECKSUM_PITCH] = sums[r][what];
    checksum_join(partial, CHECKSUM_ROWS);
    for (int r = TSL_ITEM(0); r < CHECKSUM_ROWS; r += TSL_DEVICE_CHECKSUM_ITEMS)
      if (first_row + r < lines.rows)
        checksum_store_sum(numbers + first, &g, is_b, segment, first_row + r, what,
                           partial[r * CHECKSUM_PITCH]);
    TSL_BARRIER();
  }
}
