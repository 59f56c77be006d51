/* An entry of a race, and how it is let in: whether it may start, and its verdict. */
#ifndef TSL_TUNE_RACE_ENTRY_H
#define TSL_TUNE_RACE_ENTRY_H

#include "judge/check.h"
#include "tune/tune_measure.h"

typedef struct tsl_race_entry {
  /* Given. */
  const tsl_strategy *strategy;
  tsl_config config;
  /* Found. */
  tsl_case_result result;
  tsl_verdict verdict;    /* where it is right or wrong */
  tsl_measurement timing; /* where it is right, else tsl_not_measured */
  double predicted;       /* seconds of a run, by the strategy's model; infinity where it refuses */
  char why[256];          /* where it is not right: the refusal, what failed, what is wrong */
  char plan[512];         /* the plan's text; "" where it was refused */
} tsl_race_entry;

/* For race.c: it has no time, for this reason; or because it takes too long: "takes", or "is predicted to
 * take". */
void tsl_race_conclude(tsl_race_entry *entry, tsl_case_result result, const char *why);
void tsl_race_leave_out(tsl_race_entry *entry, const char *verb, double seconds, double most);

/* On what terms entries are let in; the last three as tsl_race_options has them, without zeros. */
typedef struct tsl_race_terms {
  const tsl_problem *problem;
  tsl_device *device;
  double time_limit;
  int64_t operations_max;
  uint64_t seed;
} tsl_race_terms;

/* Lets the entry start where its model does and memory lasts, and judges it; *seconds are those of the run
 * that was judged. Its result is right, or says why not. */
tesela_status tsl_race_admit(const tsl_race_terms *terms, tsl_race_entry *entry, double *seconds);

#endif
