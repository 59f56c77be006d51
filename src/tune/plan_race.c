#include "tune/plan_race.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "planner/kernel_self_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Shortest run whose time is worth a race; largest ratio of expected times that leaves a doubt. */
static const double seconds_min = 20e-6, doubtful_ratio = 1.5;
/* The second plan stays if it is faster than this fraction; a run slower by hopeless_ratio ends the race. */
static const double won_ratio = 0.97, hopeless_ratio = 2;

typedef struct race_side {
  const tsl_strategy *strategy;
  double seconds[TSL_RACE_RUNS];
  int count;
} race_side;

struct tsl_plan_race {
  pthread_mutex_t lock; /* held during a timed run; protects all members below but the atomics */
  atomic_int uses;
  atomic_bool is_over;
  tsl_problem problem;
  tsl_devices *devices; /* for the rival's sub-plans */
  tsl_candidate second;
  tsl_plan *rival;      /* second's plan; NULL: not made yet, or given away */
  bool is_warm;         /* the rival has run once without being timed */
  race_side own, other; /* the cached plan, the rival */
};

static bool is_doubtful(const tsl_plan *plan, const tsl_candidate *second) {
  const tsl_device *device = plan->work.device;
  const tsl_problem *problem = &plan->work.problem;
  return second->strategy && second->device == device && problem->ask.bits == TSL_REPRODUCIBILITY_ANY &&
         second->basis == TSL_BASIS_MODEL && plan->expected >= seconds_min &&
         second->seconds <= doubtful_ratio * plan->expected &&
         (!(device->capabilities & TSL_CAN_KERNELS) ||
          tsl_trust_has(problem, second->strategy, &second->config, device));
}

tsl_plan_race *tsl_plan_race_of(const tsl_plan *plan, const tsl_candidate *second, tsl_devices *devices) {
  void *block;
  tsl_status_saved saved;
  if (!is_doubtful(plan, second))
    return NULL;
  tsl_status_save(&saved);
  const tesela_status status = tsl_alloc_zeroed(sizeof(tsl_plan_race), "a race of plans", &block);
  tsl_status_restore(&saved);
  if (status != TESELA_OK)
    return NULL;
  tsl_plan_race *race = block;
  pthread_mutex_init(&race->lock, NULL);
  race->problem = plan->work.problem;
  race->devices = devices;
  race->second = *second;
  race->own.strategy = plan->work.strategy;
  race->other.strategy = second->strategy;
  return race;
}

void tsl_plan_race_free(tsl_plan_race *race) {
  if (!race)
    return;
  tsl_plan_destroy(race->rival);
  pthread_mutex_destroy(&race->lock);
  tsl_free(race);
}

bool tsl_plan_race_is_open(tsl_plan_race *race) {
  return race && !atomic_load(&race->is_over);
}

/* Ends the race with a line of the log. Destroys the rival, unless it was given away. */
static void plan_race_close(tsl_plan_race *race, const char *result) {
  tsl_log(TSL_LOG_PLAN, "race of %s and %s: %s", race->own.strategy->name, race->other.strategy->name,
          result);
  tsl_plan_destroy(race->rival);
  race->rival = NULL;
  atomic_store(&race->is_over, true);
}

/* Makes the rival's plan. A failure ends the race and leaves no message. */
static void make_rival(tsl_plan_race *race, const tsl_plan *plan) {
  const tsl_choice choice = {.devices = race->devices, .place = plan->place};
  tsl_status_saved saved;
  tsl_status_save(&saved);
  if (tsl_planner_make(&race->problem, &choice, &race->second, &race->rival) != TESELA_OK) {
    race->rival = NULL;
    plan_race_close(race, tesela_last_error());
  }
  tsl_status_restore(&saved);
}

tsl_race_turn tsl_plan_race_begin(tsl_plan_race *race, tsl_plan *plan) {
  tsl_race_turn turn = {.plan = plan, .side = -1};
  if (atomic_fetch_add(&race->uses, 1) < TSL_RACE_USES || pthread_mutex_trylock(&race->lock) != 0)
    return turn;
  if (!race->rival && tsl_plan_race_is_open(race))
    make_rival(race, plan);
  if (!tsl_plan_race_is_open(race)) {
    pthread_mutex_unlock(&race->lock);
    return turn;
  }
  turn.side = !race->is_warm || race->other.count < race->own.count;
  turn.plan = turn.side ? race->rival : plan;
  turn.start = tsl_clock();
  return turn;
}

static int by_seconds(const void *a, const void *b) {
  const double one = *(const double *)a, other = *(const double *)b;
  return one < other ? -1 : one > other;
}

/* Returns the median of a side's runs, which it sorts. */
static double side_median(race_side *side) {
  qsort(side->seconds, (size_t)side->count, sizeof *side->seconds, by_seconds);
  return side->seconds[side->count / 2];
}

/* Ends the race if it is decided; returns the rival if it has won. */
static tsl_plan *plan_race_decide(tsl_plan_race *race, bool is_hopeless) {
  char result[128];
  if (race->other.count < TSL_RACE_RUNS && !is_hopeless)
    return NULL;
  const double own = side_median(&race->own), other = side_median(&race->other);
  const bool has_won = !is_hopeless && other < won_ratio * own;
  tsl_plan *winner = has_won ? race->rival : NULL;
  if (has_won)
    race->rival = NULL;
  snprintf(result, sizeof result, "medians of %d and %d runs are %.3g s and %.3g s; the %s stays",
           race->own.count, race->other.count, own, other, has_won ? "second" : "first");
  plan_race_close(race, result);
  return winner;
}

tsl_plan *tsl_plan_race_end(tsl_plan_race *race, const tsl_race_turn *turn, bool succeeded) {
  tsl_plan *winner = NULL;
  if (turn->side < 0)
    return NULL;
  const double seconds = tsl_clock() - turn->start;
  const bool is_other = turn->side == 1;
  if (!succeeded) {
    plan_race_close(race, tesela_last_error());
  } else if (is_other && !race->is_warm) {
    race->is_warm = true;
  } else {
    race_side *side = is_other ? &race->other : &race->own;
    side->seconds[side->count++] = seconds;
    winner = plan_race_decide(race, is_other && seconds > hopeless_ratio * side_median(&race->own));
  }
  pthread_mutex_unlock(&race->lock);
  return winner;
}
