/* The planner: list, refuse, score. One loop over strategies x configs x devices; the best score wins. */
#ifndef TSL_PLANNER_PLANNER_H
#define TSL_PLANNER_PLANNER_H

#include "planner/candidate.h"

/* What TESELA_VENDORS says: whether vendors' libraries may be listed and chosen where nobody names one. */
bool tsl_planner_vendors(void);

/* What a strategy text fixes; NULL: nothing. TESELA_BAD_INPUT names the word that is wrong. */
tesela_status tsl_planner_request(tsl_op op, const char *text, tsl_strategy_request *out);

/* All candidates for a problem, best first, refused ones last. Where there is a choice, a device that is the
 * processor again (PoCL) is expected to take as long as the cpu at least, unless it was measured here. Free
 * with free(). TESELA_NO_DEVICE, TESELA_BAD_INPUT for a strategy text that does not parse. */
tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count);

/* Makes a plan of one candidate, and tries its kernels where nobody did (planner/kernel_self_test.h). */
tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan);
/* The first of a list as a plan; TESELA_UNSUPPORTED says, when all refuse, what the first ones said. A
 * candidate that cannot be built, or whose kernels are wrong, is put aside with a note in the log, unless the
 * caller named its strategy, or its device and that failed; its refusal then says why. */
tesela_status tsl_planner_take(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate *candidates, int count, tsl_plan **plan);

#endif
