/* Calls that all operations share, and the conversion of their descriptions into a product's. */
#include "api/api.h"

#include "core/status.h"

#include <stddef.h>

/* Sets the general factor of an in-place product, which the caller must leave empty, to C's matrix. */
static tesela_status resolve_in_place(tesela_gemm_desc *desc) {
  const bool by_a = desc->structure.a != TESELA_GENERAL;
  tesela_matrix *general = by_a ? &desc->b : &desc->a;
  const tesela_matrix *factor = by_a ? &desc->a : &desc->b;
  if (!by_a && desc->structure.b == TESELA_GENERAL)
    return TESELA_OK; /* tsl_problem_check() refuses the product */
  if (tsl_api_is_given(general))
    return tsl_fail(TESELA_BAD_CALL, "desc.%c is given, but in_place multiplies what desc.c holds",
                    by_a ? 'b' : 'a');
  *general = tsl_api_as_matrix(&desc->c);
  general->shards = NULL;
  general->type = desc->c.type == TESELA_TYPE_DEFAULT ? factor->type : desc->c.type;
  return TESELA_OK;
}

static tesela_status gemm_request(const void *description, tsl_request *request) {
  const tesela_gemm_desc *desc = description;
  TSL_TRY(tsl_api_reserved(&desc->c, "desc.c"));
  *request = (tsl_request){.op = TSL_OP_GEMM,
                           .desc = *desc,
                           .sizes = {"desc.m", "desc.n", "desc.k"},
                           .fields = {"desc.a", "desc.b", "desc.c"}};
  return desc->structure.in_place ? resolve_in_place(&request->desc) : TESELA_OK;
}

tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request) {
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  return gemm_request(desc, request);
}

/* x becomes a row, y a column, the result a matrix of one element. */
static tesela_status dot_request(const void *description, tsl_request *request) {
  const tesela_dot_desc *desc = description;
  if (desc->result.reserved != 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "desc.result.reserved is %lld: it must be 0 in tesela " TESELA_VERSION "",
                    (long long)desc->result.reserved);
  *request = (tsl_request){.op = TSL_OP_DOT,
                           .desc = {.m = 1,
                                    .n = 1,
                                    .k = desc->n,
                                    .a = tsl_api_vector_as_matrix(&desc->x, true),
                                    .b = tsl_api_vector_as_matrix(&desc->y, false),
                                    .c = {.data = desc->result.data,
                                          .buffer = desc->result.buffer,
                                          .offset = desc->result.offset,
                                          .row_stride = 1,
                                          .col_stride = 1,
                                          .type = desc->result.type},
                                    .alpha = desc->alpha,
                                    .beta = desc->beta,
                                    .options = desc->options},
                           .sizes = {"", "", "desc.n"},
                           .fields = {"desc.x", "desc.y", "desc.result"}};
  return TESELA_OK;
}

/* In place, the problem's A gets B's matrix and is never accessed. */
static tesela_status transpose_request(const void *description, tsl_request *request) {
  const tesela_transpose_desc *desc = description;
  if (desc->in_place && tsl_api_is_given(&desc->a))
    return tsl_fail(TESELA_BAD_CALL, "desc.a is given, but in_place transposes what desc.b holds");
  TSL_TRY(tsl_api_reserved(&desc->b, "desc.b"));
  *request = (tsl_request){.op = TSL_OP_TRANSPOSE,
                           .desc = {.m = desc->cols,
                                    .n = desc->rows,
                                    .a = desc->in_place ? tsl_api_as_matrix(&desc->b) : desc->a,
                                    .c = desc->b,
                                    .structure.in_place = desc->in_place,
                                    .alpha = desc->alpha,
                                    .options = desc->options},
                           .sizes = {"desc.cols", "desc.rows", ""},
                           .fields = {desc->in_place ? "desc.b" : "desc.a", "", "desc.b"}};
  return TESELA_OK;
}

/* A solve from the right is one from the left of transposes: X A = B is A' X' = B'. In place, the problem's B
 * gets X's shape and is never accessed. */
static tesela_status solve_request(const void *description, tsl_request *request) {
  const tesela_solve_desc *desc = description;
  if (desc->in_place && tsl_api_is_given(&desc->b))
    return tsl_fail(TESELA_BAD_CALL, "desc.b is given, but in_place solves for what desc.x holds");
  TSL_TRY(tsl_api_reserved(&desc->x, "desc.x"));
  const bool right = desc->right != 0;
  const char *const sizes[] = {"desc.rows", "desc.cols"};
  *request = (tsl_request){
      .op = TSL_OP_SOLVE,
      .desc = {.m = right ? desc->cols : desc->rows,
               .n = right ? desc->rows : desc->cols,
               .k = right ? desc->cols : desc->rows,
               .a = desc->a,
               .b = desc->in_place ? tsl_api_as_matrix(&desc->x) : desc->b,
               .c = desc->x,
               .structure = {.a = desc->structure == TESELA_GENERAL ? TESELA_TRIANGULAR : desc->structure,
                             .a_triangle = desc->triangle,
                             .in_place = desc->in_place},
               .alpha = desc->alpha,
               .options = desc->options},
      .sizes = {sizes[right], sizes[!right], sizes[right]},
      .fields = {"desc.a", desc->in_place ? "desc.x" : "desc.b", "desc.x"}};
  request->desc.a.transpose = (request->desc.a.transpose != 0) != right;
  request->desc.b.transpose = (request->desc.b.transpose != 0) != right;
  request->desc.c.transpose = (request->desc.c.transpose != 0) != right;
  request->desc.options.measure_error = 0; /* no sample shows the error of a solve */
  return TESELA_OK;
}

/* Description of an operation: its size now and in the first version, and its conversion. */
typedef struct description_type {
  size_t size, least;
  tesela_status (*request)(const void *description, tsl_request *request);
} description_type;

#define DESCRIPTION(name, last)                                                                              \
  {                                                                                                          \
    sizeof(tesela_##name##_desc),                                                                            \
        offsetof(tesela_##name##_desc, last) + sizeof(((tesela_##name##_desc *)NULL)->last), name##_request  \
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
  if (!context || !description)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  return type->request(description, request);
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
  return tsl_api_create(context, &request, 1, plan);
}
