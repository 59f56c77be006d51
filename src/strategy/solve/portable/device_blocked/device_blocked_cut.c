/* Partition into products by recursion: the triangle is halved at powers of two of blocks. */
#include "strategy/solve/portable/device_blocked/device_blocked.h"

#include "host/int_math.h"

tsl_solve_step tsl_solve_step_after(const tsl_solve_cut *cut, int64_t index) {
  tsl_solve_step step = {.product = -1};
  const int64_t done = index + 1;
  int level = 0;
  if (done >= cut->blocks)
    return step;
  while ((done >> level & 1) == 0)
    level++;
  step.depth = cut->block << level;
  step.row = done * cut->block;
  step.first = step.row - step.depth;
  step.rows = tsl_min(step.depth, cut->size - step.row);
  step.product = 2 * level + (step.rows < step.depth);
  return step;
}

/* Counts the products of each level: level l has one for each pair of 2^l blocks; the last may be smaller. */
void tsl_solve_make_cut(int64_t size, int64_t block, tsl_solve_cut *cut) {
  *cut = (tsl_solve_cut){.size = size, .block = block, .blocks = tsl_ceil_div(size, block)};
  for (int level = 0; level < SOLVE_LEVELS_MAX && cut->blocks >> level > 0; level++) {
    const int64_t done = (int64_t)1 << level, pairs = cut->blocks / done;
    const int64_t count = pairs / 2 + (pairs % 2 == 1 && cut->blocks % done != 0);
    if (count == 0)
      continue;
    const tsl_solve_step last = tsl_solve_step_after(cut, (2 * count - 1) * done - 1);
    const bool is_short = last.rows < last.depth;
    cut->products[2 * level] = (tsl_solve_product){last.depth, last.depth, count - is_short};
    cut->products[2 * level + 1] = (tsl_solve_product){last.rows, last.depth, is_short};
    cut->levels = level + 1;
  }
}

static void device_blocked_cut_lay_out(tsl_shape *shape, const tsl_shape *like) {
  shape->row_stride = like->row_stride;
  shape->col_stride = like->col_stride;
}

/* Requires of sub-plans the bound of sums in any order, and the problem's reproducibility only. */
tsl_problem tsl_solve_product_problem(const tsl_problem *problem, const tsl_solve_product *product) {
  tsl_problem part = tsl_problem_gemm(product->rows, problem->n, product->depth, problem->c.type);
  device_blocked_cut_lay_out(&part.a, &problem->a);
  device_blocked_cut_lay_out(&part.b, &problem->c);
  device_blocked_cut_lay_out(&part.c, &problem->c);
  part.alpha[0] = -1;
  part.beta[0] = 1;
  part.conjugate_a = problem->conjugate_a;
  part.ask.bits = problem->ask.bits;
  return part;
}
