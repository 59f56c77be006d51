#include "api/batch_common.h"

#include "core/status.h"
#include "judge/sample.h"

tesela_status tsl_batch_error_check_begin(const tsl_products *products, uint64_t seed,
                                          tsl_batch_error_check *check) {
  const int64_t count = products->batch->count;
  check->count = count < TSL_LOOKED_AT ? count : TSL_LOOKED_AT;
  tsl_sample_draw(check->products, check->count, count, seed);
  for (int64_t i = 0; i < check->count; i++) {
    tsl_operands operands = {.a = {.host = NULL}};
    TSL_TRY(tsl_products_gather(products, check->products[i], &operands));
    TSL_TRY(tsl_measure_begin(products->plan->plan, &operands, seed + (uint64_t)i, &check->measuring[i]));
    TSL_TRY(tsl_measure_ready(check->measuring[i]));
  }
  return TESELA_OK;
}

tesela_status tsl_batch_error_check_end(const tsl_products *products, const tsl_batch_error_check *check,
                                        tesela_record *record) {
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < check->count && status == TESELA_OK; i++) {
    tsl_error_measured measured;
    status = tsl_measure_end(check->measuring[i], &measured);
    if (status != TESELA_OK)
      (void)tsl_products_fail_in(products, check->products[i], status);
    if (!record || !tsl_api_struct_size_valid(status))
      continue;
    record->error_measured =
        measured.error > record->error_measured ? measured.error : record->error_measured;
    record->measured_rows += measured.rows;
    record->measured_cols = measured.cols > record->measured_cols ? measured.cols : record->measured_cols;
  }
  return status;
}

void tsl_batch_error_check_free(tsl_batch_error_check *check) {
  for (int64_t i = 0; i < check->count; i++)
    tsl_measure_free(check->measuring[i]);
}
