/* Plan: a problem, a strategy with its config, a device, and the place of the operands. One line of
 * text expresses all of it. */
#ifndef TSL_PLAN_PLAN_H
#define TSL_PLAN_PLAN_H

#include "device/self_tests.h"
#include "plan/plan_text.h"
#include "strategy/subplans.h"

/* State for measuring errors, reused by later runs (judge/device_reference.h): kernels and streams with
 * memory. The lock of the slots protects the kernels, which are NULL until compiled. */
enum { TSL_DEVICE_REFERENCE_KERNELS = 3 };
typedef struct tsl_looks {
  tsl_kernel *kernels[TSL_DEVICE_REFERENCE_KERNELS];
  struct tsl_run_slots *slots;
} tsl_looks;

typedef struct tsl_plan {
  tsl_work work;
  /* work of the sums of a problem with scales that the strategy does not fuse; the epilogue makes C of
   * the sums. It shares the state of `work`. */
  tsl_work sums;
  tsl_text_place place;
  double expected; /* predicted seconds of a run; 0: no prediction */
  /* text of the plan: "gemm tile_local version=1 tile=16 device=opencl:0 place=host m=... " */
  char *text;
  /* true: the self-test of the kernels was run (planner/kernel_self_test.h) with the result self_test */
  bool was_tried;
  tsl_self_test self_test;
  double self_test_seconds;    /* seconds of the self-test; 0: its result was stored before */
  struct tsl_run_slots *slots; /* streams and staging buffers of runs on a device; NULL on the cpu */
  tsl_looks *looks;            /* state for measuring errors; NULL if the plan has no slots */
  tsl_sharding *spread;        /* operands on several devices; NULL: operands in one place */
  struct tsl_pipeline_plan
      /* blocks for copies that overlap with computing (plan/block_grid.h); NULL: no overlap */
      *cut;
  /* kernel of the epilogue on a device, if the strategy does not fuse it
   * (strategy/strategy_epilogue.h); else NULL */
  tsl_kernel *finish;
} tsl_plan;

/* Times of the phases of one run, in seconds; 0: the phase did not happen. Later runs of a plan reuse
 * allocated memory. */
typedef struct tsl_phases {
  double allocate, copy_in, compute, copy_out, total;
} tsl_phases;

/* Creates a plan: opens the device, compiles kernels, and writes the text. Returns TESELA_UNSUPPORTED
 * with the strategy's reason if it refuses. Free the plan with tsl_plan_destroy(). */
tesela_status tsl_plan_create(const tsl_problem *problem, const tsl_strategy *strategy,
                              const tsl_config *config, tsl_device *device, tsl_text_place place,
                              tsl_plan **plan);
/* Creates a plan only from kernels that are already loaded; TESELA_UNSUPPORTED if others are needed. */
tesela_status tsl_plan_create_loaded(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, tsl_device *device, tsl_text_place place,
                                     tsl_plan **plan);
/* Creates a plan whose sub-plans are made by `children`, for strategies that split the problem. */
tesela_status tsl_plan_create_with(const tsl_problem *problem, const tsl_strategy *strategy,
                                   const tsl_config *config, tsl_device *device, tsl_text_place place,
                                   const tsl_subplan_factory *children, tsl_plan **plan);
/* Creates a plan for operands in shards on members of a group device; its place is TSL_PLACE_PIECES.
 * The plan copies `spread`, which must have been checked. */
tesela_status tsl_plan_create_spread(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, tsl_device *group, const tsl_sharding *spread,
                                     const tsl_subplan_factory *children, tsl_plan **plan);
/* Factory that chooses sub-plans by models only. A sub-plan is a tsl_plan. */
extern const tsl_subplan_factory tsl_plan_children;
tsl_subplan *tsl_plan_child(tsl_plan *plan);
/* Returns true if a strategy with this config satisfies the request of a sub-plan. It may change the
 * config to one with less workspace and equal bits. */
bool tsl_plan_meets_request(const tsl_subplan_request *wish, const tsl_strategy *strategy,
                            tsl_config *config);

/* Returns why no such plan can exist: the strategy's reason, the place, or too little device memory.
 * NULL: it can. Plans that the caller names are created without the check of memory. */
const char *tsl_plan_refuse(const tsl_problem *problem, const tsl_strategy *strategy,
                            const tsl_config *config, const tsl_device *device, tsl_text_place place);

/* Creates a plan from its text. TESELA_BAD_INPUT or TESELA_NO_DEVICE name the wrong word: unknown,
 * missing, a retired version, or an unknown device. */
tesela_status tsl_plan_parse(tsl_devices *devices, const char *text, tsl_plan **plan);
void tsl_plan_destroy(tsl_plan *plan);
/* Frees device memory that is cached for later runs. No run may be in progress. NULL is allowed. */
void tsl_plan_trim(tsl_plan *plan);

/* Runs a plan on operands at plan->place and returns when C is complete. On the cpu it uses the operands'
 * team, or the device's team if that is zero. phases may be NULL, which avoids reading clocks. */
tesela_status tsl_plan_run(tsl_plan *plan, const tsl_operands *operands, tsl_phases *phases);

/* Callbacks that enqueue work before and after a run on device operands, on the run's stream, so that
 * one wait covers all. The callee stores its own failures. Other runs ignore the hook. */
typedef struct tsl_concurrent_hook {
  void (*before)(void *argument, tsl_stream *stream);
  void (*behind)(void *argument, tsl_stream *stream);
  void *argument;
} tsl_concurrent_hook;
/* Runs a plan as tsl_plan_run() does, with callbacks before and after it; beside may be NULL. */
tesela_status tsl_plan_run_beside(tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_concurrent_hook *beside, tsl_phases *phases);

/* Enqueues a run of a plan with place TSL_PLACE_DEVICE on a stream of its device. On the cpu the run is
 * done at return, whatever the place. `workspace` has tsl_plan_workspace() bytes and is in use until
 * the work is done. Allocates nothing and waits for nothing, except in vendors' libraries. */
tesela_status tsl_plan_enqueue(const tsl_plan *plan, const tsl_operands *operands, tsl_stream *stream,
                               tsl_buffer *workspace);
/* Enqueues a run as tsl_plan_enqueue() does, with the operands' own strides instead of the problem's. */
tesela_status tsl_plan_enqueue_as_given(const tsl_plan *plan, const tsl_operands *operands,
                                        tsl_stream *stream, tsl_buffer *workspace);
/* Compiles the kernels of a fused launch of different products, by a batch's plan of one of the
 * products. TESELA_UNSUPPORTED if the strategy cannot fuse. */
tesela_status tsl_plan_build_joined(const tsl_plan *plan);
/* Returns true if a launch of `plan` can include the product of `member_plan`, with an error bound that is
 * not larger than plan_in's. Sets the operands' strides. */
bool tsl_plan_can_fuse(const tsl_plan *plan, const tsl_plan *member_plan, tsl_operands *operands);
/* Sets the operands' strides to the problem's. */
void tsl_plan_set_strides(const tsl_plan *plan, tsl_operands *operands);
/* Returns the bytes of workspace of a fused launch of `count` products. */
uint64_t tsl_plan_joined_workspace(const tsl_plan *plan, int64_t count);
/* Enqueues one launch of different products, as tsl_plan_enqueue(). Their operands have strides. */
tesela_status tsl_plan_enqueue_fused(const tsl_plan *plan, const tsl_fused_product *products, int64_t count,
                                     tsl_stream *stream, tsl_buffer *workspace);
/* Returns the bytes of device memory that a run needs in addition to its operands. */
uint64_t tsl_plan_workspace(const tsl_plan *plan);

/* Consecutive runs that use sets of resident operands in turn, from number `first` on and cyclically. */
typedef struct tsl_batch {
  const tsl_operands *sets;
  int set_count, first, runs;
} tsl_batch;

/* Runs a plan with place TSL_PLACE_DEVICE repeatedly without waits, for measurements. compute and total
 * are sums over all runs. */
tesela_status tsl_plan_run_batch(tsl_plan *plan, const tsl_batch *batch, tsl_phases *phases);

/* Returns the accuracy that the strategy guarantees. */
tsl_accuracy tsl_plan_accuracy(const tsl_plan *plan);
/* Returns the error bound for |alpha||A||B| + |beta||C|: a factor times the unit roundoff of C's type. */
double tsl_plan_error_bound(const tsl_plan *plan);
/* Returns the magnitude for the additional underflow error; see tsl_accuracy_underflow(). */
double tsl_plan_underflow(const tsl_plan *plan);
/* Fills *share with sub-plan `index` of a strategy that splits. Returns false past the last one. */
bool tsl_plan_share(const tsl_plan *plan, int index, tsl_subplan_info *share);
/* Returns a message about runs that did not go as planned; NULL: none. */
const char *tsl_plan_note(const tsl_plan *plan);
/* Returns the work that the strategy was built for: the sums if the scales are not fused. */
static inline const tsl_work *tsl_plan_work(const tsl_plan *plan) {
  return tsl_problem_has_scales(&plan->work.problem) && !plan->work.finishes ? &plan->sums : &plan->work;
}
/* Returns the bytes on the plan's device that a run needs in addition to resident operands: copies of
 * host operands, scratch memory, and separate sums. */
uint64_t tsl_plan_bytes(const tsl_plan *plan);
/* Returns the bytes of the copies of host operands on the device. */
uint64_t tsl_plan_device_bytes(const tsl_problem *problem, const tsl_device *device, tsl_text_place place);
/* Returns the bytes of host memory that a run on the cpu allocates for separate sums. */
uint64_t tsl_plan_host_bytes(const tsl_plan *plan);

#endif
