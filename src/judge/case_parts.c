#include "judge/case_parts.h"

void tsl_case_set_layout(tsl_shape *shape, int layout, int64_t pad) {
  const int64_t rows = shape->rows, cols = shape->cols;
  const int64_t strides[TSL_LAYOUTS][2] = {
#define LAYOUT_STRIDES(name, row, col) {row, col},
      TSL_LAYOUT_LIST(LAYOUT_STRIDES)
#undef LAYOUT_STRIDES
  };
  shape->row_stride = strides[layout][0];
  shape->col_stride = strides[layout][1];
}

void tsl_case_set_layouts(tsl_case *out, int a, int b, int c, int64_t pad) {
  tsl_case_set_layout(&out->problem.a, a, pad);
  tsl_case_set_layout(&out->problem.b, b, pad + 1);
  tsl_case_set_layout(&out->problem.c, c, pad + 2);
}

void tsl_case_set_scalars(tsl_case *out, double alpha, double beta) {
  out->problem.alpha[0] = alpha;
  out->problem.beta[0] = beta;
  tsl_problem_round(&out->problem);
}

int64_t tsl_dice_roll(tsl_dice *dice, int64_t sides) {
  return (int64_t)(tsl_random_u64(dice->seed, dice->next++) % (uint64_t)sides);
}

int64_t tsl_dice_roll_size(tsl_dice *dice) {
  const int64_t kind = tsl_dice_roll(dice, 8);
  return kind == 0  ? tsl_dice_roll(dice, 4)
         : kind < 5 ? 1 + tsl_dice_roll(dice, 70)
                    : 1 + tsl_dice_roll(dice, 300);
}

double tsl_dice_roll_scalar(tsl_dice *dice) {
  static const double values[] = {0, 1, 1, -1, 0.5, -0.5, 1.5, 2, 0.7, -1.3};
  return values[tsl_dice_roll(dice, sizeof values / sizeof *values)];
}

/* Adapts scales to the types: scales need sums in f32 or in integers, with a floating-point C. A bias has C's
 * type, or in every other case that of wider sums. */
static void replace_unsupported_scales(tsl_case *out) {
  static const tesela_type results[] = {TESELA_F32, TESELA_BF16, TESELA_F16};
  tsl_problem *problem = &out->problem;
  const tsl_type_info *c = tsl_type(problem->c.type);
  const bool is_product = problem->op == TSL_OP_GEMM && !tsl_problem_has_structure(problem);
  if (is_product && c->is_integer)
    problem->c.type = results[out->seed / 4 % 3];
  else if (!is_product || c->sums != TESELA_F32)
    for (int i = TSL_OPERAND_SCALE_A; i <= TSL_OPERAND_SCALE_B; i++)
      tsl_problem_add_scale(problem, i, TESELA_NO_SCALE, 0);
}

void tsl_case_replace_unsupported_epilogue(tsl_case *out) {
  tsl_problem *problem = &out->problem;
  if (tsl_problem_has_scales(problem))
    replace_unsupported_scales(out);
  const tsl_type_info *type = tsl_type(problem->c.type);
  const bool is_row = problem->bias_axis == TESELA_BIAS_ROW;
  if (!tsl_problem_has_epilogue(problem))
    return;
  if (type->is_integer || problem->op != TSL_OP_GEMM || tsl_problem_has_structure(problem))
    *problem = tsl_problem_drop_epilogue(problem);
  if (type->is_complex)
    problem->activation = TESELA_NO_ACTIVATION;
  if (problem->bias_axis != TESELA_NO_BIAS)
    tsl_problem_add_bias(problem, problem->bias_axis, out->seed / 2 % 2 ? type->sums : type->type,
                         is_row ? problem->bias.col_stride : problem->bias.row_stride);
}

void tsl_case_replace_unsupported_structures(tsl_case *out) {
  tsl_problem *problem = &out->problem;
  tsl_shape *const shapes[TSL_OPERANDS] = {&problem->a, &problem->b, &problem->c};
  const tsl_type_info *type = tsl_type(problem->c.type);
  const bool possible = problem->a.type == type->type && problem->b.type == type->type &&
                        type->sums == type->type && !type->is_integer;
  if (problem->op != TSL_OP_GEMM || !tsl_problem_has_structure(problem))
    return;
  problem->in_place = problem->in_place && possible;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const bool is_real_hermitian = !type->is_complex && shapes[i]->structure == TESELA_HERMITIAN;
    if (!type->is_complex && shapes[i]->structure == TESELA_HERMITIAN_SUM)
      shapes[i]->structure = TESELA_SYMMETRIC_SUM;
    if (!possible || (is_real_hermitian && i == TSL_OPERAND_C))
      shapes[i]->structure = TESELA_GENERAL;
    else if (is_real_hermitian)
      shapes[i]->structure = TESELA_SYMMETRIC;
    if (!possible)
      shapes[i]->triangle = TESELA_WHOLE;
  }
  if (tsl_is_hermitian(problem->c.structure))
    problem->beta[1] = 0;
  if (problem->c.structure == TESELA_HERMITIAN_SUM)
    problem->alpha[1] = 0;
  if (problem->in_place && problem->a.structure == TESELA_GENERAL)
    problem->conjugate_a = false;
  if (problem->in_place && problem->b.structure == TESELA_GENERAL)
    problem->conjugate_b = false;
}
