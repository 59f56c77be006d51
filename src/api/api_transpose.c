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
                           .options = desc->options};
  return TESELA_OK;
}
