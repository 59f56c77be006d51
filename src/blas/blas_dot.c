#include "blas/blas_dot.h"

#include "blas/blas_context.h"
#include "blas/blas_level1.h"
#include "blas/blas_route.h"
#include "blas/reference_blas.h"

static tesela_vector blas_dot_vector_of(const void *data, int64_t n, int64_t increment, tesela_type type) {
  const int64_t first = increment < 0 ? (1 - n) * increment : 0;
  return (tesela_vector){
      .data = (const char *)data + first * (int64_t)tsl_blas_size(type), .stride = increment, .type = type};
}

/* Returns false for conjugation, increment 0, and types without a strategy. */
static bool blas_dot_by_tesela(tesela_type type, const tsl_blas_sum *sum, tesela_record *record) {
  if (sum->conjugate || sum->incx == 0 || sum->incy == 0 ||
      tsl_blas_lacks(TSL_BLAS_DOT, type, sum->result_type))
    return false;
  const tesela_dot_desc desc = {.n = sum->n,
                                .x = blas_dot_vector_of(sum->x, sum->n, sum->incx, type),
                                .y = blas_dot_vector_of(sum->y, sum->n, sum->incy, type),
                                .result = {.data = sum->result, .type = sum->result_type}};
  const tesela_status status = tsl_blas_run_dot(&desc, record);
  if (status == TESELA_UNSUPPORTED)
    tsl_blas_mark_unsupported(TSL_BLAS_DOT, type, sum->result_type);
  return status == TESELA_OK;
}

/* Computes with sums of twice the precision or the requested accuracy. */
static tsl_blas_function *careful_dot(tsl_blas_call *call, const tsl_blas_sum *blas_sum) {
  const tesela_type type = call->symbol->type;
  const tsl_blas_route route = tsl_blas_route_vector(TSL_BLAS_DOT, call->symbol, (double)blas_sum->n);
  if (tsl_blas_logging) {
    call->sizes = 1;
    call->shape[0] = blas_sum->n > 0 ? blas_sum->n : 0;
    call->flops = (tsl_blas_is_complex(type) ? 8.0 : 2.0) * (double)call->shape[0];
  }
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  tsl_blas_sum sum = *blas_sum;
  double wide = 0;
  tesela_record record = {.plan = NULL};
  if (sum.n < 0)
    sum.n = 0;
  if (sum.start)
    sum.result = &wide;
  tsl_blas_begin(call);
  const bool done =
      route == TSL_BLAS_TESELA && blas_dot_by_tesela(type, &sum, tsl_blas_record(call, &record));
  tsl_blas_function *other = done ? NULL : tsl_blas_otherwise(call, route);
  if (other)
    return other;
  if (!done)
    tsl_blas_loop_dot(type, &sum);
  if (sum.start)
    *(float *)blas_sum->result = (float)(wide + *sum.start);
  if (done)
    tsl_blas_end_plan(call, &record);
  else
    tsl_blas_end(call, tsl_blas_loops_name);
  return NULL;
}

tsl_blas_function *tsl_blas_dot(tsl_blas_call *call, const tsl_blas_sum *sum) {
  const tsl_blas_lines lines = {sum->n, sum->x, sum->incx, sum->y, sum->incy};
  return sum->result_type == call->symbol->type && !sum->start && !tsl_blas_asks_of_sums()
             ? tsl_blas_plain_dot(call, &lines, sum->conjugate, sum->result)
             : careful_dot(call, sum);
}
