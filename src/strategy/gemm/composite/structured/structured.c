/* structured.cl has the method and its picture. Measurements: docs/lab/structured.md. */
#include "strategy/gemm/composite/structured/structured.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "strategy/cost_counts.h"
#include "strategy/support.h"

#include <math.h>

static const tsl_param params[] = {
    [STRUCTURED_BLOCK] = {"block", "rows of a block of the diagonal; 0: by the device", 0, {0}},
    {NULL, NULL, 0, {0}},
};

/* Returns the number of products: a rank-2k update is two rank-k updates. */
static int products_of(const tsl_problem *problem) {
  return tsl_is_sum(problem->c.structure) ? 2 : 1;
}

static tsl_accuracy structured_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const int64_t slabs = tsl_structured_addends(problem, config->value[STRUCTURED_BLOCK]);
  tsl_problem terms = *problem;
  terms.k = tsl_problem_terms(problem);
  terms.c.structure = TESELA_GENERAL;
  return tsl_accuracy_asked_of_parts(&terms, products_of(problem) * slabs);
}

static const char *structured_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  (void)config;
  (void)device;
  if (tsl_is_sum(problem->c.structure) && tsl_type(problem->c.type)->is_complex)
    return "takes no complex updates of rank 2k: the second product would multiply infinities of the first "
           "by 1 + 0i";
  return tsl_problem_has_structure(problem)
             ? NULL
             : "takes products of which a factor has a structure, or C a triangle";
}

static void structured_cut_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_structured_cut *cut) {
  tsl_structured_cut_of(problem, config->value[STRUCTURED_BLOCK], device, cut);
}

static double structured_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_all_strategies *list) {
  tsl_structured_cut cut;
  structured_cut_of(problem, config, device, &cut);
  return products_of(problem) * tsl_structured_seconds(problem, &cut, device, list);
}

/* Rounds up, so that children's kernels may access the memory in vectors. */
static uint64_t structured_aligned(uint64_t bytes) {
  enum { LINE = 256 };
  return (bytes + LINE - 1) / LINE * LINE;
}

/* Returns the bytes of the copies; structured_build() adds the children's workspace. */
static uint64_t bytes_of_copies(const tsl_problem *problem, const tsl_structured_cut *cut) {
  const tsl_structured_scratch blocks = tsl_structured_diagonal_blocks(problem, cut),
                               c_copy = tsl_structured_c_copy(problem);
  const uint64_t size = tsl_type(problem->c.type)->size;
  return structured_aligned((uint64_t)blocks.elements * size) +
         structured_aligned((uint64_t)c_copy.elements * size);
}

static uint64_t structured_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  tsl_structured_cut cut;
  structured_cut_of(problem, config, device, &cut);
  return bytes_of_copies(problem, &cut);
}

/* Counts the multiply-adds and copies of all batches; children count further traffic. */
static void structured_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  tsl_structured_cut cut;
  double a = 0, b = 0, copied;
  structured_cut_of(problem, config, device, &cut);
  account->computed = 0;
  account->launches = products_of(problem) * (cut.count + tsl_structured_copies(problem, &cut, &copied));
  for (int i = 0; i < cut.count; i++) {
    const tsl_structured_batch *batch = &cut.batches[i];
    const double count = (double)batch->count, rows = (double)batch->rows, cols = (double)batch->cols,
                 depth = tsl_structured_reads(problem) ? (double)batch->depth : 0;
    account->computed += products_of(problem) * count * rows * cols * depth;
    account->workers = fmax(account->workers, fmin(device->compute_units, count * rows * cols));
    a += count * rows * depth;
    b += count * depth * cols;
  }
  tsl_cost_counts_operands(problem, a, b, account);
  tsl_cost_counts_result(problem, 1, account);
  const double bytes = copied * (double)tsl_type(problem->c.type)->size;
  account->global.read += bytes;
  account->global.written += bytes;
  account->memory += 2 * bytes;
}

static void release_product(tsl_work *work) {
  tsl_structured_gemm *self = work->state;
  for (int i = 0; self && i < self->cut.count; i++)
    work->subplans->destroy(self->children[i]);
  tsl_free(self);
  work->state = NULL;
}

/* Returns a product as a work of its own. */
static tsl_work structured_product_of(const tsl_work *work, int index) {
  const tsl_structured_state *state = work->state;
  tsl_work product = *work;
  product.problem = state->products[index].problem;
  product.state = state->products[index].own;
  return product;
}

static void structured_release(tsl_work *work) {
  tsl_structured_state *state = work->state;
  for (int i = 0; i < state->count; i++) {
    tsl_work product = structured_product_of(work, i);
    release_product(&product);
  }
  tsl_free(state);
  work->state = NULL;
}

/* Makes the child plan for all products of a batch, or for one if no strategy computes them in one run. */
static tesela_status structured_make_child(tsl_work *work, int index, uint64_t most) {
  tsl_structured_gemm *self = work->state;
  tsl_problem part = tsl_structured_part(&work->problem, &self->cut, &self->cut.batches[index]);
  const int64_t slabs = tsl_structured_addends(&work->problem, self->cut.block);
  const tsl_subplan_request request = {
      .problem = &part,
      .device = work->device,
      .in_buffers = true,
      .workspace_most = most,
      .most = tsl_accuracy_of_one_part(&work->problem, &part, self->products * slabs)};
  /* Processors launch fast, and their fastest kernels pack the operands of one product at a time. */
  const bool is_large = work->device->is_cpu && part.m * part.n >= 256 * 256;
  const tesela_status status = part.batch > 0 && is_large
                                   ? TESELA_UNSUPPORTED
                                   : work->subplans->make(work->subplans, &request, &self->children[index]);
  if (status != TESELA_UNSUPPORTED || part.batch == 0)
    return status;
  part.batch = 0;
  self->one_by_one[index] = true;
  return work->subplans->make(work->subplans, &request, &self->children[index]);
}

static tesela_status structured_make_children(tsl_work *work, uint64_t *workspace) {
  tsl_structured_gemm *self = work->state;
  const uint64_t copy_bytes = bytes_of_copies(&work->problem, &self->cut),
                 all = tsl_device_allocation_max(work->device);
  *workspace = 0;
  for (int i = 0; i < self->cut.count; i++) {
    TSL_TRY(structured_make_child(work, i, all > copy_bytes ? all - copy_bytes : 0));
    const uint64_t needs = work->subplans->workspace(self->children[i]);
    *workspace = needs > *workspace ? needs : *workspace;
  }
  return TESELA_OK;
}

/* Makes the kernel and children. Scratch memory: the children's workspace, diagonal blocks, the copy of C. */
static tesela_status structured_prepare(tsl_work *work) {
  tsl_structured_gemm *self = work->state;
  const uint64_t size = tsl_type(work->problem.c.type)->size;
  uint64_t workspace;
  TSL_TRY(tsl_launch_kernel(work, "strategy/gemm/composite/structured/structured.cl", "tsl_structured_blocks",
                            STRUCTURED_SIDE * STRUCTURED_LINES, &self->copy));
  TSL_TRY(structured_make_children(work, &workspace));
  self->blocks = tsl_structured_diagonal_blocks(&work->problem, &self->cut);
  self->c_copy = tsl_structured_c_copy(&work->problem);
  const uint64_t c_copy_offset =
      structured_aligned(workspace) + structured_aligned((uint64_t)self->blocks.elements * size);
  self->blocks_offset = (int64_t)(structured_aligned(workspace) / size);
  self->c_copy_offset = (int64_t)(c_copy_offset / size);
  work->scratch = c_copy_offset + structured_aligned((uint64_t)self->c_copy.elements * size);
  return TESELA_OK;
}

static tesela_status build_product(tsl_work *work, int products) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_structured_gemm), "pieces of a product", &block));
  tsl_structured_gemm *self = work->state = block;
  self->products = products;
  structured_cut_of(&work->problem, &work->config, work->device, &self->cut);
  const tesela_status status = structured_prepare(work);
  if (status != TESELA_OK) {
    release_product(work);
    return status;
  }
  if (self->cut.block > 0)
    work->config.value[STRUCTURED_BLOCK] = self->cut.block;
  tsl_log(TSL_LOG_PLAN, "structured on %s: %d pieces in %d levels, blocks of %lld", work->device->name,
          self->cut.count, self->cut.levels, (long long)self->cut.block);
  return TESELA_OK;
}

static tsl_operand transposed_operand(const tsl_operand *operand) {
  tsl_operand out = *operand;
  out.row_stride = operand->col_stride;
  out.col_stride = operand->row_stride;
  return out;
}

static tesela_status structured_build(tsl_work *work) {
  const int products = products_of(&work->problem);
  tesela_status status = TESELA_OK;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_structured_state), "products with structures", &block));
  tsl_structured_state *state = work->state = block;
  for (int i = 0; i < products && status == TESELA_OK; i++) {
    tsl_work product = *work;
    product.state = NULL;
    if (products > 1)
      product.problem = tsl_problem_half_of_sum(&work->problem, i > 0);
    status = build_product(&product, products);
    state->products[i].problem = product.problem;
    state->products[i].own = product.state;
    state->count++;
    product.problem = work->problem;
    product.state = state;
    if (product.scratch < work->scratch)
      product.scratch = work->scratch;
    *work = product;
  }
  if (status != TESELA_OK)
    structured_release(work);
  return status;
}

/* Runs the products; the second one of a rank-2k update has transposed and exchanged operands. */
static tesela_status structured_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_work first = structured_product_of(work, 0);
  TSL_TRY(tsl_structured_run(&first, operands, stream));
  if (products_of(&work->problem) == 1)
    return TESELA_OK;
  const tsl_work last = structured_product_of(work, 1);
  tsl_operands second = *operands;
  second.a = transposed_operand(&operands->b);
  second.b = transposed_operand(&operands->a);
  return tsl_structured_run(&last, &second, stream);
}

static bool describe_batch(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_structured_gemm *self = work->state;
  if (index < 0 || index >= self->cut.count)
    return false;
  const tsl_structured_batch *batch = &self->cut.batches[index];
  *out = (tsl_subplan_info){.device = work->device->name,
                            .plan = work->subplans->text(self->children[index]),
                            .row = batch->row,
                            .rows = batch->rows,
                            .col = batch->col,
                            .cols = batch->cols,
                            .depth = batch->depth,
                            .count = batch->count,
                            .seconds = work->subplans->expected(self->children[index]) *
                                       (double)(self->one_by_one[index] ? batch->count : 1)};
  return true;
}

static bool structured_describe_batch(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_structured_state *state = work->state;
  const int first = state->products[0].own->cut.count,
            product_index = index < first || state->count == 1 ? 0 : 1;
  const tsl_work product = structured_product_of(work, product_index);
  return describe_batch(&product, product_index == 0 ? index : index - first, out);
}

static const char *const probes[] = {"block=16", "block=0", NULL};

const tsl_strategy tsl_gemm_structured = {
    .name = "structured",
    .idea = "triangles and structures as batches of general products along the diagonal",
    .lifts = "kernels that know general matrices alone",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = structured_accuracy,
    .params = params,
    .supports = {.types = tsl_types_blas, .conjugates = true, .structures = true},
    .tuning = {.ranges = {[STRUCTURED_BLOCK] = {0, INT64_MAX}}},
    .refuse = structured_refuse,
    .build = structured_build,
    .run = structured_run,
    .release = structured_release,
    .resources = {.scratch = structured_scratch, .count_costs = structured_account},
    .testing = {.probes = probes},
    .splits = {.score = structured_score, .subplan = structured_describe_batch},
};
