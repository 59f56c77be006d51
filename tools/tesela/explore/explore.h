/* Measuring strategies x devices x types x sizes: what `tesela explore` and `tesela sweep` found, in one
 * struct, from which tables, JSON, CSV and pages are made. */
#ifndef TSL_TOOL_EXPLORE_EXPLORE_H
#define TSL_TOOL_EXPLORE_EXPLORE_H

#include "cli/progress.h"
#include "cli/select.h"
#include "tune/race.h"

/* One point: a strategy with a config, on a device, at a type and a size. The first four are indices into the
 * exploration's lists. In `entry` are the config that ran (explore: the user's, completed by the strategy's
 * own model; sweep: the one that is swept), the result, the verdict (grade, error_ratio), the timing and the
 * reason why there is none. */
typedef struct tsl_point {
  int type, size, strategy, device;
  tsl_race_entry entry;
  double flops, bytes; /* of one run: operations, and the fewest bytes that must move (tsl_problem_bytes) */
} tsl_point;

/* The parameters that a sweep walks through. The strategies of the exploration are its combinations, the last
 * parameter fastest, all of one strategy. */
typedef struct tsl_swept {
  int param; /* index into the strategy's table */
  int64_t values[TSL_SELECT_MAX];
  int count;
} tsl_swept;

typedef struct tsl_sweep {
  tsl_swept params[TSL_PARAMS_MAX];
  int count; /* 0: this is no sweep */
} tsl_sweep;

typedef struct tsl_exploration {
  tsl_op op;
  tsl_device_list devices;
  bool all_devices;    /* nobody chose: what is missing is worth a word */
  bool all_strategies; /* nobody chose: what can have no number here is no row */
  tsl_strategy_list strategies;
  tsl_type_list types;
  tsl_size_list sizes;
  tsl_numeric_requirements ask; /* of every product */
  tsl_race_options options;
  tsl_sweep sweep;
  tsl_point *points; /* types, then sizes, then strategies, then devices; from malloc() */
  int point_count;
  tsl_race_report *races; /* types, then sizes, then devices; from malloc() */
  /* The machine. */
  char date[32];          /* when it started, UTC, ISO 8601 */
  double load_average[3]; /* at that moment: 1, 5 and 15 minutes; NaN where it is not told */
  int threads;            /* of the host */
} tsl_exploration;

/* Verifies and measures every point. */
tesela_status tsl_explore_run(tsl_exploration *all, tsl_devices *devices, tsl_progress *progress);
/* Whether an interrupt ended it before all was measured. */
bool tsl_explore_is_cut_short(const tsl_exploration *all);
/* Whether anything was measured. */
bool tsl_explore_has_times(const tsl_exploration *all);
void tsl_explore_free(tsl_exploration *all);

/* The problem of a type and a size, which are indices. */
tsl_problem tsl_explore_problem(const tsl_exploration *all, int type, int size);
const tsl_point *tsl_explore_at(const tsl_exploration *all, int type, int size, int strategy, int device);
const tsl_race_report *tsl_explore_race(const tsl_exploration *all, int type, int size, int device);

/* What speed-ups are over: the lowest rung of the operation (of gemm and dot: sequential), on the cpu; NULL
 * for an operation without strategies. */
const tsl_strategy *tsl_explore_lowest(tsl_op op);
/* Its seconds at this type and size; NaN when it was not measured. */
double tsl_explore_baseline(const tsl_exploration *all, int type, int size);
/* What an operation's runs are compared by: bytes a second where it does little more than read them, else
 * operations. */
bool tsl_explore_by_bytes(tsl_op op);
/* Operations, and bytes, a second; NaN where nothing was measured, and where the operation has none. */
double tsl_point_flops(const tsl_point *point);
double tsl_point_bandwidth(const tsl_point *point);
/* Over the baseline; NaN where either was not measured. */
double tsl_point_speedup(const tsl_exploration *all, const tsl_point *point);
/* A strategy, which is an index, as the user named it: "tile_local tile=16". */
void tsl_explore_add_strategy(const tsl_exploration *all, int strategy, tsl_text *out);
/* "right", "wrong", "refused", "failed". */
const char *tsl_case_result_name(tsl_case_result result);
const char *tsl_point_result(const tsl_point *point);
/* Fills in date, load and threads. */
void tsl_explore_look_at_machine(tsl_exploration *all);

#endif
