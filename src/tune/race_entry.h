#ifndef TSL_TUNE_RACE_ENTRY_H
#define TSL_TUNE_RACE_ENTRY_H

#include "judge/check.h"
#include "tune/hardware_counters.h"
#include "tune/tune_measure.h"

typedef struct tsl_race_entry {
  const tsl_strategy *strategy; /* input, like `config`; the rest is output */
  tsl_config config;
  tsl_case_result result;
  tsl_verdict verdict;          /* set if right or wrong */
  tsl_measurement timing;       /* set if right, else tsl_not_measured */
  tsl_hardware_counts hardware; /* counts of a run, where options.hardware is set */
  double predicted;             /* seconds by the model; infinity if it refuses */
  char why[256];                /* reason if not right: refusal, failure or error */
  char plan[512];               /* text of the plan; "" if refused */
} tsl_race_entry;

/* Sets an entry's result and reason, without a timing. */
void tsl_race_conclude(tsl_race_entry *entry, tsl_case_result result, const char *why);
/* Refuses an entry that takes too long; `verb` is "takes" or "is predicted to take". */
void tsl_race_leave_out(tsl_race_entry *entry, const char *verb, double seconds, double limit);

/* Conditions of admission; the last three as in tsl_race_options, with defaults filled in. */
typedef struct tsl_race_terms {
  const tsl_problem *problem;
  tsl_device *device;
  double time_limit;
  int64_t operations_max;
  uint64_t seed;
} tsl_race_terms;

/* Verifies an entry if model and memory allow it. Sets its result, and the verified run's *seconds. */
tesela_status tsl_race_admit(const tsl_race_terms *terms, tsl_race_entry *entry, double *seconds);

#endif
