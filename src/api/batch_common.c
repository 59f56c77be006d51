/* Operands of products of one shape, their checks, and the computation of one product. A product whose plan
 * fails after others are done is computed by the specification (strategy "sequential"). */
#include "api/batch_common.h"

#include "core/clock.h"
#include "core/status.h"
#include "judge/sample.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Prefixes this thread's message with the numbers of product and group. Returns status. */
static tesela_status fail_in_product(const tsl_products *products, int64_t index, tesela_status status) {
  if (products->is_one)
    return tsl_fail_in(status, "product %" PRId64, products->group);
  (void)tsl_fail_in(status, "product %" PRId64, index);
  return products->group < 0 ? status : tsl_fail_in(status, "group %" PRId64, products->group);
}

/* Addresses of element (0, 0) of each product; NULL: products are at strides. */
typedef const void *addresses;
static const void *get_address(addresses each, int64_t index) {
  const void *address;
  memcpy(&address, (const char *)each + index * (int64_t)sizeof address, sizeof address);
  return address;
}

/* Returns the operand of product `index`: at each[index], or `index` strides of elements after the first. */
static tesela_matrix matrix_at(const tesela_matrix *first, addresses each, int64_t stride, size_t size,
                               int64_t index) {
  tesela_matrix matrix = *first;
  if (each)
    matrix.data = get_address(each, index);
  else if (first->buffer)
    matrix.offset += index * stride;
  else if (first->data)
    matrix.data = (const char *)first->data + index * stride * (int64_t)size;
  return matrix;
}

static void matrices_of(const tsl_products *products, int64_t index,
                        tesela_matrix matrices[TSL_ALL_OPERANDS]) {
  const tesela_batch *batch = products->batch;
  const tsl_address_range *reach = products->plan->reach;
  const tesela_matrix c = tsl_api_as_matrix(&products->desc->c);
  matrices[TSL_OPERAND_A] =
      matrix_at(&products->desc->a, batch->a, batch->a_stride, reach[TSL_OPERAND_A].size, index);
  matrices[TSL_OPERAND_B] =
      matrix_at(&products->desc->b, batch->b, batch->b_stride, reach[TSL_OPERAND_B].size, index);
  const tesela_epilogue *epilogue = tsl_api_epilogue(products->desc);
  const tesela_vector *const vectors[] = {&epilogue->bias, &epilogue->scale_a, &epilogue->scale_b};
  const int64_t strides[] = {batch->bias_stride, batch->scale_a_stride, batch->scale_b_stride};
  for (int i = TSL_OPERANDS; i < TSL_ALL_OPERANDS; i++) {
    const tesela_matrix line = tsl_api_as_line(vectors[i - TSL_OPERANDS]);
    matrices[i] = matrix_at(&line, NULL, strides[i - TSL_OPERANDS], reach[i].size, index);
  }
  matrices[TSL_OPERAND_C] = matrix_at(&c, batch->c, batch->c_stride, reach[TSL_OPERAND_C].size, index);
}

/* Returns the host address of product `index` as matrix_at() does; NULL: no operand. */
static void *batch_common_address_of(const void *first, addresses each, int64_t stride, size_t size,
                                     int64_t index) {
  return tsl_writable(each    ? get_address(each, index)
                      : first ? (const char *)first + index * stride * (int64_t)size
                              : NULL);
}

bool tsl_products_at(const tsl_products *products, int64_t index, tsl_operands *operands) {
  const tesela_batch *batch = products->batch;
  const tsl_address_range *reach = products->plan->reach;
  operands->a.host = batch_common_address_of(products->desc->a.data, batch->a, batch->a_stride,
                                             reach[TSL_OPERAND_A].size, index);
  operands->b.host = batch_common_address_of(products->desc->b.data, batch->b, batch->b_stride,
                                             reach[TSL_OPERAND_B].size, index);
  operands->c.host = batch_common_address_of(products->desc->c.data, batch->c, batch->c_stride,
                                             reach[TSL_OPERAND_C].size, index);
  return tsl_fast_call_supports(&products->plan->direct, operands->a.host, operands->b.host,
                                operands->c.host);
}

tesela_status tsl_products_gather(const tsl_products *products, int64_t index, tsl_operands *operands) {
  tesela_matrix matrices[TSL_ALL_OPERANDS];
  const tesela_epilogue *epilogue = tsl_api_epilogue(products->desc);
  const tesela_matrix *const given[TSL_ALL_OPERANDS] = {
      &matrices[0],
      &matrices[1],
      &matrices[2],
      epilogue->bias_axis != TESELA_NO_BIAS ? &matrices[TSL_OPERAND_BIAS] : NULL,
      epilogue->scaling_a != TESELA_NO_SCALE ? &matrices[TSL_OPERAND_SCALE_A] : NULL,
      epilogue->scaling_b != TESELA_NO_SCALE ? &matrices[TSL_OPERAND_SCALE_B] : NULL};
  if (products->plan->direct.run && tsl_products_at(products, index, operands))
    return TESELA_OK;
  matrices_of(products, index, matrices);
  const tesela_status status = tsl_api_gather(products->plan, "", given, operands);
  return status == TESELA_OK ? status : fail_in_product(products, index, status);
}

tesela_status tsl_products_check_batch(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_matrix *const matrices[TSL_OPERANDS] = {&desc->a, &desc->b, &c};
  const addresses each[TSL_OPERANDS] = {batch->a, batch->b, batch->c};
  const tesela_epilogue *epilogue = tsl_api_epilogue(desc);
  if (batch->count < 0)
    return tsl_fail(TESELA_BAD_CALL, "batch.count is %" PRId64 ": a number of products is 0 or more",
                    batch->count);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (each[i] && (matrices[i]->data || matrices[i]->buffer || matrices[i]->packed))
      return tsl_fail(TESELA_BAD_CALL, "batch.%c and desc.%c.%s are both given: set only one", "abc"[i],
                      "abc"[i],
                      matrices[i] -> data                  ? "data"
                                     : matrices[i]->buffer ? "buffer"
                                                           : "packed");
    if (each[i] && (desc->a.buffer || desc->b.buffer || desc->c.buffer || epilogue->bias.buffer ||
                    epilogue->scale_a.buffer || epilogue->scale_b.buffer))
      return tsl_fail(TESELA_BAD_CALL,
                      "batch.%c is given, but other operands are in buffers: addresses are of host memory",
                      "abc"[i]);
  }
  return TESELA_OK;
}

/* Checks that no offset exceeds 63 bits, and that no two results certainly overlap. */
tesela_status tsl_products_check_strides(const tsl_products *products) {
  const tesela_batch *batch = products->batch;
  static const char *const names[TSL_ALL_OPERANDS] = {"a", "b", "c", "bias", "scale_a", "scale_b"};
  const addresses each[TSL_ALL_OPERANDS] = {batch->a, batch->b, batch->c};
  const int64_t strides[TSL_ALL_OPERANDS] = {batch->a_stride,       batch->b_stride,
                                             batch->c_stride,       batch->bias_stride,
                                             batch->scale_a_stride, batch->scale_b_stride};
  const tsl_address_range *c = &products->plan->reach[TSL_OPERAND_C];
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    const int64_t stride = strides[i], stride_limit = INT64_MAX / 16 / batch->count;
    if (!each[i] && (stride > stride_limit || stride < -stride_limit))
      return tsl_fail(TESELA_BAD_CALL, "batch.%s_stride is %" PRId64 ": %" PRId64 " products exceed 63 bits",
                      names[i], stride, batch->count);
  }
  const int64_t stride = batch->c_stride, distance = stride < 0 ? -stride : stride;
  if (batch->c || batch->count < 2 || !c->used ||
      (distance > 0 && !(c->dense && distance < c->below + c->above)))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL,
                  "batch.c_stride is %" PRId64 ": C has %" PRId64
                  " elements, so products overwrite each other",
                  stride, c->below + c->above);
}

tesela_status tsl_products_check(const tsl_products *products) {
  tsl_operands operands;
  const tesela_status status = tsl_products_check_strides(products);
  if (status != TESELA_OK)
    return products->group < 0 ? status : tsl_fail_in(status, "group %" PRId64, products->group);
  for (int64_t i = 0; i < products->batch->count; i++)
    TSL_TRY(tsl_products_gather(products, i, &operands));
  return TESELA_OK;
}

/* Computes a product by the plan's shortcut, without further checks, or checks it and runs the plan. */
static tesela_status batch_common_multiply(const tsl_products *products, int64_t index) {
  tsl_operands operands;
  tsl_plan *plan = products->plan->plan;
  if (products->plan->direct.run) {
    (void)tsl_products_at(products, index, &operands);
    return tsl_fast_call_run(&products->plan->direct, &plan->work.problem, operands.a.host, operands.b.host,
                             operands.c.host);
  }
  TSL_TRY(tsl_products_gather(products, index, &operands));
  return tsl_plan_run(plan, &operands, NULL);
}

tesela_status tsl_products_by_specification(const tsl_problem *problem, tsl_device *cpu,
                                            tsl_memory_place place, const tsl_operands *operands) {
  const tsl_strategy *plainest = tsl_strategy_specification(problem->op);
  tsl_plan plan = {.work = {.strategy = plainest,
                            .problem = *problem,
                            .config = tsl_strategy_defaults(plainest),
                            .device = cpu},
                   .place = place};
  return tsl_plan_run(&plan, operands, NULL);
}

/* Computes product `index` by the specification after its plan left C unchanged. */
static tesela_status rescue(tsl_products *products, int64_t index) {
  const tsl_plan *failed_plan = products->plan->plan;
  tsl_operands operands = {.scratch = NULL};
  tsl_device *cpu;
  TSL_TRY(tsl_devices_find(products->context->devices, "cpu", &cpu));
  TSL_TRY(tsl_products_gather(products, index, &operands));
  atomic_store_explicit(&products->rescues, true, memory_order_relaxed);
  return tsl_products_by_specification(&failed_plan->work.problem, cpu, failed_plan->place, &operands);
}

/* Returns true if the specification can compute the products: host memory, not packed. */
static bool can_be_rescued(const tsl_products *products) {
  const tsl_device *device = products->plan->plan->work.device;
  const tesela_gemm_desc *desc = products->desc;
  return (products->plan->plan->place == TSL_PLACE_HOST || tsl_device_is_host(device)) && !desc->a.packed &&
         !desc->b.packed;
}

tesela_status tsl_products_multiply(tsl_products *products, int64_t index, bool is_first) {
  const tesela_status status = batch_common_multiply(products, index);
  if (status == TESELA_OK || status == TESELA_DEVICE_FAILED || is_first)
    return status;
  if (can_be_rescued(products))
    return rescue(products, index);
  (void)tsl_fail_in(status, "with others done");
  (void)fail_in_product(products, index, status);
  return TESELA_DEVICE_FAILED;
}

bool tsl_products_run_together(const tsl_products *products) {
  return tsl_problem_batch(&products->plan->plan->work.problem) > 1;
}

tesela_status tsl_products_gather_all(const tsl_products *products, tsl_operands *operands) {
  *operands = (tsl_operands){.a = {.host = NULL}}; /* tsl_products_at() sets addresses only */
  TSL_TRY(tsl_products_gather(products, 0, operands));
  operands->a.batch_step = products->batch->a_stride;
  operands->b.batch_step = products->batch->b_stride;
  operands->c.batch_step = products->batch->c_stride;
  operands->bias.batch_step = products->batch->bias_stride;
  operands->scale_a.batch_step = products->batch->scale_a_stride;
  operands->scale_b.batch_step = products->batch->scale_b_stride;
  return TESELA_OK;
}

tesela_status tsl_products_together(const tsl_products *products) {
  tsl_operands operands;
  TSL_TRY(tsl_products_gather_all(products, &operands));
  return tsl_plan_run(products->plan->plan, &operands, NULL);
}

double tsl_products_error_bound(const tsl_products *products) {
  const tsl_plan *plan = products->plan->plan;
  const double bound = tsl_plan_error_bound(plan);
  if (!atomic_load_explicit(&products->rescues, memory_order_relaxed))
    return bound;
  tsl_plan plainest = {.work = plan->work};
  plainest.work.strategy = tsl_strategy_specification(plan->work.problem.op);
  const double its = tsl_plan_error_bound(&plainest);
  return its > bound ? its : bound;
}

/* Returns true if one run may compute all products: equal distances, no structures. */
static bool has_equal_distances(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                const tsl_problem *problem) {
  return batch->count > 1 && !tsl_problem_has_structure(problem) && !batch->a && !batch->b && !batch->c &&
         !desc->a.packed && !desc->b.packed;
}

/* Returns true if products run one by one: on the cpu, or if no strategy supports the batch. */
static bool batch_common_runs_one_by_one(const tsl_cached_plan *cached_plan) {
  return tsl_device_is_host(tsl_plan_cache_plan(cached_plan)->plan->work.device) ||
         tsl_plan_cache_refuses_batches(cached_plan);
}

tesela_status tsl_products_request(tesela_context *context, const tsl_request *request, tsl_call_key *key) {
  if (tsl_api_is_spread(context, request))
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "desc has operands on several devices: operands of a batch or group must be in one place");
  return tsl_api_request(context, request, key);
}

tesela_status tsl_products_key(tesela_context *context, const tesela_gemm_desc *desc, tsl_call_key *key) {
  tsl_request request;
  TSL_TRY(tsl_api_gemm_request(context, desc, &request));
  return tsl_products_request(context, &request, key);
}

tesela_status tsl_products_plan(tesela_context *context, const tesela_gemm_desc *desc,
                                const tesela_batch *batch, const tsl_call_key *key,
                                tsl_cached_plan **cached) {
  tsl_call_key all = *key;
  const bool even = has_equal_distances(desc, batch, &key->problem);
  tsl_cached_plan *single_plan = tsl_plan_cache_find(&context->cache, key), *together;
  if (!single_plan && (!even || key->place == TSL_PLACE_HOST))
    TSL_TRY(tsl_api_cached_plan(context, key, &single_plan));
  *cached = single_plan;
  if (single_plan && (!even || batch_common_runs_one_by_one(single_plan)))
    return TESELA_OK;
  all.problem.batch = batch->count;
  if (single_plan)
    snprintf(all.device, sizeof all.device, "%s", tsl_plan_cache_plan(single_plan)->plan->work.device->name);
  const tesela_status status = tsl_api_cached_plan(context, &all, &together);
  if (status == TESELA_UNSUPPORTED) {
    if (!single_plan)
      TSL_TRY(tsl_api_cached_plan(context, key, cached));
    tsl_plan_cache_refuse_batches(*cached);
    return TESELA_OK;
  }
  if (single_plan)
    tsl_plan_cache_give_back(&context->cache, single_plan);
  *cached = together;
  return status;
}

static tesela_status begin_verifications(const tsl_products *products, tsl_api_checks checks,
                                         tsl_batch_error_check *check) {
  const int64_t count = products->batch->count;
  void *block;
  TSL_TRY(tsl_alloc_zeroed((size_t)count * sizeof *check->verifications, "a batch's verifications", &block));
  check->verifications = block;
  check->verified_count = count;
  for (int64_t i = 0; i < count; i++) {
    tsl_operands operands = {.a = {.host = NULL}};
    TSL_TRY(tsl_products_gather(products, i, &operands));
    if (checks.verifies_by_default && tsl_verify_refuse(products->plan->plan, &operands))
      continue;
    TSL_TRY(tsl_verify_begin(products->plan->plan, &operands, checks.verify == TSL_VERIFY_REPAIR,
                             &check->verifications[i]));
    TSL_TRY(tsl_verify_ready(check->verifications[i]));
  }
  return TESELA_OK;
}

tesela_status tsl_batch_error_check_begin(const tsl_products *products, tsl_api_checks checks,
                                          tsl_batch_error_check *check) {
  const int64_t count = products->batch->count;
  if (checks.verify != TSL_VERIFY_NONE)
    TSL_TRY(begin_verifications(products, checks, check));
  if (checks.seed == 0)
    return TESELA_OK;
  check->count = count < TSL_LOOKED_AT ? count : TSL_LOOKED_AT;
  tsl_sample_draw(check->products, check->count, count, checks.seed);
  for (int64_t i = 0; i < check->count; i++) {
    tsl_operands operands = {.a = {.host = NULL}};
    TSL_TRY(tsl_products_gather(products, check->products[i], &operands));
    TSL_TRY(
        tsl_measure_begin(products->plan->plan, &operands, checks.seed + (uint64_t)i, &check->measuring[i]));
    TSL_TRY(tsl_measure_ready(check->measuring[i]));
  }
  return TESELA_OK;
}

static tesela_status end_verifications(const tsl_products *products, const tsl_batch_error_check *check,
                                       tesela_record *record) {
  for (int64_t i = 0; i < check->verified_count; i++) {
    tsl_verified verified;
    if (!check->verifications[i])
      continue;
    const double start = tsl_clock();
    const tesela_status status = tsl_verify_end(check->verifications[i], &verified);
    tsl_api_record_verified(products->plan, &verified, tsl_clock() - start, record);
    if (status != TESELA_OK)
      return fail_in_product(products, i, status);
  }
  return TESELA_OK;
}

tesela_status tsl_batch_error_check_end(const tsl_products *products, const tsl_batch_error_check *check,
                                        tesela_record *record) {
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < check->count && status == TESELA_OK; i++) {
    tsl_error_measured measured;
    status = tsl_measure_end(check->measuring[i], &measured);
    if (status != TESELA_OK)
      (void)fail_in_product(products, check->products[i], status);
    if (!record || !tsl_api_struct_size_valid(status))
      continue;
    record->error_measured =
        measured.error > record->error_measured ? measured.error : record->error_measured;
    record->measured_rows += measured.rows;
    record->measured_cols = measured.cols > record->measured_cols ? measured.cols : record->measured_cols;
  }
  if (status == TESELA_OK)
    status = end_verifications(products, check, record);
  return status;
}

void tsl_batch_error_check_free(tsl_batch_error_check *check) {
  for (int64_t i = 0; i < check->count; i++)
    tsl_measure_free(check->measuring[i]);
  for (int64_t i = 0; i < check->verified_count; i++)
    tsl_verify_free(check->verifications[i]);
  tsl_free(check->verifications);
}
