#include "judge/judge_measure.h"

#include "core/floats.h"
#include "core/memory.h"
#include "core/reserve.h"
#include "core/status.h"
#include "host/int_math.h"
#include "judge/densify.h"
#include "judge/device_reference.h"
#include "judge/judge.h"
#include "judge/sample.h"

#include <math.h>
#include <string.h>

/* Effort of a measurement (docs/lab/judge.md). JUDGED_...: time to judge a multiply-add relative to the
 * product on this processor. TERMS_MIN multiply-adds are always allowed. */
enum {
  TERMS_MIN = 1 << 19,
  ELEMENT_COST_IN_TERMS = 16,
  JUDGED_F32 = 64,
  JUDGED_C64 = 160,
  JUDGED_F64 = 80,
  JUDGED_MOVE = 8
};
static const double time_fraction = 0.02; /* of the product's time */
static const double thread_operations_per_second = 4e10;
/* Seconds of a thread to compare an element whose sum the device has made; limits of their number. */
static const double compare_seconds = 5e-8;
enum { DEVICE_ELEMENTS_MIN = 256, DEVICE_ELEMENTS_MAX = 1024 };
/* Maximum of device lines with strided elements, which are copied element by element. */
enum { STRIDED_LINES_MAX = 8 };

struct tsl_error_measurement {
  const tsl_plan *plan;
  tsl_operands operands;
  uint64_t seed;
  tsl_floats_before floats; /* floating-point mode of the caller, in which the product runs */
  bool direct;              /* the whole result is judged in host memory without copies */
  int64_t *rows, *cols; /* sampled indices in rising order, of sample_problem.m and .n; NULL: C is empty */
  tsl_problem sample_problem;                 /* problem of the sample, dense */
  void *sample[TSL_OPERANDS], *before, *bias; /* owned copies for sample_problem, or NULL */
  tsl_dense_sample dense_sample; /* completed sample of a product with structures, made before the run */
  tsl_reserve reserve;           /* memory for the time after the run, which must not fail */
  bool is_reference_done;        /* the reference's stream is done */
  tsl_device_reference *device_reference; /* reference on the device; NULL: on the host */
  tsl_stream *stream; /* stream for device operands; the reference's stream where there is one */
};

static const tsl_problem *measured_problem(const tsl_error_measurement *m) {
  return &m->plan->work.problem;
}

static bool operands_are_on_host(const tsl_plan *plan) {
  return plan->place == TSL_PLACE_HOST || tsl_device_is_host(plan->work.device);
}

static tsl_team host_team_of_measurement(const tsl_error_measurement *m) {
  const tsl_device *device = m->plan->work.device;
  return tsl_device_is_host(device) ? tsl_device_team(device) : tsl_device_host_team(device);
}

static double relative_judge_cost(tesela_type type) {
  return type == TESELA_C64 ? JUDGED_C64 : tsl_type(type)->component == TESELA_F64 ? JUDGED_F64 : JUDGED_F32;
}

/* Returns how many elements to judge in `time_fraction` of the product's time; TERMS_MIN terms at least. */
static double elements_within_time(const tsl_problem *problem, const tsl_device *device) {
  const bool multiplies = tsl_problem_reads(problem, TSL_OPERAND_B), is_host = tsl_device_is_host(device);
  const bool in_pairs = tsl_type(problem->c.type)->component == TESELA_F64;
  const double all = (double)problem->m * (double)problem->n,
               terms = (multiplies ? (double)problem->k : 0) + ELEMENT_COST_IN_TERMS;
  const double peak = in_pairs ? device->peak_f64 : device->peak_f32,
               own = thread_operations_per_second * tsl_team_threads(tsl_device_host_team(device));
  const double slower =
      (multiplies ? relative_judge_cost(problem->c.type) : JUDGED_MOVE) * (is_host ? 1 : fmax(1, peak / own));
  return fmax(all * time_fraction / slower, TERMS_MIN / terms);
}

/* Returns the number of elements whose sums a device makes at the same time as its product. */
static double elements_on_device(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  const tsl_device *device = plan->work.device;
  const double peak =
      tsl_type(problem->c.type)->component == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double flops = 2 * (double)problem->m * (double)problem->n * (double)problem->k,
               seconds = plan->expected > 0 ? plan->expected / (double)tsl_problem_batch(problem)
                                            : flops / fmax(peak, 1);
  const double wanted =
      fmin(fmax(seconds * time_fraction / compare_seconds, DEVICE_ELEMENTS_MIN), DEVICE_ELEMENTS_MAX);
  return fmax(wanted, TERMS_MIN / ((double)problem->k + ELEMENT_COST_IN_TERMS));
}

static bool has_gaps(int64_t count, int64_t stride) {
  return count > 1 && stride != 1 && stride != -1;
}

/* Chooses a sample as square as the result allows. */
static void choose_sample_sizes(const tsl_error_measurement *m, bool on_device, int64_t *rows,
                                int64_t *cols) {
  const tsl_problem *problem = measured_problem(m);
  const double wanted =
      on_device ? elements_on_device(m->plan) : elements_within_time(problem, m->plan->work.device);
  const bool copies_lines = !on_device && !operands_are_on_host(m->plan);
  int64_t rows_max = problem->m, cols_max = problem->n;
  if (copies_lines && tsl_problem_reads(problem, TSL_OPERAND_A) &&
      has_gaps(problem->k, problem->a.col_stride))
    rows_max = tsl_min(rows_max, STRIDED_LINES_MAX);
  if (copies_lines && tsl_problem_reads(problem, TSL_OPERAND_B) &&
      has_gaps(problem->k, problem->b.row_stride))
    cols_max = tsl_min(cols_max, STRIDED_LINES_MAX);
  const double side = fmax(2, ceil(sqrt(wanted)));
  *rows = tsl_min(rows_max, (int64_t)fmin(side, 0x1p31));
  *cols = tsl_min(cols_max, (int64_t)fmin(fmax(2, ceil(wanted / (double)*rows)), 0x1p31));
  *rows = tsl_min(rows_max, (int64_t)fmin(fmax(2, ceil(wanted / (double)*cols)), 0x1p31));
}

/* Copies lines of an operand to the host, with the listed elements of each. */
static tesela_status copy_operand_lines(const tsl_error_measurement *m, int operand, const tsl_indices *lines,
                                        const tsl_indices *of_line, bool by_columns, void *dst) {
  const tsl_problem *problem = measured_problem(m);
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  const tsl_operand *at = &m->operands.at[operand];
  const tsl_sample_lines from = {.size = tsl_type(shape->type)->size,
                                 .type = shape->type,
                                 .host = at->host,
                                 .buffer = at->buffer,
                                 .stream = m->stream,
                                 .offset = at->offset,
                                 .line_stride = by_columns ? shape->col_stride : shape->row_stride,
                                 .stride = by_columns ? shape->row_stride : shape->col_stride,
                                 .length = by_columns ? shape->rows : shape->cols,
                                 .team = host_team_of_measurement(m)};
  return tsl_sample_copy(&from, lines, of_line, dst);
}

static tesela_status allocate_operand(tsl_error_measurement *m, int operand, void **out) {
  const tsl_shape *shape = tsl_problem_shape(&m->sample_problem, operand);
  return tsl_alloc((size_t)(shape->rows * shape->cols) * tsl_type(shape->type)->size, "a sample of operands",
                   out);
}

static bool is_column_major(const tsl_shape *shape) {
  return tsl_abs(shape->row_stride) < tsl_abs(shape->col_stride);
}

/* Returns the problem of the sample: rows of A and columns of B, line by line. */
static tsl_problem make_sample_problem(const tsl_problem *problem, int64_t rows, int64_t cols) {
  tsl_problem sample_problem = tsl_problem_of(problem->op, rows, cols, problem->k, problem->c.type);
  sample_problem.a.type = problem->a.type;
  sample_problem.b.type = problem->b.type;
  if (problem->op != TSL_OP_TRANSPOSE) {
    sample_problem.b.row_stride = 1;
    sample_problem.b.col_stride = problem->k > 0 ? problem->k : 1;
  }
  if (is_column_major(&problem->c)) {
    sample_problem.c.row_stride = 1;
    sample_problem.c.col_stride = rows;
  }
  sample_problem.conjugate_a = problem->conjugate_a;
  sample_problem.conjugate_b = problem->conjugate_b;
  memcpy(sample_problem.alpha, problem->alpha, sizeof sample_problem.alpha);
  memcpy(sample_problem.beta, problem->beta, sizeof sample_problem.beta);
  sample_problem.activation = problem->activation;
  tsl_problem_add_bias(&sample_problem, problem->bias_axis, problem->bias.type, 1);
  return sample_problem;
}

static tsl_indices sampled_rows(const tsl_error_measurement *m) {
  return (tsl_indices){m->rows, m->sample_problem.m};
}
static tsl_indices sampled_cols(const tsl_error_measurement *m) {
  return (tsl_indices){m->cols, m->sample_problem.n};
}

/* Copies the sampled elements of C, in the layout of make_sample_problem(). */
static tesela_status copy_sampled_result(const tsl_error_measurement *m, void *dst) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m);
  return is_column_major(&measured_problem(m)->c)
             ? copy_operand_lines(m, TSL_OPERAND_C, &cols, &rows, true, dst)
             : copy_operand_lines(m, TSL_OPERAND_C, &rows, &cols, false, dst);
}

static tesela_status copy_bias(const tsl_error_measurement *m, void *dst) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m), one = {NULL, 1};
  const bool is_row = measured_problem(m)->bias_axis == TESELA_BIAS_ROW;
  return copy_operand_lines(m, TSL_OPERAND_BIAS, &one, is_row ? &cols : &rows, !is_row, dst);
}

/* Copies the elements that a transpose reads for the sample: one row for each sampled column of C. */
static tesela_status copy_transpose_source(const tsl_error_measurement *m, int operand, void *dst) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m);
  return copy_operand_lines(m, operand, &cols, &rows, false, dst);
}

static tesela_status copy_factors(tsl_error_measurement *m) {
  const tsl_problem *problem = measured_problem(m);
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m), all = {NULL, problem->k};
  if (problem->op == TSL_OP_TRANSPOSE)
    return problem->in_place || !tsl_problem_reads(problem, TSL_OPERAND_A)
               ? TESELA_OK
               : copy_transpose_source(m, TSL_OPERAND_A, m->sample[TSL_OPERAND_A]);
  if (!tsl_problem_reads(problem, TSL_OPERAND_A))
    return TESELA_OK;
  TSL_TRY(copy_operand_lines(m, TSL_OPERAND_A, &rows, &all, false, m->sample[TSL_OPERAND_A]));
  return copy_operand_lines(m, TSL_OPERAND_B, &cols, &all, true, m->sample[TSL_OPERAND_B]);
}

static const void *host_address_or_null(const tsl_error_measurement *m, int operand) {
  const tsl_operand *at = &m->operands.at[operand];
  const tsl_shape *shape = tsl_problem_shape(measured_problem(m), operand);
  return at->host ? (const unsigned char *)at->host + at->offset * (int64_t)tsl_type(shape->type)->size
                  : NULL;
}

/* Completes structured operands by their definition; the sample is then judged as a general product. */
static tesela_status complete_structures(tsl_error_measurement *m) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m);
  TSL_TRY(tsl_dense_sample_create(measured_problem(m), host_address_or_null(m, TSL_OPERAND_A),
                                  host_address_or_null(m, TSL_OPERAND_B),
                                  host_address_or_null(m, TSL_OPERAND_C), &rows, &cols, &m->dense_sample));
  m->sample_problem = m->dense_sample.problem;
  return allocate_operand(m, TSL_OPERAND_C, &m->sample[TSL_OPERAND_C]);
}

static tesela_status save_overwritten(tsl_error_measurement *m) {
  const tsl_problem *problem = measured_problem(m);
  if (problem->in_place)
    return copy_transpose_source(m, TSL_OPERAND_C, m->sample[TSL_OPERAND_A]);
  if (!tsl_problem_reads(problem, TSL_OPERAND_C))
    return TESELA_OK;
  TSL_TRY(allocate_operand(m, TSL_OPERAND_C, &m->before));
  return copy_sampled_result(m, m->before);
}

/* Starts the reference on the device. Lines of A and B are copied only if its sums do not suffice. */
static tesela_status begin_device_reference(tsl_error_measurement *m) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m);
  m->sample_problem.c.row_stride = cols.count;
  m->sample_problem.c.col_stride = 1;
  TSL_TRY(tsl_device_reference_begin(m->plan, &m->operands, &rows, &cols, &m->device_reference));
  m->stream = tsl_device_reference_stream(m->device_reference);
  TSL_TRY(allocate_operand(m, TSL_OPERAND_A, &m->sample[TSL_OPERAND_A]));
  TSL_TRY(allocate_operand(m, TSL_OPERAND_B, &m->sample[TSL_OPERAND_B]));
  return measured_problem(m)->bias_axis != TESELA_NO_BIAS ? allocate_operand(m, TSL_OPERAND_BIAS, &m->bias)
                                                          : TESELA_OK;
}

/* Allocates the lists of the sample's rows and columns. */
static tesela_status set_sample_sizes(tsl_error_measurement *m, int64_t rows, int64_t cols) {
  void *indices;
  m->sample_problem = make_sample_problem(measured_problem(m), rows, cols);
  tsl_free(m->rows);
  m->rows = NULL;
  TSL_TRY(tsl_alloc((size_t)(rows + cols) * sizeof *m->rows, "a sample of rows and columns", &indices));
  m->rows = indices;
  m->cols = m->rows + rows;
  return TESELA_OK;
}

static tesela_status draw_sample(tsl_error_measurement *m, bool on_device) {
  const tsl_problem *problem = measured_problem(m);
  int64_t rows, cols;
  choose_sample_sizes(m, on_device, &rows, &cols);
  TSL_TRY(set_sample_sizes(m, rows, cols));
  tsl_sample_draw(m->rows, rows, problem->m, m->seed);
  tsl_sample_draw(m->cols, cols, problem->n, ~m->seed);
  return TESELA_OK;
}

static tesela_status prepare_for_run(tsl_error_measurement *m) {
  const tsl_problem *problem = measured_problem(m);
  tsl_device *device = m->plan->work.device;
  const bool on_device =
      !operands_are_on_host(m->plan) && tsl_device_reference_supports(m->plan, &m->operands);
  TSL_TRY(draw_sample(m, on_device));
  if (on_device)
    return begin_device_reference(m);
  const int64_t rows = m->sample_problem.m, cols = m->sample_problem.n;
  m->direct = !tsl_problem_has_structure(problem) && rows == problem->m && cols == problem->n &&
              operands_are_on_host(m->plan) && !problem->in_place &&
              !tsl_problem_reads(problem, TSL_OPERAND_C) && m->operands.c.host;
  if (tsl_problem_has_structure(problem))
    return complete_structures(m);
  if (m->direct)
    return TESELA_OK;
  for (int i = 0; i < TSL_OPERANDS; i++)
    TSL_TRY(allocate_operand(m, i, &m->sample[i]));
  if (problem->bias_axis != TESELA_NO_BIAS)
    TSL_TRY(allocate_operand(m, TSL_OPERAND_BIAS, &m->bias));
  if (!operands_are_on_host(m->plan))
    TSL_TRY(device->ops->stream_create(device, &m->stream));
  return save_overwritten(m);
}

tsl_judge tsl_measure_rule(const tsl_plan *plan, const tsl_floats_before *floats) {
  const tsl_accuracy promised = tsl_plan_accuracy(plan);
  const tsl_work *work = &plan->work;
  const tsl_type_info *type = tsl_type(work->problem.c.type);
  const bool is_callers = tsl_device_is_host(work->device) && !work->strategy->needs_nearest,
             is_directed = is_callers && floats->rounding != FE_TONEAREST,
             is_flushed = is_callers && (floats->floats & TSL_FLOATS_FLUSH) && !type->is_integer;
  const double least_normal = is_flushed ? type->smallest / (2 * type->unit_roundoff) : 0;
  return (tsl_judge){.factor = promised.factor * (is_directed ? 2 : 1),
                     .rounded = promised.is_correctly_rounded,
                     .flushes = fmax(tsl_accuracy_underflow(&promised), least_normal),
                     .finite = promised.finite_only,
                     .operations_max = INT64_MAX};
}

static tsl_judge make_judge_rule(const tsl_error_measurement *m) {
  tsl_judge rule = tsl_measure_rule(m->plan, &m->floats);
  rule.bias = m->direct ? host_address_or_null(m, TSL_OPERAND_BIAS) : m->bias;
  rule.kinds = m->dense_sample.kinds;
  rule.threads = tsl_team_threads(host_team_of_measurement(m));
  return rule;
}

static size_t max_device_line_bytes(const tsl_error_measurement *m) {
  size_t most = 0;
  for (int i = 0; i <= TSL_OPERAND_BIAS && m->stream; i++) {
    const tsl_shape *shape = tsl_problem_shape(measured_problem(m), i);
    const tsl_type_info *type = tsl_type(shape->type);
    const size_t bytes = type ? (size_t)tsl_max(shape->rows, shape->cols) * type->size : 0;
    most = bytes > most ? bytes : most;
  }
  return most;
}

static tesela_status reserve_memory(tsl_error_measurement *m) {
  const tsl_judge rule = make_judge_rule(m);
  size_t bytes = tsl_judge_bytes(m->direct ? measured_problem(m) : &m->sample_problem, &rule);
  if (!tsl_size_add(bytes, max_device_line_bytes(m), &bytes))
    bytes = SIZE_MAX; /* no system provides it */
  return tsl_reserve_create(bytes, TSL_JUDGE_BLOCKS, "measuring the error", &m->reserve);
}

static void use_host_memory_of_buffer(tsl_operand *operand, const tsl_shape *shape) {
  if (operand->buffer && operand->buffer->host) {
    operand->host =
        (unsigned char *)operand->buffer->host + operand->offset * (int64_t)tsl_type(shape->type)->size;
    operand->buffer = NULL;
    operand->offset = 0;
  }
}

static void use_host_memory_of_buffers(tsl_error_measurement *m) {
  for (int i = 0; i <= TSL_OPERAND_BIAS; i++)
    use_host_memory_of_buffer(&m->operands.at[i], tsl_problem_shape(measured_problem(m), i));
}

tesela_status tsl_measure_begin(const tsl_plan *plan, const tsl_operands *operands, uint64_t seed,
                                tsl_error_measurement **measuring) {
  TSL_DEFAULT_FLOATS;
  const tsl_problem *problem = &plan->work.problem;
  void *block;
  *measuring = NULL;
  if (operands->a.packed || operands->b.packed)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "the error cannot be measured: an operand is packed, and its elements are gone");
  if (tsl_problem_has_structure(problem) && !operands_are_on_host(plan))
    return tsl_fail(TESELA_UNSUPPORTED,
                    "the error of a product with structures can be measured only with operands in host "
                    "memory");
  if (tsl_problem_has_scales(problem))
    return tsl_fail(TESELA_UNSUPPORTED, "the error of a product with scales is not measured");
  TSL_TRY(tsl_alloc_zeroed(sizeof **measuring, "a measurement", &block));
  tsl_error_measurement *m = block;
  *m = (tsl_error_measurement){.plan = plan, .operands = *operands, .seed = seed, .floats = floats_before};
  use_host_memory_of_buffers(m);
  tesela_status status = problem->m > 0 && problem->n > 0 ? prepare_for_run(m) : TESELA_OK;
  if (status == TESELA_OK && m->rows)
    status = reserve_memory(m);
  if (status != TESELA_OK) {
    tsl_measure_free(m);
    return status;
  }
  *measuring = m;
  return TESELA_OK;
}

tesela_status tsl_measure_ready(tsl_error_measurement *m) {
  TSL_DEFAULT_FLOATS;
  return m->device_reference ? tsl_device_reference_wait_before_run(m->device_reference) : TESELA_OK;
}

tesela_status tsl_measure_run(tsl_error_measurement *m, tsl_plan *plan, const tsl_operands *operands,
                              tsl_phases *phases) {
  const tsl_concurrent_hook *beside =
      m->device_reference ? tsl_device_reference_hook(m->device_reference) : NULL;
  if (!beside)
    TSL_TRY(tsl_measure_ready(m));
  return tsl_plan_run_beside(plan, operands, beside, phases);
}

/* Fails with the judge's message; row and column of the sample are replaced by the result's. */
static tesela_status fail_with_verdict(const tsl_error_measurement *m, const tsl_verdict *verdict) {
  const char *is = strstr(verdict->why, " is "), *end = is ? strstr(is, " where A(") : NULL;
  const int length = !is ? 0 : end ? (int)(end - is) : (int)strlen(is);
  return tsl_fail(TESELA_WRONG_RESULT,
                  "a result of %s on %s is outside of its error bound: C(%lld, %lld)%.*s, of %lld x %lld "
                  "that were looked at",
                  m->plan->work.strategy->name, m->plan->work.device->name, (long long)m->rows[verdict->row],
                  (long long)m->cols[verdict->col], length, is ? is : "", (long long)m->sample_problem.m,
                  (long long)m->sample_problem.n);
}

static tesela_status judge_sample(const tsl_error_measurement *m, tsl_verdict *verdict) {
  const tsl_judge rule = make_judge_rule(m);
  if (m->dense_sample.memory)
    return tsl_judge_gemm(&m->sample_problem, m->dense_sample.a, m->dense_sample.b, m->dense_sample.before,
                          m->sample[TSL_OPERAND_C], &rule, verdict);
  if (m->direct)
    return tsl_judge_result(measured_problem(m), host_address_or_null(m, TSL_OPERAND_A),
                            host_address_or_null(m, TSL_OPERAND_B), NULL,
                            host_address_or_null(m, TSL_OPERAND_C), &rule, verdict);
  return tsl_judge_result(&m->sample_problem, m->sample[TSL_OPERAND_A], m->sample[TSL_OPERAND_B], m->before,
                          m->sample[TSL_OPERAND_C], &rule, verdict);
}

/* Copies everything that was not copied before the run. */
static tesela_status copy_after_run(tsl_error_measurement *m) {
  const tsl_indices rows = sampled_rows(m), cols = sampled_cols(m);
  if (m->dense_sample.memory)
    return copy_operand_lines(m, TSL_OPERAND_C, &rows, &cols, false, m->sample[TSL_OPERAND_C]);
  if (m->direct)
    return TESELA_OK;
  TSL_TRY(copy_factors(m));
  if (m->bias)
    TSL_TRY(copy_bias(m, m->bias));
  return copy_sampled_result(m, m->sample[TSL_OPERAND_C]);
}

/* Returns the error of the judge's sums relative to |A||B|: in double one rounding for each of k terms; pairs
 * as in judge_element.c. Parts of a complex product have at most eight times as many terms. */
static double error_of_judge_sums(const tsl_error_measurement *m) {
  const tsl_type_info *type = tsl_type(m->sample_problem.c.type);
  const bool in_pairs =
      type->is_complex || type->component == TESELA_F64 || tsl_plan_accuracy(m->plan).is_correctly_rounded;
  const double terms = (double)m->sample_problem.k * (type->is_complex ? 8 : 1) + 2;
  if (m->sample_problem.op == TSL_OP_TRANSPOSE || type->is_integer ||
      !tsl_problem_reads(&m->sample_problem, TSL_OPERAND_A))
    return 0;
  return in_pairs ? 2 * terms * terms * 0x1p-106 : terms * 0x1p-53;
}

/* Judges by the device's sums, or by the terms where the sums are not sufficient. */
static tesela_status judge_by_device_sums(tsl_error_measurement *m, tsl_device_reference_result *seen,
                                          tsl_verdict *verdict) {
  const bool has_bias = m->bias != NULL;
  bool known;
  if (has_bias)
    TSL_TRY(copy_bias(m, m->bias));
  const tsl_judge rule = make_judge_rule(m);
  TSL_TRY(tsl_device_reference_judge(m->device_reference, &m->sample_problem, &rule, seen, verdict, &known));
  if (known)
    return TESELA_OK;
  seen->sums_error = error_of_judge_sums(m);
  TSL_TRY(copy_factors(m));
  return tsl_judge_result(&m->sample_problem, m->sample[TSL_OPERAND_A], m->sample[TSL_OPERAND_B],
                          seen->before, seen->c, &rule, verdict);
}

/* Returns the measured error plus the judge's own error, at most the guarantee if the verdict is right. */
static double error_with_own_error(const tsl_error_measurement *m, const tsl_verdict *verdict, double value) {
  const double seen = verdict->grade * tsl_type(m->sample_problem.c.type)->unit_roundoff;
  return verdict->right ? fmin(seen + value, fmax(seen, tsl_plan_error_bound(m->plan))) : seen + value;
}

static tesela_status judge_measurement(tsl_error_measurement *m, tsl_error_measured *measured) {
  tsl_verdict verdict;
  tsl_device_reference_result seen = {.sums_error = error_of_judge_sums(m)};
  if (m->device_reference) {
    TSL_TRY(judge_by_device_sums(m, &seen, &verdict));
    m->is_reference_done = true;
  } else {
    TSL_TRY(copy_after_run(m));
    TSL_TRY(judge_sample(m, &verdict));
  }
  *measured = (tsl_error_measured){.error = error_with_own_error(m, &verdict, seen.sums_error),
                                   .rows = m->sample_problem.m,
                                   .cols = m->sample_problem.n};
  return verdict.right ? TESELA_OK : fail_with_verdict(m, &verdict);
}

tesela_status tsl_measure_end(tsl_error_measurement *m, tsl_error_measured *measured) {
  TSL_DEFAULT_FLOATS;
  *measured = (tsl_error_measured){0, 0, 0};
  if (!m->rows)
    return TESELA_OK;
  tsl_reserve_use(&m->reserve);
  const tesela_status status = judge_measurement(m, measured);
  tsl_reserve_use(NULL);
  /* a lack of memory after C was written must not look like a call without effect */
  return status == TESELA_OUT_OF_MEMORY ? tsl_fail_in(TESELA_DEVICE_FAILED, "no memory to measure the error")
                                        : status;
}

static tesela_status judge_segment(tsl_error_measurement *m, int64_t row, int64_t col, int64_t cols,
                                   tsl_verdict *verdict) {
  use_host_memory_of_buffers(m);
  TSL_TRY(set_sample_sizes(m, 1, cols));
  m->rows[0] = row;
  for (int64_t j = 0; j < cols; j++)
    m->cols[j] = col + j;
  for (int i = 0; i < TSL_OPERANDS; i++)
    TSL_TRY(allocate_operand(m, i, &m->sample[i]));
  if (measured_problem(m)->bias_axis != TESELA_NO_BIAS)
    TSL_TRY(allocate_operand(m, TSL_OPERAND_BIAS, &m->bias));
  if (!operands_are_on_host(m->plan))
    TSL_TRY(m->plan->work.device->ops->stream_create(m->plan->work.device, &m->stream));
  TSL_TRY(copy_after_run(m));
  return judge_sample(m, verdict);
}

tesela_status tsl_measure_segment(const tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_floats_before *floats, int64_t row, int64_t col, int64_t cols,
                                  tsl_verdict *verdict) {
  tsl_error_measurement *m;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof *m, "a segment of a result", &block));
  m = block;
  *m = (tsl_error_measurement){.plan = plan, .operands = *operands, .floats = *floats};
  const tesela_status status = judge_segment(m, row, col, cols, verdict);
  verdict->row = row;
  verdict->col += col;
  tsl_measure_free(m);
  return status;
}

void tsl_measure_free(tsl_error_measurement *m) {
  if (!m)
    return;
  if (m->device_reference)
    tsl_device_reference_free(m->device_reference, m->is_reference_done);
  else if (m->stream)
    m->plan->work.device->ops->stream_destroy(m->stream);
  for (int i = 0; i < TSL_OPERANDS; i++)
    tsl_free(m->sample[i]);
  tsl_dense_sample_free(&m->dense_sample);
  tsl_reserve_free(&m->reserve);
  tsl_free(m->before);
  tsl_free(m->bias);
  tsl_free(m->rows);
  tsl_free(m);
}
