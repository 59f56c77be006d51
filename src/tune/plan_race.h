/* Race of a cached plan and the planner's second candidate, on the caller's own runs. Where the models leave
 * a doubt and calls recur, both plans run in turn. After a few timed runs of each the faster plan stays.
 *
 * Only one-shot calls take part whose bits may differ from run to run (reproducibility "any"). A run by
 * either plan is right, so nothing is computed twice. The second plan is made at the TSL_RACE_USES-th call,
 * and only if nothing must be compiled for it. */
#ifndef TSL_TUNE_PLAN_RACE_H
#define TSL_TUNE_PLAN_RACE_H

#include "planner/planner.h"

enum { TSL_RACE_USES = 8, TSL_RACE_RUNS = 5 };

typedef struct tsl_plan_race tsl_plan_race;

/* Returns a race of a plan and another candidate of its choice; NULL: there is no doubt, or memory ran out.
 * The devices must outlive the race. Free with tsl_plan_race_free(). */
tsl_plan_race *tsl_plan_race_of(const tsl_plan *plan, const tsl_candidate *second, tsl_devices *devices);
void tsl_plan_race_free(tsl_plan_race *race); /* NULL is allowed */

/* Returns true while runs may be timed; false for NULL. Thread-safe. */
bool tsl_plan_race_is_open(tsl_plan_race *race);

/* A run of the race: the plan that runs, and its side. */
typedef struct tsl_race_turn {
  tsl_plan *plan;
  int side;     /* 0: the cached plan; 1: the second plan; -1: the run is not timed */
  double start; /* time by tsl_clock() */
} tsl_race_turn;

/* Returns the plan of the next run, `plan` or the second plan. Only one thread's runs are timed at a time. */
tsl_race_turn tsl_plan_race_begin(tsl_plan_race *race, tsl_plan *plan);
/* Ends the run. Returns the second plan, which the caller then owns, if it has won the race; else NULL. */
tsl_plan *tsl_plan_race_end(tsl_plan_race *race, const tsl_race_turn *turn, bool succeeded);

#endif
