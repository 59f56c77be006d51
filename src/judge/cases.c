#include "judge/cases.h"

#include "core/random.h"
#include "judge/case_parts.h"

#include <math.h>

static const tsl_case_lists *const lists_of_ops[TSL_OP_COUNT] = {[TSL_OP_GEMM] = &tsl_cases_gemm,
                                                                 [TSL_OP_DOT] = &tsl_cases_dot,
                                                                 [TSL_OP_TRANSPOSE] = &tsl_cases_transpose,
                                                                 [TSL_OP_SOLVE] = &tsl_cases_solve};

static void adapt_scalar_to_type(tesela_type type, double imaginary, double scalar[2]) {
  if (tsl_type(type)->is_integer && scalar[0] != round(scalar[0]))
    scalar[0] = round(2 * scalar[0]);
  scalar[1] = tsl_type(type)->is_complex && scalar[0] != 0 && scalar[0] != 1 ? imaginary : 0;
}

/* Conjugates A and B of a complex case by bits of its seed: a quarter each of random cases, no listed one. */
static void set_conjugation_by_seed(tsl_case *out) {
  tsl_problem *problem = &out->problem;
  const bool possible = (problem->op == TSL_OP_GEMM || problem->op == TSL_OP_SOLVE) &&
                        tsl_type(problem->a.type)->is_complex && tsl_type(problem->b.type)->is_complex;
  problem->conjugate_a = possible && (out->seed >> 32) % 4 == 1;
  problem->conjugate_b = possible && problem->op == TSL_OP_GEMM && (out->seed >> 34) % 4 == 1;
}

static void adapt_case_to_types(tsl_case *out) {
  set_conjugation_by_seed(out);
  adapt_scalar_to_type(out->problem.c.type, 0.5, out->problem.alpha);
  adapt_scalar_to_type(out->problem.c.type, -0.25, out->problem.beta);
  tsl_case_replace_unsupported_structures(out);
  tsl_case_replace_unsupported_epilogue(out);
}

void tsl_case_set_types(tsl_case *out, const tsl_types *types) {
  out->problem.a.type = types->a;
  out->problem.b.type = types->b;
  out->problem.c.type = types->c;
  adapt_case_to_types(out);
}

bool tsl_case_standard(tsl_op op, int index, tesela_type type, tsl_case *out) {
  *out = (tsl_case){.seed = (uint64_t)index + 1};
  if (index < 0)
    return false;
  for (const tsl_case_group *group = lists_of_ops[op]->groups; group->count > 0; group++) {
    if (index < group->count) {
      group->make(index, type, out);
      adapt_case_to_types(out);
      return true;
    }
    index -= group->count;
  }
  return false;
}

void tsl_case_random(tsl_op op, uint64_t seed, uint64_t index, tesela_type type, tsl_case *out) {
  tsl_dice dice = {.seed = tsl_random_u64(seed, index)};
  *out = (tsl_case){.seed = dice.seed};
  lists_of_ops[op]->random(&dice, type, out);
  adapt_case_to_types(out);
}
