/* Idea: cuBLASLt's matmul on a CUDA device with the best of its algorithms, for comparison: NVIDIA's best
 * effort for a shape. Loaded at run time (TESELA_CUBLASLT, else the names below). Not on the ladder.
 *
 *   cublaslt_build()  heuristics propose up to 16 algorithms for the shape, each with up to 256 MiB; each
 *                     runs four times on memory of the operands' sizes; the fastest is used (choice.c)
 *   cublaslt_run()    C (m x n, row- or column-major) = alpha A B + beta C: cublasLtMatmul on our stream,
 *                     column-major; a row-major C is C' = B' A'
 *
 * A plan for operands on the host runs on packed copies, so cublaslt_build() chooses for the given strides
 * and for packed ones. Operands that are not aligned to 16 bytes use the heuristics' first algorithm without
 * that need.
 *
 * Precision: CUBLAS_COMPUTE_32F for f32, c64, f16 and bf16, CUBLAS_COMPUTE_64F for f64 and c128, without TF32
 * and emulation; CUBLAS_COMPUTE_32I for i8. CUBLAS_COMPUTE_32F_FAST_TF32 for f32 and c64 if the required
 * accuracy allows TF32's error. e4m3: both operands contiguous along k; sizes, lines and addresses multiples
 * of 16. Its sums keep 13 binary places. i8: sizes, lines and addresses are multiples of 4; other operands
 * are copied to the workspace first. Batches have a positive step: with negative steps some algorithms of
 * 13.1 read wrong addresses.
 *
 * Limits: each operand has one unit stride; the other is positive and at least the length of the line; no
 * batches of integers, nor of 2^31 products or more; k = 0 and alpha = 0 are refused. Equal bits are promised
 * for one plan only, as another may choose another algorithm. Measurements: docs/lab/vendor_cublaslt.md. */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/peer/vendor_cublaslt/choice.h"
#include "strategy/host_jobs/host_job.h"

typedef struct cublaslt_state {
  tsl_vendor_handle own; /* its lock also guards the list, which only grows */
  tsl_lt_choice *choices;
} cublaslt_state;

static bool is_multiple_of(int64_t many, const tsl_shape *shape) {
  return shape->rows % many == 0 && shape->cols % many == 0 &&
         (shape->row_stride == 1 ? shape->col_stride : shape->row_stride) % many == 0;
}

static bool are_multiples_of(int64_t many, const tsl_problem *problem) {
  return is_multiple_of(many, &problem->a) && is_multiple_of(many, &problem->b) &&
         is_multiple_of(many, &problem->c);
}

static bool cublaslt_is_tiny(const tsl_shape *c) {
  const int64_t size = (int64_t)tsl_type(c->type)->size;
  return tsl_min(c->rows, c->cols) * size < TSL_LT_ALIGNMENT;
}

static const char *cublaslt_refuse(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)config;
  (void)device;
  if (!tsl_blas_reads_products(problem))
    return "for k = 0 or alpha = 0 there is no product to choose an algorithm for";
  if (tsl_problem_batch(problem) > (tsl_type(problem->a.type)->is_integer ? 1 : INT32_MAX))
    return "cuBLASLt's layouts do not describe batches of integers, or of 2^31 products and more";
  if (tsl_problem_batch(problem) > 1 && cublaslt_is_tiny(&problem->c))
    return "cuBLASLt writes past lines of C with less than 16 bytes, into the next product of a batch";
  if (problem->beta[0] != 0 &&
      tsl_type(problem->c.type)->size < tsl_type(tsl_type(problem->c.type)->sums)->size)
    return "some of cuBLASLt's algorithms round the product to C's type before they add C to it";
  if (problem->a.type == TESELA_E4M3 && (problem->a.col_stride != 1 || problem->b.row_stride != 1))
    return "cuBLASLt multiplies e4m3 that lies along k in both operands";
  if (problem->a.type == TESELA_E4M3 && !are_multiples_of(16, problem))
    return "cuBLASLt multiplies e4m3 whose sizes and lines are multiples of 16";
  if (tsl_type(problem->a.type)->is_integer && !are_multiples_of(4, problem))
    return "cuBLASLt multiplies integers whose sizes and lines are multiples of 4";
  return tsl_blas_refuse(problem, INT64_MAX);
}

enum { COPY_ALIGNMENT = 256 };

/* Returns the bytes in the workspace for a copy of an operand that is not aligned for cuBLASLt. */
static uint64_t cublaslt_copy_bytes(const tsl_shape *shape) {
  return ((uint64_t)tsl_shape_extent(shape) + COPY_ALIGNMENT) / COPY_ALIGNMENT * COPY_ALIGNMENT;
}

/* Returns the bytes of workspace, equal for small products: with less, heuristics omit fast algorithms. */
static uint64_t cublaslt_scratch(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  (void)config;
  (void)device;
  const bool copies = tsl_type(problem->a.type)->size == 1;
  return TSL_LT_WORKSPACE_BYTES +
         (copies ? cublaslt_copy_bytes(&problem->a) + cublaslt_copy_bytes(&problem->b) : 0);
}

static double cublaslt_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  return tsl_vendor_seconds(problem, device, 0.82, 1.5 * device->launch_seconds, 64);
}

static tsl_lt_choice *cublaslt_find(const cublaslt_state *state, const tsl_blas_product *product) {
  tsl_lt_choice *choice = state->choices;
  while (choice && !tsl_lt_choice_fits(choice, product))
    choice = choice->next;
  return choice;
}

/* Finds or makes the choice for a product. The caller holds the lock if other threads know the state. */
static tesela_status cublaslt_obtain(const tsl_work *work, cublaslt_state *state,
                                     const tsl_blas_product *product, bool timed, tsl_lt_choice **choice) {
  *choice = cublaslt_find(state, product);
  if (*choice)
    return TESELA_OK;
  TSL_TRY(tsl_lt_choice_make(work, state->own.handle, product, TSL_LT_WORKSPACE_BYTES, timed, choice));
  (*choice)->next = state->choices;
  state->choices = *choice;
  return TESELA_OK;
}

/* Returns the product of packed copies: dense lines. */
static tsl_blas_product packed(tsl_blas_product product) {
  product.a_leading = product.a_transposed ? product.k : product.m;
  product.b_leading = product.b_transposed ? product.n : product.k;
  product.c_leading = product.m;
  return product;
}

static void free_choices(cublaslt_state *state) {
  while (state->choices) {
    tsl_lt_choice *choice = state->choices;
    state->choices = choice->next;
    tsl_lt_choice_free(choice);
  }
}

/* Makes the choices for the problem's strides and for packed operands. */
static tesela_status choose_both(const tsl_work *work, cublaslt_state *state,
                                 const tsl_blas_product *product) {
  const tsl_blas_product copies = packed(*product);
  tsl_lt_choice *unused;
  TSL_TRY(cublaslt_obtain(work, state, product, true, &unused));
  return cublaslt_obtain(work, state, &copies, true, &unused);
}

static tesela_status cublaslt_prepare(const tsl_work *work, tsl_vendor_handle *vendor_handle) {
  const tsl_problem *problem = &work->problem;
  tsl_operands operands = tsl_strides_of(problem);
  cublaslt_state *state = (cublaslt_state *)vendor_handle;
  tsl_blas_product product;
  if (problem->m == 0 || problem->n == 0)
    return TESELA_OK;
  if (tsl_problem_batch(problem) > 1) { /* dense batches are assumed */
    operands.a.batch_step = tsl_shape_extent(&problem->a);
    operands.b.batch_step = tsl_shape_extent(&problem->b);
    operands.c.batch_step = tsl_shape_extent(&problem->c);
  }
  TSL_TRY(tsl_blas_product_of(work, &operands, &product));
  TSL_TRY(tsl_lt_check(work->device, "cublasLtCreate", tsl_lt.create(&vendor_handle->handle)));
  const tesela_status status = choose_both(work, state, &product);
  if (status != TESELA_OK) {
    free_choices(state);
    tsl_lt.destroy(vendor_handle->handle);
  }
  return status;
}

static tesela_status cublaslt_build(tsl_work *work) {
  return tsl_vendor_build(work, sizeof(cublaslt_state), "a handle of cuBLASLt", cublaslt_prepare);
}

static void cublaslt_end(tsl_vendor_handle *vendor_handle, bool entered) {
  free_choices((cublaslt_state *)vendor_handle);
  if (vendor_handle->handle && entered)
    tsl_lt.destroy(vendor_handle->handle);
}

static void cublaslt_release(tsl_work *work) {
  tsl_vendor_release(work, cublaslt_end);
}

/* Sets *src to the address of an operand: in place, or a copy at `room` in the workspace. */
static tesela_status place_bytes(const tsl_work *work, const tsl_operand *operand, tesela_type type,
                                 int64_t bytes, const tsl_operands *operands, uint64_t room,
                                 tsl_stream *stream, const void **src) {
  const tsl_device_ops *ops = work->device->ops;
  *src = tsl_vendor_address(work, operand, type);
  if (tsl_type(type)->size > 1 || (uintptr_t)*src % TSL_LT_ALIGNMENT == 0)
    return TESELA_OK;
  *src = (const char *)ops->native_buffer(operands->scratch) + room;
  return ops->copy(stream, operand->buffer, (size_t)operand->offset, operands->scratch, (size_t)room,
                   (size_t)bytes);
}

/* Returns the elements from an operand's first to its last, column-major. */
static int64_t cublaslt_extent(int64_t rows, int64_t cols, bool transposed, int64_t leading) {
  return transposed ? leading * (rows - 1) + cols : leading * (cols - 1) + rows;
}

static bool cublaslt_is_aligned(const tsl_lt_addresses *addresses) {
  return ((uintptr_t)addresses->a | (uintptr_t)addresses->b | (uintptr_t)addresses->c) % TSL_LT_ALIGNMENT ==
         0;
}

static tesela_status cublaslt_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_device *device = work->device;
  cublaslt_state *state = work->state;
  const tsl_problem *problem = &work->problem;
  tsl_blas_product p;
  tsl_lt_choice *choice;
  TSL_TRY(tsl_blas_product_of(work, operands, &p));
  if (operands->a.batch_step < 0 || operands->b.batch_step < 0 || operands->c.batch_step < 0)
    return tsl_fail(TESELA_UNSUPPORTED, "cuBLASLt takes a batch's products forwards");
  const int64_t a_extent = cublaslt_extent(p.m, p.k, p.a_transposed, p.a_leading),
                b_extent = cublaslt_extent(p.k, p.n, p.b_transposed, p.b_leading);
  const uint64_t b_room = TSL_LT_WORKSPACE_BYTES + tsl_round_up(a_extent, COPY_ALIGNMENT);
  tsl_lt_addresses addresses = {.c = tsl_vendor_address(work, p.c, problem->c.type),
                                .workspace = device->ops->native_buffer(operands->scratch)};
  TSL_TRY(place_bytes(work, p.a, problem->a.type, a_extent, operands, TSL_LT_WORKSPACE_BYTES, stream,
                      &addresses.a));
  TSL_TRY(place_bytes(work, p.b, problem->b.type, b_extent, operands, b_room, stream, &addresses.b));
  TSL_TRY(device->ops->enter(device));
  pthread_mutex_lock(&state->own.lock);
  tesela_status status = cublaslt_obtain(work, state, &p, false, &choice);
  pthread_mutex_unlock(&state->own.lock);
  if (status == TESELA_OK) {
    const tsl_lt_answer *answer = cublaslt_is_aligned(&addresses) ? &choice->aligned : &choice->any;
    status = tsl_lt_check(device, "cublasLtMatmul",
                          tsl_lt_multiply(work, state->own.handle, choice, answer, &addresses, stream));
  }
  device->ops->leave(device);
  return status;
}

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_E4M3, TESELA_E4M3, TESELA_F32},
    {TESELA_E4M3, TESELA_E4M3, TESELA_BF16},
    {TESELA_E4M3, TESELA_E4M3, TESELA_F16},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Returns the error bound; sums may have any order, which depends on the algorithm. */
static tsl_accuracy cublaslt_accuracy(const tsl_problem *problem, const tsl_config *config) {
  if (tsl_lt_takes_tf32(problem))
    return (tsl_accuracy){.factor = tsl_lt_tf32_bound(problem) / tsl_type(problem->c.type)->unit_roundoff,
                          .flush_threshold = 0x1p-126,
                          .truncates_inputs = true};
  if (tsl_type(problem->a.type)->size >= 4)
    return tsl_vendor_accuracy(problem, config);
  tsl_accuracy promised = problem->a.type == TESELA_E4M3
                              ? tsl_accuracy_of_eights(problem, tsl_max(1, problem->k))
                              : tsl_accuracy_of_tensor_cores(problem, config);
  promised.is_reproducible = false;
  return promised;
}

const tsl_strategy tsl_gemm_vendor_cublaslt = {
    .name = "vendor_cublaslt",
    .idea = "the fastest of the matmul algorithms of cuBLASLt, chosen by timing",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA,
    .accuracy = cublaslt_accuracy,
    .refuse = cublaslt_refuse,
    .score = cublaslt_score,
    .build = cublaslt_build,
    .run = cublaslt_run,
    .release = cublaslt_release,
    .supports = {.types = types, .why = "cuBLASLt has no such combination", .batches = true},
    .resources = {.scratch = cublaslt_scratch},
    .vendor = {.load = tsl_lt_vendor},
};
