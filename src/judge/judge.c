#include "judge/judge.h"

size_t tsl_judge_bytes(const tsl_problem *problem, const tsl_judge *judge) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  return problem->op == TSL_OP_TRANSPOSE ? tsl_judge_transpose_bytes(judge)
         : type->is_complex              ? tsl_judge_complex_bytes(problem, judge)
         : type->is_integer              ? tsl_judge_integer_bytes(problem, judge)
                                         : tsl_judge_real_bytes(problem->m, problem->n, problem->k, judge);
}

tesela_status tsl_judge_result(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  static tsl_judge_function *const judges[TSL_OP_COUNT] = {[TSL_OP_GEMM] = tsl_judge_gemm,
                                                           [TSL_OP_DOT] = tsl_judge_gemm,
                                                           [TSL_OP_TRANSPOSE] = tsl_judge_transpose,
                                                           [TSL_OP_SOLVE] = tsl_judge_solve};
  tsl_judge_function *const judge_operation = problem->op == TSL_OP_GEMM && tsl_problem_has_structure(problem)
                                                  ? tsl_judge_structured
                                                  : judges[problem->op];
  return judge_operation(problem, a, b, before, c, judge, verdict);
}
