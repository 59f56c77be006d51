#include "api/api.h"

#include "core/status.h"

/* Transposes the matrix for solves from the right: X A = B is A' X' = B'. */
static tesela_matrix seen_from(bool right, tesela_matrix matrix) {
  matrix.transpose = (matrix.transpose != 0) != right;
  return matrix;
}

/* In place, the problem's B gets X's shape and is never accessed. */
tesela_status tsl_api_solve_request(const tesela_context *context, const void *description,
                                    tsl_request *request) {
  const tesela_solve_desc *desc = description;
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  if (desc->in_place && tsl_api_is_given(&desc->b))
    return tsl_fail(TESELA_BAD_CALL, "desc.b is given, but in_place solves for what desc.x holds");
  TSL_TRY(tsl_api_reserved(&desc->x, "desc.x"));
  const bool right = desc->right != 0;
  const tesela_matrix x = seen_from(right, tsl_api_as_matrix(&desc->x)), b = seen_from(right, desc->b);
  const char *const sizes[] = {"desc.rows", "desc.cols"};
  *request =
      (tsl_request){.op = TSL_OP_SOLVE,
                    .m = right ? desc->cols : desc->rows,
                    .n = right ? desc->rows : desc->cols,
                    .k = right ? desc->cols : desc->rows,
                    .sizes = {sizes[right], sizes[!right], sizes[right]},
                    .matrices = {seen_from(right, desc->a), desc->in_place ? x : b, x},
                    .fields = {"desc.a", desc->in_place ? "desc.x" : "desc.b", "desc.x"},
                    .structures = {desc->structure == TESELA_GENERAL ? TESELA_TRIANGULAR : desc->structure},
                    .triangles = {desc->triangle},
                    .in_place = desc->in_place != 0,
                    .alpha = desc->alpha,
                    .options = desc->options};
  request->options.measure_error = 0; /* no sample shows the error of a solve */
  return TESELA_OK;
}
