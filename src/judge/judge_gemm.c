#include "judge/judge.h"

static bool judge_gemm_is_complex(const tsl_problem *problem) {
  return tsl_type(problem->a.type)->is_complex || tsl_type(problem->b.type)->is_complex ||
         tsl_type(problem->c.type)->is_complex;
}

tesela_status tsl_judge_gemm(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  return (judge_gemm_is_complex(problem)          ? tsl_judge_complex
          : tsl_type(problem->c.type)->is_integer ? tsl_judge_integer
                                                  : tsl_judge_real)(problem, a, b, before, c, judge, verdict);
}
