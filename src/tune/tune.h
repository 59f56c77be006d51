/* The tuner: looks for the fastest config of a problem on a device within a budget, by a search over the
 * space of legal ones. What measures is a function, so that the same search runs on a device
 * (tsl_tune_by_race), on measurements that were kept (tsl_tune_by_cache), and on landscapes that tests make
 * up.
 *
 *  1. A batch is a few points that the search proposes, and the incumbent: measured together, by turns. A
 * point's time counts as its ratio to the incumbent's in that batch, so that what the machine does between
 * batches falls out.
 *  2. A point takes the incumbent's place only if it is faster by more than the doubt about both times (and
 * at least 2%). The first incumbent is what the planner would run; what wisdom knows of other strategies is
 * measured next, so that old records are put to the test.
 *  3. It ends with the budget, or when the search has nothing more to propose. */
#ifndef TSL_TUNE_TUNE_H
#define TSL_TUNE_TUNE_H

#include "planner/planner_wisdom.h"
#include "tune/race.h"
#include "tune/search.h"

enum { TSL_TUNE_BATCH = 32 };

/* What measuring a point gave. */
typedef struct tsl_tune_result {
  tsl_case_result result; /* TSL_CASE_REFUSED: refused now, or given up since it takes too long */
  double seconds, spread; /* where it is right */
  double less, more; /* how much less and more the true time may be, over the seconds; both 0: the spread */
  char why[256];     /* where it is not */
} tsl_tune_result;

/* Measures points together. `limit`: seconds of a run beyond which a point may be given up; infinity: none.
 * Fails where nothing can be measured any more. */
typedef tesela_status tsl_tune_measure(void *argument, const tsl_space *space, const int *points, int count,
                                       double limit, tsl_tune_result *results);

typedef struct tsl_tune_cache tsl_tune_cache;

typedef struct tsl_tune_job {
  const tsl_space *space; /* not empty, sorted */
  const tsl_search *search;
  int start; /* the first incumbent; -1: the first point */
  /* Points that are measured after it, whatever the search says; may be NULL. */
  const int *known;
  int known_count;
  double budget;  /* seconds of the host's clock; 0: no limit */
  int points_max; /* how many points may be measured; 0: no limit */
  int batch;      /* how many are measured together with the incumbent; 0, or too many: TSL_TUNE_BATCH */
  uint64_t seed;
  tsl_tune_measure *measure;
  void *argument;
  const tsl_tune_cache *prior; /* measurements that are not made again; NULL: none */
  /* Is told of every measurement, on the scale of all others; may be NULL. */
  tesela_status (*keep)(void *argument, const tsl_space_point *point, const tsl_tune_result *result);
  void *keep_argument;
  bool (*stop)(void); /* asked between batches: true ends the search as the budget does; may be NULL */
  /* How far it is, 0 to 1; may be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *progress_argument;
} tsl_tune_job;

typedef struct tsl_tuned {
  tsl_tune_result
      *results; /* by point; seconds on one scale, that of the first incumbent's first measurement */
  bool *tried;  /* by point */
  int tried_count, wrong, failed, refused;
  int start, best;             /* points; best -1: none was right */
  double best_seconds, spread; /* as the best was measured last, not scaled */
  double gain; /* seconds of the start over those of the best, on one scale; NaN: the start is not right */
  int batches, found_at; /* found_at: how many points were tried when the best was found */
  double seconds;        /* that it took */
  bool complete;         /* the search had nothing more to propose */
} tsl_tuned;

/* Free `tuned` with tsl_tuned_free(), after a failure as well: it holds what was found until then. */
tesela_status tsl_tune_run(const tsl_tune_job *job, tsl_tuned *tuned);
void tsl_tuned_free(tsl_tuned *tuned);
/* Whether one is faster than the other by more than the doubt about both. */
bool tsl_tune_beats(const tsl_tune_result *challenger, const tsl_tune_result *incumbent);
/* Brings all times to the scale of the best's last measurement, so that its own is the same wherever it
 * stands. */
void tsl_tuned_rescale(tsl_tuned *tuned, int count);
/* Whether wisdom is to keep a point, the best of its strategy, and the seconds to keep: on the scale of the
 * winner's last measurement, and for all others 2% more than that or whatever they took. What was not faster
 * by more than the noise is not to be chosen for it later. */
bool tsl_tuned_is_record(const tsl_tuned *tuned, const tsl_space *space, int point, double *seconds);

/* --- on a device --- */

/* What a race says of an entry: its median, give or take 1.4 standard errors, so that two medians differ by
 * two of their difference. On processors, which other programs share, its fastest sample: that is what it can
 * do, and may be able to do better by half the way from the first quartile. */
tsl_tune_result tsl_tune_result_of(const tsl_race_entry *entry, const tsl_device *device);

/* The argument of tsl_tune_by_race(). Each point is verified by the judge (on a sample of its rows) before it
 * is timed. What takes several times as long as the limit is given up after a run, what is slower after three
 * samples. */
typedef struct tsl_tune_race {
  const tsl_problem *problem;
  tsl_device *device;
  double seconds_max; /* of a point's runs in a batch */
  double time_limit;  /* predictions and first runs beyond it are left out */
  uint64_t seed;
  bool (*stop)(void); /* ends a race, as tsl_race_options has it */
  double deadline;    /* likewise */
} tsl_tune_race;
tsl_tune_measure tsl_tune_by_race;

/* --- measurements that are kept --- */

/* A file of measurements, one a line: the result, the predicted seconds, and a record of wisdom:
 *
 *   right 0.0012 gemm tile_local version=1 tile=16 key=... seconds=0.0021 spread=0.004 date=...
 *
 * (of a point that is not right, `seconds` repeats the prediction). Whoever tunes adds whole lines; a last
 * one that was cut off by a kill is passed over. */
typedef struct tsl_tune_kept {
  tsl_wisdom_record record;
  tsl_case_result result;
  double predicted;
} tsl_tune_kept;

struct tsl_tune_cache {
  tsl_tune_kept *items;
  int count, capacity;
  int passed_over; /* lines that are no measurements, or stale */
  tsl_wisdom_record
      like; /* whose device, class and sizes are meant: the first item's, unless the caller sets it */
};

/* Reads a file; one that is not there is empty where `optional`. */
tesela_status tsl_tune_cache_read(const char *path, bool optional, tsl_tune_cache *cache);
void tsl_tune_cache_free(tsl_tune_cache *cache);
/* What was measured last of a config where it is meant; NULL: nothing. */
const tsl_tune_kept *tsl_tune_cache_find(const tsl_tune_cache *cache, const tsl_strategy *strategy,
                                         const tsl_config *config);
/* Adds a measurement's line to a file, in one write. */
tesela_status tsl_tune_cache_add(const char *path, const tsl_tune_kept *kept);
/* Adds the configs that were measured where it is meant to a space, each once. */
tesela_status tsl_tune_cache_space(const tsl_tune_cache *cache, tsl_space *space);
/* Measures by looking into a tsl_tune_cache, its argument. */
tsl_tune_measure tsl_tune_by_cache;

#endif
