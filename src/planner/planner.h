/* The planner: list, refuse, score. One loop over strategies x configs x devices; the best score wins. */
#ifndef TSL_PLANNER_PLANNER_H
#define TSL_PLANNER_PLANNER_H

#include "plan/plan.h"
#include "planner/wisdom.h"

#include <string.h>

/* One strategy on one device, with the config that was measured to be good, or else that its model likes best. */
typedef struct tsl_candidate {
  const tsl_strategy *strategy;
  tsl_device *device;
  tsl_config config;
  double
      seconds; /* that a run is expected to take, copies included (planner/estimate.h); infinity when refused */
  double doubt;      /* about that: the standard deviation of its logarithm */
  double start;      /* seconds before the first run, shared out among the runs that are expected */
  tsl_basis basis;   /* what config and seconds rest on */
  bool own;          /* it is the user's wisdom, measured here */
  char refusal[192]; /* "" when it can */
} tsl_candidate;

/* What the planner may choose from. */
typedef struct tsl_choice {
  tsl_devices *devices;
  const char *device;   /* name; NULL or "auto": all */
  const char *strategy; /* "name key=value ..."; NULL: all */
  tsl_place place;
  const tsl_wisdom *wisdom; /* what was measured before; NULL: nothing */
  bool
      vendors; /* strategies that call a vendor's library, too; one that `strategy` names is asked for by that */
  double runs; /* how often it will run: then opening a device and compiling count; 0: often enough not to */
  bool
      sparing; /* devices that cannot win are not looked for: loading their drivers takes longer than many products */
} tsl_choice;

/* What TESELA_VENDORS says: whether vendors' libraries may be listed and chosen where nobody names one. */
bool tsl_planner_vendors(void);

static inline bool tsl_choice_any_device(const tsl_choice *choice) {
  return !choice->device || strcmp(choice->device, "auto") == 0;
}

/* What a list is sorted by. */
static inline double tsl_candidate_seconds(const tsl_candidate *candidate) {
  return candidate->seconds + candidate->start;
}

/* All candidates for a problem, best first, refused ones last. Where there is a choice, a device that is the processor again
 * (PoCL) is expected to take as long as the cpu at least, unless it was measured here. Free with free(). TESELA_NO_DEVICE,
 * TESELA_BAD_INPUT for a strategy text that does not parse. */
tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count);

/* Makes a plan of one candidate, and tries its kernels where nobody did (planner/trust.h). */
tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan);
/* The first of a list as a plan; TESELA_UNSUPPORTED says, when all refuse, what the first ones said. A candidate
 * that cannot be built, or whose kernels are wrong, is put aside with a note in the log, unless the caller named its
 * strategy, or its device and that failed; its refusal then says why. */
tesela_status tsl_planner_take(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate *candidates, int count, tsl_plan **plan);

#endif
