#include "planner/subplan_choice.h"

#include "core/status.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <math.h>

bool tsl_subplan_satisfies(const tsl_subplan_request *request, const tsl_strategy *strategy,
                           tsl_config *config) {
  if (request->skips && !(strategy->skips & request->device->capabilities))
    return false;
  if (tsl_plan_refuse(request->problem, strategy, config, request->device, tsl_subplan_place(request)))
    return false;
  const tsl_accuracy accuracy = tsl_strategy_error_model(strategy, request->problem, config);
  return !strategy->vendor.load && strategy != request->except && accuracy.factor <= request->most.factor &&
         accuracy.flush_threshold <= request->most.flush_threshold && accuracy.is_reproducible &&
         !accuracy.finite_only &&
         tsl_strategy_fit_workspace(strategy, request->problem, request->device, request->workspace_most,
                                    config);
}

static bool accepts(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config *config) {
  return tsl_subplan_satisfies(search->argument, strategy, config);
}

/* Chooses the list's first config that fits. Returns its predicted seconds; infinity if none fits. */
static double choose_first(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                           const tsl_strategy **strategy, tsl_config *config) {
  for (int i = 0; self->list(i); i++)
    for (tsl_walk walk = {.begun = false};
         tsl_strategy_walk(self->list(i), request->problem, request->device, &walk);) {
      *config = walk.config;
      if (!tsl_subplan_satisfies(request, self->list(i), config))
        continue;
      *strategy = self->list(i);
      return tsl_strategy_seconds(*strategy, request->problem, config, request->device, self->list);
    }
  return INFINITY;
}

/* Chooses the least predicted time; for a self-test the first, so that few kernels are compiled. Returns
 * infinity if none fits. */
static double choose_by_models(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                               const tsl_strategy **strategy, tsl_config *config) {
  tsl_all_strategies *list = request->skips ? tsl_strategy_skipping_at : self->list;
  const tsl_config_search search = {request->problem, request->device, list, accepts, request};
  double least = INFINITY;
  *strategy = NULL;
  if (request->like) {
    const tsl_work *like = &request->like->work;
    *config = like->config;
    if (tsl_subplan_satisfies(request, like->strategy, config)) {
      *strategy = like->strategy;
      return tsl_strategy_seconds(like->strategy, request->problem, config, request->device, self->list);
    }
  }
  if (self->on_trial)
    return choose_first(self, request, strategy, config);
  for (int i = 0; list(i); i++) {
    const double seconds = tsl_strategy_fastest(&search, list(i), (tsl_walk){.begun = false}, least, config);
    if (seconds < least)
      *strategy = list(i);
    least = seconds;
  }
  return least;
}

tesela_status tsl_subplan_refuse_all(const tsl_subplan_request *request) {
  return tsl_fail(TESELA_UNSUPPORTED, "no strategy on %s supports a part of this product",
                  request->device->name);
}

static tesela_status make_by_models(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                                    tsl_subplan **child) {
  tsl_subplan_factory below = *self;
  const tsl_plan_options options = {.children = &below};
  const tsl_strategy *strategy;
  tsl_config config;
  *child = NULL;
  below.skips = request->skips;
  const double seconds = choose_by_models(self, request, &strategy, &config);
  if (!strategy)
    return tsl_subplan_refuse_all(request);
  TSL_TRY(tsl_plan_create(request->problem, strategy, &config, request->device, tsl_subplan_place(request),
                          &options, child));
  (*child)->expected = seconds;
  return TESELA_OK;
}

static double seconds_by_models(const tsl_subplan_factory *self, const tsl_subplan_request *request) {
  const tsl_strategy *strategy;
  tsl_config config;
  return choose_by_models(self, request, &strategy, &config);
}

tsl_subplan_factory tsl_subplans_by_models(void) {
  tsl_subplan_factory factory = tsl_plan_subplans;
  factory.make = make_by_models;
  factory.seconds = seconds_by_models;
  return factory;
}

tesela_status tsl_planner_create(const tsl_problem *problem, const tsl_strategy *strategy,
                                 const tsl_config *config, tsl_device *device, tsl_memory_place place,
                                 tsl_plan **plan) {
  const tsl_subplan_factory children = tsl_subplans_by_models();
  return tsl_plan_create(problem, strategy, config, device, place, &(tsl_plan_options){.children = &children},
                         plan);
}

tesela_status tsl_planner_parse(tsl_devices *devices, const char *text, tsl_plan **plan) {
  tsl_record record;
  tsl_plan_said said;
  *plan = NULL;
  tesela_status status = tsl_record_parse(text, &record);
  if (status == TESELA_OK) {
    status = tsl_plan_read(devices, &record, &said);
    tsl_record_free(&record);
    if (status == TESELA_OK)
      status = tsl_planner_create(&said.problem, said.strategy, &said.config, said.device, said.place, plan);
  }
  return status == TESELA_OK ? status : tsl_fail_in(status, "plan");
}
