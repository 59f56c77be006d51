/* Transposes: from their description to a request. */
#include "api/api.h"

#include "base/status.h"

static bool is_given(const tesela_matrix *matrix) {
  return matrix->data || matrix->buffer || matrix->row_stride || matrix->col_stride || matrix->transpose ||
         matrix->type != TESELA_TYPE_DEFAULT;
}

/* In place, A is what is written; the problem's A has its shape and is not touched. */
static tesela_status request_of(const tesela_context *context, const tesela_transpose_desc *desc,
                                tsl_request *request) {
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  if (desc->in_place && is_given(&desc->b))
    return tsl_fail(TESELA_BAD_CALL, "desc.b is given, but in_place writes the transpose over desc.a");
  *request = (tsl_request){.op = TSL_OP_TRANSPOSE,
                           .m = desc->cols,
                           .n = desc->rows,
                           .sizes = {"desc.cols", "desc.rows", ""},
                           .matrices = {desc->a, {.data = NULL}, desc->in_place ? desc->a : desc->b},
                           .fields = {"desc.a", "", desc->in_place ? "desc.a" : "desc.b"},
                           .in_place = desc->in_place != 0,
                           .alpha = desc->alpha,
                           .device = desc->device,
                           .strategy = desc->strategy,
                           .runs = desc->runs};
  return TESELA_OK;
}

tesela_status tesela_transpose(tesela_context *context, const tesela_transpose_desc *desc,
                               tesela_record *record) {
  tsl_request request;
  TSL_TRY(request_of(context, desc, &request));
  return tsl_api_call(context, &request, NULL, record);
}

tesela_status tesela_plan_create_transpose(tesela_context *context, const tesela_transpose_desc *desc,
                                           tesela_plan **plan) {
  tsl_request request;
  if (!plan)
    return tsl_fail(TESELA_BAD_CALL, "plan is NULL");
  *plan = NULL;
  TSL_TRY(request_of(context, desc, &request));
  return tsl_api_create(context, &request, plan);
}
