/* Many products that are alike: one plan, operands that are all checked first, and threads that take products. */
#include "api/api.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/thread_text.h"
#include "judge/measure.h"
#include "judge/sample.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Below this many operations a product is one thread's, and below as many a batch, too. */
static const double shared_product = 4e6, shared_batch = 2e5;
enum { CHUNKS_OF_A_THREAD = 8, MEASURED_MOST = 8 };

/* Products under way. */
typedef struct running {
  tesela_context *context;
  tesela_plan *plan;
  const tesela_gemm_desc *desc;
  const tesela_batch *batch;
  int64_t chunks;
  bool shares;            /* among threads */
  atomic_bool rescues;    /* some were finished by the specification */
  atomic_int status;      /* of the first product that failed for good */
  tsl_status_saved saved; /* its sentence */
} running;

/* Addresses of element (0, 0), product by product, of what is read or written alike; NULL: there are none. */
typedef const void *addresses;
static const void *address_in(addresses each, int64_t index) {
  const void *address;
  memcpy(&address, (const char *)each + index * (int64_t)sizeof address, sizeof address);
  return address;
}

static tesela_matrix matrix_at(const tesela_matrix *first, addresses each, int64_t stride, size_t size,
                               int64_t index) {
  tesela_matrix matrix = *first;
  if (each)
    matrix.data = address_in(each, index);
  else if (first->buffer)
    matrix.offset += index * stride;
  else if (first->data)
    matrix.data = (const char *)first->data + index * stride * (int64_t)size;
  return matrix;
}

/* Of product `index`. */
static void matrices_of(const running *run, int64_t index, tesela_matrix matrices[TSL_GIVEN]) {
  const tesela_batch *batch = run->batch;
  const tsl_reach *reach = run->plan->reach;
  const tesela_matrix c = tsl_api_as_matrix(&run->desc->c);
  matrices[TSL_OPERAND_A] =
      matrix_at(&run->desc->a, batch->a, batch->a_stride, reach[TSL_OPERAND_A].size, index);
  matrices[TSL_OPERAND_B] =
      matrix_at(&run->desc->b, batch->b, batch->b_stride, reach[TSL_OPERAND_B].size, index);
  const tesela_vector *const vectors[] = {&run->desc->bias, &run->desc->scale_a, &run->desc->scale_b};
  const int64_t strides[] = {batch->bias_stride, batch->scale_a_stride, batch->scale_b_stride};
  for (int i = TSL_OPERANDS; i < TSL_GIVEN; i++) {
    const tesela_matrix line = tsl_api_as_line(vectors[i - TSL_OPERANDS]);
    matrices[i] = matrix_at(&line, NULL, strides[i - TSL_OPERANDS], reach[i].size, index);
  }
  matrices[TSL_OPERAND_C] = matrix_at(&c, batch->c, batch->c_stride, reach[TSL_OPERAND_C].size, index);
}

/* Element (0, 0) in host memory. */
static void *address_of(const void *first, addresses each, int64_t stride, size_t size, int64_t index) {
  return tsl_writable(each    ? address_in(each, index)
                      : first ? (const char *)first + index * stride * (int64_t)size
                              : NULL);
}

/* The direct way, for plans that have one: false where something is wrong. */
static bool gather_directly(const running *run, int64_t index, tsl_operands *operands) {
  const tesela_batch *batch = run->batch;
  const tsl_reach *reach = run->plan->reach;
  operands->a.host =
      address_of(run->desc->a.data, batch->a, batch->a_stride, reach[TSL_OPERAND_A].size, index);
  operands->b.host =
      address_of(run->desc->b.data, batch->b, batch->b_stride, reach[TSL_OPERAND_B].size, index);
  operands->c.host =
      address_of(run->desc->c.data, batch->c, batch->c_stride, reach[TSL_OPERAND_C].size, index);
  return tsl_direct_takes(&run->plan->direct, operands->a.host, operands->b.host, operands->c.host);
}

/* Checks product `index`, and says where its operands are. */
static tesela_status gather(const running *run, int64_t index, tsl_operands *operands) {
  tesela_matrix matrices[TSL_GIVEN];
  const tesela_matrix *const given[TSL_GIVEN] = {
      &matrices[0],
      &matrices[1],
      &matrices[2],
      run->desc->bias_along != TESELA_NO_BIAS ? &matrices[TSL_OPERAND_BIAS] : NULL,
      run->desc->scaling_a != TESELA_NO_SCALE ? &matrices[TSL_OPERAND_SCALE_A] : NULL,
      run->desc->scaling_b != TESELA_NO_SCALE ? &matrices[TSL_OPERAND_SCALE_B] : NULL};
  if (run->plan->direct.run && gather_directly(run, index, operands))
    return TESELA_OK;
  matrices_of(run, index, matrices);
  const tesela_status status = tsl_api_gather(run->plan, "", given, operands);
  return status == TESELA_OK ? status : tsl_fail_in(status, "product %" PRId64, index);
}

/* What is wrong with a batch, whatever its plan is. */
static tesela_status check_batch(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_matrix *const matrices[TSL_OPERANDS] = {&desc->a, &desc->b, &c};
  const addresses each[TSL_OPERANDS] = {batch->a, batch->b, batch->c};
  if (batch->count < 0)
    return tsl_fail(TESELA_BAD_CALL, "batch.count is %" PRId64 ": a number of products is 0 or more",
                    batch->count);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (each[i] && (matrices[i]->data || matrices[i]->buffer || matrices[i]->packed))
      return tsl_fail(TESELA_BAD_CALL,
                      "batch.%c and desc.%c.%s are both given: a batch by addresses has no other", "abc"[i],
                      "abc"[i],
                      matrices[i] -> data                  ? "data"
                                     : matrices[i]->buffer ? "buffer"
                                                           : "packed");
    if (each[i] && (desc->a.buffer || desc->b.buffer || desc->c.buffer || desc->bias.buffer ||
                    desc->scale_a.buffer || desc->scale_b.buffer))
      return tsl_fail(TESELA_BAD_CALL,
                      "batch.%c is given, but other operands are in buffers: addresses are of host memory",
                      "abc"[i]);
  }
  return TESELA_OK;
}

/* Strides that no sum of sizes can pass 63 bits with, and results apart from each other, where that is certain. */
static tesela_status check_strides(const running *run) {
  const tesela_batch *batch = run->batch;
  static const char *const names[TSL_GIVEN] = {"a", "b", "c", "bias", "scale_a", "scale_b"};
  const addresses each[TSL_GIVEN] = {batch->a, batch->b, batch->c};
  const int64_t strides[TSL_GIVEN] = {batch->a_stride,    batch->b_stride,       batch->c_stride,
                                      batch->bias_stride, batch->scale_a_stride, batch->scale_b_stride};
  const tsl_reach *c = &run->plan->reach[TSL_OPERAND_C];
  for (int i = 0; i < TSL_GIVEN; i++) {
    const int64_t stride = strides[i], most = INT64_MAX / 16 / batch->count;
    if (!each[i] && (stride > most || stride < -most))
      return tsl_fail(TESELA_BAD_CALL, "batch.%s_stride is %" PRId64 ": %" PRId64 " products pass 63 bits",
                      names[i], stride, batch->count);
  }
  const int64_t stride = batch->c_stride, apart = stride < 0 ? -stride : stride;
  if (batch->c || batch->count < 2 || !c->used || (apart > 0 && !(c->dense && apart < c->below + c->above)))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL,
                  "batch.c_stride is %" PRId64 ": C has %" PRId64
                  " elements, and products write each other's",
                  stride, c->below + c->above);
}

static tesela_status check_all(const running *run) {
  tsl_operands operands;
  TSL_TRY(check_strides(run));
  for (int64_t i = 0; i < run->batch->count; i++)
    TSL_TRY(gather(run, i, &operands));
  return TESELA_OK;
}

/* Product `index`, which was checked. */
static tesela_status multiply(const running *run, int64_t index) {
  tsl_operands operands;
  tsl_plan *plan = run->plan->plan;
  if (run->plan->direct.run) {
    (void)gather_directly(run, index, &operands);
    return run->plan->direct.run(run->plan->direct.state, operands.a.host, operands.b.host, operands.c.host);
  }
  TSL_TRY(gather(run, index, &operands));
  return tsl_plan_run(plan, &operands, NULL);
}

/* --- what its plan cannot finish --- */

/* Product `index`, whose plan failed and left its C as it was, by the loops of the specification: they take no memory,
 * so that what others wrote already need not be taken back. */
static tesela_status rescue(running *run, int64_t index) {
  const tsl_plan *of = run->plan->plan;
  const tsl_strategy *plainest = tsl_strategy_specification(of->work.problem.op);
  tsl_plan plan = {
      .work = {.strategy = plainest, .problem = of->work.problem, .config = tsl_strategy_defaults(plainest)},
      .place = of->place};
  tsl_operands operands = {.scratch = NULL};
  TSL_TRY(tsl_devices_find(run->context->devices, "cpu", &plan.work.device));
  TSL_TRY(gather(run, index, &operands));
  atomic_store_explicit(&run->rescues, true, memory_order_relaxed);
  return tsl_plan_run(&plan, &operands, NULL);
}

/* Whether the specification can: it reads matrices where they lie in host memory. */
static bool is_rescued(const running *run) {
  const tsl_device *device = run->plan->plan->work.device;
  const tesela_gemm_desc *desc = run->desc;
  return (run->plan->plan->place == TSL_PLACE_HOST || device->capabilities & TSL_CAN_HOST) &&
         !desc->a.packed && !desc->b.packed;
}

/* What a product's failure comes to. While none can have been done the batch fails with it, and every C is as it was; then
 * it is finished, or the answer is the one that promises nothing about C. */
static tesela_status settle(running *run, int64_t index, tesela_status status) {
  if (status == TESELA_OK || status == TESELA_DEVICE_FAILED || (index == 0 && !run->shares))
    return status;
  if (is_rescued(run))
    return rescue(run, index);
  (void)tsl_fail_in(status, "product %" PRId64 ", with others done", index);
  return TESELA_DEVICE_FAILED;
}

static void multiply_chunk(void *argument, int64_t chunk, int worker) {
  running *run = argument;
  const int64_t count = run->batch->count, most = count % run->chunks, size = count / run->chunks;
  const int64_t first = chunk * size + (chunk < most ? chunk : most), end = first + size + (chunk < most);
  (void)worker;
  for (int64_t i = first; i < end && atomic_load_explicit(&run->status, memory_order_relaxed) == TESELA_OK;
       i++) {
    int none = TESELA_OK;
    const tesela_status status = settle(run, i, multiply(run, i));
    if (status != TESELA_OK && atomic_compare_exchange_strong(&run->status, &none, (int)status))
      tsl_status_save(&run->saved);
  }
}

/* All products at once, on a plan that is a batch's. */
static tesela_status multiply_together(const running *run) {
  tsl_operands operands = {.a = {.host = NULL}}; /* the direct way sets addresses alone */
  TSL_TRY(gather(run, 0, &operands));
  operands.a.step = run->batch->a_stride;
  operands.b.step = run->batch->b_stride;
  operands.c.step = run->batch->c_stride;
  operands.bias.step = run->batch->bias_stride;
  operands.scale_a.step = run->batch->scale_a_stride;
  operands.scale_b.step = run->batch->scale_b_stride;
  return tsl_plan_run(run->plan->plan, &operands, NULL);
}

/* Threads share products where one is too small for them and all are not. */
static tesela_status multiply_all(running *run) {
  const tsl_work *work = &run->plan->plan->work;
  const double one = tsl_problem_flops(&work->problem);
  run->shares = work->device->capabilities & TSL_CAN_HOST && work->device->threads > 1 &&
                one < shared_product && one * (double)run->batch->count >= shared_batch;
  const tsl_team team = run->shares ? tsl_device_team(work->device) : (tsl_team){0};
  const int64_t most = run->shares ? (int64_t)CHUNKS_OF_A_THREAD * tsl_team_threads(team) : 1;
  run->chunks = run->batch->count < most ? run->batch->count : most;
  tsl_team_run(team, run->chunks, multiply_chunk, run);
  const tesela_status status = (tesela_status)atomic_load(&run->status);
  if (status != TESELA_OK)
    tsl_status_restore(&run->saved);
  return status;
}

/* Of whichever strategy computed a product. */
static double error_bound(const running *run) {
  const tsl_plan *plan = run->plan->plan;
  const double bound = tsl_plan_error_bound(plan);
  if (!atomic_load_explicit(&run->rescues, memory_order_relaxed))
    return bound;
  tsl_plan plainest = {.work = plan->work};
  plainest.work.strategy = tsl_strategy_specification(plan->work.problem.op);
  const double its = tsl_plan_error_bound(&plainest);
  return its > bound ? its : bound;
}

static bool runs_together(const running *run) {
  return tsl_problem_batch(&run->plan->plan->work.problem) > 1;
}

static tesela_status compute(running *run, tesela_record *record) {
  const double start = tsl_clock();
  TSL_TRY(runs_together(run) ? multiply_together(run) : multiply_all(run));
  if (record) {
    const double seconds = tsl_clock() - start;
    *record = (tesela_record){.plan = tsl_thread_text_keep(TSL_THREAD_PLAN, run->plan->plan->text),
                              .seconds = seconds,
                              .seconds_compute = seconds,
                              .error_bound = error_bound(run),
                              .flushed_below = tsl_plan_accuracy(run->plan->plan).flushes};
  }
  return TESELA_OK;
}

/* --- the error of some products, where it is asked for --- */

typedef struct looking {
  int64_t count, products[MEASURED_MOST];
  tsl_measuring *measuring[MEASURED_MOST];
} looking;

static tesela_status begin_looking(const running *run, uint64_t seed, looking *at) {
  const int64_t count = run->batch->count;
  at->count = count < MEASURED_MOST ? count : MEASURED_MOST;
  tsl_sample_draw(at->products, at->count, count, seed);
  for (int64_t i = 0; i < at->count; i++) {
    tsl_operands operands = {.a = {.host = NULL}};
    TSL_TRY(gather(run, at->products[i], &operands));
    TSL_TRY(tsl_measure_begin(run->plan->plan, &operands, seed + (uint64_t)i, &at->measuring[i]));
  }
  return TESELA_OK;
}

static tesela_status look(const looking *at, tesela_record *record) {
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < at->count && status == TESELA_OK; i++) {
    tsl_measured seen;
    status = tsl_measure_end(at->measuring[i], &seen);
    if (status != TESELA_OK)
      (void)tsl_fail_in(status, "product %" PRId64, at->products[i]);
    if (!record || !tsl_api_is_told(status))
      continue;
    record->error_measured = seen.error > record->error_measured ? seen.error : record->error_measured;
    record->measured_rows += seen.rows;
    record->measured_cols = seen.cols;
  }
  return status;
}

static tesela_status run_batch(running *run, uint64_t seed, tesela_record *record) {
  looking at = {.count = 0};
  tesela_status status = TESELA_OK;
  const double start = tsl_clock();
  if (run->batch->count == 0)
    return TESELA_OK;
  TSL_TRY(check_all(run));
  if (seed != 0)
    TSL_GO(begin_looking(run, seed, &at));
  const double ready = tsl_clock();
  TSL_GO(compute(run, record));
  const double done = tsl_clock();
  status = look(&at, record);
  if (record && seed != 0)
    record->seconds_measure = ready - start + tsl_clock() - done;
out:
  for (int64_t i = 0; i < at.count; i++)
    tsl_measure_free(at.measuring[i]);
  return status;
}

/* Whether products follow each other at even distances, so that one run may take all. */
static bool is_even(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  return batch->count > 1 && !batch->a && !batch->b && !batch->c && !desc->a.packed && !desc->b.packed;
}

/* Whether products run one by one for good: on the processor threads share them out, and elsewhere it was found that no
 * strategy takes them in one run. */
static bool is_alone(const tsl_cached_plan *one) {
  return tsl_plan_cache_plan(one)->plan->work.device->capabilities & TSL_CAN_HOST ||
         tsl_plan_cache_refuses_batches(one);
}

/* A plan of all products where they lie at even distances, do not run on the processor, and a strategy takes them so; else
 * of one. The plan of one says where products in host memory run; of buffers it is made only where it is needed. */
static tesela_status cached_plan(tesela_context *context, const tesela_gemm_desc *desc,
                                 const tesela_batch *batch, const tsl_call_key *key,
                                 tsl_cached_plan **cached) {
  tsl_call_key all = *key;
  const bool even = is_even(desc, batch);
  tsl_cached_plan *one = tsl_plan_cache_find(&context->cache, key), *together;
  if (!one && (!even || key->place == TSL_PLACE_HOST))
    TSL_TRY(tsl_api_cached_plan(context, key, &one));
  *cached = one;
  if (one && (!even || is_alone(one)))
    return TESELA_OK;
  all.problem.batch = batch->count;
  if (one)
    snprintf(all.device, sizeof all.device, "%s", tsl_plan_cache_plan(one)->plan->work.device->name);
  const tesela_status status = tsl_api_cached_plan(context, &all, &together);
  if (status == TESELA_UNSUPPORTED) {
    if (!one)
      TSL_TRY(tsl_api_cached_plan(context, key, cached));
    tsl_plan_cache_refuse_batches(*cached);
    return TESELA_OK;
  }
  if (one)
    tsl_plan_cache_give_back(&context->cache, one);
  *cached = together;
  return status;
}

tesela_status tesela_gemm_batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                        const tesela_batch *batch, tesela_record *record, size_t desc_size,
                                        size_t batch_size, size_t record_size) {
  TSL_NOT_CANCELLED;
  tesela_gemm_desc own_desc;
  tesela_batch own_batch;
  tesela_record full;
  TSL_API_TAKE(desc, desc_size, own_desc, tesela_gemm_desc, runs);
  TSL_API_TAKE(batch, batch_size, own_batch, tesela_batch, c_stride);
  tsl_request request;
  tsl_call_key key;
  tsl_cached_plan *cached;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  if (!batch)
    return tsl_fail(TESELA_BAD_CALL, "batch is NULL");
  TSL_TRY(check_batch(desc, batch));
  if (tsl_api_is_spread(context, &request))
    return tsl_fail(TESELA_UNSUPPORTED,
                    "desc has operands on several devices, in pieces or in buffers: those of a "
                    "batch are in one place");
  TSL_TRY(tsl_api_request(context, &request, &key));
  TSL_TRY(cached_plan(context, desc, batch, &key, &cached));
  running run = {.context = context,
                 .plan = tsl_plan_cache_plan(cached),
                 .desc = desc,
                 .batch = batch,
                 .status = TESELA_OK};
  const tesela_status status =
      run_batch(&run, tsl_api_seed(context, &request), tsl_api_record(record, record_size, &full));
  tsl_plan_cache_give_back(&context->cache, cached);
  return tsl_api_recorded(status, record, record_size, &full);
}
