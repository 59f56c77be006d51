/* What the files of this strategy share: its steps, and what build() makes. */
#ifndef TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_H
#define TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_H

#include "strategy/launch.h"
#include "strategy/subplans.h"

#include "strategy/solve/device_blocked/device_blocked_shared.h"

enum { SOLVE_BLOCK, SOLVE_COLUMNS };

/* Two for each power of two that a triangle of 2^62 rows has: whole products, and a last one with fewer rows.
 */
enum { SOLVE_LEVELS_MOST = 62, SOLVE_PRODUCTS_MOST = 2 * SOLVE_LEVELS_MOST };

/* Products with one shape: `count` of them, each of which takes `rows` x `depth` elements of A times as many
 * rows of X off others. */
typedef struct tsl_solve_product {
  int64_t rows, depth, count;
} tsl_solve_product;

/* How a triangle is cut. Plain numbers. */
typedef struct tsl_solve_cut {
  int64_t size, block, blocks;                     /* rows of the triangle, rows of a block, how many */
  int levels;                                      /* products that are taken off an element at most */
  tsl_solve_product products[SOLVE_PRODUCTS_MOST]; /* of level l whole ones at 2 l, and the last at 2 l + 1 */
} tsl_solve_cut;

/* What follows block `index`: a product of the slot that is told, or none (-1) after the last. Rows from the
 * triangle's first: `row` is the first that it is taken off, `first` the first of those that it takes. */
typedef struct tsl_solve_step {
  int slot;
  int64_t row, first, rows, depth;
} tsl_solve_step;
tsl_solve_step tsl_solve_step_after(const tsl_solve_cut *cut, int64_t index);

void tsl_solve_cut_by(int64_t size, int64_t block, tsl_solve_cut *cut);
/* A product as a problem: C - A B with the layouts of the whole. */
tsl_problem tsl_solve_part(const tsl_problem *problem, const tsl_solve_product *product);

/* work->state. */
typedef struct tsl_solve_state {
  tsl_solve_cut cut;
  tsl_kernel *solve, *scale;
  tsl_subplan *children[SOLVE_PRODUCTS_MOST]; /* NULL where there is no such product */
} tsl_solve_state;

tesela_status tsl_solve_device_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
