/* Planner: lists, refuses and rates. One loop over strategies, configs and devices; the least predicted
 * time wins. */
#ifndef TSL_PLANNER_PLANNER_H
#define TSL_PLANNER_PLANNER_H

#include "planner/candidate.h"

/* Returns true if TESELA_VENDORS allows vendors' libraries to be listed and chosen without being named. */
bool tsl_planner_vendors(void);

/* Parses a strategy text; text NULL fixes nothing. TESELA_BAD_INPUT names the wrong word. */
tesela_status tsl_planner_request(tsl_op op, const char *text, tsl_strategy_request *out);

/* Lists all candidates for a problem, best first, refused ones last. A device that is the processor
 * through another driver (PoCL) counts as no faster than the cpu, unless it was measured here. The
 * caller frees the list with free(). TESELA_NO_DEVICE; TESELA_BAD_INPUT: the strategy text is wrong. */
tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count);

/* Creates the plan of one candidate, with the self-test of its kernels if none is stored
 * (planner/kernel_self_test.h). */
tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan);
/* Creates the plan of the first usable candidate. TESELA_UNSUPPORTED: all refuse; the message has the first
 * reasons. A candidate that cannot be built, or has wrong kernels, is skipped with a line in the log, and its
 * refusal is set. It is not skipped if the caller named the strategy, or named a device that failed. */
tesela_status tsl_planner_take(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate *candidates, int count, tsl_plan **plan);

#endif
