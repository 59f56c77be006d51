#include "plan/plan.h"

#include "copy/transfer.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "plan/block_grid.h"
#include "plan/run_slot.h"
#include "strategy/epilogue/strategy_epilogue.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *plan_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                               const tsl_config *config, const tsl_device *device, tsl_memory_place place) {
  if (place == TSL_PLACE_PIECES && !strategy->splits.accepts_shards)
    return "takes operands in one place, not in pieces";
  if (place == TSL_PLACE_PIECES && (tsl_problem_has_epilogue(problem) || tsl_problem_has_structure(problem)))
    return "multiplies only general operands in pieces, without an epilogue (bias, activation, scales)";
  if (strategy->splits.parts && place == TSL_PLACE_DEVICE)
    return "takes operands in host memory, not in buffers";
  return tsl_strategy_refuse(strategy, problem, config, device);
}

static const char *const operand_words[TSL_ALL_OPERANDS] = {"operand A", "operand B", "operand C",
                                                            "the bias",  "scale_a",   "scale_b"};

/* Returns why the device has too little memory; NULL: enough. */
static const char *plan_refuse_memory(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config, const tsl_device *device,
                                      tsl_memory_place place) {
  const uint64_t bytes = tsl_plan_device_bytes(problem, device, place);
  char needs[32], has[32];
  if (bytes == 0 || strategy->splits.parts)
    return NULL;
  const uint64_t scratch = tsl_strategy_scratch(strategy, problem, config, device);
  const uint64_t all = bytes > UINT64_MAX - scratch ? UINT64_MAX : bytes + scratch;
  const uint64_t limit = tsl_device_memory(device);
  if (all > limit)
    return tsl_refusal("needs %s of memory on %s, but a plan may use %s",
                       tsl_format_bytes(all, needs, sizeof needs), device->name,
                       tsl_format_bytes(limit, has, sizeof has));
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    tsl_transfer transfer;
    if (tsl_problem_has_operand(problem, i) && tsl_transfer_plan(tsl_problem_shape(problem, i), &transfer) &&
        transfer.bytes > device->allocation_max / (uint64_t)tsl_problem_batch(problem))
      return tsl_refusal("%s needs %s, but %s allocates at most %s at once", operand_words[i],
                         tsl_format_bytes(transfer.bytes, needs, sizeof needs), device->name,
                         tsl_format_bytes(device->allocation_max, has, sizeof has));
  }
  return NULL;
}

const char *tsl_plan_fit(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_device *device,
                         tsl_memory_place place, tsl_config *config) {
  const char *why = plan_refuse(strategy, problem, config, device, place);
  const uint64_t bytes = tsl_plan_device_bytes(problem, device, place), limit = tsl_device_memory(device);
  if (!why && bytes > 0 && bytes < limit && !strategy->splits.parts)
    (void)tsl_strategy_fit_workspace(strategy, problem, device, limit - bytes, config);
  return why ? why : plan_refuse_memory(strategy, problem, config, device, place);
}

const char *tsl_plan_refuse(const tsl_problem *problem, const tsl_strategy *strategy,
                            const tsl_config *config, const tsl_device *device, tsl_memory_place place) {
  const char *why = plan_refuse(strategy, problem, config, device, place);
  return why ? why : plan_refuse_memory(strategy, problem, config, device, place);
}

/* Plans the copies between host and device. */
static tesela_status plan_transfers(const tsl_plan *plan) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&plan->work.problem, i);
    if (tsl_problem_has_operand(&plan->work.problem, i) &&
        !tsl_transfer_plan(shape, &plan->slots->transfers[i]))
      return tsl_fail(TESELA_UNSUPPORTED, "%s: a copy of %s, %lld x %lld elements, would exceed 2^63 bytes",
                      plan->work.device->name, operand_words[i], (long long)shape->rows,
                      (long long)shape->cols);
  }
  tsl_transfer_preserve_other_triangle(&plan->slots->transfers[TSL_OPERAND_C]);
  return TESELA_OK;
}

/* Builds the strategy's kernels; for the sums only (plan->sums) if it does not fuse the scales. */
static tesela_status build_strategy(tsl_plan *plan) {
  tsl_work *work = &plan->work;
  const tsl_problem whole = work->problem;
  work->fuses_epilogue = tsl_strategy_fuses_epilogue(work->strategy, &whole, &work->config, work->device);
  if (!tsl_problem_has_scales(&whole) || work->fuses_epilogue)
    return work->strategy->build ? work->strategy->build(work) : TESELA_OK;
  work->problem = tsl_problem_drop_epilogue(&whole);
  const tesela_status status = work->strategy->build ? work->strategy->build(work) : TESELA_OK;
  plan->sums = *work;
  work->problem = whole;
  return status;
}

static void destroy_slots(tsl_plan *plan) {
  tsl_run_slots_destroy(plan->slots);
  if (plan->looks)
    tsl_run_slots_destroy(plan->looks->slots);
  tsl_free(plan->looks);
}

static void release_strategy(tsl_plan *plan) {
  tsl_work *built_work = tsl_plan_work(plan) == &plan->sums ? &plan->sums : &plan->work;
  if (built_work->strategy->release)
    built_work->strategy->release(built_work);
}

static tesela_status plan_build(tsl_plan *plan) {
  tsl_work *work = &plan->work;
  tsl_text text = {0};
  TSL_TRY(tsl_device_open(work->device));
  if (!tsl_device_is_host(work->device) && !work->strategy->splits.parts) {
    TSL_TRY(tsl_run_slots_create(work->device, &plan->slots));
    TSL_TRY(plan_transfers(plan));
    void *looks;
    TSL_TRY(tsl_alloc_zeroed(sizeof *plan->looks, "a plan's measurements", &looks));
    plan->looks = looks;
    TSL_TRY(tsl_run_slots_create(work->device, &plan->looks->slots));
  }
  /* A strategy that splits the problem stores its choice in the config. */
  TSL_TRY(build_strategy(plan));
  tsl_plan_print(work, plan->place, &text);
  const tesela_status status = tsl_text_status(&text);
  plan->text = tsl_text_take(&text);
  if (status != TESELA_OK)
    release_strategy(plan);
  return status;
}

/* Cuts the product for overlapped copies, last: blocks use the plan's kernels. */
static tesela_status plan_cut(tsl_plan *plan) {
  return plan->place == TSL_PLACE_HOST && !plan->work.strategy->splits.parts &&
                 !tsl_problem_has_scales(&plan->work.problem)
             ? tsl_pipeline_plan_create(&plan->work, &plan->cut)
             : TESELA_OK;
}

/* Builds the epilogue's kernel if it is not fused, after the cut: blocks use only the strategy's kernels. */
static tesela_status build_finish(tsl_plan *plan) {
  tsl_work *work = &plan->work;
  return tsl_problem_has_epilogue(&work->problem) && !work->fuses_epilogue && plan->slots
             ? tsl_finish_build(work, &plan->finish)
             : TESELA_OK;
}

tesela_status tsl_plan_create(const tsl_problem *problem, const tsl_strategy *strategy,
                              const tsl_config *config, tsl_device *device, tsl_memory_place place,
                              const tsl_plan_options *options, tsl_plan **plan) {
  tsl_problem rounded = *problem;
  *plan = NULL;
  tsl_problem_round(&rounded);
  TSL_TRY(tsl_problem_check(&rounded));
  const char *why = plan_refuse(strategy, &rounded, config, device, place);
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: %s", strategy->name, device->name, why);
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **plan, "a plan", &block));
  tsl_plan *new_plan = block;
  new_plan->place = place;
  const tesela_status copied = tsl_sharding_copy(options->spread, &new_plan->spread);
  if (copied != TESELA_OK) {
    tsl_free(new_plan);
    return copied;
  }
  new_plan->children = options->children ? *options->children : tsl_plan_subplans;
  new_plan->work = (tsl_work){.strategy = strategy,
                              .problem = rounded,
                              .config = *config,
                              .device = device,
                              .forbid_compile = options->loaded_only,
                              .subplans = &new_plan->children,
                              .sharding = new_plan->spread};
  const tesela_status status = plan_build(new_plan);
  if (status != TESELA_OK) {
    /* plan_build() has released the strategy's state */
    destroy_slots(new_plan);
    free(new_plan->text);
    tsl_free(new_plan->spread);
    tsl_free(new_plan);
    return status;
  }
  const tesela_status cut_status = plan_cut(new_plan),
                      built = cut_status == TESELA_OK ? build_finish(new_plan) : cut_status;
  if (built != TESELA_OK) {
    tsl_plan_destroy(new_plan);
    return built;
  }
  new_plan->children.choice = NULL; /* may not outlive this call */
  *plan = new_plan;
  return TESELA_OK;
}

void tsl_plan_destroy(tsl_plan *plan) {
  if (!plan)
    return;
  tsl_pipeline_plan_destroy(plan->cut);
  release_strategy(plan);
  destroy_slots(plan);
  free(plan->text);
  tsl_free(plan->spread);
  tsl_free(plan);
}

tsl_accuracy tsl_plan_accuracy(const tsl_plan *plan) {
  return tsl_strategy_error_model(plan->work.strategy, &plan->work.problem, &plan->work.config);
}

double tsl_plan_underflow(const tsl_plan *plan) {
  const tsl_accuracy accuracy = tsl_plan_accuracy(plan);
  return tsl_accuracy_underflow(&accuracy);
}

double tsl_plan_error_bound(const tsl_plan *plan) {
  return tsl_strategy_error_bound(plan->work.strategy, &plan->work.problem, &plan->work.config);
}

uint64_t tsl_plan_device_bytes(const tsl_problem *problem, const tsl_device *device, tsl_memory_place place) {
  uint64_t bytes = 0;
  if (place == TSL_PLACE_DEVICE || tsl_device_is_host(device))
    return 0;
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    tsl_transfer transfer;
    if (!tsl_problem_uses(problem, i))
      continue;
    size_t all;
    if (!tsl_transfer_plan(tsl_problem_shape(problem, i), &transfer) ||
        !tsl_size_mul(transfer.bytes, (size_t)tsl_problem_batch(problem), &all) || bytes > UINT64_MAX - all)
      return UINT64_MAX;
    bytes += all;
  }
  return bytes;
}

uint64_t tsl_plan_bytes(const tsl_plan *plan) {
  const tsl_work *work = &plan->work;
  tsl_problem room;
  if (work->strategy->splits.parts)
    return work->strategy->splits.bytes
               ? work->strategy->splits.bytes(tsl_problem_without_epilogue(&work->problem, &room),
                                              &work->config, work->device)
               : 0;
  const uint64_t scratch = tsl_work_workspace(work);
  const uint64_t copies = tsl_plan_device_bytes(&work->problem, work->device, plan->place);
  return copies > UINT64_MAX - scratch ? UINT64_MAX : copies + scratch;
}

uint64_t tsl_plan_host_bytes(const tsl_plan *plan) {
  const tsl_work *work = &plan->work;
  const bool is_there = tsl_device_is_host(work->device) || work->strategy->splits.parts;
  return is_there && !work->fuses_epilogue && work->strategy != tsl_strategy_specification(work->problem.op)
             ? tsl_problem_sums_bytes(&work->problem)
             : 0;
}

bool tsl_plan_share(const tsl_plan *plan, int index, tsl_subplan_info *share) {
  const tsl_strategy *strategy = plan->work.strategy;
  return strategy->splits.subplan && strategy->splits.subplan(tsl_plan_work(plan), index, share);
}

const char *tsl_plan_note(const tsl_plan *plan) {
  const tsl_strategy *strategy = plan->work.strategy;
  return strategy->splits.note ? strategy->splits.note(tsl_plan_work(plan)) : NULL;
}

static tesela_status refuse_to_make(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                                    tsl_subplan **child) {
  (void)self;
  *child = NULL;
  return tsl_fail(TESELA_UNSUPPORTED, "a part on %s needs a planner", request->device->name);
}
static double predict_nothing(const tsl_subplan_factory *self, const tsl_subplan_request *request) {
  (void)self;
  (void)request;
  return INFINITY;
}
static tesela_status run_subplan(tsl_subplan *child, const tsl_operands *operands) {
  return tsl_plan_run(child, operands, NULL);
}
static const char *text_of_subplan(const tsl_subplan *child) {
  return child->text;
}
static double expected_of_subplan(const tsl_subplan *child) {
  return child->expected;
}

const tsl_subplan_factory tsl_plan_subplans = {.list = tsl_strategy_at,
                                               .make = refuse_to_make,
                                               .seconds = predict_nothing,
                                               .destroy = tsl_plan_destroy,
                                               .run = run_subplan,
                                               .enqueue = tsl_plan_enqueue,
                                               .enqueue_as_given = tsl_plan_enqueue_as_given,
                                               .workspace = tsl_plan_workspace,
                                               .text = text_of_subplan,
                                               .expected = expected_of_subplan};
