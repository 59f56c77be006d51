#include "api/api.h"
#include "dispatch/call_cache.h"

#include "core/floats.h"
#include "core/status.h"
#include "core/thread_string.h"
#include "dispatch/dispatch.h"
#include "planner/nearest.h"
#include "strategy/host_jobs/host_job.h"
#include "tune/plan_race.h"

/* Adds the operand that got its type by default to the message about wrong types. */
static tesela_status explain_default_types(const tsl_request *request, const tsl_problem *problem,
                                           tesela_status status) {
  const tesela_type types[TSL_OPERANDS] = {problem->a.type, problem->b.type, problem->c.type};
  if (status != TESELA_UNSUPPORTED || !tsl_planner_types_are_wrong(problem))
    return status;
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (tsl_api_matrix(request, i).type == TESELA_TYPE_DEFAULT &&
        (i != TSL_OPERAND_B || request->op != TSL_OP_TRANSPOSE))
      return tsl_fail_in(status, "%s.type is 0, which means %s", request->fields[i],
                         tsl_type(types[i])->name);
  return status;
}

/* Plans the whole batch, or one of its products if no strategy supports the batch. */
static tesela_status api_call_plan(tesela_context *context, tsl_call_key *key, int64_t count,
                                   tesela_plan **plan) {
  const int64_t one = key->problem.batch;
  key->problem.batch = count > 1 ? count : one;
  const tesela_status status = tsl_api_plan(context, key, plan);
  if (status != TESELA_UNSUPPORTED || count <= 1)
    return status;
  key->problem.batch = one;
  return tsl_api_plan(context, key, plan);
}

tesela_status tsl_api_create(tesela_context *context, const tsl_request *request, int64_t count,
                             tesela_plan **plan) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_call_key key;
  tsl_api_checks checks;
  if (request->desc.options.expected_runs < 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "desc.options.expected_runs is %lld: it must be 0 (the plan runs often) or more",
                    (long long)request->desc.options.expected_runs);
  TSL_TRY(tsl_api_checks_of(context, request, &checks));
  TSL_TRY(tsl_api_request(context, request, &key));
  key.runs = request->desc.options.expected_runs;
  const tesela_status status =
      explain_default_types(request, &key.problem, api_call_plan(context, &key, count, plan));
  tsl_api_request_end(&key);
  if (status != TESELA_OK)
    return status;
  tsl_api_set_checks(*plan, checks);
  (*plan)->has_own_checks = request->desc.options.measure_error != 0 ||
                            (checks.verify != TSL_VERIFY_NONE && !checks.verifies_by_default);
  return TESELA_OK;
}

/* Plans outside the cache's lock, since compilers take seconds. */
tesela_status tsl_api_cached_plan(tesela_context *context, const tsl_call_key *key,
                                  tsl_cached_plan **cached) {
  tesela_plan *new_plan;
  *cached = tsl_plan_cache_find(&context->cache, key);
  if (*cached)
    return TESELA_OK;
  const uint64_t generation = tsl_plan_cache_generation(&context->cache);
  TSL_TRY(tsl_api_plan(context, key, &new_plan));
  return tsl_plan_cache_add(&context->cache, key, generation, new_plan, new_plan->plan->work.device,
                            tsl_plan_bytes(new_plan->plan), false, cached);
}

/* Stores a kernel of a small product in a dispatch entry; it gives the plan's bits. */
static void store_kernel(tsl_dispatch_entry *entry, const tesela_plan *plan) {
  const tsl_work *work = &plan->plan->work;
  const tsl_operands strides = tsl_strides_of(&work->problem);
  const tsl_call call = tsl_call_of(&work->problem, &strides);
  tsl_binding binding;
  if (!plan->direct.run || work->strategy != &tsl_gemm_host_small ||
      !tsl_dispatch(&call, work->device, &binding))
    return;
  entry->direct = plan->direct;
  entry->direct.run = binding.kernel;
  entry->direct.state = entry->state = binding.state;
}

static void store_dispatch_entry(const tsl_dispatch_key *key, tsl_cached_plan *cached) {
  tsl_dispatch_entry *entry = tsl_dispatch_find(key);
  if (!entry)
    return;
  const bool is_new = !entry->plan;
  tsl_plan_cache_release(entry->plan);
  entry->plan = tsl_plan_cache_hold(cached);
  if (is_new)
    store_kernel(entry, tsl_plan_cache_plan(cached));
}

/* Replaces a cached plan by the winner of its race, which becomes the cache's. */
static void replace_plan(tesela_context *context, const tsl_call_key *key, tsl_plan *winner) {
  tesela_plan *plan;
  tsl_cached_plan *cached;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  if (tsl_api_plan_around(winner, &plan) == TESELA_OK &&
      tsl_plan_cache_add(&context->cache, key, tsl_plan_cache_generation(&context->cache), plan,
                         winner->work.device, tsl_plan_bytes(winner), true, &cached) == TESELA_OK)
    tsl_plan_cache_give_back(&context->cache, cached);
  tsl_status_restore(&saved);
}

/* Copies the plan's text of the record, since the plan may end before the record does. */
static void keep_plan_text(tesela_status status, tesela_record *record) {
  if (tsl_api_struct_size_valid(status) && record)
    record->plan = tsl_thread_text_keep(TSL_THREAD_PLAN, record->plan);
}

/* Runs a cached plan, or in its turn the second plan of its race. The race's end frees the slower plan. */
static tesela_status run_in_race(tesela_context *context, const tsl_call_key *key, tesela_plan *plan,
                                 const tesela_matrix *const matrix[TSL_ALL_OPERANDS], tesela_record *record) {
  const tsl_race_turn turn = tsl_plan_race_begin(plan->race, plan->plan);
  tesela_plan own = *plan;
  if (turn.plan != plan->plan) {
    own.plan = turn.plan;
    own.direct.run = NULL;
  }
  tesela_status status =
      tsl_api_run(turn.plan == plan->plan ? plan : &own, "desc.", matrix, (tsl_api_checks){0}, record);
  keep_plan_text(status, record);
  tsl_plan *winner = tsl_plan_race_end(plan->race, &turn, status == TESELA_OK);
  if (winner)
    replace_plan(context, key, winner);
  return status == TESELA_OUT_OF_MEMORY && turn.plan != plan->plan
             ? tsl_api_run(plan, "desc.", matrix, (tsl_api_checks){0}, record)
             : status;
}

tesela_status tsl_api_call(tesela_context *context, const tsl_request *request,
                           const tsl_dispatch_key *dispatch_key, tesela_record *record) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(&request->desc);
  TSL_NOT_CANCELLED;
  const tesela_matrix c = tsl_api_as_matrix(&request->desc.c), bias = tsl_api_as_line(&epilogue->bias),
                      scale_a = tsl_api_as_line(&epilogue->scale_a),
                      scale_b = tsl_api_as_line(&epilogue->scale_b);
  const tesela_matrix *const given[TSL_ALL_OPERANDS] = {
      &request->desc.a,
      &request->desc.b,
      &c,
      epilogue->bias_axis == TESELA_NO_BIAS ? NULL : &bias,
      epilogue->scaling_a == TESELA_NO_SCALE ? NULL : &scale_a,
      epilogue->scaling_b == TESELA_NO_SCALE ? NULL : &scale_b};
  tsl_call_key key;
  tsl_cached_plan *cached;
  tsl_api_checks checks;
  TSL_TRY(tsl_api_checks_of(context, request, &checks));
  TSL_TRY(tsl_api_request(context, request, &key));
  tesela_status status =
      explain_default_types(request, &key.problem, tsl_api_cached_plan(context, &key, &cached));
  const bool is_spread = key.spread != NULL;
  tsl_api_request_end(&key);
  if (status != TESELA_OK)
    return status;
  tesela_plan *plan = tsl_plan_cache_plan(cached);
  const bool is_raced = tsl_plan_race_is_open(plan->race);
  if (dispatch_key && !is_raced)
    store_dispatch_entry(dispatch_key, cached);
  status = is_spread                                 ? tsl_api_call_spread(plan, request, record)
           : is_raced && !tsl_api_has_checks(checks) ? run_in_race(context, &key, plan, given, record)
                                                     : tsl_api_run(plan, "desc.", given, checks, record);
  keep_plan_text(status, record);
  tsl_plan_cache_give_back(&context->cache, cached);
  return status;
}

tesela_status tsl_api_call_once(tesela_context *context, const tsl_request *request, tesela_record *record,
                                size_t record_size) {
  tesela_record full;
  const tesela_status status =
      tsl_api_call(context, request, NULL, tsl_api_record(record, record_size, &full));
  return tsl_api_recorded(status, record, record_size, &full);
}
