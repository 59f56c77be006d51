/* few_rows.cl where columns of B are contiguous (B_ALONG_K): lines of FLIGHT vectors go through local memory.
 */
#include "units.h"

/* Lines are WORDS further apart than their words, against bank conflicts. */
#define LINE (FLIGHT * WORDS)
#define LINE_NUMBERS (LINE * PACKED)
#define LINE_DEPTH (LINE_NUMBERS / TSL_NUMBERS) /* k of a turn */
#define PITCH (LINE + WORDS)
#define LINES_WORDS (ITEMS * PITCH)
#define THIN (SLICES * ROWS * LINE_NUMBERS) /* numbers of A of a turn */
/* Numbers of A that an item copies for its slice in a turn. */
#define THIN_PASSES ((ROWS * LINE_NUMBERS + COLUMNS - 1) / COLUMNS)
#define FOLD (FOLD_ROWS * FOLD_ROW)
#define NUMBERS (THIN > FOLD ? THIN : FOLD)

/* Reads of an item in a turn: `within` of the lines from `line` on. */
#define LINE_READS (FLIGHT * READS)
typedef struct few_lines {
  TSL_GLOBAL const tsl_element *from;   /* of the next turn, in line `line` */
  TSL_INDEX left;                       /* k from there on */
  TSL_INDEX step, col_step, slice_step; /* numbers between depths, columns and slices */
  int inside;                           /* columns of the matrix from the line's on, 1 at least */
  int line, within;
} few_lines;

TSL_FUNCTION void lines_start(few_lines *lines, TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                              const few_place *where) {
  const int width = LINE_READS;
  lines->line = where->item / width * width;
  lines->within = where->item % width;
  const int number = lines->within * READ_WORDS * PACKED;
  const TSL_INDEX col = where->col + lines->line % COLUMNS;
  const TSL_INDEX start = where->begin + lines->line / COLUMNS * where->depth + number / TSL_NUMBERS;
  lines->inside = col >= g->n ? 1 : g->n - col < COLUMNS ? (int)(g->n - col) : COLUMNS;
  lines->left = where->end - start;
  lines->step = g->b_row_stride * TSL_NUMBERS;
  lines->col_step = g->b_col_stride * TSL_NUMBERS;
  lines->slice_step = where->depth * lines->step;
  lines->from =
      b + g->b_offset * TSL_NUMBERS + (col < g->n ? col : 0) * lines->col_step + start * lines->step;
}

/* Reads the item's part of a turn's lines. Columns outside of the matrix are the last one's. */
TSL_FUNCTION void lines_read(few_lines *lines, WORD held[LINE], const few_place *where) {
  TSL_GLOBAL const tsl_element *from = lines->from;
  TSL_INDEX left = lines->left;
  TSL_UNROLL
  for (int p = 0; p < LINE_READS; p++) {
    if (p > 0 && p % COLUMNS == 0) {
      from = lines->from + p / COLUMNS * lines->slice_step;
      left = lines->left - p / COLUMNS * where->depth;
    } else if (p > 0 && p % COLUMNS < lines->inside) {
      from += lines->col_step;
    }
#if HALVES
    held[p] = load_halves(from, lines->step, left);
#else
    load_words_if(left > 0, held + p * READ_WORDS, from);
#endif
  }
  lines->from += LINE_DEPTH * lines->step;
  lines->left -= LINE_DEPTH;
}

TSL_FUNCTION void lines_store(const few_lines *lines, const WORD held[LINE], TSL_LOCAL_POINTER WORD *memory) {
  TSL_UNROLL
  for (int p = 0; p < LINE_READS; p++) {
    TSL_LOCAL_POINTER WORD *to = memory + (lines->line + p) * PITCH + lines->within * READ_WORDS;
    const WORD *words = held + p * READ_WORDS;
#if READ_WORDS == 1
    *to = words[0];
#else
    TSL_VECTOR(WORD, READ_WORDS) vector = TSL_SPLAT(WORD, READ_WORDS, words[0]);
    TSL_LANE(vector, 1) = words[1];
#if READ_WORDS == 4
    TSL_LANE(vector, 2) = words[2];
    TSL_LANE(vector, 3) = words[3];
#endif
    TSL_LOCAL_STORE(WORD, READ_WORDS, to, vector);
#endif
  }
}

/* Returns the row of A of the item's pass, and its number in the line of a turn. */
TSL_FUNCTION int thin_row(const few_place *where, int pass) {
  return where->column / LINE_NUMBERS + pass * COLUMNS / LINE_NUMBERS;
}

TSL_FUNCTION int thin_number(const few_place *where, int pass) {
  return (where->column + pass * COLUMNS) % LINE_NUMBERS;
}

/* Reads the item's numbers of A, of its slice, for the turn at `turn` depths. */
TSL_FUNCTION void thin_read(TSL_REAL held[THIN_PASSES], TSL_GLOBAL const tsl_element *a,
                            const tsl_gemm_arguments *g, const few_place *where, TSL_INDEX turn) {
  const TSL_INDEX first = where->begin + where->slice * where->depth + turn;
  TSL_GLOBAL const tsl_element *from = a + (g->a_offset + first * g->a_col_stride) * TSL_NUMBERS;
  TSL_UNROLL
  for (int p = 0; p < THIN_PASSES; p++) {
    const int row = thin_row(where, p), number = thin_number(where, p), k = number / TSL_NUMBERS;
    held[p] = load_of_a(from + (row * g->a_row_stride + k * g->a_col_stride) * TSL_NUMBERS,
                        number % TSL_NUMBERS, first + k < where->end && row < ROWS);
  }
}

/* Stores them in rows of LINE_NUMBERS, by slices. */
TSL_FUNCTION void thin_store(const TSL_REAL held[THIN_PASSES], TSL_LOCAL_POINTER TSL_REAL *thin,
                             const few_place *where) {
  TSL_UNROLL
  for (int p = 0; p < THIN_PASSES; p++)
    if (thin_row(where, p) < ROWS)
      thin[(where->slice * ROWS + thin_row(where, p)) * LINE_NUMBERS + thin_number(where, p)] = held[p];
}

/* Adds the products of the item's line; `thin` has the row of A for its first number. */
TSL_FUNCTION void multiply_line(TSL_REAL sum[ROWS][SUMS], TSL_LOCAL_POINTER const WORD *line,
                                TSL_LOCAL_POINTER const TSL_REAL *thin) {
  TSL_UNROLL
  for (int v = 0; v < FLIGHT; v++) {
    WORD words[WORDS];
    TSL_REAL y[VECTOR_NUMBERS], x[VECTOR_NUMBERS];
    to_words(words, TSL_LOCAL_LOAD(WORD, WORDS, line + v * WORDS));
    unpack(y, words);
    TSL_UNROLL
    for (int i = 0; i < ROWS; i++) {
      TSL_LOCAL_POINTER const TSL_REAL *row = thin + i * LINE_NUMBERS + v * VECTOR_NUMBERS;
      TSL_UNROLL
      for (int e = 0; e < VECTOR_NUMBERS; e += TSL_LANES)
        tsl_lanes_to_array(x + e, TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, row + e));
      TSL_UNROLL
      for (int e = 0; e < VECTOR_NUMBERS; e += TSL_NUMBERS)
        add_product(sum[i], x + e, y + e);
    }
  }
}

/* Adds the products of all lines: the next turn's reads are on their way while a turn is multiplied. */
TSL_FUNCTION void multiply(TSL_REAL sum[ROWS][SUMS], TSL_GLOBAL const tsl_element *a,
                           TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                           const few_place *where, TSL_LOCAL_POINTER WORD *memory,
                           TSL_LOCAL_POINTER TSL_REAL *thin) {
  const TSL_INDEX left = where->end - where->begin, most = left < where->depth ? left : where->depth;
  TSL_LOCAL_POINTER const TSL_REAL *row = thin + where->slice * ROWS * LINE_NUMBERS;
  few_lines lines;
  WORD held[LINE];
  TSL_REAL held_thin[THIN_PASSES];
  lines_start(&lines, b, g, where);
  lines_read(&lines, held, where);
  thin_read(held_thin, a, g, where, 0);
  for (TSL_INDEX turn = 0; turn < most; turn += LINE_DEPTH) {
    lines_store(&lines, held, memory);
    thin_store(held_thin, thin, where);
    TSL_BARRIER();
    if (turn + LINE_DEPTH < most) {
      lines_read(&lines, held, where);
      thin_read(held_thin, a, g, where, turn + LINE_DEPTH);
    }
    multiply_line(sum, memory + where->item * PITCH, row);
    TSL_BARRIER();
  }
}
