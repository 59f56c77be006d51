#include "judge/judge.h"

typedef tesela_status (*judge_function)(const tsl_problem *problem, const void *a, const void *b,
                                        const void *before, const void *c, const tsl_judge *judge,
                                        tsl_verdict *verdict);

static tesela_status judge_gemm_by_structure(const tsl_problem *problem, const void *a, const void *b,
                                             const void *before, const void *c, const tsl_judge *judge,
                                             tsl_verdict *verdict) {
  return (tsl_problem_has_structure(problem) ? tsl_judge_structured : tsl_judge_gemm)(problem, a, b, before,
                                                                                      c, judge, verdict);
}

size_t tsl_judge_bytes(const tsl_problem *problem, const tsl_judge *judge) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  return problem->op == TSL_OP_TRANSPOSE ? tsl_judge_transpose_bytes(judge)
         : type->is_complex              ? tsl_judge_complex_bytes(problem, judge)
         : type->is_integer              ? tsl_judge_integer_bytes(problem, judge)
                                         : tsl_judge_real_bytes(problem->m, problem->n, problem->k, judge);
}

static const judge_function judges[TSL_OP_COUNT] = {[TSL_OP_GEMM] = judge_gemm_by_structure,
                                                    [TSL_OP_DOT] = tsl_judge_gemm,
                                                    [TSL_OP_TRANSPOSE] = tsl_judge_transpose,
                                                    [TSL_OP_SOLVE] = tsl_judge_solve};

tesela_status tsl_judge_result(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  return judges[problem->op](problem, a, b, before, c, judge, verdict);
}
