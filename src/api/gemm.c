/* Products: from their description to a request. */
#include "api/api.h"

#include "base/status.h"

tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request) {
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  *request = (tsl_request){.op = TSL_OP_GEMM,
                           .m = desc->m,
                           .n = desc->n,
                           .k = desc->k,
                           .sizes = {"desc.m", "desc.n", "desc.k"},
                           .matrices = {desc->a, desc->b, desc->c},
                           .fields = {"desc.a", "desc.b", "desc.c"},
                           .alpha = desc->alpha,
                           .beta = desc->beta,
                           .device = desc->device,
                           .strategy = desc->strategy};
  return TESELA_OK;
}

tesela_status tesela_gemm(tesela_context *context, const tesela_gemm_desc *desc, tesela_record *record) {
  tsl_request request;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_api_call(context, &request, record);
}

tesela_status tesela_plan_create(tesela_context *context, const tesela_gemm_desc *desc, tesela_plan **plan) {
  tsl_request request;
  if (!plan)
    return tsl_fail(TESELA_BAD_CALL, "plan is NULL");
  *plan = NULL;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_api_create(context, &request, plan);
}
