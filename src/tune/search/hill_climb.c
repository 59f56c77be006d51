/* Local search from the models' best points (steepest neighbours of several summits, as in Kernel Tuner's
 * local searches, van Werkhoven 2019):
 *
 *  1. Starts: the best point of each strategy whose prediction is not far worse than the best prediction or
 *     measurement, so that the planner trusts no untested prediction. Then the best predicted points, one of
 *     each group with equal predictions.
 *  2. Neighbours of the three best points with untried ones: one parameter, one legal step away.
 *  3. After these, further points in the order of the models, as many as are compiled together. */
#include "strategy/params.h"
#include "tune/search.h"

#include <math.h>

enum { STARTS = 6, SUMMITS = 3, STRATEGIES_MAX = 64 };
static const double start_slowdown_max = 4;
static const double equal_tolerance = 1e-3;

static bool is_untried_and_unlisted(const tsl_search_view *view, int point, const int *next, int count) {
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
static int propose_best_of_strategies(const tsl_search_view *view, int *next, int points_max) {
  const tsl_space *space = view->space;
  const double fastest = fastest_of(view);
  double bound = space->count > 0 ? start_slowdown_max * space->points[0].predicted : 0;
  const tsl_strategy *seen[STRATEGIES_MAX];
  int count = 0, seen_count = 0;
  bound = isfinite(fastest) ? fmax(bound, fastest) : bound;
  for (int i = 0; i < space->count && count < points_max && space->points[i].predicted <= bound; i++)
    if (add_if_new(space->points[i].strategy, seen, &seen_count) && isnan(view->seconds[i]))
      next[count++] = i;
  return count;
}

/* Adds untried points from the STARTS best predictions to `count` points. Returns the new number. */
static int propose_promising(const tsl_search_view *view, int *next, int points_max, int count) {
  const tsl_space *space = view->space;
  double last = -1;
  for (int i = 0, starts = 0; i < space->count && starts < STARTS && count < points_max; i++) {
    if (space->points[i].predicted <= (1 + equal_tolerance) * last)
      continue;
    last = space->points[i].predicted;
    starts++;
    if (is_untried_and_unlisted(view, i, next, count))
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

/* Returns the nearest legal neighbour that is neither wrong nor given up; -1: none. */
static int next_legal_neighbour(const tsl_search_view *view, int point, int param, int direction) {
  do
    point = tsl_space_neighbour(view->space, point, param, direction);
  while (point >= 0 && isinf(view->seconds[point]));
  return point;
}

/* Writes at most `points_max` untried neighbours of the summits; returns their number. */
static int propose_neighbours(const tsl_search_view *view, int *next, int points_max) {
  int summits[SUMMITS], count = 0;
  const int summit_count = find_summits(view, summits);
  for (int s = 0; s < summit_count && count < points_max; s++) {
    const int params = tsl_strategy_params(view->space->points[summits[s]].strategy);
    for (int p = 0; p < 2 * params && count < points_max; p++) {
      const int point = next_legal_neighbour(view, summits[s], p / 2, p % 2 ? -1 : 1);
      if (is_untried_and_unlisted(view, point, next, count))
        next[count++] = point;
    }
  }
  return count;
}

static int hill_climb_propose(const tsl_search_view *view, int *next, int points_max) {
  const int count =
      propose_promising(view, next, points_max, propose_best_of_strategies(view, next, points_max));
  const int neighbours = count > 0 ? 0 : propose_neighbours(view, next, points_max);
  return count + neighbours > 0 ? count + neighbours : tsl_search_in_order(view, next, points_max);
}

const tsl_search tsl_search_hill_climb = {.name = "hill_climb",
                                          .what = "the models' best, then neighbours of the fastest",
                                          .propose = hill_climb_propose};
