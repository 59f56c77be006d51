/* Choice of sub-plans by models alone: without wisdom, self-tests and the caller's restrictions. The planner
 * chooses the sub-plans of its own plans like any plan (planner.c), and these where no choice is left. */
#ifndef TSL_PLANNER_SUBPLAN_CHOICE_H
#define TSL_PLANNER_SUBPLAN_CHOICE_H

#include "plan/plan.h"

/* Returns a factory that chooses by models. A sub-plan is a tsl_plan. */
tsl_subplan_factory tsl_subplans_by_models(void);

static inline tsl_memory_place tsl_subplan_place(const tsl_subplan_request *request) {
  return request->in_buffers ? TSL_PLACE_DEVICE : TSL_PLACE_HOST;
}
/* Returns true if a config satisfies a request; may lower its workspace with equal bits. */
bool tsl_subplan_satisfies(const tsl_subplan_request *request, const tsl_strategy *strategy,
                           tsl_config *config);
tesela_status tsl_subplan_refuse_all(const tsl_subplan_request *request);

/* Creates a plan of this strategy and config, with sub-plans by models. */
tesela_status tsl_planner_create(const tsl_problem *problem, const tsl_strategy *strategy,
                                 const tsl_config *config, tsl_device *device, tsl_memory_place place,
                                 tsl_plan **plan);
/* Creates such a plan from its text. TESELA_BAD_INPUT or TESELA_NO_DEVICE name the wrong or missing word. */
tesela_status tsl_planner_parse(tsl_devices *devices, const char *text, tsl_plan **plan);

#endif
