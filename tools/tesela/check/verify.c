#include "check/verify.h"

#include "api/api.h"

tesela_status tsl_verify(const tesela_plan *plan, const void *a, const void *b, const void *before,
                         const tesela_epilogue *last, const void *c, tsl_verdict *verdict) {
  const tsl_accuracy accuracy = tsl_plan_accuracy(plan->plan);
  const tsl_judge rule = {.factor = accuracy.factor,
                          .rounded = accuracy.is_correctly_rounded,
                          .flushes = accuracy.flush_threshold,
                          .finite = accuracy.finite_only,
                          .bias = last->bias.data,
                          .scale_a = last->scale_a.data,
                          .scale_b = last->scale_b.data,
                          .seed = 1};
  return tsl_judge_result(&plan->plan->work.problem, a, b, before, c, &rule, verdict);
}
