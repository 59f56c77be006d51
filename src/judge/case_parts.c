#include "judge/case_parts.h"

void tsl_case_lay_out(tsl_shape *shape, int layout, int64_t pad) {
  const int64_t rows = shape->rows, cols = shape->cols;
  const int64_t strides[TSL_LAYOUTS][2] = {
#define LAYOUT_STRIDES(name, row, col) {row, col},
      TSL_LAYOUT_LIST(LAYOUT_STRIDES)
#undef LAYOUT_STRIDES
  };
  shape->row_stride = strides[layout][0];
  shape->col_stride = strides[layout][1];
}

void tsl_case_lay_out_all(tsl_case *out, int a, int b, int c, int64_t pad) {
  tsl_case_lay_out(&out->problem.a, a, pad);
  tsl_case_lay_out(&out->problem.b, b, pad + 1);
  tsl_case_lay_out(&out->problem.c, c, pad + 2);
}

void tsl_case_set_scalars(tsl_case *out, double alpha, double beta) {
  out->problem.alpha[0] = alpha;
  out->problem.beta[0] = beta;
  tsl_problem_round(&out->problem);
}

int64_t tsl_dice_roll(tsl_dice *dice, int64_t sides) {
  return (int64_t)(tsl_random_u64(dice->seed, dice->next++) % (uint64_t)sides);
}

int64_t tsl_dice_size(tsl_dice *dice) {
  const int64_t kind = tsl_dice_roll(dice, 8);
  return kind == 0  ? tsl_dice_roll(dice, 4)
         : kind < 5 ? 1 + tsl_dice_roll(dice, 70)
                    : 1 + tsl_dice_roll(dice, 300);
}

double tsl_dice_scalar(tsl_dice *dice) {
  static const double values[] = {0, 1, 1, -1, 0.5, -0.5, 1.5, 2, 0.7, -1.3};
  return values[tsl_dice_roll(dice, sizeof values / sizeof *values)];
}

void tsl_case_fit_structures(tsl_case *out) {
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
    if (!possible || (is_real_hermitian && i == TSL_OPERAND_C))
      shapes[i]->structure = TESELA_GENERAL;
    else if (is_real_hermitian)
      shapes[i]->structure = TESELA_SYMMETRIC;
    if (!possible)
      shapes[i]->triangle = TESELA_WHOLE;
  }
  if (problem->c.structure == TESELA_HERMITIAN)
    problem->beta[1] = 0;
  if (problem->in_place && problem->a.structure == TESELA_GENERAL)
    problem->conjugate_a = false;
  if (problem->in_place && problem->b.structure == TESELA_GENERAL)
    problem->conjugate_b = false;
}
