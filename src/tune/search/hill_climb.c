/* Local search from the models' best points (steepest neighbours of several summits, as in Kernel Tuner's
 * local searches, van Werkhoven 2019):
 *
 *  1. Starts: the best point of each strategy whose prediction is not far worse than the best prediction or
 *     measurement, so that the planner trusts no untested prediction. Then the best predicted points, one of
 *     each group with equal predictions.
 *  2. Neighbours of the three best points with untried ones: one parameter, one legal step away.
 *  3. After these, further points in the order of the models, as many as are compiled together. */
#include "tune/search.h"

#include <math.h>

enum { STARTS = 6, SUMMITS = 3, STRATEGIES_MAX = 64 };
/* ratio to the best prediction above which a strategy's best point is no start */
static const double hopeless = 4;
/* relative difference of equal predictions */
static const double alike = 1e-3;

static bool is_new(const tsl_search_view *view, int point, const int *next, int count) {
  if (point < 0 || !isnan(view->seconds[point]))
    return false;
  for (int i = 0; i < count; i++)
    if (next[i] == point)
      return false;
  return true;
}

/* Returns true if a strategy is not in the list, and adds it. */
static bool add_if_new(const tsl_strategy *strategy, const tsl_strategy **seen, int *count) {
  for (int i = 0; i < *count; i++)
    if (seen[i] == strategy)
      return false;
  if (*count < STRATEGIES_MAX)
    seen[(*count)++] = strategy;
  return true;
}

/* Returns the fastest measured seconds; infinity: none was right. */
static double fastest_of(const tsl_search_view *view) {
  double fastest = INFINITY;
  for (int i = 0; i < view->space->count; i++)
    if (view->seconds[i] < fastest)
      fastest = view->seconds[i];
  return fastest;
}

/* Writes the untried best prediction of each strategy that is not hopelessly slow. Returns the number. */
static int propose_firsts(const tsl_search_view *view, int *next, int most) {
  const tsl_space *space = view->space;
  const double fastest = fastest_of(view);
  double bound = space->count > 0 ? hopeless * space->points[0].predicted : 0;
  const tsl_strategy *seen[STRATEGIES_MAX];
  int count = 0, seen_count = 0;
  bound = isfinite(fastest) ? fmax(bound, fastest) : bound;
  for (int i = 0; i < space->count && count < most && space->points[i].predicted <= bound; i++)
    if (add_if_new(space->points[i].strategy, seen, &seen_count) && isnan(view->seconds[i]))
      next[count++] = i;
  return count;
}

/* Adds untried points from the STARTS best predictions to `count` points. Returns the new number. */
static int propose_promising(const tsl_search_view *view, int *next, int most, int count) {
  const tsl_space *space = view->space;
  double last = -1;
  for (int i = 0, starts = 0; i < space->count && starts < STARTS && count < most; i++) {
    if (space->points[i].predicted <= (1 + alike) * last)
      continue;
    last = space->points[i].predicted;
    starts++;
    if (is_new(view, i, next, count))
      next[count++] = i;
  }
  return count;
}

/* Finds the best measured points, the fastest first; returns their number. */
static int find_summits(const tsl_search_view *view, int summits[SUMMITS]) {
  int count = 0;
  for (int i = 0; i < view->space->count; i++) {
    if (!isfinite(view->seconds[i]))
      continue;
    int at = count < SUMMITS ? count++ : SUMMITS;
    for (; at > 0 && view->seconds[i] < view->seconds[summits[at - 1]]; at--)
      if (at < SUMMITS)
        summits[at] = summits[at - 1];
    if (at < SUMMITS)
      summits[at] = i;
  }
  return count;
}

/* Returns the nearest neighbour that is neither illegal, wrong nor given up. */
static int step_from(const tsl_search_view *view, int point, int param, int direction) {
  do
    point = tsl_space_neighbour(view->space, point, param, direction);
  while (point >= 0 && isinf(view->seconds[point]));
  return point;
}

static int propose_neighbours(const tsl_search_view *view, int *next, int most) {
  int summits[SUMMITS], count = 0;
  const int summit_count = find_summits(view, summits);
  for (int s = 0; s < summit_count && count < most; s++) {
    const int params = tsl_strategy_params(view->space->points[summits[s]].strategy);
    for (int p = 0; p < 2 * params && count < most; p++) {
      const int point = step_from(view, summits[s], p / 2, p % 2 ? -1 : 1);
      if (is_new(view, point, next, count))
        next[count++] = point;
    }
  }
  return count;
}

static int hill_climb_propose(const tsl_search_view *view, int *next, int most) {
  const int count = propose_promising(view, next, most, propose_firsts(view, next, most));
  const int neighbours = count > 0 ? 0 : propose_neighbours(view, next, most);
  return count + neighbours > 0 ? count + neighbours : tsl_search_in_order(view, next, most);
}

const tsl_search tsl_search_hill_climb = {.name = "hill_climb",
                                          .what = "the models' best, then neighbours of the fastest",
                                          .propose = hill_climb_propose};
