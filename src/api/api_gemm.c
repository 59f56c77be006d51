#include "api/api_counted.h"
#include "api/gemm_key.h"
#include "api/small_gemm.h"

#include "core/log.h"
#include "core/status.h"
#include "dispatch/crossovers.h"

/* Runs a cached plan; returns false if it was evicted. */
static bool run_known(tesela_context *context, tsl_cached_plan *cached, const tesela_gemm_desc *desc,
                      tesela_status *status) {
  TSL_NOT_CANCELLED;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_matrix *const given[TSL_ALL_OPERANDS] = {&desc->a, &desc->b, &c};
  if (!tsl_plan_cache_use(&context->cache, cached))
    return false;
  *status = tsl_api_run(tsl_plan_cache_plan(cached), "desc.", given, (tsl_api_checks){0}, NULL);
  tsl_plan_cache_give_back(&context->cache, cached);
  return true;
}

/* Restores the thread's flags after the shortcut raised some; raises only exceptions that C shows. */
static __attribute__((noinline)) void settle(tsl_floats before, const tesela_gemm_desc *desc) {
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_type type = desc->a.type == TESELA_TYPE_DEFAULT ? TESELA_F32 : desc->a.type;
  const tsl_problem problem = tsl_problem_gemm(desc->m, desc->n, desc->k, type);
  tsl_operands operands = {.c = {.host = desc->c.data}};
  tsl_api_strides(&c, desc->m, desc->n, &operands.c.row_stride, &operands.c.col_stride);
  tsl_exceptions_settle(before, &problem, &operands);
}

static inline tesela_status api_gemm_multiply(tesela_context *context, const tesela_gemm_desc *desc,
                                              tesela_record *record) {
  tsl_dispatch_key key;
  tsl_request request;
  tesela_status status;
  const bool has_key =
      context && desc && !record && !tsl_log_may_want(TSL_LOG_CALLS) && tsl_gemm_key(context, desc, &key);
  bool is_new;
  const tsl_dispatch_entry *known = has_key ? tsl_dispatch_find_or_learn(&key, &is_new) : NULL;
  if (known && known->direct.run &&
      tsl_fast_call_supports(&known->direct, desc->a.data, desc->b.data, desc->c.data)) {
    const tsl_floats before = tsl_exceptions_begin();
    status = known->direct.run(known->direct.state, desc->a.data, desc->b.data, desc->c.data);
    if (tsl_floats_read() != before)
      settle(before, desc);
    return status;
  }
  if (known && known->plan && run_known(context, known->plan, desc, &status))
    return status;
  TSL_NOT_CANCELLED;
  if (has_key && !known) {
    const tsl_floats before = tsl_exceptions_begin();
    const bool is_done = tsl_small_gemm_run(context, desc);
    if (tsl_floats_read() != before)
      settle(before, desc);
    if (is_done)
      return TESELA_OK;
  }
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_api_call(context, &request, known ? &key : NULL, record);
}

/* Converts structs of other sizes. Not inlined, so that current sizes reserve no stack for copies. */
static __attribute__((noinline)) tesela_status multiply_other(tesela_context *context,
                                                              const tesela_gemm_desc *desc,
                                                              tesela_record *record, size_t desc_size,
                                                              size_t record_size) {
  tesela_gemm_desc own;
  tesela_record full;
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_gemm_desc, beta);
  const tesela_status status = api_gemm_multiply(context, desc, tsl_api_record(record, record_size, &full));
  return tsl_api_recorded(status, record, record_size, &full);
}

static tesela_status call_sized(tesela_context *context, tesela_operation operation, const void *desc,
                                tesela_record *record, size_t desc_size, size_t record_size) {
  if (operation != TESELA_GEMM)
    return tsl_api_call_other(context, operation, desc, record, desc_size, record_size);
  if (desc_size != sizeof(tesela_gemm_desc) || record_size != sizeof *record)
    return multiply_other(context, desc, record, desc_size, record_size);
  return api_gemm_multiply(context, desc, record);
}

/* Sets the sizes and the name of a call of another operation. */
static const char *describe_other(tsl_counted *counted, tesela_operation operation, const void *desc) {
  if (operation == TESELA_DOT) {
    tsl_counted_sizes(counted, desc ? ((const tesela_dot_desc *)desc)->n : 0, 0);
    return "tesela_dot";
  }
  if (operation == TESELA_TRANSPOSE) {
    const tesela_transpose_desc *transpose = desc;
    tsl_counted_sizes(counted, desc ? transpose->rows : 0, desc ? transpose->cols : 0);
    return "tesela_transpose";
  }
  const tesela_solve_desc *solve = desc;
  tsl_counted_sizes(counted, desc ? solve->rows : 0, desc ? solve->cols : 0);
  return "tesela_solve";
}

static __attribute__((noinline)) tesela_status call_counted(tesela_context *context,
                                                            tesela_operation operation, const void *desc,
                                                            tesela_record *record, size_t desc_size,
                                                            size_t record_size) {
  const tesela_gemm_desc *gemm = operation == TESELA_GEMM ? desc : NULL;
  const char *name = "tesela_gemm";
  tsl_counted counted;
  tsl_counted_begin(&counted, record, record_size,
                    !gemm || (double)gemm->m * (double)gemm->n * (double)gemm->k <=
                                 (double)tsl_crossovers.small_volume);
  const tesela_status status =
      call_sized(context, operation, desc, counted.record, desc_size, counted.record_size);
  if (gemm)
    tsl_counted_product(&counted, gemm, desc_size, 1);
  else
    name = describe_other(&counted, operation, desc);
  return tsl_counted_end(&counted, name, status);
}

tesela_status tesela_call_sized(tesela_context *context, tesela_operation operation, const void *desc,
                                tesela_record *record, size_t desc_size, size_t record_size) {
  return tsl_calls_are_kept() ? call_counted(context, operation, desc, record, desc_size, record_size)
                              : call_sized(context, operation, desc, record, desc_size, record_size);
}
