/* Products: from their description to a request, or to what the dispatch cache knows of it. */
#include "api/at_once.h"
#include "api/dispatch.h"

#include "base/log.h"
#include "base/status.h"

static bool is_given(const tesela_matrix *matrix) {
  return matrix->data || matrix->buffer || matrix->packed || matrix->offset || matrix->row_stride ||
         matrix->col_stride || matrix->transpose || matrix->conjugate || matrix->type != TESELA_TYPE_DEFAULT;
}

/* In place, the factor beside the one that has a structure is what C holds; it has C's fields, and is not touched. */
static tesela_status resolve_in_place(const tesela_gemm_desc *desc, tsl_request *request) {
  const bool by_a = desc->a_structure != TESELA_GENERAL;
  tesela_matrix *general = &request->matrices[by_a ? TSL_OPERAND_B : TSL_OPERAND_A];
  const tesela_matrix *factor = by_a ? &desc->a : &desc->b, *c = &request->matrices[TSL_OPERAND_C];
  request->in_place = true;
  if (!by_a && desc->b_structure == TESELA_GENERAL)
    return TESELA_OK; /* no problem is so, and its check says why */
  if (is_given(general))
    return tsl_fail(TESELA_BAD_CALL, "desc.%c is given, but in_place multiplies what desc.c holds",
                    by_a ? 'b' : 'a');
  *general = *c;
  general->type = c->type == TESELA_TYPE_DEFAULT ? factor->type : c->type;
  return TESELA_OK;
}

/* Whether the description has more to say of operands than how they lie, or a last step. */
static bool has_more(const tesela_gemm_desc *desc) {
  return ((int)desc->scaling_a | (int)desc->scaling_b | (int)desc->bias_along | (int)desc->activation |
          (int)desc->a_structure | (int)desc->a_triangle | (int)desc->b_structure | (int)desc->b_triangle |
          (int)desc->c_structure | (int)desc->c_triangle | desc->in_place) != 0;
}

tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request) {
  if (!context || !desc)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "desc");
  TSL_TRY(tsl_api_reserved(&desc->c, "desc.c"));
  *request = (tsl_request){.op = TSL_OP_GEMM,
                           .m = desc->m,
                           .n = desc->n,
                           .k = desc->k,
                           .sizes = {"desc.m", "desc.n", "desc.k"},
                           .matrices = {desc->a, desc->b, tsl_api_as_matrix(&desc->c)},
                           .fields = {"desc.a", "desc.b", "desc.c"},
                           .structures = {desc->a_structure, desc->b_structure, desc->c_structure},
                           .triangles = {desc->a_triangle, desc->b_triangle, desc->c_triangle},
                           .bias = desc->bias,
                           .bias_along = desc->bias_along,
                           .activation = desc->activation,
                           .scale_a = desc->scale_a,
                           .scale_b = desc->scale_b,
                           .scaling_a = desc->scaling_a,
                           .scaling_b = desc->scaling_b,
                           .alpha = desc->alpha,
                           .beta = desc->beta,
                           .device = desc->device,
                           .strategy = desc->strategy,
                           .runs = desc->runs,
                           .effort = desc->effort,
                           .accuracy = desc->accuracy,
                           .bits = desc->bits,
                           .measure = desc->measure_error,
                           .pieces = {desc->a_pieces, desc->b_pieces, desc->c_pieces}};
  return desc->in_place ? resolve_in_place(desc, request) : TESELA_OK;
}

/* CBLAS's numbers, in which keys say layouts. */
enum {
  ROW_MAJOR = 101,
  COLUMN_MAJOR = 102,
  AS_IT_IS = 111,
  TRANSPOSED = 112,
  NAMED = 2 /* and that the cpu is */
};

/* How a matrix lies that takes part as rows x cols: along its rows or its columns, at which distance. False where it is
 * not in host memory, or neither. */
static bool lies(const tesela_matrix *matrix, int64_t rows, int64_t cols, bool *by_row, int64_t *distance) {
  int64_t row, col;
  tsl_api_strides(matrix, rows, cols, &row, &col);
  *by_row = col == 1;
  *distance = *by_row ? row : col;
  return (row == 1 || col == 1) && !matrix->buffer && !matrix->packed && !matrix->conjugate;
}

static tesela_type type_or(tesela_type given, tesela_type fallback) {
  return given == TESELA_TYPE_DEFAULT ? fallback : given;
}

/* What is wrong with a call is found before it is learnt. */
bool tsl_api_dispatch_key(const tesela_context *context, const tesela_gemm_desc *desc,
                          tsl_dispatch_key *key) {
  static const double none = 0, one = 1;
  bool a_by_row, b_by_row, c_by_row;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_type type = type_or(desc->a.type, TESELA_F32);
  const bool named = desc->device != NULL;
  const uint64_t number = atomic_load_explicit(&context->number, memory_order_acquire);
  if ((type != TESELA_F32 && type != TESELA_F64) || type_or(desc->b.type, TESELA_F32) != type ||
      type_or(desc->c.type, type) != type || desc->strategy || number == 0 || desc->effort != 0 ||
      desc->accuracy || desc->bits || desc->measure_error != 0 || context->measure != 0 || has_more(desc) ||
      desc->bias.data || desc->bias.buffer || desc->scale_a.data || desc->scale_a.buffer ||
      desc->scale_b.data || desc->scale_b.buffer || desc->a_pieces || desc->b_pieces || desc->c_pieces ||
      desc->c.reserved != 0 || desc->c.reserved_too || (named && strcmp(desc->device, "cpu") != 0) ||
      !lies(&desc->a, desc->m, desc->k, &a_by_row, &key->lda) ||
      !lies(&desc->b, desc->k, desc->n, &b_by_row, &key->ldb) ||
      !lies(&c, desc->m, desc->n, &c_by_row, &key->ldc))
    return false;
  key->m = desc->m;
  key->n = desc->n;
  key->k = desc->k;
  key->alpha = tsl_dispatch_bits(TESELA_F64, desc->alpha ? desc->alpha : &one);
  key->beta = tsl_dispatch_bits(TESELA_F64, desc->beta ? desc->beta : &none);
  key->kind = tsl_dispatch_kind(type, number);
  key->order = (c_by_row ? ROW_MAJOR : COLUMN_MAJOR) + (named ? NAMED : 0);
  key->trans_a = a_by_row == c_by_row ? AS_IT_IS : TRANSPOSED;
  key->trans_b = b_by_row == c_by_row ? AS_IT_IS : TRANSPOSED;
  return true;
}

/* Runs a plan that is known; false: it was evicted meanwhile. */
static bool run_known(tesela_context *context, tsl_cached_plan *cached, const tesela_gemm_desc *desc,
                      tesela_status *status) {
  TSL_NOT_CANCELLED;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_matrix *const given[TSL_GIVEN] = {&desc->a, &desc->b, &c};
  if (!tsl_plan_cache_use(&context->cache, cached))
    return false;
  *status = tsl_api_run(tsl_plan_cache_plan(cached), "desc.", given, 0, NULL);
  tsl_plan_cache_give_back(&context->cache, cached);
  return true;
}

static inline tesela_status multiply(tesela_context *context, const tesela_gemm_desc *desc,
                                     tesela_record *record) {
  tsl_dispatch_key key;
  tsl_request request;
  tesela_status status;
  const bool has_key = context && desc && !record && !tsl_log_may_want(TSL_LOG_CALLS) &&
                       tsl_api_dispatch_key(context, desc, &key);
  bool is_new;
  const tsl_dispatch_entry *known = has_key ? tsl_dispatch_look(&key, &is_new) : NULL;
  if (known && known->direct.run &&
      tsl_direct_takes(&known->direct, desc->a.data, desc->b.data, desc->c.data))
    return known->direct.run(known->direct.state, desc->a.data, desc->b.data, desc->c.data);
  if (known && known->plan && run_known(context, known->plan, desc, &status))
    return status;
  TSL_NOT_CANCELLED;
  if (has_key && !known && tsl_api_at_once(context, desc))
    return TESELA_OK;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_api_call(context, &request, known ? &key : NULL, record);
}

/* Apart, so that calls with this version's structs take no room for copies. */
static __attribute__((noinline)) tesela_status multiply_other(tesela_context *context,
                                                              const tesela_gemm_desc *desc,
                                                              tesela_record *record, size_t desc_size,
                                                              size_t record_size) {
  tesela_gemm_desc own;
  tesela_record full;
  TSL_API_TAKE(desc, desc_size, own, tesela_gemm_desc, runs);
  const tesela_status status = multiply(context, desc, tsl_api_record(record, record_size, &full));
  return tsl_api_recorded(status, record, record_size, &full);
}

tesela_status tesela_gemm_sized(tesela_context *context, const tesela_gemm_desc *desc, tesela_record *record,
                                size_t desc_size, size_t record_size) {
  if (desc_size != sizeof *desc || record_size != sizeof *record)
    return multiply_other(context, desc, record, desc_size, record_size);
  return multiply(context, desc, record);
}

tesela_status tesela_plan_create_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                       tesela_plan **plan, size_t desc_size) {
  tsl_request request;
  tesela_gemm_desc own;
  if (!plan)
    return tsl_fail(TESELA_BAD_CALL, "plan is NULL");
  *plan = NULL;
  TSL_API_TAKE(desc, desc_size, own, tesela_gemm_desc, runs);
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_api_create(context, &request, plan);
}
