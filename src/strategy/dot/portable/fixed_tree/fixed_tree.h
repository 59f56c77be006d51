/* fixed_tree: a dot with every addition specified. So its bits are equal on every device, for every grid,
 * number of threads, instruction set, alignment and stride.
 *
 * The tree. Terms x[i] y[i], i = 0 ... k - 1, are cut into chunks of 32 rows of 128 numbers, or 64 for f64:
 * 512 bytes a row. Narrow types are converted to f32. The last chunk is filled up with zero terms.
 *
 *   1. Lane l of a chunk (128 or 64) starts from zero and adds the terms l of row 0, row 1, ..., row 31, in
 *      this order.
 *   2. Adjacent lanes join to 32 columns: f32 (l0 + l1) + (l2 + l3), f64 l0 + l1.
 *   3. Columns join by halves: column j with j + 16 for j < 16, then j with j + 8, 4, 2, 1. This is the
 *      chunk's sum.
 *   4. Eight chunks in a row, from chunk 0 on, are a block (the last one filled up with zeros). Their sums
 *      join by halves: chunk c with c + 4 for c < 4, then c with c + 2, 1. This is the block's sum.
 *   5. Of 256 lanes, lane j starts from zero and joins the sums of blocks j, j + 256, j + 512, ..., in this
 *      order.
 *   6. These lanes join by halves: lane j with j + 128 for j < 128, then j with j + 64, ..., 1. This is the
 *      sum s.
 *   7. C = alpha s + beta C; for k = 0 or alpha = 0, alpha s is +0; for beta = 0 nothing is added.
 *
 * The operations. f32 data: all in double, each operation rounded to nearest even. Terms and beta C are
 * exact; alpha s, its sum with beta C, and the result as a float are rounded. f16 and bf16 data: as f32; for
 * a narrow C that float is rounded again. i8 and u8 data: sums in double are exact for at most 2^37 terms;
 * alpha s + beta C is modulo 2^32. f64 data: a sum is a pair (high, low), zero is (0, 0), and each operation
 * is rounded to double:
 *
 *   lost(a, b)      h = a + b, v = h - a:  (a - (h - v)) + (b - v), the error of a + b (TwoSum; Knuth 1969)
 *   add x y         p = x y, e = fma(x, y, -p):  high' = high + p,  low' = low + (lost(high, p) + e)
 *   join (H, L)     high' = high + H,  low' = (low + L) + lost(high, H)
 *   alpha s         p = alpha high:  (p, fma(alpha, low, fma(alpha, high, -p)))
 *   beta C          added as the term beta * C
 *   result          high + low where low is finite, else high
 *
 * `high` is the plain sum in the order of the tree, and the result where it overflows or data are not finite.
 * Method: the twice-as-precise dot of Ogita, Rump and Oishi (2005) along a tree. A NaN result is quiet, with
 * sign and payload zero. All operations round to nearest and keep subnormals. */
#ifndef TSL_DOT_FIXED_TREE_FIXED_TREE_H
#define TSL_DOT_FIXED_TREE_FIXED_TREE_H

#include "core/pool.h"
#include "host/host_isa.h"
#include "strategy/strategy.h"

enum {
  TSL_TREE_ROWS = 32,
  TSL_TREE_ROW_BYTES = 512,
  TSL_TREE_COLUMNS = 32,
  TSL_TREE_BLOCK = 8,       /* chunks */
  TSL_TREE_LAST_LANES = 256 /* lanes that join the blocks' sums */
};

/* Returns the numbers of a row, by the type of C. */
static inline int64_t tsl_tree_numbers_of_row(tesela_type type) {
  return TSL_TREE_ROW_BYTES / (type == TESELA_F64 ? 8 : 4);
}
static inline int64_t tsl_tree_terms_of_chunk(tesela_type type) {
  return TSL_TREE_ROWS * tsl_tree_numbers_of_row(type);
}

/* Sum; `low` is for f64 only. */
typedef struct tsl_tree_sum {
  double high, low;
} tsl_tree_sum;
static inline tsl_tree_sum tsl_tree_join(tsl_tree_sum a, tsl_tree_sum b) {
  const double high = a.high + b.high, part = high - a.high;
  const double lost = (a.high - (high - part)) + (b.high - part);
  return (tsl_tree_sum){high, (a.low + b.low) + lost};
}

typedef struct tsl_tree_numbers {
  tesela_type type;
  const void *at; /* first number */
  int64_t stride; /* elements */
} tsl_tree_numbers;

/* Returns the sum of a chunk of `count` terms, at least one. */
typedef tsl_tree_sum (*tsl_tree_function)(const tsl_tree_numbers *x, const tsl_tree_numbers *y, int count);

/* Functions of one instruction set: for f32 and narrower types, and for f64. */
typedef struct tsl_tree_functions {
  tsl_tree_function f32, f64;
} tsl_tree_functions;
#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_tree_functions tsl_tree_functions_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

/* Returns the functions of the best instruction set in `capabilities` (TSL_CAN_...). */
const tsl_tree_functions *tsl_tree_functions_for(unsigned capabilities);

/* Computes the whole dot on host operands with the team's threads. Fails only for lack of memory. */
tesela_status tsl_tree_run(const tsl_problem *problem, const tsl_operands *operands,
                           const tsl_tree_functions *functions, tsl_team team);

#endif
