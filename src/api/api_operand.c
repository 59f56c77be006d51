#include "api/api.h"

#include "core/status.h"

#include <string.h>

tesela_status tsl_api_one_place(const tesela_matrix *matrix, const char *where, const char *name) {
  const char *const places[] = {matrix->data ? "data" : NULL, matrix->buffer ? "buffer" : NULL,
                                matrix->packed ? "packed" : NULL, matrix->shards ? "shards" : NULL};
  const char *first = NULL;
  for (int i = 0; i < 4; i++) {
    if (first && places[i])
      return tsl_fail(TESELA_BAD_CALL, "%s%s.%s and %s%s.%s are both given: set only one", where, name, first,
                      where, name, places[i]);
    first = places[i] ? places[i] : first;
  }
  return TESELA_OK;
}

bool tsl_api_is_given(const tesela_matrix *matrix) {
  return matrix->data || matrix->buffer || matrix->packed || matrix->shards || matrix->offset ||
         matrix->row_stride || matrix->col_stride || matrix->transpose || matrix->conjugate ||
         matrix->type != TESELA_TYPE_DEFAULT;
}

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

tesela_status tsl_api_reserved(const tesela_result *result, const char *field) {
  if (result->reserved == 0)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "%s.reserved is %d: it must be 0 in tesela " TESELA_VERSION "", field,
                  result->reserved);
}

tesela_status tsl_api_host_operand(const tsl_address_range *reach, const char *where,
                                   const tesela_matrix *matrix, tsl_operand *out) {
  if (!matrix || !matrix->data)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.data is NULL, but the call uses it%s", where, reach->name,
                    matrix && matrix->buffer ? ": the plan is for host memory, not for buffers" : "");
  if ((uintptr_t)matrix->data % reach->align != 0)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.data is %p, which is not aligned to the %zu bytes of its elements",
                    where, reach->name, matrix->data, reach->align);
  *out = (tsl_operand){.host = tsl_writable(matrix->data)};
  return TESELA_OK;
}

tesela_status tsl_api_device_operand(const tesela_plan *plan, const tsl_address_range *reach,
                                     const char *where, const tesela_matrix *matrix, tsl_operand *out) {
  const tsl_device *device = plan->plan->work.device;
  if (!matrix || !matrix->buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.buffer is NULL, but the call uses it%s", where, reach->name,
                    matrix && matrix->data ? ": the plan is for buffers, not for host memory" : "");
  const tsl_buffer *memory = matrix->buffer->memory;
  if (memory->device != device)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.buffer is on %s, but the plan runs on %s%s", where, reach->name,
                    memory->device->name, device->name,
                    strcmp(memory->device->name, device->name) == 0 ? " of another context" : "");
  const int64_t elements = (int64_t)(memory->bytes / reach->size);
  if (matrix->offset < reach->below || matrix->offset > elements || reach->above > elements - matrix->offset)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s%s.offset is %lld: there must be %lld elements before that and %lld from there on, "
                    "and its buffer has %lld",
                    where, reach->name, (long long)matrix->offset, (long long)reach->below,
                    (long long)reach->above, (long long)elements);
  *out = (tsl_operand){.buffer = matrix->buffer->memory, .offset = matrix->offset};
  return TESELA_OK;
}
