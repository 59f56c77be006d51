/* Children: plans for parts of a product, which a strategy that splits its product (strategy.h: splits) has
 * made by whoever makes its own. A strategy knows no planner and no plan; it is handed this table.
 *
 *   planner ── makes a plan of gemm several ── build() asks for ── children of its parts, on devices of their
 * own
 *
 * The maker of a plan chooses for a child as it chooses for itself: by what was measured, or by models.
 * Children belong to who had them made. Any number of threads run one child. */
#ifndef TSL_STRATEGY_SUBPLANS_H
#define TSL_STRATEGY_SUBPLANS_H

#include "strategy/strategy.h"

typedef struct tsl_subplan tsl_subplan;

/* What a child is to compute, and what of it is to hold. */
typedef struct tsl_subplan_request {
  const tsl_problem *problem;
  tsl_device *device;
  bool in_buffers;         /* its operands are on the device; else in host memory */
  uint64_t workspace_most; /* bytes of the device's memory that its runs may need beside its operands */
  tsl_accuracy most;       /* of its accuracy: the factor, and what it flushes (strategy.h) */
  bool on_trial; /* it is made to try its maker: any that is right does, and what compiles soonest is best */
  bool skips;    /* its runs may turn out not to be wanted, and must cost next to nothing then (strategy.h:
                    skips) */
  const tsl_strategy *except; /* a strategy that must not be chosen, here or by the child; NULL: none */
  const tsl_subplan
      *like; /* one that is there: the same strategy and config if they take this, too; NULL: any */
} tsl_subplan_request;

typedef struct tsl_subplan_factory tsl_subplan_factory;
struct tsl_subplan_factory {
  bool for_blocks; /* who asks is a block of a plan's product, whose own kernels are compiled already */
  /* Makes one. TESELA_UNSUPPORTED where nothing there takes it, with a sentence. */
  tesela_status (*make)(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                        tsl_subplan **child);
  /* Seconds that a child is expected to take, copies included; infinity where there would be none. */
  double (*seconds)(const tsl_subplan_factory *self, const tsl_subplan_request *wish);
  void (*destroy)(tsl_subplan *child); /* NULL is allowed */

  /* As tsl_plan_run() and tsl_plan_enqueue() of plan/plan.h. */
  tesela_status (*run)(tsl_subplan *child, const tsl_operands *operands);
  tesela_status (*enqueue)(const tsl_subplan *child, const tsl_operands *operands, tsl_stream *stream,
                           tsl_buffer *workspace);
  /* The same with the operands' own strides in place of the problem's. */
  tesela_status (*enqueue_as_given)(const tsl_subplan *child, const tsl_operands *operands,
                                    tsl_stream *stream, tsl_buffer *workspace);
  uint64_t (*workspace)(const tsl_subplan *child);
  bool (*reduces)(const tsl_subplan *child); /* tsl_modular_output */
  const char *(*text)(const tsl_subplan *child);
  double (*expected)(
      const tsl_subplan *child); /* seconds(), as it was when the child was made; 0: nobody reckoned it */
};

/* What one of the shares of a plan is, for explanations. */
typedef struct tsl_subplan_info {
  const char *device;
  const char *plan;                    /* a child's text */
  int64_t row, rows, col, cols, depth; /* of C; and the terms of a sum that are added at a time */
  int64_t count;                       /* so many like it, a batch along the diagonal; 0: one */
  double seconds;                      /* expected, of all of them; 0: not known */
  double in_bytes,
      out_bytes; /* over the device's link to the host, or to other devices, of a run; 0 on the cpu */
  /* Of operands in pieces: the same by the other device, with what that link carries, bytes a second, as it
   * was measured. */
  struct {
    const char *device;
    double in_bytes, out_bytes, rate;
  } links[TSL_MEMBERS_MAX];
  int link_count;
} tsl_subplan_info;

#endif
