/* What tesela tune was asked, what it found, and how that is printed. */
#ifndef TSL_TOOL_TUNE_REPORT_H
#define TSL_TOOL_TUNE_REPORT_H

#include "base/status.h"
#include "cli/progress.h"
#include "cli/select.h"
#include "cli/tool.h"
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
  tsl_device *device; /* NULL: a replay */
  tsl_wisdom *wisdom;
  tsl_space space;
  const tsl_search *search;
  int start;
  int *known; /* points that wisdom knows */
  int known_count;
  tsl_tuned tuned; /* its best is right */
  const char *cache_path;
  char *wisdom_path; /* NULL: nothing was kept */
  tsl_wisdom_merged merged;
  tsl_progress *progress;        /* of the search, while it runs */
  double started;                /* when it began, by tsl_clock() */
  bool cut_short;                /* an interrupt ended the search */
  tesela_status kept;            /* what became of keeping it */
  tsl_status_saved why_not_kept; /* its sentence */
} tsl_tuning;

tesela_status tsl_tune_read_problem(const tsl_call *call, tsl_problem *problem);

/* What came of one problem of a log. */
typedef struct tsl_tune_summary {
  bool tried; /* else the budget was over */
  tesela_status status;
  char why[256]; /* of a failure */
  char best[192], device[128];
  double best_seconds, gain;
  int points;
} tsl_tune_summary;

void tsl_tune_summarise(const tsl_tuning *all, tsl_tune_summary *out);
/* One row for each of the log's problems. */
tesela_status tsl_tune_print_log(const tsl_call *call, const tsl_call_log *log, const tsl_tune_summary *rows);
tesela_status tsl_tune_print(const tsl_call *call, const tsl_tuning *all);

#endif
