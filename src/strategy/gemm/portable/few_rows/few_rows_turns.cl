/* few_rows.cl where columns of B are contiguous, with order=turns. The SLICES items of a column read adjacent
 * vectors, and FLIGHT of each item are on their way. Local memory is not needed.
 *
 *   column 0  | item 0 1 2 ... SLICES - 1 | item 0 1 2 ... | ... FLIGHT turns are read together
 *
 * Rows of A are contiguous, too, and stay in the cache of the group's unit. */
#include "units.h"

#define LINES_WORDS WORDS /* none */
#define NUMBERS (FOLD_ROWS * FOLD_ROW)
#define TURN (SLICES * VECTOR_ELEMENTS) /* k of a turn */

/* Reads the vectors of row `i` of A at depth k: at once where lines are aligned, else element by element. */
TSL_FUNCTION void read_of_a(TSL_REAL x[VECTOR_NUMBERS], TSL_GLOBAL const tsl_element *a,
                            const tsl_gemm_arguments *g, int i, TSL_INDEX k, bool whole) {
  TSL_GLOBAL const tsl_element *from =
      a + (g->a_offset + i * g->a_row_stride + k * g->a_col_stride) * TSL_NUMBERS;
  if (whole) {
    WORD words[WORDS];
    to_words(words, TSL_LOAD_ALIGNED(WORD, WORDS, (TSL_GLOBAL const WORD *)from));
    unpack(x, words, CONJUGATE_A);
    return;
  }
  TSL_UNROLL
  for (int e = 0; e < VECTOR_NUMBERS; e++)
    x[e] = load_of_a(from + e / TSL_NUMBERS * g->a_col_stride * TSL_NUMBERS, e % TSL_NUMBERS, true);
}

/* Adds the products of the item's vectors, of the group's part of k that has whole reads. */
TSL_FUNCTION void multiply(TSL_REAL sum[ROWS][SUMS], TSL_GLOBAL const tsl_element *a,
                           TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                           const few_place *where) {
  const TSL_INDEX col = where->col + where->column, part = where->begin + SLICES * where->depth,
                  end = part < where->end ? part : where->end;
  const bool whole = g->a_col_stride == 1 && g->a_offset % VECTOR_ELEMENTS == 0 &&
                     (ROWS == 1 || g->a_row_stride % VECTOR_ELEMENTS == 0);
  TSL_INDEX k = where->begin + where->slice * VECTOR_ELEMENTS;
  TSL_GLOBAL const tsl_element *from =
      b + (g->b_offset + (col < g->n ? col : 0) * g->b_col_stride + k) * TSL_NUMBERS;
  TSL_UNROLL_BY(1)
  for (; k < end; k += FLIGHT * TURN) {
    WORD held[FLIGHT][WORDS];
    TSL_UNROLL
    for (int f = 0; f < FLIGHT; f++)
      load_words_if(k + f * TURN < end, held[f], from + f * TURN * TSL_NUMBERS);
    TSL_UNROLL
    for (int f = 0; f < FLIGHT; f++) {
      TSL_REAL y[VECTOR_NUMBERS];
      unpack(y, held[f], CONJUGATE_B);
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++) {
        TSL_REAL x[VECTOR_NUMBERS];
        if (k + f * TURN < end) {
          read_of_a(x, a, g, i, k + f * TURN, whole);
          TSL_UNROLL
          for (int e = 0; e < VECTOR_NUMBERS; e += TSL_NUMBERS)
            add_product(sum[i], x + e, y + e);
        }
      }
    }
    from += FLIGHT * TURN * TSL_NUMBERS;
  }
}
