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
  GIVEN = TSL_GIVEN
};

typedef struct check_job {
  const tsl_strategy *strategy;
  const tsl_config *config;
  tsl_device *device;
  const tsl_case *what;
  tsl_case_report *report;
  tsl_guarded operands[GIVEN];
  unsigned char *first; /* C's block after the first run */
  tsl_stream *stream;   /* for buffers */
  tsl_buffer *buffers[GIVEN];
} check_job;

static bool has_operand(const check_job *job, int operand) {
  return tsl_problem_has_operand(&job->what->problem, operand);
}

static void report_text(check_job *job, tsl_case_result result, tsl_memory_place place, const char *text) {
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
  const tsl_problem *problem = &job->what->problem;
  void *const a = job->operands[A].origin, *const b = job->operands[problem->in_place ? C : B].origin;
  fill_poison(&problem->b, job->operands[B].origin);
  fill_poison(&problem->c, job->operands[C].origin);
  if (tsl_problem_reads(problem, A))
    TSL_TRY(tsl_solve_fill(problem, job->what->data, job->what->seed, a, b));
  else
    fill_poison(&problem->a, a);
  tsl_guarded_seal(&job->operands[A]);
  tsl_guarded_seal(&job->operands[B]);
  return tsl_guarded_keep(&job->operands[C]);
}

/* Fills bias and scales. Special data have one infinity or NaN in a few elements. */
static tesela_status fill_vectors(check_job *job) {
  for (int i = BIAS; i < GIVEN; i++) {
    const tsl_shape *shape = tsl_problem_shape(&job->what->problem, i);
    if (!has_operand(job, i))
      continue;
    if (tsl_problem_reads(&job->what->problem, i))
      TSL_TRY(tsl_data_fill(job->what->data, ~job->what->seed + (uint64_t)(7 + i - BIAS), shape, 8,
                            job->operands[i].origin));
    else
      fill_poison(shape, job->operands[i].origin);
    tsl_guarded_seal(&job->operands[i]);
  }
  return TESELA_OK;
}

static tesela_status make_operands(check_job *job) {
  const tsl_problem *problem = &job->what->problem;
  const uint64_t seed = job->what->seed;
  for (int i = 0; i < GIVEN; i++)
    if (has_operand(job, i))
      TSL_TRY(tsl_guarded_create(tsl_problem_shape(problem, i), (int)(seed >> i & 1), &job->operands[i]));
  if (problem->op == TSL_OP_SOLVE)
    return fill_solve(job);
  for (int i = 0; i < C; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    if (tsl_problem_reads(problem, i))
      TSL_TRY(
          tsl_data_fill(job->what->data, 2 * seed + (uint64_t)i, shape, problem->k, job->operands[i].origin));
    else
      fill_poison(shape, job->operands[i].origin);
    if (shape->structure != TESELA_GENERAL)
      tsl_data_fill_unread(NAN, shape, job->operands[i].origin);
    tsl_guarded_seal(&job->operands[i]);
  }
  TSL_TRY(fill_vectors(job));
  if (tsl_problem_reads(problem, C))
    TSL_TRY(tsl_data_fill(job->what->data, ~seed, &problem->c,
                          problem->in_place && problem->k > 0 ? problem->k : 8, job->operands[C].origin));
  else
    fill_poison(&problem->c, job->operands[C].origin);
  if (problem->c.triangle != TESELA_WHOLE)
    tsl_data_fill_unread(NAN, &problem->c, job->operands[C].origin);
  return tsl_guarded_keep(&job->operands[C]);
}

/* Returns true if sums of the integer data are exact in their type: |a|, |b| and scales are at most 8,
 * scalars multiples of 1/4. Parts of complex products have two terms each. */
static bool is_exact(const tsl_case *what) {
  const tsl_problem *problem = &what->problem;
  const double unit = tsl_type(tsl_type(problem->c.type)->sums)->unit_roundoff;
  double alpha = 0, beta = 0;
  if (problem->op == TSL_OP_SOLVE)
    return tsl_solve_is_exact(problem, what->data);
  for (int part = 0; part < 2; part++) {
    const double a = 4 * problem->alpha[part], b = 4 * problem->beta[part];
    if (a != rint(a) || b != rint(b))
      return false;
    alpha += fabs(a);
    beta += fabs(b);
  }
  const int terms = tsl_type(problem->c.type)->is_complex ? 2 : 1,
            scales = tsl_problem_has_scales(problem) ? 64 : 1;
  return what->data == TSL_DATA_INTEGER &&
         (alpha + 1) * 64 * terms * scales * (double)problem->k + (beta + 1) * 8 * terms < 1 / unit;
}

/* Part of an operand's block that its buffer holds. */
typedef struct check_part {
  size_t first, bytes;
} check_part;

static check_part check_part_of(const check_job *job, int operand) {
  const tsl_guarded *guarded = &job->operands[operand];
  check_part held = {0, guarded->bytes};
  if (job->what->tight)
    tsl_guarded_tight(guarded, &held.first, &held.bytes);
  return held;
}

static tesela_status write_buffers(check_job *job) {
  for (int i = 0; i < GIVEN; i++) {
    if (!has_operand(job, i))
      continue;
    const check_part held = check_part_of(job, i);
    TSL_TRY(
        tsl_device_write(job->stream, job->buffers[i], 0, job->operands[i].block + held.first, held.bytes));
  }
  return job->device->ops->finish(job->stream);
}

static tesela_status read_buffers(check_job *job) {
  for (int i = 0; i < GIVEN; i++) {
    if (!has_operand(job, i))
      continue;
    const check_part held = check_part_of(job, i);
    TSL_TRY(
        tsl_device_read(job->stream, job->buffers[i], 0, job->operands[i].block + held.first, held.bytes));
  }
  return TESELA_OK;
}

static tesela_status make_buffers(check_job *job) {
  TSL_TRY(job->device->ops->stream_create(job->device, &job->stream));
  for (int i = 0; i < GIVEN; i++)
    if (has_operand(job, i))
      TSL_TRY(job->device->ops->buffer_create(job->device, check_part_of(job, i).bytes, &job->buffers[i]));
  return TESELA_OK;
}

static tsl_operand check_operand_of(const check_job *job, tsl_memory_place place, int operand) {
  const tsl_guarded *guarded = &job->operands[operand];
  if (place == TSL_PLACE_HOST)
    return (tsl_operand){.host = guarded->origin};
  const int64_t front = (int64_t)(check_part_of(job, operand).first / tsl_type(guarded->shape.type)->size);
  return (tsl_operand){.buffer = job->buffers[operand], .offset = tsl_guarded_offset(guarded) - front};
}

static tsl_operand check_vector_of(const check_job *job, tsl_memory_place place, int operand) {
  return has_operand(job, operand) ? check_operand_of(job, place, operand) : (tsl_operand){.host = NULL};
}

static tsl_operands check_operands_of(const check_job *job, tsl_memory_place place) {
  return (tsl_operands){.a = check_operand_of(job, place, A),
                        .b = check_operand_of(job, place, B),
                        .c = check_operand_of(job, place, C),
                        .bias = check_vector_of(job, place, BIAS),
                        .scale_a = check_vector_of(job, place, SCALE_A),
                        .scale_b = check_vector_of(job, place, SCALE_B)};
}

/* Reports the case as wrong if anything but elements of C has changed. */
static tesela_status check_stray_writes(check_job *job, tsl_memory_place place) {
  char text[160];
  for (int i = 0; i < GIVEN; i++)
    if (i != C && has_operand(job, i) && !tsl_guarded_intact(&job->operands[i])) {
      static const char *const names[GIVEN] = {"operand A", "operand B", "",
                                               "the bias",  "scale_a",   "scale_b"};
      snprintf(text, sizeof text, "%s was written to", names[i]);
      report_text(job, TSL_CASE_WRONG, place, text);
      return TESELA_OK;
    }
  bool good;
  int64_t at = 0;
  const char *where = "";
  TSL_TRY(tsl_guarded_check(&job->operands[C], &good, &at, &where));
  if (!good) {
    snprintf(text, sizeof text, "wrote %s C, at byte %lld from its lowest element", where, (long long)at);
    report_text(job, TSL_CASE_WRONG, place, text);
  }
  return TESELA_OK;
}

static tesela_status check_verdict(check_job *job, tsl_memory_place place) {
  const tsl_case *what = job->what;
  const tsl_accuracy accuracy = tsl_strategy_error_model(job->strategy, &what->problem, job->config);
  const tsl_judge with = {.factor = accuracy.factor,
                          .exact = is_exact(what),
                          .rounded = accuracy.is_correctly_rounded,
                          .flushes = tsl_accuracy_underflow(&accuracy),
                          .bias = has_operand(job, BIAS) ? job->operands[BIAS].origin : NULL,
                          .scale_a = has_operand(job, SCALE_A) ? job->operands[SCALE_A].origin : NULL,
                          .scale_b = has_operand(job, SCALE_B) ? job->operands[SCALE_B].origin : NULL,
                          .finite = accuracy.finite_only,
                          .seed = what->seed,
                          .operations_max = what->operations_max};
  tsl_verdict verdict;
  TSL_TRY(tsl_judge_result(&what->problem, job->operands[A].origin, job->operands[B].origin,
                           tsl_problem_reads(&what->problem, C) ? tsl_guarded_kept(&job->operands[C]) : NULL,
                           job->operands[C].origin, &with, &verdict));
  if (place == TSL_PLACE_HOST || what->tight || !verdict.right)
    job->report->verdict = verdict;
  if (!verdict.right)
    report_text(job, TSL_CASE_WRONG, place, verdict.why);
  return TESELA_OK;
}

/* Saves C after run 0; reports later runs whose C, gaps included, has other bits. */
static tesela_status check_repeated_bits(check_job *job, tsl_memory_place place, int run) {
  const tsl_guarded *c = &job->operands[C];
  if (run == 0) {
    void *copy;
    tsl_free(job->first);
    job->first = NULL;
    TSL_TRY(tsl_alloc(c->bytes, "a first result", &copy));
    job->first = copy;
    memcpy(job->first, c->block, c->bytes);
  } else if (memcmp(job->first, c->block, c->bytes) != 0) {
    report_text(job, TSL_CASE_WRONG, place, "a second run on the same operands gave other bits");
  }
  return TESELA_OK;
}

/* Returns true after a failure, which is reported as the result of the case, not of the check. */
static bool report_if_failed(check_job *job, tsl_memory_place place, tesela_status status) {
  if (status != TESELA_OK)
    report_text(job, TSL_CASE_FAILED, place, tesela_last_error());
  return status != TESELA_OK;
}

static tesela_status check_run_once(check_job *job, tsl_plan *plan, tsl_memory_place place, int run,
                                    int repeats) {
  const tsl_operands operands = check_operands_of(job, place);
  tsl_guarded_restore(&job->operands[C]);
  if (place == TSL_PLACE_DEVICE && report_if_failed(job, place, write_buffers(job)))
    return TESELA_OK;
  const double start = tsl_clock();
  if (report_if_failed(job, place, tsl_plan_run(plan, &operands, NULL)))
    return TESELA_OK;
  if (place == TSL_PLACE_HOST && run == 0)
    job->report->seconds = tsl_clock() - start;
  if (place == TSL_PLACE_DEVICE && report_if_failed(job, place, read_buffers(job)))
    return TESELA_OK;
  TSL_TRY(check_stray_writes(job, place));
  if (job->report->result == TSL_CASE_RIGHT && run == 0)
    TSL_TRY(check_verdict(job, place));
  if (job->report->result == TSL_CASE_RIGHT && repeats > 1)
    TSL_TRY(check_repeated_bits(job, place, run));
  return TESELA_OK;
}

static tesela_status check_run_all(check_job *job, tsl_plan *plan, tsl_memory_place place) {
  const bool repeats =
      tsl_strategy_error_model(job->strategy, &job->what->problem, job->config).is_reproducible;
  const int runs = repeats && job->what->repeats > 1 ? job->what->repeats : 1;
  for (int run = 0; run < runs && job->report->result == TSL_CASE_RIGHT; run++)
    TSL_TRY(check_run_once(job, plan, place, run, runs));
  return TESELA_OK;
}

static tesela_status check_make_plan(const check_job *job, tsl_memory_place place, tsl_plan **plan) {
  const tsl_case *what = job->what;
  if (what->children)
    return tsl_plan_create_with(&what->problem, job->strategy, job->config, job->device, place,
                                what->children, plan);
  return (what->loaded_only ? tsl_plan_create_loaded : tsl_plan_create)(
      &what->problem, job->strategy, job->config, job->device, place, plan);
}

static tesela_status check_in_buffers(check_job *job) {
  tsl_plan *plan = NULL;
  tesela_status status = TESELA_OK;
  if (report_if_failed(job, TSL_PLACE_DEVICE, check_make_plan(job, TSL_PLACE_DEVICE, &plan)))
    return TESELA_OK;
  if (!report_if_failed(job, TSL_PLACE_DEVICE, make_buffers(job)))
    status = check_run_all(job, plan, TSL_PLACE_DEVICE);
  tsl_plan_destroy(plan);
  return status;
}

static void check_release(check_job *job) {
  for (int i = 0; i < GIVEN; i++) {
    tsl_guarded_free(&job->operands[i]);
    if (job->buffers[i])
      job->device->ops->buffer_destroy(job->buffers[i]);
  }
  if (job->stream)
    job->device->ops->stream_destroy(job->stream);
  tsl_free(job->first);
}

tesela_status tsl_check_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                             const tsl_case *what, tsl_case_report *report) {
  check_job job = {.strategy = strategy, .config = config, .device = device, .what = what, .report = report};
  *report = (tsl_case_report){.result = TSL_CASE_RIGHT};
  TSL_TRY(tsl_problem_check(&what->problem));
  tsl_plan *plan = NULL;
  tesela_status status = check_make_plan(&job, TSL_PLACE_HOST, &plan);
  if (status != TESELA_OK) {
    report_text(&job, status == TESELA_UNSUPPORTED ? TSL_CASE_REFUSED : TSL_CASE_FAILED, TSL_PLACE_HOST,
                tesela_last_error());
    return TESELA_OK;
  }
  snprintf(report->plan, sizeof report->plan, "%s", plan->text);
  report->source = plan->work.source_hash;
  TSL_GO(make_operands(&job));
  if (!what->tight)
    TSL_GO(check_run_all(&job, plan, TSL_PLACE_HOST));
  if (report->result == TSL_CASE_RIGHT && !strategy->splits.parts && (what->tight || what->seed % 2 == 1))
    TSL_GO(check_in_buffers(&job));
out:
  check_release(&job);
  tsl_plan_destroy(plan);
  return status;
}
