/* Idea: the order of the sum is specified (fixed_tree.h), so every device, grid and number of threads
 * gives equal bits. A dot waits for memory, so sums of higher precision than the data cost nothing. What
 * it adds to `block_tree`: bits that do not depend on the machine, and the precision.
 *
 *   chunk of 32 rows     column 0    column 1         column 31
 *                 row 0  | a b c d | e f g h |  ...  | w x y z |    a column is 16 bytes of a row, an item's
 *                 row 1  | a b c d | e f g h |  ...  | w x y z |    vector; each number has its own lane
 *                  ...        |         |                 |
 *                 row 31 | a b c d | e f g h |  ...  | w x y z |
 *                             v         v                 v
 *   adjacent lanes join:    (a+b)+(c+d)  ...                        f64: a column is two numbers, a + b
 *   columns join by halves: 0 with 16, 1 with 17, ...; 0 with 8, ...; 0 with 1
 *   the sums of eight chunks, a block, join by halves: 0 with 4, ...; 0 with 1
 *
 * First launch: 32 items take a chunk, 256 a block, and one sum per block goes to global memory. Last launch:
 * one group joins these sums. Dense operands that start at multiples of 16 bytes are read as vectors; others,
 * the last chunk and narrow types number by number, with zeros beyond k.
 *
 * Parameter: TSL_PARAM_GROUP, items of a group. Local memory: GROUP sums of 8 bytes (f64: 16). Any strides
 * and sizes. Needs double precision for f32, too. */
#include "kernel_elements.h"
#include "kernel_gemm.h"
#include "twofold.h"

#define COLUMNS 32
#define ROWS 32
#define WIDTH (16 / (int)sizeof(NUMBER))
#define CHUNK (ROWS * COLUMNS * WIDTH)
#define GROUP TSL_PARAM_GROUP
#define BLOCK 8 /* chunks of a block */
#define BLOCK_ITEMS (BLOCK * COLUMNS)
#define PREFETCH 4
/* Items of the last launch's group, one lane each, and the sums that an item reads ahead. */
#define LAST_ITEMS 256
#define LAST_AHEAD 16

#ifdef TSL_REAL_IS_DOUBLE
#define NUMBER double
#define SUM tsl_twofold
#define ADD(sum, x, y) tsl_twofold_add_product(sum, x, y)
#define JOIN(a, b) tsl_twofold_sum(a, b)
#define VECTOR TSL_VECTOR(double, 2)
#define LOAD(pointer) TSL_LOAD_ALIGNED(double, 2, pointer)

TSL_FUNCTION SUM tree_zero() {
  SUM zero;
  zero.high = 0;
  zero.low = 0;
  return zero;
}

TSL_FUNCTION SUM tree_join_lanes(const SUM *lane) {
  return JOIN(lane[0], lane[1]);
}

TSL_FUNCTION void tree_store_lanes(VECTOR v, double *out) {
  out[0] = TSL_LANE(v, 0);
  out[1] = TSL_LANE(v, 1);
}

/* Stores c = alpha sum + beta c (step 7 of the tree). */
TSL_FUNCTION void tree_store_result(TSL_GLOBAL tsl_result *c, SUM sum, double alpha, double beta) {
  const SUM scaled = tsl_twofold_scale(sum, alpha);
  const double result = tsl_twofold_round(beta == 0 ? scaled : tsl_twofold_add_product(scaled, beta, *c));
  *c = result == result ? result : TSL_NAN(double);
}
#else
/* A double holds the product of two floats, so fusing changes nothing. */
#define NUMBER float
#define SUM double
#define ADD(sum, x, y) TSL_FMA((double)(x), (double)(y), sum)
#define JOIN(a, b) ((a) + (b))
#define VECTOR TSL_VECTOR(float, 4)
#define LOAD(pointer) TSL_LOAD_ALIGNED(float, 4, pointer)

TSL_FUNCTION SUM tree_zero() {
  return 0;
}

TSL_FUNCTION SUM tree_join_lanes(const SUM *lane) {
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

TSL_FUNCTION void tree_store_lanes(VECTOR v, float *out) {
  out[0] = TSL_LANE(v, 0);
  out[1] = TSL_LANE(v, 1);
  out[2] = TSL_LANE(v, 2);
  out[3] = TSL_LANE(v, 3);
}

#ifdef TSL_REAL_IS_INTEGER
/* Stores c for integers: the sum is a whole number below 2^53; the rest is modulo 2^32. */
TSL_FUNCTION void tree_store_result(TSL_GLOBAL tsl_result *c, SUM sum, int alpha, int beta) {
  const unsigned scaled = (unsigned)alpha * (unsigned)(TSL_INDEX)sum;
  *c = (int)(beta == 0 ? scaled : scaled + (unsigned)beta * (unsigned)*c);
}
#else
TSL_FUNCTION void tree_store_result(TSL_GLOBAL tsl_result *c, SUM sum, float alpha, float beta) {
  const double scaled = TSL_MUL(double, (double)alpha, sum);
  const float result =
      (float)(beta == 0 ? scaled : TSL_FMA((double)beta, (double)tsl_widen_result(*c), scaled));
  *c = tsl_round_to_result(result == result ? result : TSL_NAN(float));
}
#endif
#endif

TSL_FUNCTION TSL_INDEX tree_count_blocks(TSL_INDEX k) {
  return (k + BLOCK * CHUNK - 1) / (BLOCK * CHUNK);
}

#if TSL_TYPE_AB == TSL_TYPE_REAL
TSL_FUNCTION bool tree_is_aligned(TSL_GLOBAL const TSL_REAL *pointer) {
  return ((TSL_INDEX)pointer & 15) == 0;
}

TSL_FUNCTION void tree_read_vectors(TSL_GLOBAL const TSL_REAL *from, NUMBER *out) {
  VECTOR row[PREFETCH];
  TSL_UNROLL
  for (int r = 0; r < PREFETCH; r++)
    row[r] = LOAD(from + r * (COLUMNS * WIDTH));
  TSL_UNROLL
  for (int r = 0; r < PREFETCH; r++)
    tree_store_lanes(row[r], out + r * WIDTH);
}
#endif

/* Reads PREFETCH rows from number `first` on, number by number, with zeros from number k on. */
TSL_FUNCTION void tree_read_numbers(TSL_GLOBAL const tsl_element *from, TSL_INDEX stride, TSL_INDEX first,
                                    TSL_INDEX k, bool is_signed, NUMBER *out) {
  TSL_UNROLL
  for (int r = 0; r < PREFETCH; r++) {
    TSL_UNROLL
    for (int w = 0; w < WIDTH; w++) {
      const TSL_INDEX i = first + r * (COLUMNS * WIDTH) + w;
      out[r * WIDTH + w] = i < k ? (NUMBER)tsl_number(from[i * stride], is_signed) : (NUMBER)0;
    }
  }
}

TSL_FUNCTION void tree_add_rows(SUM *lane, const NUMBER *x, const NUMBER *y) {
  TSL_UNROLL
  for (int r = 0; r < PREFETCH; r++) {
    TSL_UNROLL
    for (int w = 0; w < WIDTH; w++)
      lane[w] = ADD(lane[w], x[r * WIDTH + w], y[r * WIDTH + w]);
  }
}

/* Returns the sum of one column of a chunk; `first` is the index of its first number. */
TSL_FUNCTION SUM tree_column(TSL_GLOBAL const tsl_element *a, TSL_INDEX a_stride,
                             TSL_GLOBAL const tsl_element *b, TSL_INDEX b_stride, TSL_INDEX first,
                             TSL_INDEX k, bool vectors) {
  SUM lane[WIDTH];
  NUMBER x[PREFETCH * WIDTH], y[PREFETCH * WIDTH];
  TSL_UNROLL
  for (int w = 0; w < WIDTH; w++)
    lane[w] = tree_zero();
#if TSL_TYPE_AB == TSL_TYPE_REAL
  if (vectors) {
    a += first;
    b += first;
    for (int row = 0; row < ROWS;
         row += PREFETCH, a += PREFETCH * COLUMNS * WIDTH, b += PREFETCH * COLUMNS * WIDTH) {
      tree_read_vectors(a, x);
      tree_read_vectors(b, y);
      tree_add_rows(lane, x, y);
    }
    return tree_join_lanes(lane);
  }
#endif
  for (int row = 0; row < ROWS && first < k; row += PREFETCH, first += PREFETCH * COLUMNS * WIDTH) {
    tree_read_numbers(a, a_stride, first, k, TSL_SIGNED_A, x);
    tree_read_numbers(b, b_stride, first, k, TSL_SIGNED_B, y);
    tree_add_rows(lane, x, y);
  }
  return tree_join_lanes(lane);
}

TSL_KERNEL(GROUP, 1, 1)
tsl_dot_fixed_tree(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                   TSL_GLOBAL SUM *TSL_RESTRICT sums, const tsl_gemm_arguments g) {
  TSL_LOCAL SUM line[GROUP];
  const int item = TSL_ITEM(0), column = item % COLUMNS, in_block = item % BLOCK_ITEMS;
  const TSL_INDEX blocks = tree_count_blocks(g.k), step = (TSL_INDEX)TSL_GROUPS(0) * (GROUP / BLOCK_ITEMS);
  TSL_GLOBAL const tsl_element *x = a + g.a_offset, *y = b + g.b_offset;
#if TSL_TYPE_AB == TSL_TYPE_REAL
  const bool aligned = g.a_col_stride == 1 && g.b_row_stride == 1 && tree_is_aligned(x) && tree_is_aligned(y);
#else
  const bool aligned = false;
#endif
  for (TSL_INDEX set = (TSL_INDEX)TSL_GROUP(0) * (GROUP / BLOCK_ITEMS); set < blocks; set += step) {
    const TSL_INDEX block = set + item / BLOCK_ITEMS, chunk = block * BLOCK + in_block / COLUMNS;
    line[item] = tree_column(x, g.a_col_stride, y, g.b_row_stride, chunk * CHUNK + column * WIDTH, g.k,
                             aligned && (chunk + 1) * CHUNK <= g.k);
    TSL_BARRIER();
    for (int apart = COLUMNS / 2; apart > 0; apart /= 2) {
      if (column < apart)
        line[item] = JOIN(line[item], line[item + apart]);
      TSL_BARRIER();
    }
    for (int apart = BLOCK_ITEMS / 2; apart >= COLUMNS; apart /= 2) {
      if (column == 0 && in_block < apart)
        line[item] = JOIN(line[item], line[item + apart]);
      TSL_BARRIER();
    }
    if (in_block == 0 && block < blocks)
      sums[block] = line[item];
  }
}

/* Joins all blocks and stores c. Lane j joins blocks j, j + LAST_ITEMS, ...; then lanes join by halves. */
TSL_KERNEL(LAST_ITEMS, 1, 1)
tsl_dot_fixed_tree_last(TSL_GLOBAL const SUM *TSL_RESTRICT sums, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                        const tsl_gemm_arguments g) {
  TSL_LOCAL SUM line[LAST_ITEMS];
  const int item = TSL_ITEM(0);
  const TSL_INDEX blocks = tree_count_blocks(g.k);
  SUM lane = tree_zero();
  TSL_INDEX next = item;
  for (; next + (LAST_AHEAD - 1) * LAST_ITEMS < blocks; next += LAST_AHEAD * LAST_ITEMS) {
    SUM read[LAST_AHEAD];
    TSL_UNROLL
    for (int i = 0; i < LAST_AHEAD; i++)
      read[i] = sums[next + i * LAST_ITEMS];
    TSL_UNROLL
    for (int i = 0; i < LAST_AHEAD; i++)
      lane = JOIN(lane, read[i]);
  }
  for (; next < blocks; next += LAST_ITEMS)
    lane = JOIN(lane, sums[next]);
  line[item] = lane;
  TSL_BARRIER();
  for (int apart = LAST_ITEMS / 2; apart > 0; apart /= 2) {
    if (item < apart)
      line[item] = JOIN(line[item], line[item + apart]);
    TSL_BARRIER();
  }
  if (item == 0)
    tree_store_result(c + g.c_offset, line[0], g.alpha, g.beta);
}
