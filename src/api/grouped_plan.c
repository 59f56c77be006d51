#include "api/grouped.h"

tesela_status tsl_grouped_key(const tsl_grouped *group, const tesela_gemm_desc *desc, tsl_call_key *key) {
  tsl_request request;
  TSL_TRY(tsl_api_gemm_request(group->context, desc, &request));
  return tsl_products_request(group->context, &request, key);
}

tesela_status tsl_grouped_find_plan(tsl_grouped *group, int64_t i) {
  const tesela_gemm_desc *desc = &group->descs[i];
  const tesela_batch *batch = &group->batches[i];
  tsl_request request;
  tsl_call_key key;
  TSL_TRY(tsl_api_gemm_request(group->context, desc, &request));
  TSL_TRY(tsl_products_check_batch(desc, batch));
  TSL_TRY(tsl_products_request(group->context, &request, &key));
  group->seeds[i] = tsl_api_seed(group->context, &request);
  TSL_TRY(tsl_products_plan(group->context, desc, batch, &key, &group->cached[i]));
  group->members[i].plan = tsl_plan_cache_plan(group->cached[i]);
  return TESELA_OK;
}

bool tsl_grouped_on_host(const tsl_grouped *group, int64_t member) {
  const tsl_plan *plan = group->members[member].plan->plan;
  return (plan->work.device->capabilities & TSL_CAN_HOST) != 0;
}

void tsl_grouped_note(tsl_grouped *group, tesela_status status) {
  int none = TESELA_OK;
  if (status != TESELA_OK && atomic_compare_exchange_strong(&group->status, &none, (int)status))
    tsl_status_save(&group->saved);
}

tesela_status tsl_grouped_told(tsl_grouped *group) {
  const tesela_status status = (tesela_status)atomic_load(&group->status);
  if (status != TESELA_OK)
    tsl_status_restore(&group->saved);
  return status;
}
