/* Searching among configs: the space of those that are legal, ranked by the strategies' models, and methods
 * that say which of them to measure next.
 *
 * A method is a pure function of what was measured so far. So a search goes on where it was interrupted as
 * soon as its measurements are read back, and runs again without a device. */
#ifndef TSL_TUNE_SEARCH_H
#define TSL_TUNE_SEARCH_H

#include "strategy/strategy.h"

typedef struct tsl_space_point {
  const tsl_strategy *strategy;
  tsl_config config;
  double predicted; /* seconds */
} tsl_space_point;

/* Start with {0}; the points are sorted by what is predicted after tsl_space_sort(), and are not moved later.
 */
typedef struct tsl_space {
  tsl_space_point *points;
  int count, capacity;
} tsl_space;

tesela_status tsl_space_add_point(tsl_space *space, const tsl_space_point *point);
/* Every config that the strategy does not refuse, and that has `fixed`'s value where a bit of `value` is set.
 */
tesela_status tsl_space_add(tsl_space *space, const tsl_problem *problem, const tsl_device *device,
                            const tsl_strategy *strategy, const tsl_config *fixed, unsigned value);
void tsl_space_sort(tsl_space *space);
void tsl_space_free(tsl_space *space);
/* The index of a strategy's config; -1: it is not in the space. */
int tsl_space_find(const tsl_space *space, const tsl_strategy *strategy, const tsl_config *config);
/* The nearest point in one direction (1 or -1) along one parameter's values, all others the same; -1: there
 * is none. */
int tsl_space_neighbour(const tsl_space *space, int point, int param, int direction);

/* What a search knows. */
typedef struct tsl_search_view {
  const tsl_space *space;
  /* By point: NaN where nothing was tried, infinity where the point is wrong, fails or was given up. */
  const double *seconds;
  uint64_t seed;
} tsl_search_view;

typedef struct tsl_search {
  const char *name, *what;
  /* Writes at most `most` different points, none of which was tried, into `next`; returns how many. 0: it is
   * over. */
  int (*propose)(const tsl_search_view *view, int *next, int most);
} tsl_search;

/* The first untried points in the space's order: a propose() of its own, and the last resort of others. */
int tsl_search_in_order(const tsl_search_view *view, int *next, int most);

/* X(name): src/tune/search/<name>.c defines `const tsl_search tsl_search_<name>`. The first is the default.
 */
#define TSL_SEARCH_LIST(X) X(hill_climb) X(exhaustive) X(random)

const tsl_search *tsl_search_at(int index); /* NULL past the end */
const tsl_search *tsl_search_find(const char *name);

#endif
