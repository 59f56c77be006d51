/* Finds strategies that get no row. */
#include "explore/report.h"

#include <string.h>

/* Returns true if all devices refused the strategy for all types and sizes, so nothing failed or
 * was interrupted. */
static bool left_out_is_hopeless(const tsl_exploration *all, int strategy) {
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++)
      for (int d = 0; d < all->devices.count; d++) {
        const tsl_race_entry *entry = &tsl_explore_at(all, t, s, strategy, d)->entry;
        if (entry->result != TSL_CASE_REFUSED || strcmp(entry->why, tsl_race_cut_short) == 0)
          return false;
      }
  return true;
}

bool tsl_explore_is_left_out(const tsl_exploration *all, int type, int size, int strategy) {
  if (all->all_strategies && left_out_is_hopeless(all, strategy))
    return true;
  if (!all->strategies.items[strategy].strategy->vendor.load)
    return false;
  for (int d = 0; d < all->devices.count; d++)
    if (tsl_explore_at(all, type, size, strategy, d)->entry.result != TSL_CASE_REFUSED)
      return false;
  return true;
}

void tsl_explore_add_left_out(const tsl_exploration *all, tsl_text *line) {
  bool any = false;
  for (int s = 0; all->all_strategies && s < all->strategies.count; s++) {
    if (!left_out_is_hopeless(all, s))
      continue;
    tsl_text_add(line, "%s", any ? ", " : "Left out, since no device here can run them: ");
    tsl_explore_add_strategy(all, s, line);
    any = true;
  }
  if (any)
    tsl_text_add(line, " (tesela explain says why).");
}
