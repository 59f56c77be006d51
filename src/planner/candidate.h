/* What the planner may choose from, and what it made of it. */
#ifndef TSL_PLANNER_CANDIDATE_H
#define TSL_PLANNER_CANDIDATE_H

#include "plan/plan.h"
#include "planner/planner_wisdom.h"

#include <string.h>

/* One strategy on one device, with the config that was measured to be good, or else that its model likes
 * best. */
typedef struct tsl_candidate {
  const tsl_strategy *strategy;
  tsl_device *device;
  tsl_config config;
  double seconds;    /* that a run is expected to take, copies included (planner/estimate.h); infinity when
                        refused */
  double resident;   /* the same with operands on the device, without any way there */
  double doubt;      /* about that: the standard deviation of its logarithm */
  double start;      /* seconds before the first run, shared out among the runs that are expected */
  tsl_basis basis;   /* what config and seconds rest on */
  int order;         /* before time: where what is chosen must not hang on predictions; else 0 */
  bool own;          /* it is the user's wisdom, measured here */
  char refusal[192]; /* "" when it can */
} tsl_candidate;

/* What the caller's strategy text fixes. */
typedef struct tsl_strategy_request {
  const tsl_strategy *strategy; /* NULL: any */
  tsl_config config;
  unsigned given; /* a bit per parameter whose value in `config` is fixed */
} tsl_strategy_request;

/* What the planner may choose from. */
typedef struct tsl_choice {
  tsl_devices *devices;
  const char *device;   /* name; NULL or "auto": all */
  const char *strategy; /* "name key=value ..."; NULL: all */
  tsl_text_place place;
  const tsl_sharding *spread; /* of operands in pieces; else NULL */
  const tsl_wisdom *wisdom;   /* what was measured before; NULL: nothing */
  const tsl_strategy *except; /* a strategy that must not be chosen, here or for children; NULL: none */
  bool vendors; /* strategies that call a vendor's library, too; one that `strategy` names is asked for by
                   that */
  double runs;  /* how often it will run: then opening a device and compiling count; 0: often enough not to */
  bool sparing; /* devices that cannot win are not looked for: loading their drivers takes longer than many
                   products */
} tsl_choice;

static inline bool tsl_choice_any_device(const tsl_choice *choice) {
  return !choice->device || strcmp(choice->device, "auto") == 0;
}

/* What a list is sorted by. */
static inline double tsl_candidate_seconds(const tsl_candidate *candidate) {
  return candidate->seconds + candidate->start;
}

#endif
