/* Children of a strategy that has children on its device: the simplest strategies that take its
 * parts. The parent is tested, and the children that the parts' sizes would get take minutes to
 * compile. */
#ifndef TSL_TESTS_CHECK_PLAIN_CHILDREN_H
#define TSL_TESTS_CHECK_PLAIN_CHILDREN_H

#include "plan/plan.h"
#include "strategy/strategy.h"

static inline tesela_status plain_children_make(const tsl_subplan_factory *self,
                                                const tsl_subplan_request *wish, tsl_subplan **child) {
  tsl_subplan_request plain = *wish;
  plain.on_trial = true;
  return tsl_plan_children.make(self, &plain, child);
}

/* For a case of the judge; NULL where the strategy has no such children. `table` is filled in, and lives as
 * long as the case. */
static inline const tsl_subplan_factory *plain_children_for(const tsl_strategy *strategy,
                                                            tsl_subplan_factory *table) {
  *table = tsl_plan_children;
  table->make = plain_children_make;
  return strategy->splits.subplan && !strategy->splits.parts ? table : NULL;
}

#endif
