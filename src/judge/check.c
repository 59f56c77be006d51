#include "judge/check.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "judge/data.h"
#include "judge/guard.h"
#include "judge/solve_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  A = TSL_OPERAND_A,
  B = TSL_OPERAND_B,
  C = TSL_OPERAND_C,
  BIAS = TSL_OPERAND_BIAS,
  SCALE_A = TSL_OPERAND_SCALE_A,
  SCALE_B = TSL_OPERAND_SCALE_B,
  OPERANDS = TSL_ALL_OPERANDS
};

typedef struct check_job {
  const tsl_strategy *strategy;
  const tsl_config *config;
  tsl_device *device;
  const tsl_case *tested;
  tsl_case_report *report;
  tsl_guarded operands[OPERANDS];
  unsigned char *first_result; /* C's block after the first run */
  tsl_stream *stream;          /* for buffers */
  tsl_buffer *buffers[OPERANDS];
} check_job;

static bool has_operand(const check_job *job, int operand) {
  return tsl_problem_has_operand(&job->tested->problem, operand);
}

static void set_case_result(check_job *job, tsl_case_result result, tsl_memory_place place,
                            const char *text) {
  job->report->result = result;
  snprintf(job->report->why, sizeof job->report->why, "%s%s",
           place == TSL_PLACE_DEVICE ? "operands in buffers: " : "", text);
}

/* Fills an operand that must not be read: NaN spoils every sum; integers get an unlikely value. */
static void fill_poison(const tsl_shape *shape, void *data) {
  tsl_data_fill_value(tsl_type(shape->type)->is_integer ? 99 : NAN, shape, data);
}

/* Fills a solvable triangle and its right side, in B, or in C for a solve in place. */
static tesela_status fill_solve(check_job *job) {
  const tsl_problem *problem = &job->tested->problem;
  void *const a = job->operands[A].origin, *const b = job->operands[problem->in_place ? C : B].origin;
  fill_poison(&problem->b, job->operands[B].origin);
  fill_poison(&problem->c, job->operands[C].origin);
  if (tsl_problem_reads(problem, A))
    TSL_TRY(tsl_solve_fill(problem, job->tested->data, job->tested->seed, a, b));
  else
    fill_poison(&problem->a, a);
  tsl_guarded_store_checksum(&job->operands[A]);
  tsl_guarded_store_checksum(&job->operands[B]);
  return tsl_guarded_save_copy(&job->operands[C]);
}

/* Fills bias and scales. Special data have one infinity or NaN in a few elements. */
static tesela_status fill_vectors(check_job *job) {
  for (int i = BIAS; i < OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&job->tested->problem, i);
    if (!has_operand(job, i))
      continue;
    if (tsl_problem_reads(&job->tested->problem, i))
      TSL_TRY(tsl_data_fill(job->tested->data, ~job->tested->seed + (uint64_t)(7 + i - BIAS), shape, 8,
                            job->operands[i].origin));
    else
      fill_poison(shape, job->operands[i].origin);
    tsl_guarded_store_checksum(&job->operands[i]);
  }
  return TESELA_OK;
}

static tesela_status create_and_fill_operands(check_job *job) {
  const tsl_problem *problem = &job->tested->problem;
  const uint64_t seed = job->tested->seed;
  for (int i = 0; i < OPERANDS; i++)
    if (has_operand(job, i))
      TSL_TRY(tsl_guarded_create(tsl_problem_shape(problem, i), (int)(seed >> i & 1), &job->operands[i]));
  if (problem->op == TSL_OP_SOLVE)
    return fill_solve(job);
  for (int i = 0; i < C; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    if (tsl_problem_reads(problem, i))
      TSL_TRY(tsl_data_fill(job->tested->data, 2 * seed + (uint64_t)i, shape, problem->k,
                            job->operands[i].origin));
    else
      fill_poison(shape, job->operands[i].origin);
    if (shape->structure != TESELA_GENERAL)
      tsl_data_fill_unread(NAN, shape, job->operands[i].origin);
    tsl_guarded_store_checksum(&job->operands[i]);
  }
  TSL_TRY(fill_vectors(job));
  if (tsl_problem_reads(problem, C))
    TSL_TRY(tsl_data_fill(job->tested->data, ~seed, &problem->c,
                          problem->in_place && problem->k > 0 ? problem->k : 8, job->operands[C].origin));
  else
    fill_poison(&problem->c, job->operands[C].origin);
  if (problem->c.triangle != TESELA_WHOLE)
    tsl_data_fill_unread(NAN, &problem->c, job->operands[C].origin);
  return tsl_guarded_save_copy(&job->operands[C]);
}

/* Returns true if sums of the integer data are exact in their type: |a|, |b| and scales are at most 8,
 * scalars multiples of 1/4. Parts of complex products have two terms each. */
static bool is_exact(const tsl_case *tested) {
  const tsl_problem *problem = &tested->problem;
  const double unit = tsl_type(tsl_type(problem->c.type)->sums)->unit_roundoff;
  double alpha = 0, beta = 0;
  if (problem->op == TSL_OP_SOLVE)
    return tsl_solve_is_exact(problem, tested->data);
  for (int part = 0; part < 2; part++) {
    const double a = 4 * problem->alpha[part], b = 4 * problem->beta[part];
    if (a != rint(a) || b != rint(b))
      return false;
    alpha += fabs(a);
    beta += fabs(b);
  }
  const int terms = tsl_type(problem->c.type)->is_complex ? 2 : 1,
            scales = tsl_problem_has_scales(problem) ? 64 : 1;
  return tested->data == TSL_DATA_INTEGER &&
         (alpha + 1) * 64 * terms * scales * (double)problem->k + (beta + 1) * 8 * terms < 1 / unit;
}

/* Part of an operand's block that its buffer holds. */
typedef struct buffer_part {
  size_t first_byte, bytes;
} buffer_part;

static buffer_part get_buffer_part(const check_job *job, int operand) {
  const tsl_guarded *guarded = &job->operands[operand];
  buffer_part held = {0, guarded->bytes};
  if (job->tested->tight)
    tsl_guarded_part_without_guards(guarded, &held.first_byte, &held.bytes);
  return held;
}

static tesela_status copy_operands(check_job *job, bool to_buffers) {
  for (int i = 0; i < OPERANDS; i++) {
    if (!has_operand(job, i))
      continue;
    const buffer_part held = get_buffer_part(job, i);
    unsigned char *const host = job->operands[i].block + held.first_byte;
    TSL_TRY(to_buffers ? tsl_device_write(job->stream, job->buffers[i], 0, host, held.bytes)
                       : tsl_device_read(job->stream, job->buffers[i], 0, host, held.bytes));
  }
  return to_buffers ? job->device->ops->finish(job->stream) : TESELA_OK;
}

static tesela_status create_stream_and_buffers(check_job *job) {
  TSL_TRY(job->device->ops->stream_create(job->device, &job->stream));
  for (int i = 0; i < OPERANDS; i++)
    if (has_operand(job, i))
      TSL_TRY(job->device->ops->buffer_create(job->device, get_buffer_part(job, i).bytes, &job->buffers[i]));
  return TESELA_OK;
}

static tsl_operand get_checked_operand(const check_job *job, tsl_memory_place place, int operand) {
  const tsl_guarded *guarded = &job->operands[operand];
  if (place == TSL_PLACE_HOST)
    return (tsl_operand){.host = guarded->origin};
  const int64_t front =
      (int64_t)(get_buffer_part(job, operand).first_byte / tsl_type(guarded->shape.type)->size);
  return (tsl_operand){.buffer = job->buffers[operand], .offset = tsl_guarded_offset(guarded) - front};
}

static tsl_operand get_vector_if_present(const check_job *job, tsl_memory_place place, int operand) {
  return has_operand(job, operand) ? get_checked_operand(job, place, operand) : (tsl_operand){.host = NULL};
}

static tsl_operands get_checked_operands(const check_job *job, tsl_memory_place place) {
  return (tsl_operands){.a = get_checked_operand(job, place, A),
                        .b = get_checked_operand(job, place, B),
                        .c = get_checked_operand(job, place, C),
                        .bias = get_vector_if_present(job, place, BIAS),
                        .scale_a = get_vector_if_present(job, place, SCALE_A),
                        .scale_b = get_vector_if_present(job, place, SCALE_B)};
}

/* Reports the case as wrong if anything but elements of C has changed. */
static tesela_status check_stray_writes(check_job *job, tsl_memory_place place) {
  char text[160];
  for (int i = 0; i < OPERANDS; i++)
    if (i != C && has_operand(job, i) && !tsl_guarded_matches_checksum(&job->operands[i])) {
      static const char *const names[OPERANDS] = {"operand A", "operand B", "",
                                                  "the bias",  "scale_a",   "scale_b"};
      snprintf(text, sizeof text, "%s was written to", names[i]);
      set_case_result(job, TSL_CASE_WRONG, place, text);
      return TESELA_OK;
    }
  bool good;
  int64_t at = 0;
  const char *where = "";
  TSL_TRY(tsl_guarded_check_writes(&job->operands[C], &good, &at, &where));
  if (!good) {
    snprintf(text, sizeof text, "wrote %s C, at byte %lld from its lowest element", where, (long long)at);
    set_case_result(job, TSL_CASE_WRONG, place, text);
  }
  return TESELA_OK;
}

static tesela_status judge_first_run(check_job *job, tsl_memory_place place) {
  const tsl_case *tested = job->tested;
  const tsl_accuracy accuracy = tsl_strategy_error_model(job->strategy, &tested->problem, job->config);
  const tsl_judge with = {.factor = accuracy.factor,
                          .exact = is_exact(tested),
                          .rounded = accuracy.is_correctly_rounded,
                          .flushes = tsl_accuracy_underflow(&accuracy),
                          .bias = has_operand(job, BIAS) ? job->operands[BIAS].origin : NULL,
                          .scale_a = has_operand(job, SCALE_A) ? job->operands[SCALE_A].origin : NULL,
                          .scale_b = has_operand(job, SCALE_B) ? job->operands[SCALE_B].origin : NULL,
                          .finite = accuracy.finite_only,
                          .seed = tested->seed,
                          .operations_max = tested->operations_max};
  tsl_verdict verdict;
  TSL_TRY(tsl_judge_result(
      &tested->problem, job->operands[A].origin, job->operands[B].origin,
      tsl_problem_reads(&tested->problem, C) ? tsl_guarded_copied_origin(&job->operands[C]) : NULL,
      job->operands[C].origin, &with, &verdict));
  if (place == TSL_PLACE_HOST || tested->tight || !verdict.right)
    job->report->verdict = verdict;
  if (!verdict.right)
    set_case_result(job, TSL_CASE_WRONG, place, verdict.why);
  return TESELA_OK;
}

/* Saves C after run 0; reports later runs whose C, gaps included, has other bits. */
static tesela_status check_repeated_bits(check_job *job, tsl_memory_place place, int run) {
  const tsl_guarded *c = &job->operands[C];
  if (run == 0) {
    void *copy;
    tsl_free(job->first_result);
    job->first_result = NULL;
    TSL_TRY(tsl_alloc(c->bytes, "a first result", &copy));
    job->first_result = copy;
    memcpy(job->first_result, c->block, c->bytes);
  } else if (memcmp(job->first_result, c->block, c->bytes) != 0) {
    set_case_result(job, TSL_CASE_WRONG, place, "a second run on the same operands gave other bits");
  }
  return TESELA_OK;
}

/* Returns true after a failure, which is reported as the result of the case, not of the check. */
static bool report_if_failed(check_job *job, tsl_memory_place place, tesela_status status) {
  if (status != TESELA_OK)
    set_case_result(job, TSL_CASE_FAILED, place, tesela_last_error());
  return status != TESELA_OK;
}

/* Runs the plan once and checks C and all guards. A failed run is a result in the report, not an error. */
static tesela_status run_and_check_once(check_job *job, tsl_plan *plan, tsl_memory_place place, int run,
                                        int repeats) {
  const tsl_operands operands = get_checked_operands(job, place);
  tsl_guarded_restore_copy(&job->operands[C]);
  if (place == TSL_PLACE_DEVICE && report_if_failed(job, place, copy_operands(job, true)))
    return TESELA_OK;
  const double start = tsl_clock();
  if (report_if_failed(job, place, tsl_plan_run(plan, &operands, NULL)))
    return TESELA_OK;
  if (place == TSL_PLACE_HOST && run == 0)
    job->report->seconds = tsl_clock() - start;
  if (place == TSL_PLACE_DEVICE && report_if_failed(job, place, copy_operands(job, false)))
    return TESELA_OK;
  TSL_TRY(check_stray_writes(job, place));
  if (job->report->result == TSL_CASE_RIGHT && run == 0)
    TSL_TRY(judge_first_run(job, place));
  if (job->report->result == TSL_CASE_RIGHT && repeats > 1)
    TSL_TRY(check_repeated_bits(job, place, run));
  return TESELA_OK;
}

static tesela_status run_until_wrong(check_job *job, tsl_plan *plan, tsl_memory_place place) {
  const bool repeats =
      tsl_strategy_error_model(job->strategy, &job->tested->problem, job->config).is_reproducible;
  const int runs = repeats && job->tested->repeats > 1 ? job->tested->repeats : 1;
  for (int run = 0; run < runs && job->report->result == TSL_CASE_RIGHT; run++)
    TSL_TRY(run_and_check_once(job, plan, place, run, runs));
  return TESELA_OK;
}

static tesela_status create_case_plan(const check_job *job, tsl_memory_place place, tsl_plan **plan) {
  const tsl_case *tested = job->tested;
  const tsl_plan_options options = {.children = tested->children, .loaded_only = tested->loaded_only};
  return tsl_plan_create(&tested->problem, job->strategy, job->config, job->device, place, &options, plan);
}

static tesela_status check_with_buffers(check_job *job) {
  tsl_plan *plan = NULL;
  tesela_status status = TESELA_OK;
  if (report_if_failed(job, TSL_PLACE_DEVICE, create_case_plan(job, TSL_PLACE_DEVICE, &plan)))
    return TESELA_OK;
  if (!report_if_failed(job, TSL_PLACE_DEVICE, create_stream_and_buffers(job)))
    status = run_until_wrong(job, plan, TSL_PLACE_DEVICE);
  tsl_plan_destroy(plan);
  return status;
}

static void free_check_job(check_job *job) {
  for (int i = 0; i < OPERANDS; i++) {
    tsl_guarded_free(&job->operands[i]);
    if (job->buffers[i])
      job->device->ops->buffer_destroy(job->buffers[i]);
  }
  if (job->stream)
    job->device->ops->stream_destroy(job->stream);
  tsl_free(job->first_result);
}

tesela_status tsl_check_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                             const tsl_case *tested, tsl_case_report *report) {
  check_job job = {
      .strategy = strategy, .config = config, .device = device, .tested = tested, .report = report};
  *report = (tsl_case_report){.result = TSL_CASE_RIGHT};
  TSL_TRY(tsl_problem_check(&tested->problem));
  tsl_plan *plan = NULL;
  tesela_status status = create_case_plan(&job, TSL_PLACE_HOST, &plan);
  if (status != TESELA_OK) {
    set_case_result(&job, status == TESELA_UNSUPPORTED ? TSL_CASE_REFUSED : TSL_CASE_FAILED, TSL_PLACE_HOST,
                    tesela_last_error());
    return TESELA_OK;
  }
  snprintf(report->plan, sizeof report->plan, "%s", plan->text);
  report->source = plan->work.source_hash;
  TSL_GO(create_and_fill_operands(&job));
  if (!tested->tight)
    TSL_GO(run_until_wrong(&job, plan, TSL_PLACE_HOST));
  if (report->result == TSL_CASE_RIGHT && !strategy->splits.parts && (tested->tight || tested->seed % 2 == 1))
    TSL_GO(check_with_buffers(&job));
out:
  free_check_job(&job);
  tsl_plan_destroy(plan);
  return status;
}
