/* Calls that all operations share: they differ in the struct of their description alone. */
#include "api/api.h"

#include "core/status.h"

#include <stddef.h>

/* Description of an operation: its size now and in the first version, and its conversion. */
typedef struct description_type {
  size_t size, least;
  tesela_status (*request)(const tesela_context *context, const void *description, tsl_request *request);
} description_type;

#define DESCRIPTION(name, last)                                                                              \
  {                                                                                                          \
    sizeof(tesela_##name##_desc),                                                                            \
        offsetof(tesela_##name##_desc, last) + sizeof(((tesela_##name##_desc *)NULL)->last),                 \
        tsl_api_##name##_request                                                                             \
  }
static const description_type types[] = {[TESELA_GEMM] = DESCRIPTION(gemm, beta),
                                         [TESELA_DOT] = DESCRIPTION(dot, beta),
                                         [TESELA_TRANSPOSE] = DESCRIPTION(transpose, alpha),
                                         [TESELA_SOLVE] = DESCRIPTION(solve, alpha)};
#undef DESCRIPTION

tesela_status tsl_api_description_request(const tesela_context *context, tesela_operation operation,
                                          const void *description, size_t size, tsl_api_description *copy,
                                          tsl_request *request) {
  if ((unsigned)operation >= sizeof types / sizeof *types)
    return tsl_fail(TESELA_BAD_CALL, "operation is %d: TESELA_GEMM, _DOT, _TRANSPOSE and _SOLVE are 0 to 3",
                    (int)operation);
  const description_type *type = &types[operation];
  if (description && size != type->size) {
    TSL_TRY(tsl_api_struct_import("desc", description, size, type->least, copy, type->size));
    description = copy;
  }
  return type->request(context, description, request);
}

tesela_status tsl_api_call_other(tesela_context *context, tesela_operation operation, const void *desc,
                                 tesela_record *record, size_t desc_size, size_t record_size) {
  tsl_request request;
  tsl_api_description own;
  TSL_TRY(tsl_api_description_request(context, operation, desc, desc_size, &own, &request));
  return tsl_api_call_once(context, &request, record, record_size);
}

tesela_status tesela_plan_create_sized(tesela_context *context, tesela_operation operation, const void *desc,
                                       tesela_plan **plan, size_t desc_size) {
  tsl_request request;
  tsl_api_description own;
  TSL_TRY(tsl_api_begin_plan(plan));
  TSL_TRY(tsl_api_description_request(context, operation, desc, desc_size, &own, &request));
  return tsl_api_create(context, &request, plan);
}
