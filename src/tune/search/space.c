#include "core/reserve.h"
#include "core/status.h"
#include "planner/row_order.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int tsl_search_in_order(const tsl_search_view *view, int *next, int points_max) {
  int count = 0;
  for (int i = 0; i < view->space->count && count < points_max; i++)
    if (isnan(view->seconds[i]))
      next[count++] = i;
  return count;
}

tesela_status tsl_space_add_point(tsl_space *space, const tsl_space_point *point) {
  TSL_TRY(tsl_list_reserve(&space->points, space->count, &space->capacity, sizeof *space->points, "configs"));
  space->points[space->count++] = *point;
  return TESELA_OK;
}

tesela_status tsl_space_add(tsl_space *space, const tsl_problem *problem, const tsl_device *device,
                            const tsl_strategy *strategy, const tsl_config *fixed, unsigned fixed_params) {
  const tsl_row_order order = tsl_row_order_of(problem, device);
  for (tsl_walk walk = {.config = fixed ? *fixed : tsl_strategy_defaults(strategy), .fixed = fixed_params};
       tsl_strategy_walk(strategy, problem, device, &walk);) {
    if (tsl_strategy_refuse(strategy, problem, &walk.config, device) ||
        tsl_row_order_refuse(&order, strategy, problem, &walk.config, device))
      continue;
    const tsl_space_point point = {
        strategy, walk.config,
        tsl_strategy_seconds(strategy, problem, &walk.config, device, tsl_strategy_at)};
    TSL_TRY(tsl_space_add_point(space, &point));
  }
  return TESELA_OK;
}

static int compare_predictions(const void *a, const void *b) {
  const tsl_space_point *x = a, *y = b;
  if (x->predicted != y->predicted)
    return x->predicted < y->predicted ? -1 : 1;
  /* equal on all machines */
  const int names = strcmp(x->strategy->name, y->strategy->name);
  return names ? names : memcmp(&x->config, &y->config, sizeof x->config);
}

void tsl_space_sort(tsl_space *space) {
  if (space->count > 0)
    qsort(space->points, (size_t)space->count, sizeof *space->points, compare_predictions);
}

void tsl_space_free(tsl_space *space) {
  free(space->points);
  *space = (tsl_space){0};
}

int tsl_space_find(const tsl_space *space, const tsl_strategy *strategy, const tsl_config *config) {
  for (int i = 0; i < space->count; i++)
    if (space->points[i].strategy == strategy &&
        memcmp(&space->points[i].config, config, sizeof *config) == 0)
      return i;
  return -1;
}

int tsl_space_neighbour(const tsl_space *space, int point, int param, int direction) {
  const tsl_space_point *from = &space->points[point];
  const tsl_param *table = &from->strategy->params[param];
  const int count = tsl_param_values(table);
  tsl_config config = from->config;
  int place = 0;
  while (place < count && table->values[place] != config.value[param])
    place++;
  /* skips illegal values */
  for (place += direction; place >= 0 && place < count; place += direction) {
    config.value[param] = table->values[place];
    const int found = tsl_space_find(space, from->strategy, &config);
    if (found >= 0)
      return found;
  }
  return -1;
}
