/* The race: strategies with their configs, on one problem and one device, timed so that their times can be
 * compared.
 *
 *  1. Each entry is verified first (tsl_check_case): what is refused, fails or is wrong is never timed. One
 * that is predicted, or found, to take longer than the caller's time limit is left out.
 *  2. Operands are standard normal and lie on the device. They are rotated: there are so many sets of them
 * that together they take twice the last cache, and each run takes the next set, whichever entry it is, so
 * that no run finds its operands in a cache. All entries share the sets.
 *  3. The first run of each entry is not counted: one more, or where a run takes long, the one that verified
 * it. Runs that are shorter than a millisecond are timed several together.
 *  4. Rounds: each entry that is still in the race gives one sample a round, in an order that is shuffled
 * each time, so that what the machine does meanwhile (clocks, heat, neighbours) hits all alike. An entry is
 * done when its median stands still (interquartile range over median within the noise goal), or its time is
 * over. A round in which every entry was much slower than its own median says nothing of the entries: it is
 * thrown away, and counted.
 *
 * Times are of the compute phase, by the device's clock. */
#ifndef TSL_TUNE_RACE_H
#define TSL_TUNE_RACE_H

#include "base/kinds.h"
#include "tune/race_entry.h"

typedef struct tsl_race_options {
  int samples_min;    /* samples that make a median; 0: 5 */
  int samples_max;    /* 0: 100 */
  double seconds_max; /* of an entry's runs; three samples are taken in any case; 0: 1 */
  double noise;       /* goal for the interquartile range over the median; 0: 0.02 */
  double time_limit;  /* seconds; what takes longer for one run is left out; 0: nothing is */
  double limit;       /* seconds; what is slower in each of three samples is timed no further, and what takes
                         several       times as long for its first run is left out; 0: none */
  int64_t operations_max; /* of the judge, as tsl_judge has it */
  bool warm;              /* one set of operands, which stays in the caches where it fits */
  uint64_t seed;          /* of the data and of the order */
  tsl_kind data;          /* numbers of A; zero: normal ones */
  /* Where the race is: a few words, and how much of it is done, 0 to 1. May be NULL. */
  void (*progress)(void *argument, const char *what, double fraction);
  void *argument;
  /* Asked between runs: true ends the race. What has too few samples by then is refused with
   * tsl_race_cut_short. NULL: never. */
  bool (*stop)(void);
  double deadline; /* by tsl_clock(): ends it likewise; 0: none */
} tsl_race_options;

/* Why an entry was not measured in a race that was stopped. */
extern const char tsl_race_cut_short[];

/* How it went, for the record. */
typedef struct tsl_race_report {
  int sets;           /* of operands; 0: nothing was timed */
  uint64_t set_bytes; /* of one set */
  bool cold;          /* the sets together are at least twice the device's last cache */
  int rounds, discarded;
  double seconds;                        /* of all of it */
  int clock_mhz_before, clock_mhz_after; /* the device's clock around the rounds; 0: not told */
  char clock_why[192];                   /* why not */
} tsl_race_report;

/* Runs the race; `report` may be NULL. An entry whose result is set to TSL_CASE_REFUSED before, with its
 * reason, stays as it is. A failure of the device is its entry's result; the race itself fails only where the
 * host lacks memory, or with TESELA_BAD_CALL for a problem that is none. */
tesela_status tsl_race_run(const tsl_problem *problem, tsl_device *device, const tsl_race_options *options,
                           tsl_race_entry *const *entries, int count, tsl_race_report *report);

#endif
