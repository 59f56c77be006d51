/* Dot products: from their description to a request. x is a row, y a column, the result a matrix of one element. */
#include "api/api.h"

#include "base/status.h"

/* The stride along the vector; the other one, of a single row or column, only must not look like a default. */
static tesela_matrix as_matrix(const tesela_vector *vector, bool row) {
  const int64_t stride = vector->stride == 0 ? 1 : vector->stride;
  return (tesela_matrix){.data = vector->data,
                         .buffer = vector->buffer,
                         .offset = vector->offset,
                         .row_stride = row ? 1 : stride,
                         .col_stride = row ? stride : 1,
                         .type = vector->type};
}

static tesela_status request_of(const tesela_context *context, const tesela_dot_desc *desc,
                                tsl_request *request) {
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  *request = (tsl_request){
      .op = TSL_OP_DOT,
      .m = 1,
      .n = 1,
      .k = desc->n,
      .sizes = {"", "", "desc.n"},
      .matrices = {as_matrix(&desc->x, true), as_matrix(&desc->y, false), as_matrix(&desc->result, true)},
      .fields = {"desc.x", "desc.y", "desc.result"},
      .alpha = desc->alpha,
      .beta = desc->beta,
      .device = desc->device,
      .strategy = desc->strategy,
      .runs = desc->runs};
  return TESELA_OK;
}

tesela_status tesela_dot(tesela_context *context, const tesela_dot_desc *desc, tesela_record *record) {
  tsl_request request;
  TSL_TRY(request_of(context, desc, &request));
  return tsl_api_call(context, &request, NULL, record);
}

tesela_status tesela_plan_create_dot(tesela_context *context, const tesela_dot_desc *desc,
                                     tesela_plan **plan) {
  tsl_request request;
  if (!plan)
    return tsl_fail(TESELA_BAD_CALL, "plan is NULL");
  *plan = NULL;
  TSL_TRY(request_of(context, desc, &request));
  return tsl_api_create(context, &request, plan);
}
