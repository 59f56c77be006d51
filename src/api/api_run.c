#include "api/api.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/status.h"
#include "core/thread_string.h"
#include "judge/judge_measure.h"

#include <math.h>
#include <stdio.h>

/* Returns true if operands certainly share bytes: equal first elements, or gapless ranges that meet. Operands
 * with gaps may be interleaved. */
static bool api_overlap(const tsl_address_range *a, uintptr_t a_start_address, const tsl_address_range *b,
                        uintptr_t b_start_address) {
  if (a_start_address == b_start_address)
    return true;
  const uintptr_t a_start = a_start_address - (uintptr_t)a->below * a->size,
                  a_end = a_start_address + (uintptr_t)a->above * a->size;
  const uintptr_t b_start = b_start_address - (uintptr_t)b->below * b->size,
                  b_end = b_start_address + (uintptr_t)b->above * b->size;
  return a->dense && b->dense && a_start < b_end && b_start < a_end;
}

/* Returns TESELA_BAD_CALL if C certainly shares bytes with another operand. */
static tesela_status check_overlap(const tesela_plan *plan, const char *where, const tsl_operand *operands) {
  const tsl_operand *c = &operands[TSL_OPERAND_C];
  const tsl_address_range *c_reach = &plan->reach[TSL_OPERAND_C];
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    const tsl_operand *other = &operands[i];
    const tsl_address_range *reach = &plan->reach[i];
    if (i == TSL_OPERAND_C || !reach->used || other->buffer != c->buffer || other->packed)
      continue;
    const uintptr_t at = c->buffer ? (uintptr_t)other->offset * reach->size : (uintptr_t)other->host;
    const uintptr_t c_at = c->buffer ? (uintptr_t)c->offset * c_reach->size : (uintptr_t)c->host;
    if (api_overlap(reach, at, c_reach, c_at))
      return tsl_fail(TESELA_BAD_CALL, "%s%s overlaps %s%s: a %s is not made in place%s", where,
                      c_reach->name, where, reach->name, tsl_op_name(plan->plan->work.problem.op),
                      plan->plan->work.problem.op == TSL_OP_TRANSPOSE ? " unless it is asked to be" : "");
  }
  return TESELA_OK;
}

/* Sets the address checks of a shortcut, for operands that are all used. */
static void set_direct_reach(const tsl_address_range reach[TSL_OPERANDS], tsl_fast_call *direct) {
  const tsl_address_range *c = &reach[TSL_OPERAND_C];
  direct->unaligned = c->align - 1;
  for (int i = 0; i < TSL_OPERAND_C; i++) {
    const bool by_range = reach[i].dense && c->dense;
    direct->unaligned |= reach[i].align - 1;
    direct->from[i] = 0;
    direct->span[i] = 1; /* only equal first elements are refused */
    if (by_range) {
      direct->from[i] = (uintptr_t)reach[i].above * reach[i].size + (uintptr_t)c->below * c->size - 1;
      direct->span[i] =
          direct->from[i] + (uintptr_t)c->above * c->size + (uintptr_t)reach[i].below * reach[i].size;
    }
  }
}

tsl_fast_call tsl_api_direct(const tesela_plan *plan) {
  const tsl_work *work = &plan->plan->work;
  const tsl_address_range *reach = plan->reach;
  tsl_fast_call direct = {.unaligned = reach[TSL_OPERAND_C].align - 1};
  const bool uses_all = reach[TSL_OPERAND_A].used && reach[TSL_OPERAND_B].used && reach[TSL_OPERAND_C].used;
  if (work->problem.op != TSL_OP_GEMM || tsl_problem_has_epilogue(&work->problem) ||
      !work->strategy->direct.run_at || plan->plan->place != TSL_PLACE_HOST || !uses_all)
    return direct;
  direct.run = work->strategy->direct.run_at(work, &direct.state);
  set_direct_reach(reach, &direct);
  return direct;
}

static tesela_status api_operand_of(const tesela_plan *plan, const char *where, int operand,
                                    const tesela_matrix *matrix, tsl_operand *out) {
  const tsl_address_range *reach = &plan->reach[operand];
  if (matrix)
    TSL_TRY(tsl_api_one_place(matrix, where, reach->name));
  if (matrix && matrix->packed)
    return tsl_api_packed(plan, where, operand, matrix, out);
  return plan->plan->place == TSL_PLACE_HOST ? tsl_api_host_operand(reach, where, matrix, out)
                                             : tsl_api_device_operand(plan, reach, where, matrix, out);
}

tesela_status tsl_api_gather(const tesela_plan *plan, const char *where,
                             const tesela_matrix *const matrix[TSL_ALL_OPERANDS], tsl_operands *out) {
  tsl_operand operands[TSL_ALL_OPERANDS] = {{0}};
  if (matrix[TSL_OPERAND_BIAS] && plan->plan->work.problem.bias_axis == TESELA_NO_BIAS)
    return tsl_fail(TESELA_BAD_CALL, "%sepilogue.bias is given, but the plan has no bias", where);
  for (int i = TSL_OPERAND_SCALE_A; i < TSL_ALL_OPERANDS; i++)
    if (matrix[i] && !tsl_problem_has_operand(&plan->plan->work.problem, i))
      return tsl_fail(TESELA_BAD_CALL, "%sepilogue.scale_%c is given, but the plan does not scale %c", where,
                      "ab"[i - TSL_OPERAND_SCALE_A], "AB"[i - TSL_OPERAND_SCALE_A]);
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    if (plan->reach[i].used)
      TSL_TRY(api_operand_of(plan, where, i, matrix[i], &operands[i]));
  }
  if (plan->reach[TSL_OPERAND_C].used)
    TSL_TRY(check_overlap(plan, where, operands));
  *out = (tsl_operands){.a = operands[TSL_OPERAND_A],
                        .b = operands[TSL_OPERAND_B],
                        .c = operands[TSL_OPERAND_C],
                        .bias = operands[TSL_OPERAND_BIAS],
                        .scale_a = operands[TSL_OPERAND_SCALE_A],
                        .scale_b = operands[TSL_OPERAND_SCALE_B]};
  return TESELA_OK;
}

static void record_measured(const tesela_plan *plan, const tsl_error_measured *measured, double seconds,
                            tesela_record *record) {
  tsl_log(TSL_LOG_CALLS, "%s: error %.2g of %lld x %lld elements, measured in %.3g s", plan->plan->text,
          measured->error, (long long)measured->rows, (long long)measured->cols, seconds);
  if (!record)
    return;
  record->error_measured = measured->error;
  record->measured_rows = measured->rows;
  record->measured_cols = measured->cols;
  record->seconds_measure = seconds;
}

/* Runs the plan and fills *phases (NULL: not wanted). measuring NULL: without measuring the error, and with
 * `hook`, which may be NULL. */
static tesela_status api_run(tesela_plan *plan, const tsl_operands *operands,
                             tsl_error_measurement *measuring, const tsl_concurrent_hook *hook,
                             tsl_phases *phases) {
  return measuring ? tsl_measure_run(measuring, plan->plan, operands, phases)
                   : tsl_plan_run_beside(plan->plan, operands, hook, phases);
}

static tesela_status run_recorded(tesela_plan *plan, const tsl_operands *operands,
                                  tsl_error_measurement *measuring, const tsl_concurrent_hook *hook,
                                  tesela_record *record) {
  tsl_phases phases;
  if (!record && !tsl_log_wants(TSL_LOG_CALLS))
    return api_run(plan, operands, measuring, hook, NULL);
  const double start = tsl_clock();
  TSL_TRY(api_run(plan, operands, measuring, hook, &phases));
  const double seconds = tsl_clock() - start;
  const char *note = tsl_plan_note(plan->plan);
  tsl_log(TSL_LOG_CALLS, "%s: %.3g s, of which copy in %.3g, compute %.3g, copy out %.3g%s%s",
          plan->plan->text, seconds, phases.copy_in, phases.compute, phases.copy_out, note ? "; " : "",
          note ? note : "");
  if (record)
    *record = (tesela_record){.plan = plan->plan->text,
                              .seconds = seconds,
                              .seconds_allocate = phases.allocate,
                              .seconds_copy_in = phases.copy_in,
                              .seconds_compute = phases.compute,
                              .seconds_copy_out = phases.copy_out,
                              .error_bound = tsl_plan_error_bound(plan->plan),
                              .flushed_below = tsl_plan_underflow(plan->plan),
                              .note = note};
  return TESELA_OK;
}

tesela_status tsl_api_run_timed(tesela_plan *plan, const tsl_operands *operands, tesela_record *record) {
  return run_recorded(plan, operands, NULL, NULL, record);
}

void tsl_api_record_verified(const tesela_plan *plan, const tsl_verified *verified, double seconds,
                             tesela_record *record) {
  if (verified->repaired > 0)
    tsl_log(TSL_LOG_CALLS, "%s: %s", plan->plan->text, verified->note);
  tsl_log(TSL_LOG_CALLS, "%s: %lld elements verified in %.3g s, %lld not; an error up to %.2g may be hidden",
          plan->plan->text, (long long)verified->elements, seconds, (long long)verified->unchecked,
          verified->hidden);
  if (!record)
    return;
  record->verified += verified->elements;
  record->unverified += verified->unchecked;
  record->hidden_error = verified->hidden > record->hidden_error ? verified->hidden : record->hidden_error;
  record->wrong_row = verified->row;
  record->wrong_col = verified->col;
  record->wrong_cols = verified->cols;
  record->seconds_verify += seconds;
  if (verified->repaired > 0) {
    record->note = tsl_thread_text_keep(TSL_THREAD_NOTE, verified->note);
    record->error_bound = fmax(record->error_bound, verified->error_bound);
  }
}

static tesela_status api_run_measured(tesela_plan *plan, const tsl_operands *operands, uint64_t seed,
                                      const tsl_concurrent_hook *hook, tesela_record *record) {
  tsl_error_measurement *measuring;
  tsl_error_measured measured = {0, 0, 0};
  tesela_status status = TESELA_OK;
  const double start = tsl_clock();
  if (seed == 0)
    return run_recorded(plan, operands, NULL, hook, record);
  TSL_TRY(tsl_measure_begin(plan->plan, operands, seed, &measuring));
  const double ready = tsl_clock();
  TSL_GO(run_recorded(plan, operands, measuring, NULL, record));
  const double done = tsl_clock();
  status = tsl_measure_end(measuring, &measured);
  if (tsl_api_struct_size_valid(status))
    record_measured(plan, &measured, ready - start + tsl_clock() - done, record);
out:
  tsl_measure_free(measuring);
  return status;
}

/* Runs once and verifies. *can_repeat is set after a wrong result that another run may replace. */
static tesela_status api_run_verified(tesela_plan *plan, const tsl_operands *operands, tsl_api_checks checks,
                                      tesela_record *record, bool *can_repeat) {
  tsl_verification *verification;
  tsl_verified verified;
  tesela_status status = TESELA_OK;
  const double start = tsl_clock();
  *can_repeat = false;
  TSL_TRY(tsl_verify_begin(plan->plan, operands, checks.verify == TSL_VERIFY_REPAIR, &verification));
  const tsl_concurrent_hook *hook =
      checks.seed == 0 ? tsl_verify_hook(verification, checks.verify == TSL_VERIFY_MEMORY) : NULL;
  if (!hook)
    TSL_GO(tsl_verify_ready(verification));
  const double ready = tsl_clock();
  status = api_run_measured(plan, operands, checks.seed, hook, record);
  const double done = tsl_clock();
  if (!tsl_api_struct_size_valid(status))
    goto out;
  const tesela_status seen = tsl_verify_end(verification, &verified);
  if (record)
    record->seconds -= verified.seconds_in_run;
  tsl_api_record_verified(plan, &verified, ready - start + verified.seconds_in_run + tsl_clock() - done,
                          record);
  *can_repeat = seen == TESELA_WRONG_RESULT && tsl_verify_can_repeat(verification);
  status = seen == TESELA_OK ? status : seen;
out:
  tsl_verify_free(verification);
  return status;
}

/* Runs, verifies, and computes a wrong result again if `mode` allows it. */
static tesela_status api_run_checked(tesela_plan *plan, const tsl_operands *operands, tsl_api_checks checks,
                                     tesela_record *record) {
  bool can_repeat;
  char note[512];
  if (checks.verify == TSL_VERIFY_NONE)
    return api_run_measured(plan, operands, checks.seed, NULL, record);
  const tesela_status status = api_run_verified(plan, operands, checks, record, &can_repeat);
  if (checks.verify != TSL_VERIFY_REPAIR || !can_repeat)
    return status;
  snprintf(note, sizeof note, "C was computed twice: %s", tesela_last_error());
  tsl_log(TSL_LOG_CALLS, "%s: %s", plan->plan->text, note);
  const tesela_status repeated = api_run_verified(plan, operands, checks, record, &can_repeat);
  if (repeated == TESELA_OK && record)
    record->note = tsl_thread_text_keep(TSL_THREAD_NOTE, note);
  return repeated;
}

tesela_status tsl_api_run(tesela_plan *plan, const char *where,
                          const tesela_matrix *const matrix[TSL_ALL_OPERANDS], tsl_api_checks checks,
                          tesela_record *record) {
  tsl_operands operands;
  if (tsl_api_has_checks(checks)) {
    TSL_TRY(tsl_api_gather(plan, where, matrix, &operands));
    if (checks.verifies_by_default && tsl_verify_refuse(plan->plan, &operands))
      checks.verify = TSL_VERIFY_NONE;
    return api_run_checked(plan, &operands, checks, record);
  }
  if (record || tsl_log_wants(TSL_LOG_CALLS)) {
    TSL_TRY(tsl_api_gather(plan, where, matrix, &operands));
    return tsl_api_run_timed(plan, &operands, record);
  }
  const tesela_matrix *a = matrix[TSL_OPERAND_A], *b = matrix[TSL_OPERAND_B], *c = matrix[TSL_OPERAND_C];
  const bool has_epilogue =
      matrix[TSL_OPERAND_BIAS] || matrix[TSL_OPERAND_SCALE_A] || matrix[TSL_OPERAND_SCALE_B];
  if (!has_epilogue && tsl_api_runs_directly(plan, a, b, c))
    return tsl_fast_call_run(&plan->direct, &plan->plan->work.problem, a->data, b->data,
                             tsl_writable(c->data));
  TSL_TRY(tsl_api_gather(plan, where, matrix, &operands));
  return tsl_plan_run(plan->plan, &operands, NULL);
}
