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
