/* Tuner: finds the fastest config of a problem on a device within a budget, by a search. The measurement is a
 * function: on a device (tsl_tune_by_race), recorded (tsl_tune_by_cache), or artificial in tests.
 *
 *  1. A batch is a few proposed points and the incumbent, measured together by turns. A time counts as its
 *     ratio to the incumbent's in this batch, so that changes of the machine between batches cancel.
 *  2. A point replaces the incumbent if it is faster by more than the uncertainty of both times, and 2%. The
 *     first incumbent is the planner's choice. Wisdom's points of other strategies come next, to test them.
 *  3. The search ends with the budget, or when it has nothing more to propose. */
#ifndef TSL_TUNE_TUNE_H
#define TSL_TUNE_TUNE_H

#include "planner/planner_wisdom.h"
#include "tune/race.h"
#include "tune/search.h"

enum { TSL_TUNE_BATCH = 32 };

typedef struct tsl_tune_result {
  tsl_case_result result; /* TSL_CASE_REFUSED: refused, or given up as too slow */
  double seconds, spread; /* set if right */
  double less, more;      /* relative uncertainty of `seconds` downwards and upwards; both 0: `spread` */
  char why[256];          /* reason if not right */
} tsl_tune_result;

/* Measures points together; runs above `limit` seconds (infinity: none) may end. Fails if none can follow. */
typedef tesela_status tsl_tune_measure(void *argument, const tsl_space *space, const int *points, int count,
                                       double limit, tsl_tune_result *results);

typedef struct tsl_tune_cache tsl_tune_cache;

typedef struct tsl_tune_job {
  const tsl_space *space; /* not empty, sorted */
  const tsl_search *search;
  int start;        /* index of the first incumbent; -1: point 0 */
  const int *known; /* points measured after the first incumbent; may be NULL */
  int known_count;
  double budget;  /* seconds of the host's clock; 0: no limit */
  int points_max; /* maximum measured points; 0: no limit */
  int batch;      /* points besides the incumbent; 0, or above the maximum: TSL_TUNE_BATCH */
  uint64_t seed;
  tsl_tune_measure *measure;
  void *argument;
  const tsl_tune_cache *prior; /* earlier measurements, not repeated; NULL: none */
  /* Called with every measurement on the common scale; may be NULL. */
  tesela_status (*keep)(void *argument, const tsl_space_point *point, const tsl_tune_result *result);
  void *keep_argument;
  bool (*stop)(void); /* polled between batches; true ends the search; may be NULL */
  /* Reports progress, 0 to 1; may be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *progress_argument;
} tsl_tune_job;

typedef struct tsl_tuned {
  tsl_tune_result *results; /* results by point, on the scale of the first incumbent's first measurement */
  bool *tried;              /* by point */
  int tried_count, wrong, failed, refused;
  int start, best;             /* indices of points; best -1: none was right */
  double best_seconds, spread; /* last measurement of the best, not scaled */
  double gain;           /* the start's seconds over the best's, on one scale; NaN: the start is not right */
  int batches, found_at; /* found_at: tried points when the best was found */
  double seconds;        /* duration of the search */
  bool complete;         /* nothing more was proposed */
} tsl_tuned;

/* Runs the search. Call tsl_tuned_free() also after a failure: `tuned` holds the results so far. */
tesela_status tsl_tune_run(const tsl_tune_job *job, tsl_tuned *tuned);
void tsl_tuned_free(tsl_tuned *tuned);
/* Returns true if the challenger is faster by more than the uncertainty of both. */
bool tsl_tune_beats(const tsl_tune_result *challenger, const tsl_tune_result *incumbent);
/* Scales all times to the best's last measurement. */
void tsl_tuned_rescale(tsl_tuned *tuned, int count);
/* Returns true if wisdom shall record a point: its strategy's best. *seconds: the winner's last measurement;
 * others get at least 2% more, so that wisdom does not prefer noise. */
bool tsl_tuned_is_record(const tsl_tuned *tuned, const tsl_space *space, int point, double *seconds);

/* Converts a race's result: the median with 1.4 standard errors, for comparisons at two standard errors. For
 * CPUs it is the fastest sample, too slow by at most half the distance to the first quartile. */
tsl_tune_result tsl_tune_result_of(const tsl_race_entry *entry, const tsl_device *device);

/* Argument of tsl_tune_by_race(). Each point is verified on a sample of rows, then timed. It is given up
 * after one run of several times the limit, or three slower samples. */
typedef struct tsl_tune_race {
  const tsl_problem *problem;
  tsl_device *device;
  double seconds_max; /* limit of a point's runs in a batch */
  double time_limit;  /* seconds of predictions and first runs above which points are left out */
  uint64_t seed;
  bool (*stop)(void);
  double deadline;
} tsl_tune_race;
tsl_tune_measure tsl_tune_by_race;

/* Measurement in a file, one a line: the result, the predicted seconds, and a record of wisdom:
 *
 *   right 0.0012 gemm tile_local version=1 tile=16 key=... seconds=0.0021 spread=0.004 date=...
 *
 * Other results than `right` repeat the prediction as `seconds`. An incomplete last line is ignored. */
typedef struct tsl_tune_stored {
  tsl_wisdom_record record;
  tsl_case_result result;
  double predicted;
} tsl_tune_stored;

struct tsl_tune_cache {
  tsl_tune_stored *items;
  int count, capacity;
  int passed_over;        /* number of invalid or stale lines */
  tsl_wisdom_record like; /* device, class and sizes of the search; default: the first item's */
};

/* Reads a file. A missing file is empty if `optional`. */
tesela_status tsl_tune_cache_read(const char *path, bool optional, tsl_tune_cache *cache);
void tsl_tune_cache_free(tsl_tune_cache *cache);
/* Returns the last measurement of a config for the cache's device and sizes; NULL: none. */
const tsl_tune_stored *tsl_tune_cache_find(const tsl_tune_cache *cache, const tsl_strategy *strategy,
                                           const tsl_config *config);
/* Appends a measurement to a file in one write. */
tesela_status tsl_tune_cache_write(const char *path, const tsl_tune_stored *stored);
/* Adds the configs measured for the cache's device and sizes to a space, each once. */
tesela_status tsl_tune_cache_add_to_space(const tsl_tune_cache *cache, tsl_space *space);
/* Takes measurements from a tsl_tune_cache, its argument. */
tsl_tune_measure tsl_tune_by_cache;

#endif
