#include "api/api.h"

#include "base/status.h"

#include <stdio.h>

/* The record's plan text outlives the plan, which may be forgotten at any time after the call. */
static _Thread_local char last_plan[1024];

tesela_status tesela_gemm(tesela_context *context, const tesela_gemm_desc *desc, tesela_record *record) {
  tsl_call_key key;
  tsl_remembered *remembered;
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  const tesela_matrix *const given[TSL_OPERANDS] = {&desc->a, &desc->b, &desc->c};
  TSL_TRY(tsl_api_request(context, desc, &key));
  TSL_TRY(tsl_api_recall(context, &key, &remembered));
  const tesela_status status = tsl_api_run(tsl_api_recalled(remembered), "desc.", given, record);
  if (status == TESELA_OK && record) {
    snprintf(last_plan, sizeof last_plan, "%s", record->plan);
    record->plan = last_plan;
  }
  tsl_api_give_back(context, remembered);
  return status;
}
