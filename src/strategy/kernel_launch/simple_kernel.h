/* Host side of a gemm strategy with one portable kernel and one launch, for the rungs of the ladder. The
 * strategy NAME defines NAME_describe(), which returns a tsl_simple_kernel. TSL_SIMPLE_KERNEL(NAME, accuracy)
 * follows, with the accuracy of its sums by `problem` and `config`; its last parameter is RELAXED.
 * TSL_SIMPLE_KERNEL_MEMBERS(NAME) stands in its descriptor. NAME.cl in its folder has the kernel
 * tsl_gemm_NAME. */
#ifndef TSL_STRATEGY_SIMPLE_KERNEL_H
#define TSL_STRATEGY_SIMPLE_KERNEL_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

typedef struct tsl_simple_kernel {
  int columns, rows;   /* items of a group along a row and a column of C; 0 columns: an item has whole rows */
  int64_t local_bytes; /* local memory of a group */
  double efficiency;   /* fraction of a GPU's peak */
  double waits;        /* accesses of an item to memory one after the other, whose latency shows; 0: none */
  double a, b;         /* elements of A and B that all items load from global memory */
  double sums;         /* sums of an element, each added to C; 0: one */
  double computed;     /* multiply-adds with padding; 0: the problem's */
  tsl_moved local;     /* bytes from and to local memory */
  double barriers;     /* barriers of a group */
  bool loads_together; /* a group loads elements for all of its items, adjacent items adjacent ones */
  /* On processors, where the counts predict the time. Compilers compute `lanes` sums in a vector (0: one).
   * `gathers`: they load each lane on its own. `masks`: each addition chooses lanes, too. */
  double lanes;
  bool gathers, masks;
  double kept; /* bytes of a group's variables between barriers, or of an item's arrays */
  double walk; /* elements of a column of B that a sum reads; 0: k */
} tsl_simple_kernel;

const char *tsl_simple_kernel_refuse(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                     const tsl_device *device);
double tsl_simple_kernel_seconds(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                 const tsl_device *device);
void tsl_simple_kernel_account(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                               const tsl_device *device, tsl_cost_counts *account);
tesela_status tsl_simple_kernel_build(tsl_work *work, const tsl_simple_kernel *kernel);

#define TSL_SIMPLE_KERNEL(name, of_sums)                                                                     \
  static tsl_accuracy name##_accuracy(const tsl_problem *problem, const tsl_config *config) {                \
    return tsl_accuracy_relaxed(of_sums, problem, config->value[RELAXED] != 0);                              \
  }                                                                                                          \
  static const char *name##_refuse(const tsl_problem *problem, const tsl_config *config,                     \
                                   const tsl_device *device) {                                               \
    const tsl_simple_kernel kernel = name##_describe(problem, config, device);                               \
    return tsl_simple_kernel_refuse(&kernel, problem, device);                                               \
  }                                                                                                          \
  static double name##_score(const tsl_problem *problem, const tsl_config *config,                           \
                             const tsl_device *device) {                                                     \
    const tsl_simple_kernel kernel = name##_describe(problem, config, device);                               \
    return tsl_simple_kernel_seconds(&kernel, problem, device);                                              \
  }                                                                                                          \
  static void name##_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device, \
                             tsl_cost_counts *account) {                                                     \
    const tsl_simple_kernel kernel = name##_describe(problem, config, device);                               \
    tsl_simple_kernel_account(&kernel, problem, device, account);                                            \
  }                                                                                                          \
  static tesela_status name##_build(tsl_work *work) {                                                        \
    const tsl_simple_kernel kernel = name##_describe(&work->problem, &work->config, work->device);           \
    return tsl_simple_kernel_build(work, &kernel);                                                           \
  }
#define TSL_SIMPLE_KERNEL_MEMBERS(name)                                                                      \
  .op = TSL_OP_GEMM, .version = 1, .accuracy = name##_accuracy, .params = params, .refuse = name##_refuse,   \
  .score = name##_score, .build = name##_build, .run = tsl_launch_gemm, .release = tsl_launch_release,       \
  .resources = {.count_costs = name##_account}

#endif
