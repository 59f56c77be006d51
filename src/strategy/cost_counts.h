/* What a run costs, counted before it runs: numbers that move at each level, work at the edges that is done
 * for nothing, groups and items; and which of a device's limits that meets first. Each strategy counts for
 * itself (its descriptor's account()); explain, reports and pages show it. */
#ifndef TSL_STRATEGY_COST_COUNTS_H
#define TSL_STRATEGY_COST_COUNTS_H

#include "strategy/strategy.h"

/* Bytes. */
typedef struct tsl_moved {
  double read, written;
} tsl_moved;

struct tsl_cost_counts {
  /* Multiply-adds of the problem, and those that are done, zeros at the edges and beside sums included; of a
   * transpose, elements. */
  double useful, computed;
  /* What loads and stores ask for where the operands lie, and in copies of them that were made in scratch
   * memory, whatever caches answer. */
  tsl_moved global;
  /* The same of what a group keeps near its items: local memory; on the host, copies and tiles that stay in a
   * core's caches. */
  tsl_moved local;
  double memory;  /* bytes that memory itself moves: each element once, and what the model says comes again */
  tsl_grid grid;  /* of the launch that does most; no groups: a strategy of the host */
  double items;   /* work-items of that launch */
  double wasted;  /* those of them that have nothing of the result */
  int per_unit;   /* groups that find room on a compute unit at once */
  double workers; /* compute units, or threads, that have work */
  int launches;
  double rate; /* operations a second of all units, where these are not the device's multiply-adds; else 0 */
};

/* What bounds a run. X(NAME, name, what) */
#define TSL_BOUND_LIST(X)                                                                                    \
  X(ARITHMETIC, arithmetic, "multiply-adds")                                                                 \
  X(GLOBAL, global memory, "numbers from global memory, or from caches that answer for it")                  \
  X(LOCAL, local memory, "numbers from local memory, or from a core's own caches")                           \
  X(LATENCY, latency, "waits for numbers, for one another, or for the sum before")                           \
  X(LAUNCH, launch, "starting kernels")

typedef enum tsl_bound {
#define TSL_BOUND_MEMBER(name, text, what) TSL_BOUND_##name,
  TSL_BOUND_LIST(TSL_BOUND_MEMBER)
#undef TSL_BOUND_MEMBER
      TSL_BOUND_COUNT
} tsl_bound;
const char *tsl_bound_name(tsl_bound bound);
const char *tsl_bound_what(tsl_bound bound);

/* Seconds that each limit takes by itself. Waiting is what the strategy's model predicts beyond the longest
 * of the others. */
typedef struct tsl_bounds {
  double seconds[TSL_BOUND_COUNT];
  tsl_bound first; /* the one that takes longest */
} tsl_bounds;

/* Counts a run of a strategy that takes the problem with this config there. False where it does not tell:
 * vendors'. */
bool tsl_cost_counts_get(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                         const tsl_device *device, tsl_cost_counts *account);
tsl_bounds tsl_cost_counts_bounds(const tsl_strategy *strategy, const tsl_problem *problem,
                                  const tsl_config *config, const tsl_device *device,
                                  const tsl_cost_counts *account);
/* Operations for each byte that is asked for where the operands lie: what moves to the right as a ladder is
 * climbed. */
double tsl_cost_counts_intensity(const tsl_problem *problem, const tsl_cost_counts *account);
/* Elements of A and B that are asked for there, and near the items, for each multiply-add of the problem. */
typedef struct tsl_words {
  double global, local;
} tsl_words;
tsl_words tsl_cost_counts_words(const tsl_problem *problem, const tsl_cost_counts *account);

/* --- for descriptors --- */

/* Work-groups of a grid over `columns` x `rows` pieces of the result, one for each item along dimensions 0
 * and 1: groups, items and those wasted; `local_bytes` of a group decide with the items how many find room on
 * a unit. */
void tsl_cost_counts_grid(const tsl_grid *grid, int64_t columns, int64_t rows, int64_t local_bytes,
                          const tsl_device *device, tsl_cost_counts *account);
/* So many groups of so many items in a line, of which `needed` in all have something of the result. */
void tsl_cost_counts_groups(double groups, int items, double needed, int64_t local_bytes,
                            const tsl_device *device, tsl_cost_counts *account);
/* C is read where beta is not 0, and written, `times` times in all. */
void tsl_cost_counts_result(const tsl_problem *problem, double times, tsl_cost_counts *account);
/* So many elements of A, and of B, are asked for. */
void tsl_cost_counts_operands(const tsl_problem *problem, double a, double b, tsl_cost_counts *account);
/* Copies of so many bytes: read where they lie and written, in a launch of their own where there are
 * launches. */
void tsl_cost_counts_copies(double bytes, tsl_cost_counts *account);
/* Tiles of C in vector registers on the host: each multiply-add's numbers come from caches or copies near the
 * core, a column of `height` rows and a row of `width` columns for each step. */
void tsl_cost_counts_tiles(const tsl_problem *problem, double height, double width, tsl_cost_counts *account);

/* Operations of matrix instructions for 16 bits of a unit in a clock, as engines have them: by warpgroups, by
 * four warps, by one. */
typedef struct tsl_engine_rates {
  double warpgroup, group, warp;
} tsl_engine_rates;
/* Operations in a second of the engine that a device has for such products; where it has none, what its units
 * for f32 reach. */
double tsl_cost_counts_engine_rate(const tsl_device *device, tsl_engine_rates rates);

#endif
