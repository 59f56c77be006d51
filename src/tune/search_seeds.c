#include "tune/search_seeds.h"

#include "core/status.h"

#include <stdlib.h>

/* ratio to the best above which wisdom's records are not measured again */
static const double known_slowdown_max = 4;

tesela_status tsl_tune_find_start(const tsl_problem *problem, const tsl_choice *choice,
                                  const tsl_space *space, int *start, int **known, int *known_count) {
  tsl_candidate *list;
  int count, found = -1;
  *known = NULL;
  *known_count = 0;
  TSL_TRY(tsl_planner_list(problem, choice, &list, &count));
  int *points = calloc((size_t)count + 1, sizeof *points);
  for (int i = 0; points && i < count && !list[i].refusal[0]; i++) {
    const int point = tsl_space_find(space, list[i].strategy, &list[i].config);
    if (point >= 0 && found < 0)
      found = point;
    else if (point >= 0 && list[i].basis != TSL_BASIS_MODEL &&
             list[i].seconds <= known_slowdown_max * list[0].seconds)
      points[(*known_count)++] = point;
  }
  free(list);
  if (!points)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for wisdom's records");
  *known = points;
  *start = found < 0 ? 0 : found;
  return TESELA_OK;
}

void tsl_tuned_print(const tsl_tuned *tuned, const tsl_space *space, const tsl_problem *problem,
                     const tsl_device *device, tsl_text *out) {
  for (int i = 0; i < space->count; i++) {
    const tsl_space_point *point = &space->points[i];
    double seconds;
    if (!tsl_tuned_is_record(tuned, space, i, &seconds))
      continue;
    const double spread = i == tuned->best ? tuned->spread : tuned->results[i].spread;
    const tsl_wisdom_record record =
        tsl_wisdom_record_of(problem, point->strategy, &point->config, device, seconds, spread);
    tsl_wisdom_print(&record, out);
    tsl_text_add(out, "\n");
  }
}
