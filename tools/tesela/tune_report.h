/* What tesela tune was asked, what it found, and how that is printed. */
#ifndef TSL_TOOL_TUNE_REPORT_H
#define TSL_TOOL_TUNE_REPORT_H

#include "plan/tune.h"
#include "select.h"
#include "tool.h"

typedef struct tsl_tune_options {
  double budget;
  int64_t points, seed;
  tesela_type type;
  const char *device, *strategies, *search, *cache, *replay;
  bool transpose_a, transpose_b, dry_run, json;
  tsl_number beta;
} tsl_tune_options;

typedef struct tsl_tuning {
  tsl_problem problem;
  tsl_device *device; /* NULL: a replay */
  tsl_wisdom *wisdom;
  tsl_space space;
  const tsl_search *search;
  int start;
  tsl_tuned tuned; /* its best is right */
  const char *cache_path;
  char *wisdom_path; /* NULL: nothing was kept */
  tsl_wisdom_merged merged;
} tsl_tuning;

tesela_status tsl_tune_print(const tsl_call *call, const tsl_tuning *all);

#endif
