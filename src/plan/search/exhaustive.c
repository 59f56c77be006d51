/* Everything, the most promising first, as the models see it. */
#include "plan/search.h"

#include <math.h>

static int propose(const tsl_search_view *view, int *next, int most) {
  int count = 0;
  for (int i = 0; i < view->space->count && count < most; i++)
    if (isnan(view->seconds[i]))
      next[count++] = i;
  return count;
}

const tsl_search tsl_search_exhaustive = {
    .name = "exhaustive", .what = "every legal config, in the order of the models", .propose = propose};
