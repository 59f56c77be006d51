#include "check/verify.h"

#include "api/api.h"
#include "cli/report.h"

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

json_t *tsl_json_verdict(const tsl_verdict *verdict) {
  return json_pack("{s:b, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:s}", "right", verdict->right, "error",
                   tsl_json_real(verdict->error), "error_ratio", tsl_json_real(verdict->error_ratio), "grade",
                   tsl_json_real(verdict->grade), "row", (json_int_t)verdict->row, "column",
                   (json_int_t)verdict->col, "elements_checked", (json_int_t)verdict->checked,
                   "elements_wrong", (json_int_t)verdict->wrong, "why", verdict->why);
}
