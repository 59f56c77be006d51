#include "planner/kernel_self_test.h"

#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/status.h"
#include "judge/check.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"

#include <stdio.h>
#include <string.h>

/* Returns true unless TESELA_SELFTEST is 0. */
static bool self_test_is_on(void) {
  return strcmp(tsl_env_get(TSL_ENV_SELFTEST), "0") != 0;
}

/* Writes the name's start: "gemm tile_local tile=16 version=1 types=f32,f32,f32 ". */
static void start_name(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                       tsl_text *out) {
  tsl_text_add(out, "%s ", tsl_op_name(problem->op));
  tsl_config_print(strategy, config, out);
  tsl_text_add(out, " version=%d types=%s,%s,%s ", strategy->version, tsl_type(problem->a.type)->name,
               tsl_type(problem->b.type)->name, tsl_type(problem->c.type)->name);
}

bool tsl_trust_has(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                   const tsl_device *device) {
  tsl_text start = {0};
  start_name(problem, strategy, config, &start);
  const bool has = !start.failed && tsl_self_test_has(device, tsl_text_get(&start));
  tsl_text_free(&start);
  return has;
}

/* Writes a self-test's name: its start, "source=<hash> device=<key> compiler=<version>". */
static tesela_status kernel_self_test_name_of(const tsl_work *work, tsl_text *out) {
  tsl_text compiler = {0};
  char source[33];
  const tesela_status status = work->device->ops->compiler(work->device, &compiler);
  tsl_hash_text(work->source_hash, source);
  start_name(&work->problem, work->strategy, &work->config, out);
  tsl_text_add(out, "source=%s device=%s compiler=", source, work->device->key);
  for (const char *c = tsl_text_get(&compiler); *c; c++)
    tsl_text_add(out, "%c", *c == '\n' || *c == '\t' ? ' ' : *c);
  out->failed |= compiler.failed;
  tsl_text_free(&compiler);
  return status == TESELA_OK ? tsl_text_status(out) : status;
}

typedef struct self_test_state {
  const tsl_work *work;
  tsl_self_test self_test;
  int judged; /* cases that ran these kernels */
} self_test_state;

static tesela_status try_case(self_test_state *state, const tsl_case *test_case) {
  const tsl_work *work = state->work;
  tsl_case_report report;
  TSL_TRY(tsl_check_case(work->strategy, &work->config, work->device, test_case, &report));
  if (report.result == TSL_CASE_FAILED)
    return tsl_fail(TESELA_DEVICE_FAILED, "%s", report.why);
  if (report.result == TSL_CASE_WRONG) {
    tsl_text problem = {0};
    tsl_problem_print(&test_case->problem, &problem);
    state->self_test.right = false;
    snprintf(state->self_test.why, sizeof state->self_test.why, "%.120s; of %.100s", report.why,
             tsl_text_get(&problem));
    tsl_text_free(&problem);
  }
  state->judged += report.result != TSL_CASE_REFUSED && report.source.high == work->source_hash.high &&
                   report.source.low == work->source_hash.low;
  return TESELA_OK;
}

static tesela_status try_all(self_test_state *state) {
  tsl_subplan_factory children = tsl_subplans_by_models();
  tsl_case test_case;
  const double start = tsl_clock();
  children.on_trial = true;
  state->self_test.right = true;
  for (int i = 0; state->self_test.right && tsl_case_quick(&state->work->problem, i, &test_case); i++) {
    test_case.loaded_only = true; /* other kernels would take a second to compile */
    test_case.children = &children;
    TSL_TRY(try_case(state, &test_case));
  }
  if (state->self_test.right && state->judged == 0) {
    /* kernels for the problem's sizes: tests the problem itself */
    test_case = (tsl_case){.problem = state->work->problem,
                           .seed = 24,
                           .operations_max = (int64_t)1 << 26,
                           .children = &children};
    TSL_TRY(try_case(state, &test_case));
  }
  state->self_test.seconds = tsl_clock() - start;
  return TESELA_OK;
}

static void log_trial(const tsl_work *work, const self_test_state *state) {
  char took[32];
  if (tsl_log_wants(TSL_LOG_PLAN))
    tsl_log(TSL_LOG_PLAN, "%s on %s, self-test: %s, %d cases in %s", work->strategy->name, work->device->name,
            state->self_test.right ? "right" : "wrong", state->judged,
            tsl_format_seconds(state->self_test.seconds, took, sizeof took));
}

static tesela_status try_now(tsl_plan *plan, const char *name) {
  self_test_state state = {.work = &plan->work};
  const tesela_status status = try_all(&state);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "%s on %s, self-test", plan->work.strategy->name, plan->work.device->name);
  log_trial(&plan->work, &state);
  tsl_self_test_keep(plan->work.device, name, &state.self_test);
  plan->self_test = state.self_test;
  plan->self_test_seconds = state.self_test.seconds;
  return TESELA_OK;
}

tesela_status tsl_self_test_plan(tsl_plan *plan) {
  const tsl_work *work = &plan->work;
  tsl_text name = {0};
  if (work->source_count == 0 || !self_test_is_on())
    return TESELA_OK;
  tesela_status status = kernel_self_test_name_of(work, &name);
  if (status == TESELA_OK && !tsl_self_test_find(work->device, tsl_text_get(&name), &plan->self_test))
    status = try_now(plan, tsl_text_get(&name));
  plan->was_tried = status == TESELA_OK;
  if (status == TESELA_OK && !plan->self_test.right)
    status = tsl_fail(TESELA_WRONG_RESULT, "%s on %s failed its self-test, so nothing is computed by it: %s",
                      work->strategy->name, work->device->name, plan->self_test.why);
  tsl_text_free(&name);
  return status;
}
