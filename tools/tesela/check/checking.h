/* One call of tesela check: what is asked for, how far it is, and what is told of it. */
#ifndef TSL_TOOL_CHECK_CHECKING_H
#define TSL_TOOL_CHECK_CHECKING_H

#include "check/list.h"
#include "cli/progress.h"
#include "cli/tool.h"

typedef struct tsl_check_options {
  const char *strategies, *devices, *types, *only;
  int64_t seed, cases, threads;
  double budget;
  bool json, peers;
} tsl_check_options;

enum { TSL_CHECK_TYPES_MAX = 64 };

typedef struct tsl_checking {
  const tsl_check_options *given;
  tsl_check_list list;
  tsl_types types[TSL_CHECK_TYPES_MAX]; /* that some strategy takes and the user wants */
  int type_count;
  bool ops[TSL_OP_COUNT]; /* that some strategy has */
  tsl_progress *progress;
  double start, end; /* by tsl_clock(); end: start no case later */
  int64_t standard_done, standard_count, random_done;
  int counts[TSL_OP_COUNT]; /* of standard cases */
} tsl_checking;

/* The types and operations of the cases. */
tesela_status tsl_checking_choose(tsl_checking *job, const tsl_strategy_list *strategies);
/* All cases that are asked for, until time is over. */
tesela_status tsl_checking_run(tsl_checking *job);

/* The report, as text or as JSON of `call`. */
tesela_status tsl_checking_text(const tsl_checking *job);
tesela_status tsl_checking_json(const tsl_call *call, const tsl_checking *job);

#endif
