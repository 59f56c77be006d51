/* x becomes a row, y a column, the result a matrix of one element. */
#include "api/api.h"

#include "core/status.h"

tesela_matrix tsl_api_vector_as_matrix(const tesela_vector *vector, bool as_row) {
  const int64_t stride = vector->stride == 0 ? 1 : vector->stride;
  return (tesela_matrix){.data = vector->data,
                         .buffer = vector->buffer,
                         .offset = vector->offset,
                         .row_stride = as_row ? 1 : stride,
                         .col_stride = as_row ? stride : 1,
                         .type = vector->type};
}

tesela_matrix tsl_api_scalar_as_matrix(const tesela_scalar *result) {
  return (tesela_matrix){.data = result->data,
                         .buffer = result->buffer,
                         .offset = result->offset,
                         .row_stride = 1,
                         .col_stride = 1,
                         .type = result->type};
}

tesela_status tsl_api_dot_request(const tesela_context *context, const void *description,
                                  tsl_request *request) {
  const tesela_dot_desc *desc = description;
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  if (desc->result.reserved != 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "desc.result.reserved is %lld: it must be 0 in tesela " TESELA_VERSION "",
                    (long long)desc->result.reserved);
  *request = (tsl_request){.op = TSL_OP_DOT,
                           .m = 1,
                           .n = 1,
                           .k = desc->n,
                           .sizes = {"", "", "desc.n"},
                           .matrices = {tsl_api_vector_as_matrix(&desc->x, true),
                                        tsl_api_vector_as_matrix(&desc->y, false),
                                        tsl_api_scalar_as_matrix(&desc->result)},
                           .fields = {"desc.x", "desc.y", "desc.result"},
                           .alpha = desc->alpha,
                           .beta = desc->beta,
                           .options = desc->options};
  return TESELA_OK;
}
