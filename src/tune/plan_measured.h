/* Planning with effort: what could run a problem is measured, in a given time, before it is chosen. */
#ifndef TSL_TUNE_PLAN_MEASURED_H
#define TSL_TUNE_PLAN_MEASURED_H

#include "planner/planner.h"
#include "tune/search.h"

/* What measuring found. */
typedef struct tsl_effort {
  tsl_candidate won; /* strategy, config and device of the fastest; no strategy: nothing was measured */
  tsl_text records;  /* for wisdom, one a line */
} tsl_effort;

/* Searches for at most `seconds` on the device that the choice would take, among the strategies that it may
 * take. Nothing is measured where the user's wisdom knows these very sizes, and what cannot end in time is
 * not begun. That nothing could be measured is no failure. Free `found` with tsl_text_free(&found->records).
 */
tesela_status tsl_tune_effort(const tsl_problem *problem, const tsl_choice *choice, double seconds,
                              tsl_effort *found);

/* Seconds that measuring so many points of a space together is expected to take, all of them included:
 * operands, compilers, the judge, runs. */
double tsl_tune_cost(const tsl_problem *problem, const tsl_device *device, const tsl_space *space,
                     const int *points, int count, double runs_max);

#endif
