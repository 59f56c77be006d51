#include "strategy/strategy_list.h"

#include "strategy/strategy.h"

#include <string.h>

#define TSL_STRATEGY_DECLARE(op, family, name) extern const tsl_strategy tsl_##op##_##name;
TSL_STRATEGY_LIST(TSL_STRATEGY_DECLARE)
#undef TSL_STRATEGY_DECLARE

static const tsl_strategy *const strategies[] = {
#define TSL_STRATEGY_ROW(op, family, name) &tsl_##op##_##name,
    TSL_STRATEGY_LIST(TSL_STRATEGY_ROW)
#undef TSL_STRATEGY_ROW
};
enum { STRATEGY_COUNT = sizeof strategies / sizeof *strategies };

const tsl_strategy *tsl_strategy_at(int index) {
  return index >= 0 && index < STRATEGY_COUNT ? strategies[index] : NULL;
}

const tsl_strategy *tsl_strategy_skipping_at(int index) {
  for (int i = 0; i < STRATEGY_COUNT; i++)
    if (strategies[i]->skips && index-- == 0)
      return strategies[i];
  return NULL;
}

const char *tsl_strategy_folder(const tsl_strategy *strategy) {
  static const char *const folders[] = {
#define TSL_STRATEGY_FOLDER(op, family, name) "strategy/" #op "/" #family "/" #name,
      TSL_STRATEGY_LIST(TSL_STRATEGY_FOLDER)
#undef TSL_STRATEGY_FOLDER
  };
  for (int i = 0; i < STRATEGY_COUNT; i++)
    if (strategies[i] == strategy)
      return folders[i];
  return NULL;
}

const tsl_strategy *tsl_strategy_find(tsl_op op, const char *name) {
  for (int i = 0; i < STRATEGY_COUNT; i++)
    if (strategies[i]->op == op && strcmp(strategies[i]->name, name) == 0)
      return strategies[i];
  return NULL;
}

const tsl_strategy *tsl_strategy_specification(tsl_op op) {
  int first = 0;
  while (strategies[first]->op != op)
    first++;
  return strategies[first];
}

const tsl_strategy *tsl_strategy_partner(const tsl_strategy *strategy) {
  return strategy->partner ? tsl_strategy_find(strategy->op, strategy->partner) : NULL;
}
