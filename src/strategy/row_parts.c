#include "strategy/row_parts.h"

#include "host/int_math.h"

static int64_t depth_of(int64_t k, int64_t count) {
  return tsl_round_up(tsl_ceil_div(k, count), TSL_ROW_PART_STEP);
}

tsl_row_parts tsl_row_parts_of(const tsl_problem *problem) {
  const int64_t k = problem->k;
  int64_t count = 1;
  if (!tsl_problem_fixes_rows(problem))
    return (tsl_row_parts){1, k};
  const int64_t least =
      tsl_type(problem->c.type)->component == TESELA_F64 ? TSL_ROW_PART_MIN_F64 : TSL_ROW_PART_MIN;
  while (count < TSL_ROW_PARTS_MAX && k >= 2 * count * least)
    count *= 2;
  while (count > 1 && (count - 1) * depth_of(k, count) >= k) /* the last part would be empty */
    count /= 2;
  return (tsl_row_parts){count, count > 1 ? depth_of(k, count) : k};
}
