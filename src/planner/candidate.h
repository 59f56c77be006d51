#ifndef TSL_PLANNER_CANDIDATE_H
#define TSL_PLANNER_CANDIDATE_H

#include "plan/plan.h"
#include "planner/planner_wisdom.h"

#include <string.h>

/* Strategy on a device, with its best config from wisdom, else by its model. */
typedef struct tsl_candidate {
  const tsl_strategy *strategy;
  tsl_device *device;
  tsl_config config;
  double seconds;    /* predicted seconds with copies (planner/estimate.h); infinity: refused */
  double resident;   /* predicted seconds with operands on the device, without copies */
  double doubt;      /* standard deviation of the logarithm of the seconds */
  double start;      /* start-up seconds (open, compile) over the expected runs */
  tsl_basis basis;   /* source of config and seconds */
  int order;         /* sort key before time, for choices independent of predictions; else 0 */
  bool own;          /* based on the user's own wisdom */
  char refusal[192]; /* why it cannot run; "": it can */
} tsl_candidate;

/* Strategy and parameters that the caller's text fixes. */
typedef struct tsl_strategy_request {
  const tsl_strategy *strategy; /* NULL: any */
  tsl_config config;
  unsigned given; /* a bit for each parameter fixed in `config` */
} tsl_strategy_request;

/* Restrictions and knowledge of a choice. */
typedef struct tsl_choice {
  tsl_devices *devices;
  const char *device;   /* name of the device; NULL or "auto": all devices */
  const char *strategy; /* "name key=value ..."; NULL: all strategies */
  const char *exclude;  /* names of strategies that must not be chosen, also for sub-plans; NULL: none */
  tsl_memory_place place;
  const tsl_sharding *spread; /* operands on several devices; else NULL */
  const tsl_wisdom *wisdom;   /* measurements; NULL: none */
  const tsl_strategy *except; /* must not be chosen, also for sub-plans; NULL: none */
  bool skips;                 /* as of a sub-plan's request, also for sub-plans below it */
  bool vendors;               /* vendors' libraries may be chosen; a named strategy always */
  double runs;                /* expected runs, which share the start-up cost; 0: no start-up cost */
  /* Skips devices that cannot win, because loading their drivers takes longer than many products. */
  bool sparing;
} tsl_choice;

/* Sets `strategy` or `exclude` from a caller's text: "name key=value ...", or "not name, name". */
static inline void tsl_choice_set_strategy(tsl_choice *choice, const char *text) {
  const bool is_exclusion = text && strncmp(text, "not ", 4) == 0;
  choice->strategy = is_exclusion ? NULL : text;
  choice->exclude = is_exclusion ? text + 4 : NULL;
}

static inline bool tsl_choice_any_device(const tsl_choice *choice) {
  return !choice->device || strcmp(choice->device, "auto") == 0;
}

/* Returns a list's sort key: seconds of a run plus start-up. */
static inline double tsl_candidate_seconds(const tsl_candidate *candidate) {
  return candidate->seconds + candidate->start;
}

#endif
