#include "planner/reproducible.h"

#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem) {
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    const tsl_config config = tsl_strategy_defaults(strategy);
    if (strategy->op == problem->op && !strategy->vendor.load &&
        !tsl_strategy_refuse_anywhere(strategy, problem, &config))
      return strategy;
  }
  return NULL;
}

/* Returns true if the default config has one possible result: exact, or rounded once. */
static bool has_one_result(const tsl_strategy *strategy, const tsl_problem *problem) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_accuracy promised = tsl_strategy_error_model(strategy, problem, &config);
  return promised.is_correctly_rounded || promised.factor == 0;
}

bool tsl_same_bits(const tsl_strategy *strategy, const tsl_strategy *other, const tsl_problem *problem) {
  return strategy == other || (has_one_result(strategy, problem) && has_one_result(other, problem));
}
