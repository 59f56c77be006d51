/* Sub-plans: plans for parts of a product, for strategies that split their product (strategy.h: splits). A
 * strategy does not depend on the planner; it gets this table. The planner chooses sub-plans (make, seconds),
 * plans run them. The strategy that made a sub-plan owns it. Any number of threads may run one sub-plan. */
#ifndef TSL_STRATEGY_SUBPLANS_H
#define TSL_STRATEGY_SUBPLANS_H

#include "strategy/strategy.h"

typedef struct tsl_plan tsl_subplan; /* a plan (plan/plan.h), opaque to strategies */

typedef struct tsl_subplan_request {
  const tsl_problem *problem;
  tsl_device *device;
  bool in_buffers; /* operands are on the device; false: in host memory */
  /* maximum bytes of device memory that a run may need in addition to its operands */
  uint64_t workspace_most;
  tsl_accuracy most; /* accuracy limits: the factor, and `flush_threshold` (strategy.h) */
  bool skips;        /* runs may turn out to be unneeded, and must then exit at once (strategy.h: skips) */
  const tsl_strategy *except; /* strategy that must not be chosen, by the sub-plan or below it; NULL: none */
  /* sub-plan whose strategy and config are used if they support this problem; NULL: any */
  const tsl_subplan *like;
} tsl_subplan_request;

typedef struct tsl_subplan_factory tsl_subplan_factory;
struct tsl_subplan_factory {
  bool for_blocks; /* the requester is a block of a plan's product, whose own kernels are compiled already */
  /* the requester's plan is for a self-test: sub-plans are any correct strategies, fast to compile */
  bool on_trial;
  bool skips; /* the requester's runs may turn out to be unneeded: its sub-plans need `skips`, too */
  /* the planner's data for a choice; NULL: by models alone, as after the creation of the requester's plan */
  const void *choice;
  tsl_all_strategies *list; /* for models (strategy.h: splits.score) */
  /* Makes a sub-plan, which destroy() frees. TESELA_UNSUPPORTED: no strategy supports the request. */
  tesela_status (*make)(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                        tsl_subplan **child);
  /* Predicts the seconds of a sub-plan, copies included; infinity where none would be made. */
  double (*seconds)(const tsl_subplan_factory *self, const tsl_subplan_request *request);
  void (*destroy)(tsl_subplan *child); /* NULL is allowed */

  /* Runs a sub-plan and waits. */
  tesela_status (*run)(tsl_subplan *child, const tsl_operands *operands);
  /* Enqueues a run with operands like the problem, and workspace() bytes of device memory. */
  tesela_status (*enqueue)(const tsl_subplan *child, const tsl_operands *operands, tsl_stream *stream,
                           tsl_buffer *workspace);
  /* Enqueues like enqueue(), with the operands' strides instead of the problem's. */
  tesela_status (*enqueue_as_given)(const tsl_subplan *child, const tsl_operands *operands,
                                    tsl_stream *stream, tsl_buffer *workspace);
  /* Returns the bytes of device memory that enqueue() needs. */
  uint64_t (*workspace)(const tsl_subplan *child);
  const char *(*text)(const tsl_subplan *child);
  double (*expected)(
      const tsl_subplan *child); /* result of seconds() when the sub-plan was made; 0: not computed */
};

typedef struct tsl_subplan_info {
  const char *device;
  const char *plan; /* text of the sub-plan */
  /* block of C; `depth` is the number of terms of a sum that are added at a time */
  int64_t row, rows, col, cols, depth;
  /* equal blocks along the diagonal that run as a batch; 0: a single block */
  int64_t count;
  double seconds;             /* predicted for all of the blocks; 0: not known */
  double in_bytes, out_bytes; /* bytes of a run over the device's links; 0 on the cpu */
  /* bytes of sharded operands by the other device; measured rate of the link in bytes per second */
  struct {
    const char *device;
    double in_bytes, out_bytes, rate; /* rate: bytes per second; 0: not measured */
  } links[TSL_MEMBERS_MAX];
  int link_count;
} tsl_subplan_info;

#endif
