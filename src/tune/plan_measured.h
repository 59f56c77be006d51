/* Planning with effort: candidates are measured within a time limit before the choice. */
#ifndef TSL_TUNE_PLAN_MEASURED_H
#define TSL_TUNE_PLAN_MEASURED_H

#include "planner/planner.h"
#include "tune/search.h"

/* Result of a search. */
typedef struct tsl_effort {
  tsl_candidate won; /* fastest candidate; strategy NULL: nothing was measured */
  tsl_text records;  /* wisdom records, one a line */
} tsl_effort;

/* Searches for at most `seconds` on the device of the choice, among its strategies. Skips the
 * search if the user's wisdom has exactly these sizes. Begins no measurement that cannot end in
 * time. Returns TESELA_OK even if nothing was measured. The caller frees found->records. */
tesela_status tsl_tune_effort(const tsl_problem *problem, const tsl_choice *choice, double seconds,
                              tsl_effort *found);

/* Returns the expected seconds to measure `count` points of a space together, including operands,
 * compilation, verification and runs. */
double tsl_tune_cost(const tsl_problem *problem, const tsl_device *device, const tsl_space *space,
                     const int *points, int count, double runs_max);

#endif
