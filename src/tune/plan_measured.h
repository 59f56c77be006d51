#ifndef TSL_TUNE_PLAN_MEASURED_H
#define TSL_TUNE_PLAN_MEASURED_H

#include "planner/planner.h"
#include "tune/search.h"

typedef struct tsl_effort {
  tsl_candidate won; /* fastest; strategy NULL: nothing was measured */
  tsl_text records;  /* wisdom records, one a line */
} tsl_effort;

/* Measures candidates for at most `seconds` on the best candidate's device, if the user's wisdom lacks these
 * sizes. Begins nothing that cannot end in time. TESELA_OK even without measurements. Free found->records. */
tesela_status tsl_tune_effort(const tsl_problem *problem, const tsl_choice *choice, double seconds,
                              tsl_effort *found);

/* Returns the expected seconds to measure `count` points: operands, compilation, verification, runs. */
double tsl_tune_cost(const tsl_problem *problem, const tsl_device *device, const tsl_space *space,
                     const int *points, int count, double runs_max);

#endif
