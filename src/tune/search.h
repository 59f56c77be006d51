/* Search among configs: the space of legal configs, sorted by the models, and methods that choose what to
 * measure next. A method is a pure function of the measurements, so an interrupted search can continue. */
#ifndef TSL_TUNE_SEARCH_H
#define TSL_TUNE_SEARCH_H

#include "strategy/strategy.h"

typedef struct tsl_space_point {
  const tsl_strategy *strategy;
  tsl_config config;
  double predicted; /* seconds by the strategy's model */
} tsl_space_point;

/* List of points; initialize with {0}. Call tsl_space_sort() by predicted seconds after all are added. */
typedef struct tsl_space {
  tsl_space_point *points;
  int count, capacity;
} tsl_space;

tesela_status tsl_space_add_point(tsl_space *space, const tsl_space_point *point);
/* Adds every config that the strategy does not refuse. Parameters with a bit in `fixed_params` have the
 * values of `fixed`. */
tesela_status tsl_space_add(tsl_space *space, const tsl_problem *problem, const tsl_device *device,
                            const tsl_strategy *strategy, const tsl_config *fixed, unsigned fixed_params);
void tsl_space_sort(tsl_space *space);
void tsl_space_free(tsl_space *space);
/* Returns the index of a strategy's config; -1: none. */
int tsl_space_find(const tsl_space *space, const tsl_strategy *strategy, const tsl_config *config);
/* Returns the nearest point in direction 1 or -1 along a parameter's values; -1: none. */
int tsl_space_neighbour(const tsl_space *space, int point, int param, int direction);

typedef struct tsl_search_view {
  const tsl_space *space;
  /* By point: NaN: not tried; infinity: wrong, failed or given up. */
  const double *seconds;
  uint64_t seed;
} tsl_search_view;

typedef struct tsl_search {
  const char *name, *what;
  /* Writes at most `points_max` distinct untried points to `next`; returns their number. 0: the search
   * is over. */
  int (*propose)(const tsl_search_view *view, int *next, int points_max);
} tsl_search;

/* Proposes the first untried points in the space's order: a method, and the fallback of others. */
int tsl_search_in_order(const tsl_search_view *view, int *next, int points_max);

/* X(name): a file of src/tune/search defines tsl_search_<name>. The first is the default. */
#define TSL_SEARCH_LIST(X) X(hill_climb) X(exhaustive) X(random)

const tsl_search *tsl_search_at(int index); /* NULL after the last */
const tsl_search *tsl_search_find(const char *name);

#endif
