/* Pairs of a strategy and a device under check: counts, largest errors, and faults with the way to
 * reproduce them. */
#ifndef TSL_TOOL_CHECK_LIST_H
#define TSL_TOOL_CHECK_LIST_H

#include "inventory/select.h"
#include "judge/check.h"

#define TSL_CHECK_FAULTS_MAX 10

/* A strategy on a device. */
typedef struct tsl_check_pair {
  const tsl_chosen_strategy *chosen;
  tsl_device *device;
  char missing[64]; /* the missing capability that excludes the pair; else "" */
  int64_t right, wrong, refused, failed;
  int64_t computed;          /* right results of cases in which there was something to compute */
  double grade, error_ratio; /* the largest of all cases */
  char refusal[192];         /* the first refusal */
} tsl_check_pair;

/* A wrong result or a failed run. */
typedef struct tsl_check_fault {
  bool failed;
  char config[128], device[128], why[512], problem[512], command[384];
} tsl_check_fault;

typedef struct tsl_check_list {
  tsl_device_list devices;
  tsl_strategy_list strategies;
  tsl_check_pair *pairs;
  int pair_count;
  tsl_check_fault faults[TSL_CHECK_FAULTS_MAX]; /* the first faults */
  int fault_count;
  /* the time (tsl_clock()) after which no config starts, since compiling may take seconds;
   * INFINITY: no limit */
  double end;
  bool over; /* true: a config was left out because of `end` */
} tsl_check_list;

/* A case and its origin. */
typedef struct tsl_check_entry {
  tsl_case what;
  tsl_types types;
  bool random;
  int64_t index;
  uint64_t seed;
} tsl_check_entry;

/* Makes the pairs of all strategies with list->devices. */
tesela_status tsl_check_list_start(tsl_check_list *list, const tsl_strategy_list *strategies);
void tsl_check_list_free(tsl_check_list *list);
/* Runs a case on one pair, with the first config that is not refused. */
tesela_status tsl_check_list_try(tsl_check_list *list, tsl_check_pair *pair, const tsl_check_entry *entry);
/* Returns true if the pair can run and its strategy takes the case's operation and types. */
bool tsl_check_takes(const tsl_check_pair *pair, const tsl_check_entry *entry);
/* Returns the number of pairs that could have run but computed nothing before the end. */
int tsl_check_list_untried(const tsl_check_list *list);
bool tsl_check_is_untried(const tsl_check_list *list, const tsl_check_pair *pair);
/* Runs a case with every chosen config on every pair whose strategy has the case's operation and
 * takes its types. */
tesela_status tsl_check_list_run(tsl_check_list *list, const tsl_check_entry *entry);
/* Returns the sum of the counts of all pairs. */
tsl_check_pair tsl_check_list_sum(const tsl_check_list *list);

#endif
