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
                       .runs = (double)request->desc.options.expected_runs};
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

tesela_status tesela_explain_sized(tesela_context *context, tesela_operation operation, const void *desc,
                                   char **text, size_t desc_size) {
  tsl_request request;
  tsl_api_description own;
  if (!text)
    return tsl_fail(TESELA_BAD_CALL, "text is NULL");
  *text = NULL;
  TSL_TRY(tsl_api_description_request(context, operation, desc, desc_size, &own, &request));
  return api_explain(context, &request, text);
}
