#include "judge/device_checksum.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "plan/run_slot.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include "judge/device_checksum_shared.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  ROWS = TSL_DEVICE_CHECKSUM_ROWS,
  NUMBERS = TSL_DEVICE_CHECKSUM_NUMBERS,
  ITEMS = TSL_DEVICE_CHECKSUM_ITEMS,
  LOAD_BYTES = 16,
  CHUNK_MIN = 512 /* components of A, a multiple of all blocks of terms */
};
enum { SUMS_OF_B, SUMS_OF_C, PRODUCTS, BOUND, COMPARE };
static const struct {
  const char *path, *name;
  int operand; /* operand whose elements the kernel reads */
} kernels[TSL_DEVICE_CHECKSUM_KERNELS] = {
    [SUMS_OF_B] = {"judge/device_checksum_sums.cl", "tsl_device_checksum_sums", TSL_OPERAND_B},
    [SUMS_OF_C] = {"judge/device_checksum_sums.cl", "tsl_device_checksum_sums", TSL_OPERAND_C},
    [PRODUCTS] = {"judge/device_checksum_products.cl", "tsl_device_checksum_products", TSL_OPERAND_A},
    [BOUND] = {"judge/device_checksum_compare.cl", "tsl_device_checksum_bound", TSL_OPERAND_A},
    [COMPARE] = {"judge/device_checksum_compare.cl", "tsl_device_checksum_compare", TSL_OPERAND_A}};

struct tsl_device_checksum {
  const tsl_plan *plan;
  tsl_operands operands;
  tsl_kernel *kernel[TSL_DEVICE_CHECKSUM_KERNELS];
  tsl_run_slot *slot;
  tsl_device_checksum_arguments arguments;
  tsl_concurrent_hook hook;
  tsl_row_sums row_sums; /* of C, which a run with the hook may leave */
  tsl_run_hints hints;
  int64_t blocks;
  double *block, *allocated; /* comparisons, on the host; allocated: unless they are pinned */
  tesela_status status;      /* failure of the hook's work */
  bool is_single;            /* sums are in f32 */
  bool is_enqueued, is_done;
};

/* Returns CHECKSUM_FORMAT of kernel/checksum_elements.h; -1: none. */
static int get_format(tesela_type type) {
  static const tesela_type formats[] = {TESELA_F64, TESELA_F32, TESELA_F16,  TESELA_BF16, TESELA_I8,
                                        TESELA_U8,  TESELA_I32, TESELA_E4M3, TESELA_E5M2};
  for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
    if (formats[i] == tsl_type(type)->component)
      return i;
  return -1;
}

/* Returns the exponent by which vectors of doubles are multiplied: numbers of A are doubles times
 * 2^-CHECKSUM_SCALE. A margin keeps products of large numbers from overflow, and of small ones from
 * underflow. */
static int64_t get_vector_scale(const tsl_problem *problem) {
  enum { MARGIN = 196 };
  switch (tsl_type(problem->a.type)->component) {
  case TESELA_F32:
  case TESELA_BF16:
    return 896 - MARGIN;
  case TESELA_F16:
  case TESELA_E5M2:
    return 1008 - MARGIN;
  case TESELA_E4M3:
    return 1016 - MARGIN;
  default:
    return 0;
  }
}

/* Returns true if neighbours in a row are closer in memory than neighbours in a column. */
static bool is_by_row(const tsl_problem *problem, int operand) {
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  return tsl_abs(shape->col_stride) <= tsl_abs(shape->row_stride);
}

static int get_parts(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? 2 : 1;
}

/* Returns the vectors of a pass over A. */
static int get_vectors(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_integer ? 1 : tsl_type(problem->a.type)->size <= 2 ? 4 : 8;
}

bool tsl_device_checksum_supports(const tsl_plan *plan, const tsl_operands *operands) {
  const tsl_problem *problem = &plan->work.problem;
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64;
  return plan->looks && !(needs & ~plan->work.device->capabilities) && operands->c.buffer &&
         get_format(problem->a.type) >= 0 && get_format(problem->b.type) >= 0 &&
         get_format(problem->c.type) >= 0;
}

tesela_status tsl_device_checksum_build(const tsl_problem *problem, tsl_device *device, bool is_single,
                                        tsl_kernel *compiled[TSL_DEVICE_CHECKSUM_KERNELS]) {
  tsl_work own = {.problem = *problem,
                  .device = device,
                  .strategy = tsl_strategy_specification(TSL_OP_GEMM)}; /* no strategy's options */
  own.config = tsl_strategy_defaults(own.strategy);
  for (int i = 0; i < TSL_DEVICE_CHECKSUM_KERNELS; i++) {
    tsl_text defines = {0};
    tsl_text_add(&defines,
                 "#define CHECKSUM_FORMAT %d\n#define CHECKSUM_INTEGER %d\n#define CHECKSUM_PARTS %d\n"
                 "#define CHECKSUM_VECTORS %d\n#define CHECKSUM_BY_ROW %d\n#define CHECKSUM_SINGLE %d\n",
                 get_format(tsl_problem_shape(problem, kernels[i].operand)->type),
                 tsl_type(problem->c.type)->is_integer, get_parts(problem), get_vectors(problem),
                 is_by_row(problem, kernels[i].operand), is_single);
    tesela_status status = tsl_text_status(&defines);
    if (status == TESELA_OK)
      status = tsl_launch_kernel_with(&own, kernels[i].path, kernels[i].name, ITEMS, tsl_text_get(&defines),
                                      &compiled[i]);
    tsl_text_free(&defines);
    TSL_TRY(status);
  }
  return TESELA_OK;
}

static tesela_status get_or_compile_checksum_kernels(tsl_device_checksum *checksum) {
  tsl_looks *looks = checksum->plan->looks;
  tesela_status status = TESELA_OK;
  pthread_mutex_lock(&looks->slots->lock);
  if (!looks->checksums[0]) {
    tsl_kernel *made[TSL_DEVICE_CHECKSUM_KERNELS] = {NULL};
    status = tsl_device_checksum_build(&checksum->plan->work.problem, checksum->plan->work.device,
                                       checksum->is_single, made);
    if (status == TESELA_OK)
      memcpy(looks->checksums, made, sizeof made);
  }
  memcpy(checksum->kernel, looks->checksums, sizeof checksum->kernel);
  pthread_mutex_unlock(&looks->slots->lock);
  return status;
}

/* Sets an operand's bit of `wide`. */
static void set_wide(tsl_device_checksum *checksum, int operand, int64_t offset, int64_t row_stride,
                     int64_t col_stride) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const tsl_buffer *buffer = checksum->operands.at[operand].buffer;
  const int64_t size = (int64_t)tsl_type(tsl_problem_shape(problem, operand)->type)->size;
  const bool by_row = is_by_row(problem, operand);
  const int64_t step = by_row ? col_stride : row_stride, pitch = by_row ? row_stride : col_stride;
  const bool is_wide = buffer && !buffer->askew && step == 1 && offset * size % LOAD_BYTES == 0 &&
                       pitch * size % LOAD_BYTES == 0;
  g->wide |= (int64_t)is_wide << operand;
}

static int64_t get_group_rows(const tsl_device_checksum *checksum, int operand) {
  const tsl_problem *problem = &checksum->plan->work.problem;
  const int64_t size = (int64_t)tsl_type(tsl_problem_shape(problem, operand)->type)->size;
  return is_by_row(problem, operand) ? ROWS : TSL_DEVICE_CHECKSUM_LANES * (LOAD_BYTES / size);
}

/* Chunks of k, so that a few groups run on each unit. */
static void set_chunks(tsl_device_checksum *checksum) {
  enum { GROUPS_OF_UNIT = 8 };
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const int64_t terms = g->k * get_parts(&checksum->plan->work.problem),
                groups = tsl_ceil_div(g->m, get_group_rows(checksum, TSL_OPERAND_A)),
                wanted = tsl_ceil_div(GROUPS_OF_UNIT * checksum->plan->work.device->compute_units, groups);
  g->chunk = tsl_round_up(tsl_max(tsl_ceil_div(terms, wanted), 1), CHUNK_MIN);
  g->chunks = tsl_ceil_div(terms, g->chunk);
}

/* Sets the layout of the buffer, and returns its bytes. */
static size_t set_checksum_layout(tsl_device_checksum *checksum) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const tsl_type_info *a = tsl_type(problem->a.type);
  const int64_t parts = get_parts(problem);
  g->width = tsl_type(problem->c.type)->is_integer ? problem->n : tsl_checksum_segment(problem);
  g->segments = tsl_ceil_div(problem->n, g->width);
  g->c_width = g->width;
  g->at_once = LOAD_BYTES / (int64_t)tsl_type(a->component)->size;
  g->vector_scale = get_vector_scale(problem);
  g->pitch = tsl_round_up(tsl_max(g->k, 1) * parts, CHUNK_MIN);
  set_chunks(checksum);
  checksum->blocks = tsl_ceil_div(g->m, ROWS);
  const int64_t vectors = g->segments * parts, sums = (vectors + g->segments) * g->m,
                tiles = 2 * tsl_ceil_div(g->n, TSL_ROW_SUMS_MIN) * g->m;
  g->first_vector = 0;
  g->passes = tsl_ceil_div(vectors, get_vectors(problem));
  g->first_size = g->passes * get_vectors(problem) * g->pitch;
  g->first_bound = g->first_size + g->segments * g->pitch;
  g->first_product = g->first_bound + g->pitch;
  g->first_c = g->first_product + g->chunks * g->passes * (get_vectors(problem) + 1) * g->m;
  g->first_before = g->first_c + tsl_max(sums, tiles);
  g->first_block = g->first_before + (g->reads_c ? sums : 0);
  return (size_t)(g->first_block + checksum->blocks * NUMBERS) * sizeof(double);
}

/* Returns the roundings of the longest sums: an item's numbers, joins of items, and chunks. */
static double count_roundings(const tsl_device_checksum *checksum) {
  const tsl_device_checksum_arguments *g = &checksum->arguments;
  return (2 * ((double)g->width / 32 + 16) + (double)g->chunk / 32 + (double)g->chunks + 48) *
         get_parts(&checksum->plan->work.problem);
}

/* Returns true if sums may be in f32: their errors are at most half of the guarantee. */
static bool suffices_single(const tsl_device_checksum *checksum, const tsl_checksum_product *product) {
  const tsl_type_info *c = tsl_type(checksum->plan->work.problem.c.type);
  return !c->is_integer && c->component != TESELA_F64 &&
         2 * count_roundings(checksum) * (FLT_EPSILON / 2) <= product->relative;
}

/* Sets the bound's terms as judge/checksum.c does. */
static void set_checksum_terms(tsl_device_checksum *checksum, const tsl_checksum_product *product) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const tsl_type_info *c = tsl_type(problem->c.type), *sums = tsl_type(tsl_type(c->component)->sums);
  const double k = (double)problem->k * get_parts(problem), width = (double)g->width,
               guaranteed = product->relative, roundings = count_roundings(checksum),
               unit = checksum->is_single ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  g->alpha1 = fabs(problem->alpha[0]) + fabs(problem->alpha[1]);
  g->beta1 = fabs(problem->beta[0]) + fabs(problem->beta[1]);
  memcpy(g->alpha, problem->alpha, sizeof g->alpha);
  memcpy(g->beta, problem->beta, sizeof g->beta);
  g->relative =
      (guaranteed * (1 + 2 * roundings * unit) + roundings * unit * (1 + guaranteed)) * (1 + 0x1p-20);
  g->flushes = product->flushes;
  g->rounding = g->c_error = product->rounding;
  g->fixed = 2 * width * ((fmax(1, g->alpha1) * k + 2) * 2 * sums->smallest + c->smallest) +
             product->flushes * (g->alpha1 * 4 * k + g->beta1 + 2) * width;
  g->limit = g->relative *
             fmin(c->largest, g->reads_factors ? sums->largest * fmin(1, g->alpha1) : sums->largest) / 4;
}

static tesela_status launch_checksum(const tsl_device_checksum *checksum, tsl_stream *stream, int kernel,
                                     int64_t groups, int64_t sets, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)groups, (uint64_t)sets, 1}, {ITEMS, 1, 1}};
  return checksum->plan->work.device->ops->launch(stream, checksum->kernel[kernel], &grid, list, count);
}

/* Sums the rows of B, or of C, by segments. */
static tesela_status enqueue_sums(const tsl_device_checksum *checksum, tsl_stream *stream, int kernel,
                                  int64_t first) {
  const tsl_device_checksum_arguments arguments = checksum->arguments;
  const int operand = kernels[kernel].operand;
  const int64_t rows = operand == TSL_OPERAND_B ? arguments.k : arguments.m, code = operand;
  const tsl_argument list[] = {TSL_ARG_BUFFER(checksum->operands.at[operand].buffer),
                               TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments),
                               TSL_ARG_VALUE(first), TSL_ARG_VALUE(code)};
  return launch_checksum(checksum, stream, kernel, tsl_ceil_div(rows, get_group_rows(checksum, operand)),
                         arguments.segments, list, 5);
}

/* Multiplies A by the sums of B. */
static tesela_status enqueue_factors(const tsl_device_checksum *checksum, tsl_stream *stream) {
  const tsl_device_checksum_arguments arguments = checksum->arguments;
  const tsl_argument bound[] = {TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments)};
  const tsl_argument products[] = {TSL_ARG_BUFFER(checksum->operands.a.buffer),
                                   TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments)};
  const tsl_device_ops *ops = checksum->plan->work.device->ops;
  const size_t number = checksum->is_single ? sizeof(float) : sizeof(double);
  const int64_t zeros = arguments.segments * get_parts(&checksum->plan->work.problem) * arguments.pitch;
  if (!arguments.reads_factors)
    return TESELA_OK;
  TSL_TRY(enqueue_sums(checksum, stream, SUMS_OF_B, arguments.first_vector));
  if (zeros < arguments.first_size)
    TSL_TRY(ops->fill(stream, checksum->slot->scratch, (size_t)zeros * number, 0,
                      (size_t)(arguments.first_size - zeros) * number));
  if (!tsl_type(checksum->plan->work.problem.c.type)->is_integer)
    TSL_TRY(launch_checksum(checksum, stream, BOUND, tsl_ceil_div(arguments.k, ITEMS), 1, bound, 2));
  return launch_checksum(checksum, stream, PRODUCTS,
                         tsl_ceil_div(arguments.m, get_group_rows(checksum, TSL_OPERAND_A)), arguments.chunks,
                         products, 3);
}

/* Sums C after the run, unless the run has left the sums of its rows. */
static tesela_status enqueue_sums_of_result(tsl_device_checksum *checksum, tsl_stream *stream) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_row_sums *left = &checksum->row_sums;
  if (left->columns == 0)
    return enqueue_sums(checksum, stream, SUMS_OF_C, g->first_c);
  g->c_width = left->columns;
  g->c_error = g->rounding * (1 + left->error) + left->error;
  return TESELA_OK;
}

static tesela_status enqueue_comparison(const tsl_device_checksum *checksum, tsl_stream *stream) {
  const tsl_device_checksum_arguments arguments = checksum->arguments;
  const tsl_argument list[] = {TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments)};
  const size_t bytes = (size_t)(checksum->blocks * NUMBERS) * sizeof(double);
  const tsl_copy copy = {.buffer = checksum->slot->scratch,
                         .offset = (size_t)arguments.first_block * sizeof(double),
                         .device_pitch = bytes,
                         .host = checksum->block,
                         .host_pitch = bytes,
                         .rows = 1,
                         .row_bytes = bytes};
  const tsl_device_ops *ops = checksum->plan->work.device->ops;
  TSL_TRY(launch_checksum(checksum, stream, COMPARE, checksum->blocks, 1, list, 2));
  return arguments.host_block  ? TESELA_OK
         : checksum->allocated ? ops->read(stream, &copy)
                               : ops->read_later(stream, &copy);
}

static tesela_status allocate_comparisons(tsl_device_checksum *checksum) {
  const size_t bytes = (size_t)(checksum->blocks * NUMBERS) * sizeof(double);
  void *block;
  if (checksum->plan->work.device->ops->pinned_create) {
    TSL_TRY(tsl_run_slot_pinned(checksum->slot, bytes));
    checksum->block = checksum->slot->pinned->host;
    if (checksum->plan->work.device->capabilities & TSL_CAN_CUDA) /* its kernels write pinned memory */
      checksum->arguments.host_block = (int64_t)(intptr_t)checksum->block;
    return TESELA_OK;
  }
  TSL_TRY(tsl_alloc(bytes, "comparisons of checksums", &block));
  checksum->block = checksum->allocated = block;
  return TESELA_OK;
}

static tesela_status start_checksum(tsl_device_checksum *checksum, const tsl_checksum_product *product) {
  const tsl_work *work = &checksum->plan->work;
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, &checksum->operands);
  memcpy(g, &sizes, sizeof sizes);
  g->reads_c = tsl_problem_reads(&work->problem, TSL_OPERAND_C);
  g->reads_factors = tsl_problem_reads(&work->problem, TSL_OPERAND_A);
  g->k = g->reads_factors ? work->problem.k : 0;
  g->conjugate_a = work->problem.conjugate_a;
  g->conjugate_b = work->problem.conjugate_b;
  set_wide(checksum, TSL_OPERAND_A, g->a_offset, g->a_row_stride, g->a_col_stride);
  set_wide(checksum, TSL_OPERAND_B, g->b_offset, g->b_row_stride, g->b_col_stride);
  set_wide(checksum, TSL_OPERAND_C, g->c_offset, g->c_row_stride, g->c_col_stride);
  const size_t bytes = set_checksum_layout(checksum);
  checksum->is_single = suffices_single(checksum, product);
  if (checksum->is_single)
    g->vector_scale = 0;
  TSL_TRY(get_or_compile_checksum_kernels(checksum));
  TSL_TRY(tsl_run_slot_take(checksum->plan->looks->slots, &checksum->slot));
  TSL_TRY(tsl_run_slot_events(checksum->slot));
  set_checksum_terms(checksum, product);
  TSL_TRY(tsl_run_slot_scratch(checksum->slot, bytes));
  return allocate_comparisons(checksum);
}

tesela_status tsl_device_checksum_begin(const tsl_plan *plan, const tsl_operands *operands,
                                        const tsl_checksum_product *product, tsl_device_checksum **checksum) {
  void *block;
  *checksum = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **checksum, "checksums of a product", &block));
  tsl_device_checksum *made = block;
  *made = (tsl_device_checksum){.plan = plan, .operands = *operands};
  tsl_plan_set_strides(plan, &made->operands);
  const tesela_status status = start_checksum(made, product);
  if (status != TESELA_OK) {
    tsl_device_checksum_free(made);
    return status;
  }
  *checksum = made;
  return TESELA_OK;
}

tesela_status tsl_device_checksum_ready(tsl_device_checksum *checksum) {
  if (!checksum->arguments.reads_c)
    return TESELA_OK;
  TSL_TRY(enqueue_sums(checksum, checksum->slot->stream, SUMS_OF_C, checksum->arguments.first_before));
  return checksum->plan->work.device->ops->finish(checksum->slot->stream);
}

/* Sums C on the run's stream, before the run. */
static void checksum_before_run(void *argument, tsl_stream *stream) {
  tsl_device_checksum *checksum = argument;
  checksum->row_sums = (tsl_row_sums){.buffer = checksum->slot->scratch,
                                      .at = checksum->arguments.first_c * (int64_t)sizeof(double)};
  if (checksum->arguments.reads_c)
    checksum->status = enqueue_sums(checksum, stream, SUMS_OF_C, checksum->arguments.first_before);
}

/* Returns true if the run writes to a buffer of a factor. OpenCL does not allow concurrent access then. */
static bool must_follow_run(const tsl_device_checksum *checksum) {
  const tsl_operands *operands = &checksum->operands;
  return operands->a.buffer == operands->c.buffer || operands->b.buffer == operands->c.buffer;
}

/* Enqueues all sums. The factors' sums are on the slot's stream: they run on units that the product no longer
 * needs, before it ends. slot->begin marks the end of the product, slot->end first the factors' sums. */
static tesela_status enqueue_after_run(tsl_device_checksum *checksum, tsl_stream *stream) {
  const tsl_device_ops *ops = checksum->plan->work.device->ops;
  tsl_run_slot *slot = checksum->slot;
  TSL_TRY(ops->event_record(stream, slot->begin));
  if (must_follow_run(checksum))
    TSL_TRY(ops->stream_wait(slot->stream, slot->begin));
  TSL_TRY(enqueue_factors(checksum, slot->stream));
  TSL_TRY(ops->event_record(slot->stream, slot->end));
  TSL_TRY(enqueue_sums_of_result(checksum, stream));
  TSL_TRY(ops->stream_wait(stream, slot->end));
  TSL_TRY(enqueue_comparison(checksum, stream));
  return ops->event_record(stream, slot->end);
}

static void checksum_after_run(void *argument, tsl_stream *stream) {
  tsl_device_checksum *checksum = argument;
  checksum->is_enqueued = true;
  if (checksum->status == TESELA_OK)
    checksum->status = enqueue_after_run(checksum, stream);
}

const tsl_concurrent_hook *tsl_device_checksum_hook(tsl_device_checksum *checksum, bool reads_memory) {
  checksum->hints.row_sums = reads_memory ? NULL : &checksum->row_sums;
  checksum->hook = (tsl_concurrent_hook){checksum_before_run, checksum_after_run, checksum, &checksum->hints};
  return checksum->plan->work.device->ops->stream_wait ? &checksum->hook : NULL;
}

static tesela_status finish_checksum(tsl_device_checksum *checksum, double *seconds) {
  const tsl_device_ops *ops = checksum->plan->work.device->ops;
  tsl_run_slot *slot = checksum->slot;
  *seconds = 0;
  TSL_TRY(checksum->status);
  if (checksum->is_enqueued)
    return ops->event_seconds(slot->begin, slot->end, seconds);
  TSL_TRY(enqueue_factors(checksum, slot->stream));
  TSL_TRY(enqueue_sums_of_result(checksum, slot->stream));
  TSL_TRY(enqueue_comparison(checksum, slot->stream));
  return ops->finish(slot->stream);
}

tesela_status tsl_device_checksum_end(tsl_device_checksum *checksum, tsl_checksum_result *result,
                                      double *seconds) {
  TSL_TRY(finish_checksum(checksum, seconds));
  checksum->is_done = true;
  *result = (tsl_checksum_result){.segment_cols = checksum->arguments.width};
  for (int64_t i = 0; i < checksum->blocks; i++) {
    const double *block = checksum->block + i * NUMBERS;
    result->unchecked += (int64_t)block[0];
    result->wrong += (int64_t)block[1];
    result->hidden = fmax(result->hidden, block[2]);
    if (block[1] == 0 || result->listed_count == TSL_CHECKSUM_LISTED)
      continue;
    const int at = result->listed_count++;
    result->listed[at].row = (int64_t)block[3];
    result->listed[at].segment = (int64_t)block[4];
    result->listed[at].off = block[5];
    result->listed[at].bound = block[6];
  }
  return TESELA_OK;
}

void tsl_device_checksum_free(tsl_device_checksum *checksum) {
  if (!checksum)
    return;
  if (checksum->slot)
    tsl_run_slot_give(checksum->plan->looks->slots, checksum->slot, checksum->is_done);
  tsl_free(checksum->allocated);
  tsl_free(checksum);
}
