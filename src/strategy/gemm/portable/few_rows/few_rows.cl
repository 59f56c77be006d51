/* Idea: C has at most eight rows, so all time goes to reading the large operand. An item has one column, or
 * one vector of columns, of all rows of C. It reads a contiguous part of k of B, with FLIGHT vectors of 16
 * bytes on their way, and adds products in the order of k. Beyond `thin_tile`: complex and 16-bit
 * elements; reads of adjacent memory by adjacent items for any alignment; and sums whose order is k's in each
 * part.
 *
 *               n (large)                        B_ALONG_K: columns of B are contiguous. Lines of FLIGHT
 *            +----+----+----+                    vectors go through local memory, since an item adds one
 *   slice 0  |    |    |    |  A: m x k, m <= 8  column, but adjacent items read one line:
 *   slice 1  |    |item|    |
 *   ...      |    |    |    |                       column 0  | item 0 1 2 3 ... FLIGHT - 1 |
 *            +----+----+----+                       column 1  | the next items              |
 *         C  |    | sum of slices in order
 *            +----+----+----+                    Else rows of B are contiguous, and items read their vectors.
 *
 * READ: elements that are read at once, fewer than a vector has where lines are not aligned: adjacent items,
 * adjacent memory. Items of a group: COLUMNS along n by SLICES of k. The host swaps A and B where C has few
 * columns. Grid: dimension 0 counts groups along n; dimension 1 k splits, whose sums
 * kernel_launch/split_k_sum.cl adds; dimension 2 products of a batch.
 *
 * Defines of the host: ROWS: rows of C; B_ALONG_K; READ; GROUPS of a unit; SWAPPED (1: A is the problem's B)
 * and CONJUGATE_A, CONJUGATE_B of complex types. Any sizes, strides and alignment. */
#include "units.h"

#define COLUMNS TSL_PARAM_ITEMS_N
#define SLICES TSL_PARAM_SLICES
#define FLIGHT TSL_PARAM_FLIGHT
#define ITEMS (COLUMNS * SLICES)

/* Word: a number as in memory, or two of 16 bits. */
#if TSL_TYPE_AB == TSL_TYPE_REAL
#define PACKED 1
#define WORDS TSL_LANES /* of a vector */
#define WORD TSL_REAL
#else
#define PACKED 2
#define WORDS 4
#define WORD int
#endif
#define VECTOR_NUMBERS (WORDS * PACKED)
#define VECTOR_ELEMENTS (VECTOR_NUMBERS / TSL_NUMBERS)
/* Words of a read. Numbers of 16 bits that are read one by one (HALVES) make a word in pairs. */
#define HALVES (READ * TSL_NUMBERS < PACKED)
#if READ * TSL_NUMBERS == 4 * PACKED
#define READ_WORDS 4
#elif READ * TSL_NUMBERS == 2 * PACKED
#define READ_WORDS 2
#else
#define READ_WORDS 1
#endif
#define READS (WORDS / READ_WORDS) /* of a vector */

/* Sums of an item in a row of C, in numbers; columns of a group, in elements. */
#define SUMS (B_ALONG_K ? TSL_NUMBERS : VECTOR_NUMBERS)
#define GROUP_COLUMNS (B_ALONG_K ? COLUMNS : COLUMNS * VECTOR_ELEMENTS)

/* Slices' sums: of all rows at a time if they fit in 16 KiB, else row by row. */
#define FOLD_ROW (SLICES * GROUP_COLUMNS * TSL_NUMBERS)
#define FOLD_ROWS (ROWS * FOLD_ROW * (int)sizeof(TSL_REAL) <= 16384 ? ROWS : 1)

#if TSL_PARAM_SPLIT > 1
#define few_result TSL_REAL
#else
#define few_result tsl_result
#endif

typedef struct few_place {
  int item, column, slice;     /* of the group's items; column: of items along n */
  TSL_INDEX col;               /* first column of the group */
  TSL_INDEX begin, depth, end; /* k of the group's first slice, of a slice, and of all */
} few_place;

/* Returns the column of the group of an element of the item's vector. Adjacent items have adjacent reads. */
TSL_FUNCTION int column_of(const few_place *where, int element) {
  return B_ALONG_K ? where->column : (element / READ * COLUMNS + where->column) * READ + element % READ;
}

TSL_FUNCTION void to_words(WORD *words, TSL_VECTOR(WORD, WORDS) vector) {
  words[0] = TSL_LANE(vector, 0);
  words[1] = TSL_LANE(vector, 1);
#if WORDS == 4
  words[2] = TSL_LANE(vector, 2);
  words[3] = TSL_LANE(vector, 3);
#endif
}

/* Reads READ_WORDS words; zeros unless `inside`. */
TSL_FUNCTION void load_words_if(bool inside, WORD *words, TSL_GLOBAL const tsl_element *from) {
#if READ_WORDS == WORDS
  TSL_VECTOR(WORD, WORDS) vector = TSL_SPLAT(WORD, WORDS, 0);
  if (inside)
    vector = TSL_LOAD_ALIGNED(WORD, WORDS, (TSL_GLOBAL const WORD *)from);
  to_words(words, vector);
#elif READ_WORDS == 2
  TSL_VECTOR(WORD, 2) vector = TSL_SPLAT(WORD, 2, 0);
  if (inside)
    vector = TSL_LOAD_ALIGNED(WORD, 2, (TSL_GLOBAL const WORD *)from);
  words[0] = TSL_LANE(vector, 0);
  words[1] = TSL_LANE(vector, 1);
#else
  words[0] = inside ? *(TSL_GLOBAL const WORD *)from : 0;
#endif
}

#if HALVES
/* Returns a word of the number at `from` and the number `step` after it, of `count` that exist. */
TSL_FUNCTION WORD load_halves(TSL_GLOBAL const tsl_element *from, TSL_INDEX step, TSL_INDEX count) {
  const unsigned low = count > 0 ? from[0] : 0, high = count > 1 ? from[step] : 0;
  return (int)(low | high << 16);
}
#endif

TSL_FUNCTION void unpack(TSL_REAL *numbers, const WORD *words) {
  TSL_UNROLL
  for (int w = 0; w < WORDS; w++) {
#if PACKED == 1
    numbers[w] = words[w];
#else
    numbers[2 * w] = tsl_number((unsigned short)words[w], true);
    numbers[2 * w + 1] = tsl_number((unsigned short)((unsigned)words[w] >> 16), true);
#endif
  }
#ifdef TSL_COMPLEX
  TSL_UNROLL
  for (int w = 1; w < WORDS && CONJUGATE_B; w += 2)
    numbers[w] = -numbers[w];
#endif
}

/* Returns number `part` of an element of A; 0 unless `inside`. */
TSL_FUNCTION TSL_REAL load_of_a(TSL_GLOBAL const tsl_element *element, int part, bool inside) {
  const TSL_REAL number = inside ? tsl_number(element[part], true) : (TSL_REAL)0;
#ifdef TSL_COMPLEX
  return CONJUGATE_A && part == 1 ? -number : number;
#else
  return number;
#endif
}

/* Adds the product of an element of A and an element of B. */
TSL_FUNCTION void add_product(TSL_REAL *sum, const TSL_REAL *x, const TSL_REAL *y) {
#ifdef TSL_COMPLEX
  sum[0] = TSL_FMA(x[0], y[0], sum[0]);
  sum[1] = TSL_FMA(x[SWAPPED], y[1 - SWAPPED], sum[1]);
  sum[1] = TSL_FMA(x[1 - SWAPPED], y[SWAPPED], sum[1]);
  sum[0] = TSL_FMA(-x[1], y[1], sum[0]);
#else
  sum[0] = TSL_FMA(x[0], y[0], sum[0]);
#endif
}

#if B_ALONG_K
#include "few_rows_columns.cl"
#else
#define LINES_WORDS WORDS /* none */
#define NUMBERS (FOLD_ROWS * FOLD_ROW)

/* Operands of the item's next depth. */
typedef struct few_stream {
  TSL_GLOBAL const tsl_element *a, *b;             /* b: the item's first column */
  TSL_INDEX left;                                  /* depths of the slice */
  TSL_INDEX a_step, a_row_step, b_step, read_step; /* read_step: numbers between the vector's reads */
  int inside; /* reads of the vector that begin inside of the matrix, at least 1 */
} few_stream;

TSL_FUNCTION void stream_start(few_stream *stream, TSL_GLOBAL const tsl_element *a,
                               TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                               const few_place *where) {
  const TSL_INDEX first = where->begin + where->slice * where->depth, left = where->end - first;
  const TSL_INDEX col = where->col + column_of(where, 0);
  stream->inside = 1;
  TSL_UNROLL
  for (int e = READ; e < VECTOR_ELEMENTS; e += READ)
    stream->inside += where->col + column_of(where, e) < g->n;
  stream->left = left < where->depth ? left : where->depth;
  stream->a_step = g->a_col_stride * TSL_NUMBERS;
  stream->a_row_step = g->a_row_stride * TSL_NUMBERS;
  stream->b_step = g->b_row_stride * TSL_NUMBERS;
  stream->read_step = COLUMNS * READ * g->b_col_stride * TSL_NUMBERS;
  stream->a = a + g->a_offset * TSL_NUMBERS + first * stream->a_step;
  stream->b =
      b + (g->b_offset + (col < g->n ? col : 0) * g->b_col_stride) * TSL_NUMBERS + first * stream->b_step;
}

/* Reads a depth; past the slice's end zeros. Columns outside of the matrix are the last one's. */
TSL_FUNCTION void stream_read(few_stream *stream, WORD words[WORDS], TSL_REAL x[ROWS * TSL_NUMBERS]) {
  const bool inside = stream->left > 0;
  TSL_GLOBAL const tsl_element *from = stream->b;
  TSL_UNROLL
  for (int r = 0; r < READS; r++) {
#if HALVES
    if (r > 0 && 2 * r < stream->inside)
      from += 2 * stream->read_step;
    words[r] = load_halves(from, 2 * r + 1 < stream->inside ? stream->read_step : 0, inside ? 2 : 0);
#else
    if (r > 0 && r < stream->inside)
      from += stream->read_step;
    load_words_if(inside, words + r * READ_WORDS, from);
#endif
  }
  TSL_UNROLL
  for (int i = 0; i < ROWS; i++)
    TSL_UNROLL
  for (int part = 0; part < TSL_NUMBERS; part++)
    x[i * TSL_NUMBERS + part] = load_of_a(stream->a + i * stream->a_row_step, part, inside);
  stream->a += stream->a_step;
  stream->b += stream->b_step;
  stream->left--;
}

/* Adds the products of the item's vectors, FLIGHT depths at a time. Reads ahead in turn would wait for each
 * other: 32 items have six counters to wait by. */
TSL_FUNCTION void multiply(TSL_REAL sum[ROWS][SUMS], TSL_GLOBAL const tsl_element *a,
                           TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                           const few_place *where) {
  few_stream stream;
  WORD held[FLIGHT][WORDS];
  TSL_REAL x[FLIGHT][ROWS * TSL_NUMBERS];
  stream_start(&stream, a, b, g, where);
  while (stream.left > 0) {
    TSL_UNROLL
    for (int f = 0; f < FLIGHT; f++)
      stream_read(&stream, held[f], x[f]);
    TSL_UNROLL
    for (int f = 0; f < FLIGHT; f++) {
      TSL_REAL y[VECTOR_NUMBERS];
      unpack(y, held[f]);
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++)
        TSL_UNROLL
      for (int e = 0; e < VECTOR_NUMBERS; e += TSL_NUMBERS)
        add_product(sum[i] + e, x[f] + i * TSL_NUMBERS, y + e);
    }
  }
}
#endif

#if READ > 1
/* Adds products one by one, from depth `first` of the matrix to the slice's end or `end`. */
TSL_FUNCTION void multiply_plainly(TSL_REAL sum[ROWS][SUMS], TSL_GLOBAL const tsl_element *a,
                                   TSL_GLOBAL const tsl_element *b, const tsl_gemm_arguments *g,
                                   const few_place *where, TSL_INDEX first, TSL_INDEX end) {
  const TSL_INDEX start = where->begin + where->slice * where->depth;
  TSL_INDEX k = first < start ? start : first;
  end = end < start + where->depth ? end : start + where->depth;
  TSL_UNROLL_BY(1)
  for (; k < end; k++)
    TSL_UNROLL
  for (int e = 0; e < SUMS; e += TSL_NUMBERS) {
    const TSL_INDEX col = where->col + column_of(where, e / TSL_NUMBERS);
    TSL_GLOBAL const tsl_element *from =
        b + (g->b_offset + k * g->b_row_stride + (col < g->n ? col : 0) * g->b_col_stride) * TSL_NUMBERS;
    TSL_REAL y[TSL_NUMBERS], x[TSL_NUMBERS];
    y[0] = tsl_number(from[0], true);
#ifdef TSL_COMPLEX
    y[1] = CONJUGATE_B ? -from[1] : from[1];
#endif
    TSL_UNROLL
    for (int i = 0; i < ROWS; i++) {
      TSL_UNROLL
      for (int part = 0; part < TSL_NUMBERS; part++)
        x[part] = load_of_a(a + (g->a_offset + i * g->a_row_stride + k * g->a_col_stride) * TSL_NUMBERS, part,
                            true);
      add_product(sum[i] + e, x, y);
    }
  }
}

/* Returns the depths that are read READ elements at a time, from 0 on. Along k: whole reads. Else all, but
 * the last depth where the matrix' last column cuts a read of the item: it may end outside of the operand. */
TSL_FUNCTION TSL_INDEX depths_of_reads(const tsl_gemm_arguments *g, const few_place *where) {
#if B_ALONG_K
  (void)where;
  return g->b_row_stride == 1 && (g->b_offset | g->b_col_stride) % READ == 0 ? g->k / READ * READ : 0;
#else
  bool cut = false;
  TSL_UNROLL
  for (int e = 0; e < VECTOR_ELEMENTS; e += READ) {
    const TSL_INDEX left = g->n - where->col - column_of(where, e);
    cut = cut || (left > 0 && left < READ);
  }
  const TSL_INDEX depths = g->b_col_stride == 1 && (g->b_offset | g->b_row_stride) % READ == 0 ? g->k : 0;
  return cut && depths > 0 ? depths - 1 : depths;
#endif
}
#endif

/* Adds the slices' sums of one element and stores it. */
TSL_FUNCTION void fold(TSL_LOCAL_POINTER const TSL_REAL *sums, TSL_GLOBAL few_result *c,
                       const tsl_gemm_arguments *g) {
  TSL_REAL total[TSL_NUMBERS];
  TSL_UNROLL
  for (int part = 0; part < TSL_NUMBERS; part++) {
    total[part] = sums[part];
    TSL_UNROLL
    for (int s = 1; s < SLICES; s++)
      total[part] += sums[s * GROUP_COLUMNS * TSL_NUMBERS + part];
  }
#if TSL_PARAM_SPLIT > 1
  TSL_UNROLL
  for (int part = 0; part < TSL_NUMBERS; part++)
    c[part] = total[part];
#elif defined(TSL_COMPLEX)
  tsl_store_element_of_c(c, total, g);
#else
  tsl_store_scaled(c, total[0], g->alpha, g->beta);
#endif
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_few_rows(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                  TSL_GLOBAL few_result *TSL_RESTRICT c, const tsl_gemm_arguments args,
                  const TSL_INDEX depth /* k of a slice */,
                  const TSL_INDEX split_step /* elements between splits of C */, const TSL_INDEX a_step,
                  const TSL_INDEX b_step, const TSL_INDEX c_step /* elements between products of a batch */) {
  TSL_LOCAL WORD lines[LINES_WORDS];
  TSL_LOCAL TSL_REAL numbers[NUMBERS];
  TSL_START();
  tsl_gemm_arguments g = args;
  g.a_offset += TSL_GROUP(2) * a_step;
  g.b_offset += TSL_GROUP(2) * b_step;
  g.c_offset += TSL_GROUP(2) * c_step + TSL_GROUP(1) * split_step;
  few_place at;
  at.item = TSL_ITEM(0);
  at.column = at.item % COLUMNS;
  at.slice = at.item / COLUMNS;
  at.col = (TSL_INDEX)TSL_GROUP(0) * GROUP_COLUMNS;
  at.begin = TSL_GROUP(1) * SLICES * depth;
  at.depth = depth;
  at.end = g.k;
  TSL_REAL sum[ROWS][SUMS] = {{0}};
#if READ > 1
  at.end = depths_of_reads(&g, &at);
#endif
#if B_ALONG_K
  multiply(sum, a, b, &g, &at, lines, numbers);
#else
  (void)lines;
  multiply(sum, a, b, &g, &at);
#endif
#if READ > 1
  multiply_plainly(sum, a, b, &g, &at, at.end, g.k);
#endif
  TSL_END();
  TSL_UNROLL
  for (int first = 0; first < ROWS; first += FOLD_ROWS) {
    TSL_UNROLL
    for (int i = 0; i < FOLD_ROWS; i++)
      TSL_UNROLL
    for (int e = 0; e < SUMS; e++)
      numbers[i * FOLD_ROW + (at.slice * GROUP_COLUMNS + column_of(&at, e / TSL_NUMBERS)) * TSL_NUMBERS +
              e % TSL_NUMBERS] = sum[first + i][e];
    TSL_BARRIER();
    for (int place = at.item; place < FOLD_ROWS * GROUP_COLUMNS; place += ITEMS) {
      const int i = place / GROUP_COLUMNS, j = place % GROUP_COLUMNS;
      const TSL_INDEX row = first + i, col = at.col + j;
      if (col < g.n)
        fold(numbers + i * FOLD_ROW + j * TSL_NUMBERS,
             c + (g.c_offset + row * g.c_row_stride + col * g.c_col_stride) * TSL_NUMBERS, &g);
    }
    TSL_BARRIER();
  }
}
