/* Strategies x devices under check: counts, worst errors, and what was wrong, with the way to see it again.
 */
#ifndef TSL_TOOL_CHECK_LIST_H
#define TSL_TOOL_CHECK_LIST_H

#include "cli/select.h"
#include "judge/check.h"

#define TSL_CHECK_FAULTS_MAX 10

/* A strategy on a device. */
typedef struct tsl_check_pair {
  const tsl_chosen_strategy *chosen;
  tsl_device *device;
  char missing[64]; /* the capability that rules the pair out; else "" */
  int64_t right, wrong, refused, failed;
  int64_t computed;          /* right ones among them of which there was something to compute */
  double grade, error_ratio; /* the worst */
  char refusal[192];         /* the first */
} tsl_check_pair;

/* A result that was wrong, or a run that failed. */
typedef struct tsl_check_fault {
  bool failed;
  char config[128], device[128], why[512], problem[512], command[384];
} tsl_check_fault;

typedef struct tsl_check_list {
  tsl_device_list devices;
  tsl_strategy_list strategies;
  tsl_check_pair *pairs;
  int pair_count;
  tsl_check_fault faults[TSL_CHECK_FAULTS_MAX]; /* the first ones */
  int fault_count;
  double end; /* by tsl_clock(): no config is started, which may compile for seconds, after this; INFINITY:
                 never */
  bool over;  /* one was left out for that */
} tsl_check_list;

/* A case, and where it comes from. */
typedef struct tsl_check_entry {
  tsl_case what;
  tsl_types types;
  bool random;
  int64_t index;
  uint64_t seed;
} tsl_check_entry;

/* Pairs of all strategies with list->devices. */
tesela_status tsl_check_list_start(tsl_check_list *list, const tsl_strategy_list *strategies);
void tsl_check_list_free(tsl_check_list *list);
/* Whether there is something to compute: not an empty product, nor one of nothing. */
bool tsl_check_computes(const tsl_problem *problem);
/* Runs a case on one pair, with the first config that is not refused. */
tesela_status tsl_check_list_try(tsl_check_list *list, tsl_check_pair *pair, const tsl_check_entry *entry);
/* Whether a case with these types is one of the pair's. */
bool tsl_check_takes(const tsl_check_pair *pair, const tsl_check_entry *entry);
/* Pairs that could have run, but did not get to compute anything before the end. */
int tsl_check_list_untried(const tsl_check_list *list);
bool tsl_check_is_untried(const tsl_check_list *list, const tsl_check_pair *pair);
/* Runs a case on every pair whose strategy has the case's operation and takes its types, with every config
 * that was chosen. */
tesela_status tsl_check_list_run(tsl_check_list *list, const tsl_check_entry *entry);
/* The counts of all pairs together. */
tsl_check_pair tsl_check_list_sum(const tsl_check_list *list);

#endif
