/* Self-test cases for the first use of a kernel on a device: a small problem like the actual problem, then
 * unusual problems. One case of integers has an exact result. C is NaN where it must not be read. */
#include "judge/case_parts.h"
#include "judge/cases.h"

#include <stdlib.h>

/* Limits of the small problem: sizes keep their remainders, and exceed a tile if the original does. */
static const int64_t size_max = 256, depth_min = 128, size_step = 64, multiply_adds_target = (int64_t)1 << 22,
                     depth_max = (int64_t)1 << 17;

/* Returns `size`, or the limit plus the remainder of `size` by size_step for larger sizes. */
static int64_t shrink_size(int64_t size, int64_t limit) {
  return size < limit + size_step ? size : limit + size % size_step;
}

/* Sets a layout like `like`: rows or columns with a pad of equal remainder, else gaps everywhere. */
static void set_similar_layout(const tsl_shape *like, tsl_shape *shape) {
  const bool by_rows = like->col_stride == 1, by_cols = like->row_stride == 1;
  const int64_t line = by_rows ? shape->cols : shape->rows,
                stride = by_rows ? like->row_stride : like->col_stride;
  if ((!by_rows && !by_cols) || stride < (by_rows ? like->cols : like->rows)) {
    tsl_case_set_layout(shape, TSL_LAYOUT_SPREAD, 1);
    return;
  }
  const int64_t pad = ((stride - line) % size_step + size_step) % size_step;
  shape->row_stride = by_rows ? line + pad : 1;
  shape->col_stride = by_rows ? 1 : line + pad;
}

static void copy_structures(const tsl_problem *like, tsl_problem *out) {
  const tsl_shape *const from[] = {&like->a, &like->b, &like->c};
  tsl_shape *const to[] = {&out->a, &out->b, &out->c};
  if (like->op == TSL_OP_GEMM)
    out->in_place = like->in_place;
  for (int i = 0; i < TSL_OPERANDS && like->op == TSL_OP_GEMM; i++) {
    to[i]->structure = from[i]->structure;
    to[i]->triangle = from[i]->triangle;
  }
}

static void make_structured_operand_square(const tsl_problem *like, int64_t *n, int64_t m, int64_t *k) {
  if (like->op != TSL_OP_GEMM || !tsl_problem_has_structure(like))
    return;
  const int operand = tsl_problem_structured(like);
  if (operand == TSL_OPERAND_C)
    *n = m;
  else
    *k = operand == TSL_OPERAND_A ? m : *n;
}

static void copy_strides_of_c_if_in_place(tsl_problem *problem) {
  if (problem->op != TSL_OP_GEMM || !problem->in_place)
    return;
  tsl_shape *general = tsl_problem_structured(problem) == TSL_OPERAND_A ? &problem->b : &problem->a;
  general->row_stride = problem->c.row_stride;
  general->col_stride = problem->c.col_stride;
}

static void make_small_case_like(const tsl_problem *like, tsl_case *out) {
  const int64_t m = shrink_size(like->m, size_max);
  int64_t n = shrink_size(like->n, size_max);
  int64_t depth = multiply_adds_target / (m > 0 && n > 0 ? m * n : 1);
  depth = depth < depth_min ? depth_min : depth < depth_max ? depth / size_step * size_step : depth_max;
  int64_t k = shrink_size(like->k, depth);
  make_structured_operand_square(like, &n, m, &k);
  out->problem =
      tsl_problem_of(like->op, m, like->in_place && like->op == TSL_OP_TRANSPOSE ? m : n, k, like->c.type);
  copy_structures(like, &out->problem);
  out->problem.in_place = like->in_place;
  if (like->op == TSL_OP_SOLVE) {
    out->problem.a.structure = like->a.structure;
    out->problem.a.triangle = like->a.triangle;
  }
  out->problem.conjugate_a = like->conjugate_a;
  out->problem.conjugate_b = like->conjugate_b;
  set_similar_layout(&like->a, &out->problem.a);
  set_similar_layout(&like->b, &out->problem.b);
  set_similar_layout(&like->c, &out->problem.c);
  if (like->op == TSL_OP_SOLVE && like->in_place)
    out->problem.b = out->problem.c;
  copy_strides_of_c_if_in_place(&out->problem);
  tsl_case_set_scalars(out, like->alpha[0], like->beta[0]);
}

/* Layouts along rows, and their counterparts along columns. */
typedef enum layout_kind { DENSE, PADDED, SPREAD, ROTATED } layout_kind;
static const int layouts[][2] = {[DENSE] = {TSL_LAYOUT_DENSE, TSL_LAYOUT_TRANSPOSED},
                                 [PADDED] = {TSL_LAYOUT_PADDED, TSL_LAYOUT_TRANSPOSED_PADDED},
                                 [SPREAD] = {TSL_LAYOUT_SPREAD, TSL_LAYOUT_SPREAD_TRANSPOSED},
                                 [ROTATED] = {TSL_LAYOUT_ROTATED, TSL_LAYOUT_ROTATED_TRANSPOSED}};

/* Row of an operation's list; sizes that it lacks are ignored. Operands have the problem's direction. */
typedef struct quick_case {
  int64_t m, n, k;
  layout_kind a, b, c;
  int64_t pad;
  double alpha, beta;
  tsl_data data;
} quick_case;

enum { UNUSUAL_CASES = 4 };
static const quick_case unusual_cases[TSL_OP_COUNT][UNUSUAL_CASES] = {
    [TSL_OP_GEMM] = {{67, 41, 53, DENSE, DENSE, DENSE, 0, 1, 0, TSL_DATA_NORMAL},
                     {131, 137, 35, PADDED, PADDED, PADDED, 3, 1.5, -0.5, TSL_DATA_NORMAL},
                     {33, 129, 66, ROTATED, DENSE, SPREAD, 5, 1, 0, TSL_DATA_INTEGER},
                     {1, 3, 259, PADDED, SPREAD, DENSE, 1, -0.5, 1, TSL_DATA_GRADED}},
    [TSL_OP_DOT] = {{1, 1, 1003, DENSE, DENSE, DENSE, 0, 1, 0, TSL_DATA_NORMAL},
                    {1, 1, 30011, SPREAD, SPREAD, DENSE, 2, 1.5, -0.5, TSL_DATA_NORMAL},
                    {1, 1, 1, DENSE, DENSE, DENSE, 0, 1, 0, TSL_DATA_NORMAL},
                    {1, 1, 513, ROTATED, DENSE, DENSE, 0, 1, 1, TSL_DATA_INTEGER}},
    [TSL_OP_TRANSPOSE] = {{67, 41, 0, DENSE, DENSE, DENSE, 0, 1, 0, TSL_DATA_NORMAL},
                          {131, 137, 0, PADDED, DENSE, PADDED, 3, 1, 0, TSL_DATA_NORMAL},
                          {33, 300, 0, SPREAD, DENSE, DENSE, 5, 1, 0, TSL_DATA_NORMAL},
                          {1, 259, 0, ROTATED, DENSE, DENSE, 1, 1, 0, TSL_DATA_INTEGER}},
    [TSL_OP_SOLVE] = {{67, 41, 0, DENSE, DENSE, DENSE, 0, 1, 0, TSL_DATA_NORMAL},
                      {131, 37, 0, PADDED, PADDED, PADDED, 3, 1.5, 0, TSL_DATA_GRADED},
                      {33, 129, 0, ROTATED, DENSE, SPREAD, 5, 1, 0, TSL_DATA_INTEGER},
                      {300, 3, 0, PADDED, SPREAD, DENSE, 1, -0.5, 0, TSL_DATA_NORMAL}},
};

static int layout_along_same_axis(layout_kind along, const tsl_shape *like) {
  const bool by_cols = llabs(like->row_stride) < llabs(like->col_stride);
  return layouts[along][by_cols];
}

static void make_unusual_case(const tsl_problem *like, const quick_case *row, tsl_case *out) {
  const bool moves = like->op == TSL_OP_TRANSPOSE;
  int64_t n = row->n, k = row->k;
  make_structured_operand_square(like, &n, row->m, &k);
  out->problem = tsl_problem_of(like->op, row->m, n, k, like->c.type);
  copy_structures(like, &out->problem);
  tsl_case_set_layouts(out, layout_along_same_axis(row->a, &like->a),
                       layout_along_same_axis(row->b, &like->b), layout_along_same_axis(row->c, &like->c),
                       row->pad);
  copy_strides_of_c_if_in_place(&out->problem);
  tsl_case_set_scalars(out, moves ? like->alpha[0] : row->alpha, out->problem.in_place ? 0 : row->beta);
  out->data = row->data;
}

bool tsl_case_quick(const tsl_problem *like, int index, tsl_case *out) {
  /* two seeds are odd: operands in buffers, and an unaligned block */
  *out = (tsl_case){.seed = 24 + (uint64_t)index, .data = TSL_DATA_NORMAL, .repeats = index == 0 ? 2 : 1};
  if (index < 0 || index > UNUSUAL_CASES)
    return false;
  if (index == 0) {
    make_small_case_like(like, out);
  } else {
    make_unusual_case(like, &unusual_cases[like->op][index - 1], out);
  }
  tsl_case_set_types(out, &(tsl_types){like->a.type, like->b.type, like->c.type});
  out->problem.activation = like->activation;
  tsl_problem_add_bias(&out->problem, like->bias_axis, like->bias.type, 1);
  tsl_problem_add_scale(&out->problem, TSL_OPERAND_SCALE_A, like->scaling_a, 1);
  tsl_problem_add_scale(&out->problem, TSL_OPERAND_SCALE_B, like->scaling_b, 1);
  out->problem.ask = like->ask; /* some kernels run only for a numeric requirement */
  return true;
}
