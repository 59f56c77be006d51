#include "explain/explain.h"

#include "api/api.h"
#include "core/floats.h"
#include "core/status.h"
#include "planner/planner.h"

static tesela_status api_explain(tesela_context *context, const tsl_request *request, char **text) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_explanation found;
  tsl_text json = {0};
  tsl_call_key key;
  tsl_shared_wisdom *known;
  TSL_TRY(tsl_api_request(context, request, &key));
  tsl_choice choice = {.device = key.device,
                       .place = key.place,
                       .spread = key.spread,
                       .vendors = tsl_planner_vendors(),
                       .runs = (double)request->runs};
  tsl_choice_set_strategy(&choice, key.strategy);
  tesela_status status = tsl_api_devices(context, &choice.devices);
  if (status == TESELA_OK)
    status = tsl_api_wisdom(context, &known);
  if (status == TESELA_OK) {
    choice.wisdom = known->wisdom;
    status = tsl_explain_find(&key.problem, &choice, &found);
    if (status == TESELA_OK) {
      tsl_explain_json(&found, &json);
      status = tsl_text_status(&json);
      *text = tsl_text_take(&json);
    }
    tsl_explanation_free(&found);
    tsl_api_wisdom_release(known);
  }
  tsl_api_request_end(&key);
  return status;
}

static tesela_status api_explain_begin(char **text) {
  if (!text)
    return tsl_fail(TESELA_BAD_CALL, "text is NULL");
  *text = NULL;
  return TESELA_OK;
}

tesela_status tesela_explain_sized(tesela_context *context, const tesela_gemm_desc *desc, char **text,
                                   size_t desc_size) {
  tsl_request request;
  tesela_gemm_desc own;
  TSL_TRY(api_explain_begin(text));
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_gemm_desc, runs);
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return api_explain(context, &request, text);
}

tesela_status tesela_explain_dot_sized(tesela_context *context, const tesela_dot_desc *desc, char **text,
                                       size_t desc_size) {
  tsl_request request;
  tesela_dot_desc own;
  TSL_TRY(api_explain_begin(text));
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_dot_desc, runs);
  TSL_TRY(tsl_api_dot_request(context, desc, &request));
  return api_explain(context, &request, text);
}

tesela_status tesela_explain_transpose_sized(tesela_context *context, const tesela_transpose_desc *desc,
                                             char **text, size_t desc_size) {
  tsl_request request;
  tesela_transpose_desc own;
  TSL_TRY(api_explain_begin(text));
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_transpose_desc, runs);
  TSL_TRY(tsl_api_transpose_request(context, desc, &request));
  return api_explain(context, &request, text);
}

tesela_status tesela_explain_solve_sized(tesela_context *context, const tesela_solve_desc *desc, char **text,
                                         size_t desc_size) {
  tsl_request request;
  tesela_solve_desc own;
  TSL_TRY(api_explain_begin(text));
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_solve_desc, bits);
  TSL_TRY(tsl_api_solve_request(context, desc, &request));
  return api_explain(context, &request, text);
}
