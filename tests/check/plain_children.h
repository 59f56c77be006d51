/* Children of a strategy that has children on its device: the simplest strategies that take its
 * parts. The parent is tested, and the children that the parts' sizes would get take minutes to
 * compile. */
#ifndef TSL_TESTS_CHECK_PLAIN_CHILDREN_H
#define TSL_TESTS_CHECK_PLAIN_CHILDREN_H

#include "planner/subplan_choice.h"
#include "strategy/strategy.h"

/* For a case of the judge. */
static inline tsl_subplan_factory plain_children_for(const tsl_strategy *strategy) {
  tsl_subplan_factory children = tsl_subplans_by_models();
  children.on_trial = strategy->splits.subplan && !strategy->splits.parts;
  return children;
}

#endif
