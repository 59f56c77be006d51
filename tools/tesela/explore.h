/* Measuring strategies x devices x types x sizes. */
#ifndef TSL_TOOL_EXPLORE_H
#define TSL_TOOL_EXPLORE_H

#include "plan/check.h"
#include "progress.h"
#include "select.h"

/* One entry; the first four are indices into the exploration's lists. */
typedef struct tsl_point {
  int type, size, strategy, device;
  tsl_config config;
  tsl_case_result result;
  tsl_verdict verdict;
  tsl_measurement timing; /* NaN where nothing was measured */
  double flops;           /* operations of one run */
  char why[256];          /* where it is not right */
  char plan[512];
} tsl_point;

typedef struct tsl_exploration {
  tsl_device_list devices;
  tsl_strategy_list strategies;
  tsl_type_list types;
  tsl_size_list sizes;
  tsl_measure_options options;
  double patience;   /* seconds that one run may be predicted to take */
  tsl_point *points; /* types, then sizes, then strategies, then devices; from malloc() */
  int point_count;
  char date[32]; /* when it started, UTC, ISO 8601 */
} tsl_exploration;

/* Verifies and measures every point. */
tesela_status tsl_explore_run(tsl_exploration *all, tsl_devices *devices, tsl_progress *progress);
const tsl_point *tsl_explore_at(const tsl_exploration *all, int type, int size, int strategy, int device);
/* Seconds of `sequential` on the cpu at this type and size; NaN when it was not measured. */
double tsl_explore_baseline(const tsl_exploration *all, int type, int size);
/* Operations a second; NaN where nothing was measured. */
double tsl_point_flops(const tsl_point *point);

#endif
