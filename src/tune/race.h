/* Race: comparable timing of strategies with their configs, on one problem and one device.
 *
 *  1. Each entry is verified first (tsl_check_case). A refused, failed or wrong entry is never timed. An
 *     entry whose run exceeds the time limit, by prediction or measurement, is left out.
 *  2. Operands are standard normal and lie on the device. There are so many sets that together they take
 *     twice the last cache. Each run takes the next set, so that no run finds its operands in a cache. All
 *     entries share the sets.
 *  3. The first run of each entry is not counted; for long runs the verified run serves as the first one.
 *     Runs shorter than a millisecond are timed in batches.
 *  4. In each round every running entry gives one sample, in shuffled order, so that disturbances (clocks,
 *     heat, other programs) hit all entries alike. An entry is done when its median is stable (interquartile
 *     range over median within the noise goal), or its time is over. A round in which every entry was much
 *     slower than its median is discarded and counted.
 *
 * Times are of the compute phase, by the device's clock. */
#ifndef TSL_TUNE_RACE_H
#define TSL_TUNE_RACE_H

#include "base/kinds.h"
#include "tune/race_entry.h"

typedef struct tsl_race_options {
  int samples_min;    /* minimum samples of a median; 0: 5 */
  int samples_max;    /* maximum samples; 0: 100 */
  double seconds_max; /* limit of an entry's runs; three samples are taken in any case; 0: 1 */
  double noise;       /* goal for the interquartile range over the median; 0: 0.02 */
  double time_limit;  /* seconds; an entry with longer runs is left out; 0: no limit */
  /* seconds; an entry slower in three samples is timed no further; an entry whose first run takes
   * four times as long is left out; 0: no limit */
  double limit;
  int64_t operations_max; /* limit of the verification's operations (tsl_judge) */
  bool warm;              /* use one set of operands, which stays in the caches if it fits */
  uint64_t seed;          /* seed of the data and of the order */
  tsl_kind data;          /* kind of A's numbers; zero: normal */
  /* Reports progress: a few words and the fraction done, 0 to 1. May be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *argument;
  /* Polled between runs; true ends the race. Entries with too few samples are then refused with
   * tsl_race_cut_short. NULL: never. */
  bool (*stop)(void);
  double deadline; /* time by tsl_clock() that ends the race in this way; 0: none */
} tsl_race_options;

/* Reason of an entry that was not measured because the race was stopped. */
extern const char tsl_race_cut_short[];

typedef struct tsl_race_report {
  int sets; /* sets of operands; 0: nothing was timed */
  uint64_t set_bytes;
  bool cold; /* the sets together are at least twice the device's last cache */
  int rounds, discarded;
  double seconds;                        /* duration of the whole race */
  int clock_mhz_before, clock_mhz_after; /* device clock before and after the rounds; 0: unknown */
  char clock_why[192];                   /* reason of an unknown clock */
} tsl_race_report;

/* Runs the race; `report` may be NULL. An entry that already is TSL_CASE_REFUSED is skipped. A
 * device failure is the entry's result. The race itself fails only without host memory, or with
 * TESELA_BAD_CALL for an invalid problem. */
tesela_status tsl_race_run(const tsl_problem *problem, tsl_device *device, const tsl_race_options *options,
                           tsl_race_entry *const *entries, int count, tsl_race_report *report);

#endif
