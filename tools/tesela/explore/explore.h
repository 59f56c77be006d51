/* Measures strategies x devices x types x sizes. tsl_exploration holds the results, from which
 * tables, JSON, CSV and pages are made. */
#ifndef TSL_TOOL_EXPLORE_EXPLORE_H
#define TSL_TOOL_EXPLORE_EXPLORE_H

#include "cli/progress.h"
#include "inventory/select.h"
#include "tune/race.h"

/* One point: a strategy with a config, on a device, for types and a size. The first four members
 * are indices into the exploration's lists. `entry` has the config that ran, the result, the
 * verdict, the timing, and the reason if there is no time. The config of explore is the user's,
 * completed by the strategy's model; the config of sweep is the swept one. */
typedef struct tsl_point {
  int type, size, strategy, device;
  tsl_race_entry entry;
  double flops, bytes; /* of one run: operations, and the minimum of bytes to move (tsl_problem_bytes) */
} tsl_point;

/* The parameters of a sweep. The exploration's strategies are all combinations for one strategy;
 * the last parameter changes fastest. */
typedef struct tsl_swept {
  int param; /* index into the strategy's table of parameters */
  int64_t values[TSL_SELECT_MAX];
  int count;
} tsl_swept;

typedef struct tsl_sweep {
  tsl_swept params[TSL_PARAMS_MAX];
  int count; /* 0: no sweep */
} tsl_sweep;

typedef struct tsl_exploration {
  tsl_op op;
  tsl_device_list devices;
  bool all_devices;    /* the user named no devices; the report then names the missing device kinds */
  bool all_strategies; /* the user named no strategies; a strategy without any result then gets no row */
  tsl_strategy_list strategies;
  tsl_type_list types;
  tsl_size_list sizes;
  tsl_numeric_requirements ask; /* requirements of every product */
  tsl_race_options options;
  tsl_sweep sweep;
  tsl_point *points; /* ordered by types, sizes, strategies, devices; allocated by malloc() */
  int point_count;
  tsl_race_report *races; /* ordered by types, sizes, devices; allocated by malloc() */
  char date[32];          /* the start time, UTC, ISO 8601 */
  /* at the start: over 1, 5 and 15 minutes; NaN where the system does not report it */
  double load_average[3];
  int threads; /* threads of the host */
} tsl_exploration;

/* Verifies and measures every point. */
tesela_status tsl_explore_run(tsl_exploration *all, tsl_devices *devices, tsl_progress *progress);
/* Returns true if an interrupt ended the exploration before all points were measured. */
bool tsl_explore_is_cut_short(const tsl_exploration *all);
/* Returns true if at least one point has a time. */
bool tsl_explore_has_times(const tsl_exploration *all);
void tsl_explore_free(tsl_exploration *all);

/* Returns the problem of a type and a size, both indices. */
tsl_problem tsl_explore_problem(const tsl_exploration *all, int type, int size);
const tsl_point *tsl_explore_at(const tsl_exploration *all, int type, int size, int strategy, int device);
const tsl_race_report *tsl_explore_race(const tsl_exploration *all, int type, int size, int device);

/* Returns the strategy that speed-ups are relative to: the operation's lowest rung on the cpu (of
 * gemm and dot: sequential). NULL for an operation without strategies. */
const tsl_strategy *tsl_explore_lowest(tsl_op op);
/* Returns true if runs are compared by bytes per second, because the operation is limited by
 * memory; false: by operations per second. */
bool tsl_explore_by_bytes(tsl_op op);
/* Return operations per second and bytes per second; NaN if nothing was measured, or the operation
 * counts none. */
double tsl_point_flops(const tsl_point *point);
double tsl_point_bandwidth(const tsl_point *point);
/* Returns the speed-up over the baseline; NaN if either was not measured. */
double tsl_point_speedup(const tsl_exploration *all, const tsl_point *point);
/* Appends a strategy, given by its index, as the user named it: "tile_local tile=16". */
void tsl_explore_add_strategy(const tsl_exploration *all, int strategy, tsl_text *out);
/* Returns "right", "wrong", "refused" or "failed". */
const char *tsl_case_result_name(tsl_case_result result);
const char *tsl_point_result(const tsl_point *point);
/* Fills date, load and threads. */
void tsl_explore_look_at_machine(tsl_exploration *all);

#endif
