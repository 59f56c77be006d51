/* x becomes a row, y a column, the result a matrix of one element. */
#include "api/api.h"

#include "core/status.h"

/* Returns a vector as one row or column. The stride across the vector is 1, since 0 would mean a default. */
static tesela_matrix vector_as_matrix(const tesela_vector *vector, bool as_row) {
  const int64_t stride = vector->stride == 0 ? 1 : vector->stride;
  return (tesela_matrix){.data = vector->data,
                         .buffer = vector->buffer,
                         .offset = vector->offset,
                         .row_stride = as_row ? 1 : stride,
                         .col_stride = as_row ? stride : 1,
                         .type = vector->type};
}

/* Returns the scalar as a 1 x 1 matrix. */
static tesela_matrix scalar_as_matrix(const tesela_scalar *result) {
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
                           .matrices = {vector_as_matrix(&desc->x, true), vector_as_matrix(&desc->y, false),
                                        scalar_as_matrix(&desc->result)},
                           .fields = {"desc.x", "desc.y", "desc.result"},
                           .alpha = desc->alpha,
                           .beta = desc->beta,
                           .device = desc->device,
                           .strategy = desc->strategy,
                           .runs = desc->runs,
                           .effort = desc->effort,
                           .accuracy = desc->accuracy,
                           .bits = desc->bits,
                           .measure = desc->measure_error};
  return TESELA_OK;
}

void tsl_api_as_matrices(const tesela_vector *x, const tesela_vector *y, const tesela_scalar *result,
                         tsl_api_vectors *out) {
  *out = (tsl_api_vectors){.given = {x ? &out->matrices[TSL_OPERAND_A] : NULL,
                                     y ? &out->matrices[TSL_OPERAND_B] : NULL,
                                     result ? &out->matrices[TSL_OPERAND_C] : NULL}};
  if (x)
    out->matrices[TSL_OPERAND_A] = vector_as_matrix(x, true);
  if (y)
    out->matrices[TSL_OPERAND_B] = vector_as_matrix(y, false);
  if (result)
    out->matrices[TSL_OPERAND_C] = scalar_as_matrix(result);
}

tesela_status tesela_plan_run_dot_sized(tesela_plan *plan, const tesela_vector *x, const tesela_vector *y,
                                        const tesela_scalar *result, tesela_record *record,
                                        size_t record_size) {
  tsl_api_vectors as;
  tsl_api_as_matrices(x, y, result, &as);
  return tsl_api_run_plan(plan, TSL_OP_DOT, as.given, record, record_size);
}
