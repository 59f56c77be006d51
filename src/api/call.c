/* What the public calls of all operations come to: a plan that is made or remembered, and a run. */
#include "api/api.h"

#include "base/status.h"

#include <stdio.h>

/* The record's plan text outlives the plan, which may be forgotten at any time after the call. */
static _Thread_local char last_plan[1024];

tesela_status tsl_api_create(tesela_context *context, const tsl_request *request, tesela_plan **plan) {
  TSL_NOT_CANCELLED;
  tsl_call_key key;
  TSL_TRY(tsl_api_request(context, request, &key));
  return tsl_api_plan(context, &key, plan);
}

tesela_status tsl_api_call(tesela_context *context, const tsl_request *request, tesela_record *record) {
  TSL_NOT_CANCELLED;
  const tesela_matrix *const given[TSL_OPERANDS] = {&request->matrices[TSL_OPERAND_A],
                                                    &request->matrices[TSL_OPERAND_B],
                                                    &request->matrices[TSL_OPERAND_C]};
  tsl_call_key key;
  tsl_remembered *remembered;
  TSL_TRY(tsl_api_request(context, request, &key));
  TSL_TRY(tsl_api_recall(context, &key, &remembered));
  const tesela_status status = tsl_api_run(tsl_api_recalled(remembered), "desc.", given, record);
  if (status == TESELA_OK && record) {
    snprintf(last_plan, sizeof last_plan, "%s", record->plan);
    record->plan = last_plan;
  }
  tsl_api_give_back(context, remembered);
  return status;
}
