/* The error of some of many products, where it is asked for. */
#include "api/batch_common.h"

#include "base/status.h"
#include "judge/sample.h"

tesela_status tsl_batch_error_check_begin(const tsl_products *of, uint64_t seed, tsl_batch_error_check *at) {
  const int64_t count = of->batch->count;
  at->count = count < TSL_LOOKED_AT ? count : TSL_LOOKED_AT;
  tsl_sample_draw(at->products, at->count, count, seed);
  for (int64_t i = 0; i < at->count; i++) {
    tsl_operands operands = {.a = {.host = NULL}};
    TSL_TRY(tsl_products_gather(of, at->products[i], &operands));
    TSL_TRY(tsl_measure_begin(of->plan->plan, &operands, seed + (uint64_t)i, &at->measuring[i]));
    TSL_TRY(tsl_measure_ready(at->measuring[i]));
  }
  return TESELA_OK;
}

tesela_status tsl_batch_error_check_end(const tsl_products *of, const tsl_batch_error_check *at, tesela_record *record) {
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < at->count && status == TESELA_OK; i++) {
    tsl_measured seen;
    status = tsl_measure_end(at->measuring[i], &seen);
    if (status != TESELA_OK)
      (void)tsl_products_fail_in(of, at->products[i], status);
    if (!record || !tsl_api_struct_size_valid(status))
      continue;
    record->error_measured = seen.error > record->error_measured ? seen.error : record->error_measured;
    record->measured_rows += seen.rows;
    record->measured_cols = seen.cols > record->measured_cols ? seen.cols : record->measured_cols;
  }
  return status;
}

void tsl_batch_error_check_free(tsl_batch_error_check *at) {
  for (int64_t i = 0; i < at->count; i++)
    tsl_measure_free(at->measuring[i]);
}
