#ifndef TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_H
#define TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_H

#include "strategy/kernel_launch/launch.h"
#include "strategy/subplans.h"

#include "strategy/solve/portable/device_blocked/device_blocked_shared.h"

enum { SOLVE_BLOCK, SOLVE_COLUMNS };

/* Limits: whole products, and a last one with fewer rows, for each power of two up to 2^62 rows. */
enum { SOLVE_LEVELS_MAX = 62, SOLVE_PRODUCTS_MAX = 2 * SOLVE_LEVELS_MAX };

/* `count` products of one shape, which subtract `rows` x `depth` elements of A times rows of X from X. */
typedef struct tsl_solve_product {
  int64_t rows, depth, count;
} tsl_solve_product;

typedef struct tsl_solve_cut {
  /* rows of the triangle, rows of a block, number of blocks */
  int64_t size, block, blocks;
  int levels; /* maximum number of products subtracted from an element */
  /* level l: whole products at 2 l, the last one at 2 l + 1 */
  tsl_solve_product products[SOLVE_PRODUCTS_MAX];
} tsl_solve_cut;

/* Product after a block. `product` is its index in `products`, or -1 after the last block; `row` the first
 * row that is reduced, `first` the first solved row that is read, counted from the triangle's first. */
typedef struct tsl_solve_step {
  int product;
  int64_t row, first, rows, depth; /* rows: reduced rows; depth: solved rows that are read */
} tsl_solve_step;
/* Returns the product after block `index`, from 0. */
tsl_solve_step tsl_solve_step_after(const tsl_solve_cut *cut, int64_t index);

/* Computes the partition of a triangle with `size` rows into blocks of `block` rows. */
void tsl_solve_make_cut(int64_t size, int64_t block, tsl_solve_cut *cut);
/* Returns the problem of a product: C - A B with the layouts of the whole problem. */
tsl_problem tsl_solve_product_problem(const tsl_problem *problem, const tsl_solve_product *product);

typedef struct tsl_solve_state {
  tsl_solve_cut cut;
  tsl_kernel *solve, *scale;
  tsl_subplan *children[SOLVE_PRODUCTS_MAX]; /* NULL where the shape does not occur */
} tsl_solve_state;

tesela_status tsl_solve_device_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
