/* Options and results of tesela tune, and their reports. */
#ifndef TSL_TOOL_TUNE_REPORT_H
#define TSL_TOOL_TUNE_REPORT_H

#include "cli/progress.h"
#include "cli/tool.h"
#include "core/status.h"
#include "inventory/select.h"
#include "tune/log.h"
#include "tune/tune.h"

typedef struct tsl_tune_options {
  double budget;
  int64_t points, seed;
  tesela_type type;
  const char *device, *strategies, *search, *cache, *replay, *from_log, *op;
  bool transpose_a, transpose_b, dry_run, json;
  tsl_option_number beta;
} tsl_tune_options;

typedef struct tsl_tuning {
  tsl_problem problem;
  double budget;
  tsl_device *device; /* NULL: a replay without a device */
  tsl_wisdom *wisdom;
  tsl_space space;
  const tsl_search *search;
  int start;
  int *known; /* indices of points that wisdom already knows */
  int known_count;
  tsl_tuned tuned; /* the search's result; its best config is verified */
  const char *cache_path;
  char *wisdom_path; /* the file of the record; NULL: nothing was saved */
  tsl_wisdom_merged merged;
  tsl_progress *progress;        /* the progress line during the search */
  double started;                /* the start time (tsl_clock()) */
  bool cut_short;                /* true: an interrupt ended the search */
  tesela_status kept;            /* the status of saving the record */
  tsl_status_saved why_not_kept; /* the message of `kept` */
} tsl_tuning;

tesela_status tsl_tune_read_problem(const tsl_command_call *call, tsl_problem *problem);

/* The result for one problem of a log. */
typedef struct tsl_tune_summary {
  bool tried; /* false: the budget was spent before */
  tesela_status status;
  char why[256]; /* the message of a failure */
  char best[192], device[128];
  double best_seconds, gain;
  int points;
} tsl_tune_summary;

void tsl_tune_summarise(const tsl_tuning *all, tsl_tune_summary *out);
/* Prints a table with one row for each problem of the log. */
tesela_status tsl_tune_print_log(const tsl_command_call *call, const tsl_call_log *log,
                                 const tsl_tune_summary *rows);
tesela_status tsl_tune_print(const tsl_command_call *call, const tsl_tuning *all);

#endif
