/* Tuner: finds the fastest config of a problem on a device within a budget, by a search over the legal
 * configs. The measurement is a function. So one search runs on a device (tsl_tune_by_race), on recorded
 * measurements (tsl_tune_by_cache), and on artificial landscapes in tests.
 *
 *  1. A batch is a few points that the search proposes, and the incumbent, measured together by turns. A
 *     point's time counts as its ratio to the incumbent's in this batch, so that changes of the machine
 *     between batches cancel.
 *  2. A point replaces the incumbent only if it is faster by more than the uncertainty of both times, and at
 *     least 2%. The first incumbent is the planner's choice. Wisdom's points of other strategies come next,
 *     so that old records are tested.
 *  3. The search ends with the budget, or when it has nothing more to propose. */
#ifndef TSL_TUNE_TUNE_H
#define TSL_TUNE_TUNE_H

#include "planner/planner_wisdom.h"
#include "tune/race.h"
#include "tune/search.h"

enum { TSL_TUNE_BATCH = 32 };

/* Result of measuring a point. */
typedef struct tsl_tune_result {
  tsl_case_result result; /* TSL_CASE_REFUSED: refused, or given up as too slow */
  double seconds, spread; /* if right */
  double less, more;      /* relative uncertainty of `seconds` downwards and upwards; both 0: use `spread` */
  char why[256];          /* reason if not right */
} tsl_tune_result;

/* Measures points together. `limit`: seconds of a run above which a point may be given up;
 * infinity: none. Fails if no further measurement is possible. */
typedef tesela_status tsl_tune_measure(void *argument, const tsl_space *space, const int *points, int count,
                                       double limit, tsl_tune_result *results);

typedef struct tsl_tune_cache tsl_tune_cache;

typedef struct tsl_tune_job {
  const tsl_space *space; /* not empty, sorted */
  const tsl_search *search;
  int start; /* index of the first incumbent; -1: point 0 */
  /* Points measured after the first incumbent; may be NULL. */
  const int *known;
  int known_count;
  double budget;  /* seconds of the host's clock; 0: no limit */
  int points_max; /* maximum number of measured points; 0: no limit */
  int batch;      /* points measured together with the incumbent; 0, or above the maximum: TSL_TUNE_BATCH */
  uint64_t seed;
  tsl_tune_measure *measure;
  void *argument;
  const tsl_tune_cache *prior; /* earlier measurements, which are not repeated; NULL: none */
  /* Called with every measurement on the common scale; may be NULL. */
  tesela_status (*keep)(void *argument, const tsl_space_point *point, const tsl_tune_result *result);
  void *keep_argument;
  bool (*stop)(void); /* polled between batches; true ends the search; may be NULL */
  /* Reports progress, 0 to 1; may be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *progress_argument;
} tsl_tune_job;

typedef struct tsl_tuned {
  tsl_tune_result
      *results; /* by point; seconds on one scale, that of the first incumbent's first measurement */
  bool *tried;  /* by point */
  int tried_count, wrong, failed, refused;
  int start, best;             /* points; best -1: none was right */
  double best_seconds, spread; /* last measurement of the best, not scaled */
  double gain; /* seconds of the start over seconds of the best, on one scale; NaN: the start is not right */
  int batches, found_at; /* found_at: number of tried points when the best was found */
  double seconds;        /* duration of the search */
  bool complete;         /* the search had nothing more to propose */
} tsl_tuned;

/* Runs the search. The caller calls tsl_tuned_free() even after a failure: `tuned` holds the
 * results so far. */
tesela_status tsl_tune_run(const tsl_tune_job *job, tsl_tuned *tuned);
void tsl_tuned_free(tsl_tuned *tuned);
/* Returns true if the challenger is faster by more than the uncertainty of both. */
bool tsl_tune_beats(const tsl_tune_result *challenger, const tsl_tune_result *incumbent);
/* Scales all times to the best's last measurement. */
void tsl_tuned_rescale(tsl_tuned *tuned, int count);
/* Returns true if wisdom shall record a point: the best of its strategy. *seconds: the winner's
 * last measurement; for other strategies at least 2% more, so that wisdom never prefers a point
 * that was not faster by more than the noise. */
bool tsl_tuned_is_record(const tsl_tuned *tuned, const tsl_space *space, int point, double *seconds);

/* --- on a device --- */

/* Converts a race's result. Seconds are the median with 1.4 standard errors of uncertainty, so that
 * medians are compared at two standard errors of their difference. For CPUs, which run other
 * programs, seconds are the fastest sample. It may be too slow by half the distance to the first
 * quartile. */
tsl_tune_result tsl_tune_result_of(const tsl_race_entry *entry, const tsl_device *device);

/* Argument of tsl_tune_by_race(). Each point is verified (on a sample of its rows) before it is
 * timed. A point is given up after one run if it takes several times the limit, or after three
 * slower samples. */
typedef struct tsl_tune_race {
  const tsl_problem *problem;
  tsl_device *device;
  double seconds_max; /* limit of a point's runs in a batch */
  double time_limit;  /* limit of predictions and first runs; slower points are left out */
  uint64_t seed;
  bool (*stop)(void); /* ends a race, as in tsl_race_options */
  double deadline;    /* ends a race, as in tsl_race_options */
} tsl_tune_race;
tsl_tune_measure tsl_tune_by_race;

/* --- recorded measurements --- */

/* Measurement of a file, one a line: the result, the predicted seconds, and a record of wisdom:
 *
 *   right 0.0012 gemm tile_local version=1 tile=16 key=... seconds=0.0021 spread=0.004 date=...
 *
 * If the result is not `right`, `seconds` repeats the prediction. Lines are appended whole; an incomplete
 * last line is ignored. */
typedef struct tsl_tune_kept {
  tsl_wisdom_record record;
  tsl_case_result result;
  double predicted;
} tsl_tune_kept;

struct tsl_tune_cache {
  tsl_tune_kept *items;
  int count, capacity;
  int passed_over;        /* number of invalid or stale lines */
  tsl_wisdom_record like; /* device, class and sizes of the search; the first item's by default */
};

/* Reads a file. A missing file is empty if `optional`. */
tesela_status tsl_tune_cache_read(const char *path, bool optional, tsl_tune_cache *cache);
void tsl_tune_cache_free(tsl_tune_cache *cache);
/* Returns the last measurement of a config for the cache's device and sizes; NULL: none. */
const tsl_tune_kept *tsl_tune_cache_find(const tsl_tune_cache *cache, const tsl_strategy *strategy,
                                         const tsl_config *config);
/* Appends a measurement to a file in one write. */
tesela_status tsl_tune_cache_add(const char *path, const tsl_tune_kept *kept);
/* Adds the configs measured for the cache's device and sizes to a space, each once. */
tesela_status tsl_tune_cache_space(const tsl_tune_cache *cache, tsl_space *space);
/* Takes measurements from a tsl_tune_cache, its argument. */
tsl_tune_measure tsl_tune_by_cache;

#endif
