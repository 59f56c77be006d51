#include "api/api_counted.h"
#include "api/batch_common.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/thread_string.h"
#include "dispatch/dispatch.h"
#include "host/int_math.h"
#include "strategy/host_jobs/host_job.h"

typedef struct api_batch_state {
  tsl_products products;
  int64_t chunks;         /* parts into which the products are divided */
  bool shares;            /* true: threads divide the products */
  tsl_binding streaming;  /* kernel for operands that are in no cache; NULL: products use the plan */
  atomic_int status;      /* status of the first product that failed */
  tsl_status_saved saved; /* message of that failure */
} api_batch_state;

static tesela_status api_batch_multiply(api_batch_state *state, int64_t i) {
  tsl_operands operands;
  const tsl_fast_call streaming_kernel = {.run = state->streaming.kernel, .state = state->streaming.state};
  if (streaming_kernel.run && tsl_products_at(&state->products, i, &operands))
    return tsl_fast_call_run(&streaming_kernel, &state->products.plan->plan->work.problem, operands.a.host,
                             operands.b.host, operands.c.host);
  return tsl_products_multiply(&state->products, i, i == 0 && !state->shares);
}

static void multiply_chunk(void *argument, int64_t chunk, int worker) {
  api_batch_state *state = argument;
  const int64_t count = state->products.batch->count,
                end = tsl_partition_begin(count, state->chunks, chunk + 1);
  (void)worker;
  for (int64_t i = tsl_partition_begin(count, state->chunks, chunk);
       i < end && atomic_load_explicit(&state->status, memory_order_relaxed) == TESELA_OK; i++) {
    int none = TESELA_OK;
    const tesela_status status = api_batch_multiply(state, i);
    if (status != TESELA_OK && atomic_compare_exchange_strong(&state->status, &none, (int)status))
      tsl_status_save(&state->saved);
  }
}

/* Returns true if operands stay in no cache between calls. Batches that share A or B do not count. */
static bool api_batch_exceeds_cache(const api_batch_state *state) {
  const tesela_batch *batch = state->products.batch;
  const tsl_work *work = &state->products.plan->plan->work;
  const double second = work->device->level_bytes[1] ? (double)work->device->level_bytes[1] : 512 << 10;
  return (batch->a || batch->a_stride != 0) && (batch->b || batch->b_stride != 0) &&
         tsl_problem_bytes(&work->problem) * (double)batch->count >
             (double)tsl_crossovers.streaming_ratio * second;
}

/* Sets the kernel for operands that are in no cache; NULL if the strategy has none or they may be cached. */
static void find_streaming_kernel(api_batch_state *state) {
  const tsl_plan *plan = state->products.plan->plan;
  if (!state->products.plan->direct.run || plan->work.strategy != &tsl_gemm_host_small ||
      !api_batch_exceeds_cache(state))
    return;
  const tsl_operands strides = tsl_strides_of(&plan->work.problem);
  tsl_call call = tsl_call_of(&plan->work.problem, &strides);
  call.streams = true;
  (void)tsl_dispatch(&call, plan->work.device, &state->streaming);
}

/* Computes all products. Threads divide them if one is too small for several threads and the batch is not. */
static tesela_status multiply_all(api_batch_state *state) {
  const tsl_work *work = &state->products.plan->plan->work;
  const double flops = tsl_problem_flops(&work->problem);
  state->shares = tsl_device_is_host(work->device) && work->device->threads > 1 &&
                  flops < (double)tsl_crossovers.thread_product &&
                  flops * (double)state->products.batch->count >= (double)tsl_crossovers.thread_batch;
  const tsl_team team = state->shares ? tsl_device_team(work->device) : (tsl_team){0};
  find_streaming_kernel(state);
  state->chunks =
      state->shares ? tsl_crossovers_parts(state->products.batch->count, tsl_team_threads(team)) : 1;
  tsl_team_run(team, state->chunks, multiply_chunk, state);
  tsl_free(state->streaming.state);
  const tesela_status status = (tesela_status)atomic_load(&state->status);
  if (status != TESELA_OK)
    tsl_status_restore(&state->saved);
  return status;
}

static tesela_status api_batch_compute(api_batch_state *state, tesela_record *record) {
  const double start = tsl_clock();
  TSL_TRY(tsl_products_run_together(&state->products) ? tsl_products_together(&state->products)
                                                      : multiply_all(state));
  if (record) {
    const double seconds = tsl_clock() - start;
    *record = (tesela_record){.plan = tsl_thread_text_keep(TSL_THREAD_PLAN, state->products.plan->plan->text),
                              .seconds = seconds,
                              .seconds_compute = seconds,
                              .error_bound = tsl_products_error_bound(&state->products),
                              .flushed_below = tsl_plan_underflow(state->products.plan->plan)};
  }
  return TESELA_OK;
}

static tesela_status api_batch_run_batch(api_batch_state *state, tsl_api_checks checks,
                                         tesela_record *record) {
  tsl_batch_error_check error_check = {.count = 0};
  tesela_status status = TESELA_OK;
  const double start = tsl_clock();
  if (state->products.batch->count == 0)
    return TESELA_OK;
  TSL_TRY(tsl_products_check(&state->products));
  if (tsl_api_has_checks(checks))
    TSL_GO(tsl_batch_error_check_begin(&state->products, checks, &error_check));
  const double ready = tsl_clock();
  TSL_GO(api_batch_compute(state, record));
  const double done = tsl_clock();
  status = tsl_batch_error_check_end(&state->products, &error_check, record);
  if (record && checks.seed != 0)
    record->seconds_measure = ready - start + tsl_clock() - done;
out:
  tsl_batch_error_check_free(&error_check);
  return status;
}

static tesela_status batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                   const tesela_batch *batch, tesela_record *record, size_t desc_size,
                                   size_t batch_size, size_t record_size) {
  TSL_NOT_CANCELLED;
  tesela_gemm_desc own_desc;
  tesela_batch own_batch;
  tesela_record full;
  TSL_API_STRUCT_IMPORT(desc, desc_size, own_desc, tesela_gemm_desc, beta);
  TSL_API_STRUCT_IMPORT(batch, batch_size, own_batch, tesela_batch, c_stride);
  tsl_request request;
  tsl_api_checks checks;
  tsl_call_key key;
  tsl_cached_plan *cached;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  if (!batch)
    return tsl_fail(TESELA_BAD_CALL, "batch is NULL");
  TSL_TRY(tsl_products_check_batch(desc, batch));
  if (tsl_products_are_empty(desc, batch)) { /* empty products: one stands for all */
    own_batch = *batch;
    own_batch.count = 1;
    batch = &own_batch;
  }
  TSL_TRY(tsl_api_checks_of(context, &request, &checks));
  TSL_TRY(tsl_products_request(context, &request, &key));
  TSL_TRY(tsl_products_plan(context, desc, batch, &key, &cached));
  api_batch_state state = {.products = {.context = context,
                                        .plan = tsl_plan_cache_plan(cached),
                                        .desc = desc,
                                        .batch = batch,
                                        .group = -1},
                           .status = TESELA_OK};
  const tesela_status status =
      api_batch_run_batch(&state, checks, tsl_api_record(record, record_size, &full));
  tsl_plan_cache_give_back(&context->cache, cached);
  return tsl_api_recorded(status, record, record_size, &full);
}

tesela_status tesela_gemm_batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                        const tesela_batch *batch, tesela_record *record, size_t desc_size,
                                        size_t batch_size, size_t record_size) {
  tsl_counted counted;
  if (!tsl_calls_are_kept())
    return batched_sized(context, desc, batch, record, desc_size, batch_size, record_size);
  tsl_counted_begin(&counted, record, record_size, false);
  const tesela_status status =
      batched_sized(context, desc, batch, counted.record, desc_size, batch_size, counted.record_size);
  tsl_counted_product(&counted, desc, desc_size, batch ? batch->count : 0);
  return tsl_counted_end(&counted, "tesela_gemm_batched", status);
}

tesela_status tesela_plan_create_batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                               const tesela_batch *batch, tesela_plan **plan,
                                               size_t desc_size, size_t batch_size) {
  tsl_request request;
  tsl_api_description own;
  tesela_batch own_batch;
  TSL_TRY(tsl_api_begin_plan(plan));
  TSL_API_STRUCT_IMPORT(batch, batch_size, own_batch, tesela_batch, scale_b_stride);
  if (!batch || batch->count < 1 || batch->a || batch->b || batch->c)
    return tsl_fail(TESELA_BAD_CALL, !batch             ? "batch is NULL"
                                     : batch->count < 1 ? "batch.count must be 1 or more"
                                                        : "batch.a, b or c is set: a plan has distances");
  TSL_TRY(tsl_api_description_request(context, TESELA_GEMM, desc, desc_size, &own, &request));
  TSL_TRY(tsl_products_check_batch(&request.desc, batch));
  TSL_TRY(tsl_api_create(context, &request, batch->count, plan));
  (*plan)->batch = *batch;
  if (batch->count > 1)
    (*plan)->direct.run = NULL; /* of one product */
  const tesela_status status =
      tsl_products_check_strides(&(tsl_products){.plan = *plan, .batch = batch, .group = -1});
  if (status != TESELA_OK) {
    tesela_plan_destroy(*plan);
    *plan = NULL;
  }
  return status;
}
