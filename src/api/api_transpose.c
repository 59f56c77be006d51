#include "api/api.h"

#include "core/status.h"

/* In place, the problem's A gets B's matrix and is never accessed. */
tesela_status tsl_api_transpose_request(const tesela_context *context, const void *description,
                                        tsl_request *request) {
  const tesela_transpose_desc *desc = description;
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  if (desc->in_place && tsl_api_is_given(&desc->a))
    return tsl_fail(TESELA_BAD_CALL, "desc.a is given, but in_place transposes what desc.b holds");
  TSL_TRY(tsl_api_reserved(&desc->b, "desc.b"));
  const tesela_matrix b = tsl_api_as_matrix(&desc->b);
  *request = (tsl_request){.op = TSL_OP_TRANSPOSE,
                           .m = desc->cols,
                           .n = desc->rows,
                           .sizes = {"desc.cols", "desc.rows", ""},
                           .matrices = {desc->in_place ? b : desc->a, {.data = NULL}, b},
                           .fields = {desc->in_place ? "desc.b" : "desc.a", "", "desc.b"},
                           .in_place = desc->in_place != 0,
                           .alpha = desc->alpha,
                           .device = desc->device,
                           .strategy = desc->strategy,
                           .runs = desc->runs,
                           .effort = desc->effort,
                           .accuracy = desc->accuracy,
                           .bits = desc->bits,
                           .measure = desc->measure_error};
  return TESELA_OK;
}

tesela_status tesela_plan_run_transpose_sized(tesela_plan *plan, const tesela_matrix *a,
                                              const tesela_result *b, tesela_record *record,
                                              size_t record_size) {
  const tesela_matrix written = b ? tsl_api_as_matrix(b) : (tesela_matrix){.data = NULL};
  const tesela_matrix *const given[TSL_ALL_OPERANDS] = {a, NULL, b ? &written : NULL};
  return tsl_api_run_plan(plan, TSL_OP_TRANSPOSE, given, record, record_size);
}
