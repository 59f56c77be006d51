/* Race: comparable timing of strategies with their configs, on one problem and one device.
 *
 *  1. Each entry is verified first (tsl_check_case); only right ones are timed. An entry above the
 *     time limit, by prediction or measurement, is left out.
 *  2. Operands are standard normal and on the device, in so many sets that they take twice the last cache.
 *     Each run takes the next set, so that it finds nothing in a cache. All entries share the sets.
 *  3. The first run of each entry is not counted; for long runs the verified run is the first one. Runs
 *     shorter than a millisecond are timed in batches.
 *  4. In each round every running entry gives one sample, in shuffled order, so that disturbances hit all
 *     alike. An entry ends with a stable median (by the noise goal), or at its limit. Rounds in which all
 *     entries were much slower are discarded and counted.
 *
 * Times are of the compute phase, by the device's clock. */
#ifndef TSL_TUNE_RACE_H
#define TSL_TUNE_RACE_H

#include "core/kinds.h"
#include "tune/race_entry.h"

typedef struct tsl_race_options {
  int samples_min;    /* minimum samples of a median; 0: 5 */
  int samples_max;    /* maximum samples; 0: 100 */
  double seconds_max; /* limit of an entry's runs in seconds, after three samples; 0: 1 */
  double noise;       /* goal for the interquartile range over the median; 0: 0.02 */
  double time_limit;  /* seconds of a run above which an entry is left out; 0: none */
  /* Seconds; an entry slower in three samples, or four times slower in its first run, ends; 0: none. */
  double limit;
  int64_t operations_max; /* limit of the verification's operations (tsl_judge) */
  bool hardware;          /* count hardware events of one more batch of each entry, on processors */
  bool warm;              /* one set of operands, which stays in the caches if it fits */
  uint64_t seed;          /* seed of the data and the order */
  tsl_kind data;          /* kind of A's numbers; zero: normal */
  /* Reports a few words and the fraction done, 0 to 1. May be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *argument;
  /* Polled between runs; true refuses entries with few samples (tsl_race_cut_short). May be NULL. */
  bool (*stop)(void);
  double deadline; /* time by tsl_clock() at which the race ends as by stop(); 0: none */
} tsl_race_options;

/* Reason of an entry without a measurement in a stopped race. */
extern const char tsl_race_cut_short[];

typedef struct tsl_race_report {
  int sets; /* sets of operands; 0: nothing was timed */
  uint64_t set_bytes;
  bool cold; /* all sets are at least twice the last cache */
  int rounds, discarded;
  double seconds;                        /* duration of the race */
  int clock_mhz_before, clock_mhz_after; /* device clock around the rounds; 0: unknown */
  char clock_why[192];                   /* reason of an unknown clock */
  char hardware_why[128]; /* reason of missing hardware counts; "": counted, or not asked for */
} tsl_race_report;

/* Runs the race; `report` may be NULL. Skips entries that are TSL_CASE_REFUSED. A device's failure is the
 * entry's result. Fails only without host memory, or with TESELA_BAD_CALL for an invalid problem. */
tesela_status tsl_race_run(const tsl_problem *problem, tsl_device *device, const tsl_race_options *options,
                           tsl_race_entry *const *entries, int count, tsl_race_report *report);

#endif
