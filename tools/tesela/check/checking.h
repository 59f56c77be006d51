/* The state of one call of tesela check: options, progress and results. */
#ifndef TSL_TOOL_CHECK_CHECKING_H
#define TSL_TOOL_CHECK_CHECKING_H

#include "check/list.h"
#include "cli/progress.h"
#include "cli/tool.h"

typedef struct tsl_check_options {
  const char *strategies, *devices, *types, *only;
  int64_t seed, cases, threads;
  double budget, soak;
  bool json, peers;
} tsl_check_options;

enum { TSL_CHECK_TYPES_MAX = 64 };

typedef struct tsl_checking {
  const tsl_check_options *given;
  tsl_check_list list;
  tsl_numeric_requirements ask;         /* TESELA_ACCURACY and TESELA_BITS */
  tsl_types types[TSL_CHECK_TYPES_MAX]; /* types that the user named and that a strategy takes */
  int type_count;
  bool ops[TSL_OP_COUNT]; /* operations that a strategy has */
  tsl_progress *progress;
  double start, end; /* times by tsl_clock(); no case starts after `end` */
  int64_t standard_done, standard_count, random_done;
  int counts[TSL_OP_COUNT]; /* numbers of standard cases */
} tsl_checking;

/* Sets the types and operations of the cases. */
tesela_status tsl_checking_choose(tsl_checking *job, const tsl_strategy_list *strategies);
/* Runs all requested cases, until the time is over. */
tesela_status tsl_checking_run(tsl_checking *job);

/* tsl_checking_text() prints the report as text, tsl_checking_json() as JSON. */
tesela_status tsl_checking_text(const tsl_checking *job);
tesela_status tsl_checking_json(const tsl_command_call *call, const tsl_checking *job);

#endif
