#include "judge/device_reference.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "judge/judge_element.h"
#include "plan/run_slot.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include "judge/device_reference_shared.h"

#include <math.h>
#include <string.h>

enum {
  SIDE = TSL_DEVICE_REFERENCE_SIDE,
  STEP = TSL_DEVICE_REFERENCE_STEP,
  ELEMENTS = TSL_DEVICE_REFERENCE_ELEMENTS,
  LANES = TSL_DEVICE_REFERENCE_LANES
};
/* Target number of work-groups for a sample: several for each unit of a large device. */
enum { GROUPS = 512 };

enum { PARTIAL_SUMS, JOIN_SUMS, SAVE_C };
static const struct {
  const char *name;
  int items;
} kernels[TSL_DEVICE_REFERENCE_KERNELS] = {[PARTIAL_SUMS] = {"tsl_device_reference_terms", SIDE *SIDE},
                                           [JOIN_SUMS] = {"tsl_device_reference_join", ELEMENTS *LANES},
                                           [SAVE_C] = {"tsl_device_reference_save", ELEMENTS *LANES}};

struct tsl_device_reference {
  const tsl_plan *plan;
  tsl_operands operands;
  tsl_kernel *kernel[TSL_DEVICE_REFERENCE_KERNELS];
  tsl_run_slot *slot;
  tsl_device_reference_arguments arguments;
  bool in_pairs,                    /* sums in twice double's precision */
      reads_c, writes_host;         /* the last kernel writes its results directly to pinned memory */
  int64_t element_numbers;          /* doubles for an element: TSL_DEVICE_REFERENCE_[FLUSHED_]NUMBERS */
  size_t index_list_bytes,          /* of the sample's index lists */
      c_sample_bytes, result_bytes; /* of all results in `memory` */
  unsigned char *memory;            /* sums, then C after and before the run; pinned memory or `allocated` */
  void *allocated;
  tsl_concurrent_hook hook;
  bool results_enqueued;
  tesela_status status; /* status of the work queued at the same time as the run */
};

bool tsl_device_reference_supports(const tsl_plan *plan, const tsl_operands *operands) {
  const tsl_problem *problem = &plan->work.problem;
  const tesela_type a = problem->a.type, c = problem->c.type;
  const unsigned offers = plan->work.device->capabilities,
                 needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64;
  const bool real = c == TESELA_F64 || c == TESELA_F32 || c == TESELA_F16 || c == TESELA_BF16,
             alike = a == problem->b.type &&
                     (a == c || ((a == TESELA_F16 || a == TESELA_BF16) && c == TESELA_F32));
  return plan->looks && !(needs & ~offers) && real && alike && !problem->in_place &&
         !tsl_problem_has_structure(problem) && !tsl_problem_has_scales(problem) &&
         (problem->op == TSL_OP_GEMM || problem->op == TSL_OP_DOT) &&
         tsl_problem_reads(problem, TSL_OPERAND_A) && operands->a.buffer && operands->b.buffer &&
         operands->c.buffer;
}

static bool may_flush_subnormals(const tsl_plan *plan) {
  return tsl_plan_underflow(plan) > 0;
}

tesela_status tsl_device_reference_build(const tsl_problem *problem, tsl_device *device, bool in_pairs,
                                         bool flushed, tsl_kernel *kernel[TSL_DEVICE_REFERENCE_KERNELS]) {
  tsl_work own = {.problem = *problem,
                  .device = device,
                  .strategy = tsl_strategy_specification(TSL_OP_GEMM)}; /* no strategy's options */
  tsl_text defines = {0};
  tesela_status status = TESELA_OK;
  own.config = tsl_strategy_defaults(own.strategy);
  tsl_launch_define_types(problem, &defines);
  tsl_text_add(&defines, "#define REFERENCE_TWICE %d\n#define REFERENCE_FLUSHES %d\n", in_pairs, flushed);
  TSL_GO(tsl_text_status(&defines));
  for (int i = 0; i < TSL_DEVICE_REFERENCE_KERNELS; i++)
    TSL_GO(tsl_launch_kernel_with(&own, "judge/device_reference.cl", kernels[i].name, kernels[i].items,
                                  tsl_text_get(&defines), &kernel[i]));
out:
  tsl_text_free(&defines);
  return status;
}

static tesela_status get_or_compile_kernels(tsl_device_reference *reference) {
  tsl_looks *looks = reference->plan->looks;
  tesela_status status = TESELA_OK;
  pthread_mutex_lock(&looks->slots->lock);
  if (!looks->kernels[0]) {
    tsl_kernel *made[TSL_DEVICE_REFERENCE_KERNELS] = {NULL};
    const tsl_work *work = &reference->plan->work;
    status = tsl_device_reference_build(&work->problem, work->device, reference->in_pairs,
                                        may_flush_subnormals(reference->plan), made);
    if (status == TESELA_OK)
      memcpy(looks->kernels, made, sizeof made);
  }
  memcpy(reference->kernel, looks->kernels, sizeof reference->kernel);
  pthread_mutex_unlock(&looks->slots->lock);
  return status;
}

/* Sets sizes, and splits the terms so that the sample has about GROUPS work-groups. */
static void set_sizes_and_split(tsl_device_reference *reference, int64_t rows, int64_t cols) {
  tsl_device_reference_arguments *arguments = &reference->arguments;
  const tsl_work *work = &reference->plan->work;
  const int64_t tiles = tsl_ceil_div(rows, SIDE) * tsl_ceil_div(cols, SIDE), k = work->problem.k,
                parts = tsl_min(tsl_ceil_div(k, STEP), tsl_max(GROUPS / tiles, 1));
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, &reference->operands);
  memcpy(arguments, &sizes, sizeof sizes);
  arguments->rows = rows;
  arguments->cols = cols;
  arguments->depth = tsl_round_up(tsl_ceil_div(k, parts), STEP);
  arguments->parts = tsl_ceil_div(k, arguments->depth);
}

/* Sets the buffer's layout and returns its bytes: index lists, sums, C after and before, partial sums. */
static size_t set_buffer_layout(tsl_device_reference *reference) {
  tsl_device_reference_arguments *arguments = &reference->arguments;
  const size_t size = tsl_type(reference->plan->work.problem.c.type)->size;
  const int64_t all = arguments->rows * arguments->cols;
  reference->element_numbers = may_flush_subnormals(reference->plan) ? TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS
                                                                     : TSL_DEVICE_REFERENCE_NUMBERS;
  reference->index_list_bytes = (size_t)(arguments->rows + arguments->cols) * 8;
  reference->c_sample_bytes = (size_t)tsl_round_up(all * (int64_t)size, 8);
  reference->result_bytes = (size_t)(reference->element_numbers * all) * 8 +
                            reference->c_sample_bytes * (reference->reads_c ? 2 : 1);
  arguments->first_sum = arguments->rows + arguments->cols;
  arguments->first_partial_sum = arguments->first_sum + (int64_t)(reference->result_bytes / 8);
  arguments->first_saved_c = (arguments->first_sum + reference->element_numbers * all) * 8 / (int64_t)size;
  return ((size_t)arguments->first_partial_sum +
          (size_t)(arguments->parts * reference->element_numbers * all)) *
         8;
}

/* Writes the index lists, unless the previous run left equal lists: references of a plan have one layout. */
static tesela_status write_index_lists(const tsl_device_reference *reference, const tsl_indices *rows,
                                       const tsl_indices *cols, bool slot_may_have_lists) {
  tsl_run_slot *slot = reference->slot;
  const size_t of_rows = (size_t)rows->count * sizeof *rows->list,
               of_cols = (size_t)cols->count * sizeof *cols->list;
  TSL_TRY(tsl_run_slot_block(slot, reference->index_list_bytes));
  unsigned char *written = slot->block;
  if (slot_may_have_lists && memcmp(written, rows->list, of_rows) == 0 &&
      memcmp(written + of_rows, cols->list, of_cols) == 0)
    return TESELA_OK;
  memcpy(written, rows->list, of_rows);
  memcpy(written + of_rows, cols->list, of_cols);
  return tsl_device_write(slot->stream, slot->scratch, 0, written, reference->index_list_bytes);
}

static tesela_status enqueue_save_of_c(const tsl_device_reference *reference) {
  tsl_device_reference_arguments arguments = reference->arguments;
  tsl_buffer *scratch = reference->slot->scratch;
  const tsl_grid grid = {{(uint64_t)tsl_ceil_div(arguments.rows * arguments.cols, ELEMENTS * LANES), 1, 1},
                         {ELEMENTS * LANES, 1, 1}};
  arguments.first_saved_c +=
      (int64_t)(reference->c_sample_bytes / tsl_type(reference->plan->work.problem.c.type)->size);
  const tsl_argument list[] = {TSL_ARG_BUFFER(reference->operands.c.buffer), TSL_ARG_BUFFER(scratch),
                               TSL_ARG_BUFFER(scratch), TSL_ARG_VALUE(arguments)};
  return reference->plan->work.device->ops->launch(reference->slot->stream, reference->kernel[SAVE_C], &grid,
                                                   list, 4);
}

static tesela_status enqueue_partial_sums(const tsl_device_reference *reference) {
  const tsl_device_reference_arguments arguments = reference->arguments;
  tsl_buffer *scratch = reference->slot->scratch;
  const tsl_argument list[] = {TSL_ARG_BUFFER(reference->operands.a.buffer),
                               TSL_ARG_BUFFER(reference->operands.b.buffer), TSL_ARG_BUFFER(scratch),
                               TSL_ARG_BUFFER(scratch), TSL_ARG_VALUE(arguments)};
  const tsl_grid grid = {{(uint64_t)arguments.parts, (uint64_t)tsl_ceil_div(arguments.cols, SIDE),
                          (uint64_t)tsl_ceil_div(arguments.rows, SIDE)},
                         {SIDE, SIDE, 1}};
  return reference->plan->work.device->ops->launch(reference->slot->stream, reference->kernel[PARTIAL_SUMS],
                                                   &grid, list, 5);
}

static tesela_status start_reference(tsl_device_reference *reference, const tsl_indices *rows,
                                     const tsl_indices *cols) {
  void *block;
  TSL_TRY(get_or_compile_kernels(reference));
  TSL_TRY(tsl_run_slot_take(reference->plan->looks->slots, &reference->slot));
  set_sizes_and_split(reference, rows->count, cols->count);
  const tsl_device_ops *ops = reference->plan->work.device->ops;
  const size_t bytes = set_buffer_layout(reference);
  const bool scratch_is_kept = reference->slot->scratch && reference->slot->scratch->bytes >= bytes;
  TSL_TRY(tsl_run_slot_scratch(reference->slot, bytes));
  if (ops->pinned_create) {
    TSL_TRY(tsl_run_slot_pinned(reference->slot, reference->result_bytes));
    reference->memory = reference->slot->pinned->host;
    reference->writes_host = reference->plan->work.device->capabilities & TSL_CAN_CUDA && !reference->reads_c;
  } else {
    TSL_TRY(tsl_alloc(reference->result_bytes, "a sample's sums", &block));
    reference->memory = reference->allocated = block;
  }
  TSL_TRY(write_index_lists(reference, rows, cols, scratch_is_kept));
  TSL_TRY(tsl_run_slot_events(reference->slot));
  if (reference->reads_c) {
    TSL_TRY(enqueue_save_of_c(reference));
    TSL_TRY(ops->event_record(reference->slot->stream, reference->slot->begin));
  }
  return enqueue_partial_sums(reference);
}

tesela_status tsl_device_reference_begin(const tsl_plan *plan, const tsl_operands *operands,
                                         const tsl_indices *rows, const tsl_indices *cols,
                                         tsl_device_reference **reference) {
  const tsl_problem *problem = &plan->work.problem;
  void *block;
  *reference = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **reference, "a look at a product", &block));
  tsl_device_reference *made = block;
  *made = (tsl_device_reference){.plan = plan,
                                 .operands = *operands,
                                 .in_pairs = tsl_plan_accuracy(plan).is_correctly_rounded ||
                                             problem->c.type == TESELA_F64,
                                 .reads_c = tsl_problem_reads(problem, TSL_OPERAND_C)};
  tsl_plan_set_strides(plan, &made->operands);
  const tesela_status status = start_reference(made, rows, cols);
  if (status != TESELA_OK) {
    tsl_device_reference_free(made, false);
    return status;
  }
  *reference = made;
  return TESELA_OK;
}

/* Returns true if the run must wait for all sums: for OpenCL, where it writes to a buffer that they read. */
static bool must_wait_for_sums(const tsl_device_reference *reference) {
  return reference->operands.a.buffer == reference->operands.c.buffer ||
         reference->operands.b.buffer == reference->operands.c.buffer;
}

tesela_status tsl_device_reference_wait_before_run(tsl_device_reference *reference) {
  return reference->reads_c || must_wait_for_sums(reference)
             ? reference->plan->work.device->ops->finish(reference->slot->stream)
             : TESELA_OK;
}

static void keep_first_failure(tsl_device_reference *reference, tesela_status status) {
  if (reference->status == TESELA_OK)
    reference->status = status;
}

/* Makes the run wait until C's elements are saved, or the sums done. */
static void hook_before_run(void *argument, tsl_stream *stream) {
  tsl_device_reference *reference = argument;
  const tsl_device_ops *ops = reference->plan->work.device->ops;
  if (must_wait_for_sums(reference)) {
    keep_first_failure(reference, ops->event_record(reference->slot->stream, reference->slot->end));
    keep_first_failure(reference, ops->stream_wait(stream, reference->slot->end));
  } else if (reference->reads_c)
    keep_first_failure(reference, ops->stream_wait(stream, reference->slot->begin));
}

/* Enqueues the kernel that joins partial sums and copies elements of C, and the copy to the host. */
static tesela_status enqueue_results(const tsl_device_reference *reference, tsl_stream *stream) {
  tsl_device_reference_arguments arguments = reference->arguments;
  tsl_buffer *scratch = reference->slot->scratch;
  void *const host = reference->memory;
  tsl_argument list[] = {TSL_ARG_BUFFER(reference->operands.c.buffer),
                         TSL_ARG_BUFFER(scratch),
                         TSL_ARG_BUFFER(scratch),
                         TSL_ARG_BUFFER(scratch),
                         TSL_ARG_BUFFER(scratch),
                         TSL_ARG_VALUE(arguments)};
  if (reference->writes_host) {
    arguments.first_saved_c -=
        arguments.first_sum * 8 / (int64_t)tsl_type(reference->plan->work.problem.c.type)->size;
    arguments.first_sum = 0;
    list[3] = list[4] = (tsl_argument)TSL_ARG_VALUE(host);
  }
  const tsl_grid grid = {{(uint64_t)tsl_ceil_div(arguments.rows * arguments.cols, ELEMENTS), 1, 1},
                         {ELEMENTS, LANES, 1}};
  TSL_TRY(reference->plan->work.device->ops->launch(stream, reference->kernel[JOIN_SUMS], &grid, list, 6));
  if (reference->writes_host)
    return TESELA_OK;
  const tsl_copy copy = {.buffer = scratch,
                         .offset = reference->index_list_bytes,
                         .device_pitch = reference->result_bytes,
                         .host = reference->memory,
                         .host_pitch = reference->result_bytes,
                         .rows = 1,
                         .row_bytes = reference->result_bytes};
  return reference->allocated ? reference->plan->work.device->ops->read(stream, &copy)
                              : reference->plan->work.device->ops->read_later(stream, &copy);
}

static tesela_status enqueue_results_after_sums(const tsl_device_reference *reference, tsl_stream *stream) {
  TSL_TRY(reference->plan->work.device->ops->event_record(reference->slot->stream, reference->slot->end));
  TSL_TRY(reference->plan->work.device->ops->stream_wait(stream, reference->slot->end));
  return enqueue_results(reference, stream);
}

static void hook_after_run(void *argument, tsl_stream *stream) {
  tsl_device_reference *reference = argument;
  if (reference->status == TESELA_OK)
    keep_first_failure(reference, enqueue_results_after_sums(reference, stream));
  reference->results_enqueued = true;
}

const tsl_concurrent_hook *tsl_device_reference_hook(tsl_device_reference *reference) {
  reference->hook = (tsl_concurrent_hook){hook_before_run, hook_after_run, reference, NULL};
  return reference->plan->work.device->ops->stream_wait ? &reference->hook : NULL;
}

static double device_reference_max_magnitude(const double *numbers, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; i++)
    most = fmax(most, numbers[i]);
  return most;
}

/* Elements of a row of C that are converted to double at once. */
enum { AT_ONCE = 64 };

static void judge_sampled_elements(const tsl_element_judge *facts, const double *sums, int64_t rows,
                                   int64_t cols, tsl_verdict *verdict, bool *is_known) {
  const int64_t all = rows * cols, size = (int64_t)facts->type->size;
  const tesela_type type = facts->type->type;
  double value[AT_ONCE] = {0}, before[AT_ONCE] = {0};
  *verdict = (tsl_verdict){.right = true, .checked = all};
  *is_known = true;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t col = 0; col < cols; col++) {
      const double *own = sums + row * cols + col;
      const int64_t at = col % AT_ONCE, here = (row * cols + col) * size;
      tsl_comparison one;
      if (at == 0) {
        const size_t count = (size_t)tsl_min(AT_ONCE, cols - col);
        tsl_type_convert(type, facts->c + here, 1, TESELA_F64, value, 1, count);
        if (facts->before)
          tsl_type_convert(type, facts->before + here, 1, TESELA_F64, before, 1, count);
      }
      if (tsl_element_judge_is_surely_right(facts, value[at], before[at], own[0], own[all], own[2 * all],
                                            verdict->grade))
        continue;
      tsl_compare_element(facts, row, col, own[0], own[all], own[2 * all], &one);
      *is_known = *is_known && !one.unknown && one.ratio <= 1;
      verdict->grade = fmax(verdict->grade, one.grade);
    }
}

/* Returns the error of the sums: a rounding for each term of a part; pairs as in judge_element.c. */
static double error_of_sums(const tsl_device_reference *reference) {
  const double terms = (double)reference->arguments.k + 2;
  return reference->in_pairs ? 2 * terms * terms * 0x1p-106
                             : ((double)reference->arguments.depth + 2) * 0x1p-53;
}

tesela_status tsl_device_reference_judge(tsl_device_reference *reference, const tsl_problem *part,
                                         const tsl_judge *rule, tsl_device_reference_result *seen,
                                         tsl_verdict *verdict, bool *known) {
  const int64_t rows = reference->arguments.rows, cols = reference->arguments.cols, all = rows * cols;
  if (!reference->results_enqueued) {
    TSL_TRY(enqueue_results(reference, reference->slot->stream));
    TSL_TRY(reference->plan->work.device->ops->finish(reference->slot->stream));
  }
  TSL_TRY(reference->status);
  const double *sums = (const double *)(const void *)reference->memory;
  const unsigned char *c = reference->memory + (size_t)(reference->element_numbers * all) * 8;
  *seen = (tsl_device_reference_result){.c = c,
                                        .before = reference->reads_c ? c + reference->c_sample_bytes : NULL,
                                        .sums_error = error_of_sums(reference)};
  tsl_element_judge facts = {.problem = part, .before = seen->before, .c = c, .judge = rule};
  if (reference->element_numbers == TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS) {
    facts.max_a = device_reference_max_magnitude(sums + 3 * all, all);
    facts.max_b = device_reference_max_magnitude(sums + 4 * all, all);
  }
  tsl_element_judge_prepare(&facts);
  judge_sampled_elements(&facts, sums, rows, cols, verdict, known);
  return TESELA_OK;
}

tsl_stream *tsl_device_reference_stream(const tsl_device_reference *reference) {
  return reference->slot->stream;
}

void tsl_device_reference_free(tsl_device_reference *reference, bool done) {
  if (!reference)
    return;
  if (reference->slot)
    tsl_run_slot_give(reference->plan->looks->slots, reference->slot, done);
  tsl_free(reference->allocated);
  tsl_free(reference);
}
