/* Problems and configs that a strategy supports. */
#ifndef TSL_STRATEGY_SUPPORT_H
#define TSL_STRATEGY_SUPPORT_H

#include "strategy/strategy.h"

/* The types of BLAS, for descriptors: f32, f64, c64 and c128. Ends with a zero. */
extern const tsl_types tsl_types_blas[];

/* Gets config `index` for tests, from 0 until false: the strategy's probes, or all configs. */
bool tsl_strategy_probe(const tsl_strategy *strategy, int index, tsl_config *config);

/* Iterator over all configs that prune() keeps, the last parameter fastest. Start from zero; read `config`
 * after each tsl_strategy_walk() that returns true. A parameter with a bit in `fixed` keeps its value in
 * `config`, listed or not. The walk is empty where every config is refused. */
typedef struct tsl_walk {
  tsl_config config;
  unsigned fixed;            /* bit i: parameter i keeps its value */
  int place[TSL_PARAMS_MAX]; /* index of each parameter's current value in its list */
  bool begun;
} tsl_walk;
/* Advances to the next config; false past the last. */
bool tsl_strategy_walk(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       tsl_walk *walk);

/* Search for the config that models predict to be the fastest. */
typedef struct tsl_config_search tsl_config_search;
struct tsl_config_search {
  const tsl_problem *problem;
  const tsl_device *device;
  tsl_all_strategies *list; /* for tsl_strategy_seconds() */
  /* Returns true if the config may be chosen; may change it. */
  bool (*accepts)(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config *config);
  const void *argument; /* for accepts() */
};
/* Stores the fastest config of a walk whose seconds are below `least`. Returns its seconds; else `least`.
 * Large families, which have a prune(), evaluate the model before the refusal, which takes longer. */
double tsl_strategy_fastest(const tsl_config_search *search, const tsl_strategy *strategy, tsl_walk walk,
                            double least, tsl_config *config);

/* Returns the seconds of the fastest model of a sub-plan's problem whose error bound is at most `most`;
 * infinity: there is none. Of strategies with very many configs only a part is evaluated. */
double tsl_strategy_fastest_within(const tsl_problem *part, tsl_accuracy most, const tsl_device *device,
                                   tsl_all_strategies *list);

/* Returns NULL, or the reason why the strategy cannot run the problem: capabilities, types, the vendor's
 * library, parameter values, refuse(), the required accuracy, scratch memory or host memory. */
const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device);
/* Returns the device-independent part of tsl_strategy_refuse(): types, structure, batch and required
 * accuracy. The problem has the strategy's op. */
const char *tsl_strategy_refuse_anywhere(const tsl_strategy *strategy, const tsl_problem *problem,
                                         const tsl_config *config);

/* Order of exact sums, and of elements that are moved only. */
#define TSL_EXACT_ORDER "exact"
/* Returns the name of the order in which an element of C adds its terms where bits=rows is required, NULL if
 * the order depends on more than types and k. Called after refuse(), for a problem without scales. */
const char *tsl_strategy_row_order(const tsl_strategy *strategy, const tsl_problem *problem,
                                   const tsl_config *config, const tsl_device *device);

#endif
