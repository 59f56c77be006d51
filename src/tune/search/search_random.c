/* Tries every config in shuffled order: baseline, and a fair sample to assess models. */
#include "core/random.h"
#include "tune/search.h"

#include <math.h>

/* Proposes the untried points with the smallest keys, which depend on seed and point only. */
static int search_random_propose(const tsl_search_view *view, int *next, int points_max) {
  int count = 0;
  for (int i = 0; i < view->space->count; i++) {
    if (!isnan(view->seconds[i]))
      continue;
    const uint64_t key = tsl_random_u64(view->seed, (uint64_t)i);
    int at = count < points_max ? count++ : points_max;
    for (; at > 0 && key < tsl_random_u64(view->seed, (uint64_t)next[at - 1]); at--)
      if (at < points_max)
        next[at] = next[at - 1];
    if (at < points_max)
      next[at] = i;
  }
  return count;
}

const tsl_search tsl_search_random = {.name = "random",
                                      .what = "every legal config, in a random order of the seed",
                                      .propose = search_random_propose};
