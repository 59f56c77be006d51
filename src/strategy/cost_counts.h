/* Costs of a run, counted before it runs, and the limit of the device that bounds the run. Each strategy
 * counts its own runs (resources.count_costs() of the descriptor). */
#ifndef TSL_STRATEGY_COST_COUNTS_H
#define TSL_STRATEGY_COST_COUNTS_H

#include "strategy/strategy.h"

#include <math.h>

/* Returns the number of steps of `step` that cover `value`. */
static inline double tsl_ceil_ratio(double value, double step) {
  return ceil(value / step);
}

typedef struct tsl_moved {
  double read, written; /* bytes */
} tsl_moved;

struct tsl_cost_counts {
  /* multiply-adds of the problem, and executed ones with padding and extra sums; transpose: elements */
  double useful, computed;
  /* bytes of loads and stores to operands and to their copies in scratch memory, cache hits included */
  tsl_moved global;
  /* bytes to and from local memory; on the host, to and from copies and tiles in a core's own caches */
  tsl_moved local;
  double memory;  /* bytes of DRAM: each element once, plus the repeated reads that the model predicts */
  tsl_grid grid;  /* grid of the largest launch; no groups: a strategy of the host */
  double items;   /* work-items of that launch */
  double wasted;  /* work-items without an element of the result */
  int per_unit;   /* groups that fit on a compute unit at once */
  double workers; /* compute units, or threads, that have work */
  const char *filled_by; /* what limits `per_unit`: "work-items", "local memory", "groups"; NULL: no groups */
  int launches;          /* kernel launches of a run; 0 on the host */
  /* Causes of waiting. 0: not counted. */
  /* bytes of memory segments that the accesses of warps touch, and need at least; on processors, bytes of
   * cache lines that loads bring into the first level, and of the loads */
  double touched, needed;
  double line_clocks; /* processors: clocks that one of the touched cache lines takes; 0: as from level 2 */
  double sums; /* independent sums of an item, or of a thread on a processor with each vector's lanes */
  double addition_clocks; /* clocks from one addition of a sum to the next; 0: as of a multiply-add */
  double loads;           /* load instructions of all items or threads, of an element or a vector each */
  double load_clocks;     /* processors: clocks of a load instruction; 0: as from the first level */
  double waits;           /* accesses of an item to memory, each after the previous one */
  double barriers;        /* barriers of all groups */
  double rate; /* peak operations per second, where it differs from the device's multiply-add peak; else 0 */
};

/* Bounds of a run. X(NAME, name) */
#define TSL_BOUND_LIST(X)                                                                                    \
  X(ARITHMETIC, arithmetic)         /* multiply-adds */                                                      \
  X(GLOBAL, global memory)          /* loads and stores of global memory, cached or not */                   \
  X(LOCAL, local memory)            /* loads and stores of local memory, or of a core's own caches */        \
  X(ADDITIONS, dependent additions) /* each waits for the previous one of its sum */                         \
  X(LOADS, single loads)            /* load instructions, of one element where a vector would do */          \
  X(LINES, uncoalesced lines)       /* segments or cache lines of memory of which little is used */          \
  X(FLIGHT, items in flight)        /* too few work-items to hide waits for memory */                        \
  X(BARRIERS, barriers)             /* work-items that wait for their group */                               \
  X(LAUNCH, launch)                 /* starting kernels */

typedef enum tsl_bound {
#define TSL_BOUND_MEMBER(name, text) TSL_BOUND_##name,
  TSL_BOUND_LIST(TSL_BOUND_MEMBER)
#undef TSL_BOUND_MEMBER
      TSL_BOUND_COUNT
} tsl_bound;
const char *tsl_bound_name(tsl_bound bound);

/* Seconds that each limit takes alone, from counts and the device's data, without the strategy's model. */
typedef struct tsl_bounds {
  double seconds[TSL_BOUND_COUNT];
  tsl_bound first; /* the limit that takes longest */
} tsl_bounds;

/* Counts a run of a config that the strategy accepts. Returns false where the strategy cannot tell. */
bool tsl_cost_counts_get(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                         const tsl_device *device, tsl_cost_counts *account);
/* Computes the seconds of each limit from the counts of a run. The config must not be refused. */
tsl_bounds tsl_cost_counts_bounds(const tsl_problem *problem, const tsl_device *device,
                                  const tsl_cost_counts *account);
/* Predicts the seconds of a kernel on a processor from its counts alone: the longest limit, and a quarter of
 * the others. These overlap with it in part. */
double tsl_cost_counts_seconds(const tsl_problem *problem, const tsl_device *device,
                               const tsl_cost_counts *account);
/* Returns operations per byte of global traffic: the roofline's arithmetic intensity. */
double tsl_cost_counts_intensity(const tsl_problem *problem, const tsl_cost_counts *account);
/* Elements of A and B loaded per multiply-add of the problem, from global and from local memory. */
typedef struct tsl_words {
  double global, local;
} tsl_words;
tsl_words tsl_cost_counts_words(const tsl_problem *problem, const tsl_cost_counts *account);

/* Sets the launch of the account: a grid over `columns` x `rows` parts of the result, one item a part. Items
 * and `local_bytes` of a group determine the groups that fit on a compute unit. */
void tsl_cost_counts_grid(const tsl_grid *grid, int64_t columns, int64_t rows, int64_t local_bytes,
                          const tsl_device *device, tsl_cost_counts *account);
/* Sets the launch of the account: `groups` groups of `items` items, of which `needed` in all have work.
 * `local_bytes` is the local memory of a group. */
void tsl_cost_counts_groups(double groups, int items, double needed, int64_t local_bytes,
                            const tsl_device *device, tsl_cost_counts *account);
/* Counts `times` writes of C and as many reads, less one where beta is 0. */
void tsl_cost_counts_result(const tsl_problem *problem, double times, tsl_cost_counts *account);
/* Adds loads of `a` elements of A and `b` elements of B from global memory. */
void tsl_cost_counts_operands(const tsl_problem *problem, double a, double b, tsl_cost_counts *account);
/* Adds `loads` accesses of single items to an operand. In each, a warp of the account's grid spans `rows`
 * rows and `columns` columns of the operand. Not on processors, whose items run one after the other. */
void tsl_cost_counts_access(const tsl_shape *shape, double loads, double rows, double columns,
                            const tsl_device *device, tsl_cost_counts *account);
/* Adds `loads` of a processor, one by one along `length` elements that are `stride` elements apart. A load
 * touches a whole cache line, unless the lines stay in a first-level cache until the next elements follow.
 * Lines that leave the second level, too, take longer. */
void tsl_cost_counts_walk(const tsl_shape *shape, double loads, double length, int64_t stride,
                          const tsl_device *device, tsl_cost_counts *account);
/* Returns the clocks that the touched lines of a processor take; 0: all lines are used whole. */
double tsl_cost_counts_line_clocks(const tsl_cost_counts *account);
/* Returns the fraction of an operand of `bytes` bytes that caches do not keep: a half at 2 MB. */
double tsl_cost_counts_uncached(double bytes);
/* Adds a copy of `bytes` bytes: one read, one write, and one launch on devices with launches. */
void tsl_cost_counts_copies(double bytes, tsl_cost_counts *account);
/* Counts register tiles of C on the host. Each step loads a column of `height` elements and a row of `width`
 * elements from caches or packed copies, whose lines are used whole. */
void tsl_cost_counts_tiles(const tsl_problem *problem, double height, double width, tsl_cost_counts *account);

/* Operations per clock and unit of 16-bit matrix instructions of a warpgroup, four warps or one warp. */
typedef struct tsl_matrix_unit_rates {
  double warpgroup, group, warp;
} tsl_matrix_unit_rates;
/* Returns the operations per second of the device's matrix units: by one of `rates`, by 0.6 of a known
 * 16-bit rate, or half of the f32 peak. */
double tsl_cost_counts_matrix_unit_rate(const tsl_device *device, tsl_matrix_unit_rates rates);

#endif
