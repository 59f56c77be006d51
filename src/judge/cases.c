/* The lists of cases: by operation, groups that make their cases from an index, and random ones. */
#include "judge/case_parts.h"

#include <math.h>

static const tsl_case_lists *const lists[TSL_OP_COUNT] = {[TSL_OP_GEMM] = &tsl_cases_gemm,
                                                          [TSL_OP_DOT] = &tsl_cases_dot,
                                                          [TSL_OP_TRANSPOSE] = &tsl_cases_transpose};

static void set_scalar(tesela_type type, double imaginary, double scalar[2]) {
  if (tsl_type(type)->is_integer && scalar[0] != round(scalar[0]))
    scalar[0] = round(2 * scalar[0]);
  scalar[1] = tsl_type(type)->is_complex && scalar[0] != 0 && scalar[0] != 1 ? imaginary : 0;
}

/* A complex case conjugates by its seed: the small ones of the standard list do not, every other random one does. */
static void fit_conjugates(tsl_case *out) {
  tsl_problem *problem = &out->problem;
  const bool possible = problem->op == TSL_OP_GEMM && tsl_type(problem->a.type)->is_complex &&
                        tsl_type(problem->b.type)->is_complex;
  problem->conjugate_a = possible && (out->seed >> 32) % 4 == 1;
  problem->conjugate_b = possible && (out->seed >> 34) % 4 == 1;
}

static void fit_to_types(tsl_case *out) {
  fit_conjugates(out);
  set_scalar(out->problem.c.type, 0.5, out->problem.alpha);
  set_scalar(out->problem.c.type, -0.25, out->problem.beta);
}

void tsl_case_set_types(tsl_case *out, const tsl_types *types) {
  out->problem.a.type = types->a;
  out->problem.b.type = types->b;
  out->problem.c.type = types->c;
  fit_to_types(out);
}

bool tsl_case_standard(tsl_op op, int index, tesela_type type, tsl_case *out) {
  *out = (tsl_case){.seed = (uint64_t)index + 1};
  if (index < 0)
    return false;
  for (const tsl_case_group *group = lists[op]->groups; group->count > 0; group++) {
    if (index < group->count) {
      group->make(index, type, out);
      fit_to_types(out);
      return true;
    }
    index -= group->count;
  }
  return false;
}

void tsl_case_random(tsl_op op, uint64_t seed, uint64_t index, tesela_type type, tsl_case *out) {
  tsl_dice dice = {.seed = tsl_random_u64(seed, index)};
  *out = (tsl_case){.seed = dice.seed};
  lists[op]->random(&dice, type, out);
  fit_to_types(out);
}

/* --- parts --- */

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
