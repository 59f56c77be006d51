/* A problem, a strategy with its config, a device, and the operands' place; all of it as one line of text. */
#ifndef TSL_PLAN_PLAN_H
#define TSL_PLAN_PLAN_H

#include "device/self_tests.h"
#include "plan/plan_text.h"
#include "strategy/subplans.h"

/* Kernels (NULL until compiled, under the slots' lock) and streams for errors (judge/device_reference.h) and
 * checksums (judge/device_checksum.h). */
enum { TSL_DEVICE_REFERENCE_KERNELS = 3, TSL_DEVICE_CHECKSUM_KERNELS = 5 };
typedef struct tsl_looks {
  tsl_kernel *kernels[TSL_DEVICE_REFERENCE_KERNELS], *checksums[TSL_DEVICE_CHECKSUM_KERNELS];
  struct tsl_run_slots *slots;
} tsl_looks;

typedef struct tsl_plan {
  tsl_work work;
  /* Work of the sums if the strategy does not fuse the scales, with `work`'s state. The epilogue makes C. */
  tsl_work sums;
  tsl_memory_place place;
  double expected; /* predicted seconds of a run; 0: none */
  char *text;      /* plan as text: "gemm tile_local version=1 tile=16 device=opencl:0 place=host m=... " */
  bool was_tried;  /* the self-test was run, with the result self_test (planner/kernel_self_test.h) */
  tsl_self_test self_test;
  double self_test_seconds;     /* seconds of the self-test; 0: its result was stored before */
  struct tsl_run_slots *slots;  /* streams and staging of runs on a device; NULL on the cpu */
  tsl_looks *looks;             /* state for measuring errors; NULL without slots */
  tsl_sharding *spread;         /* operands on several devices; NULL: one place */
  tsl_subplan_factory children; /* the work's factory; its choice is NULL once the plan is made */
  struct tsl_pipeline_plan
      /* blocks of overlapped copies (plan/block_grid.h); NULL: none */
      *cut;
  tsl_kernel
      *finish; /* kernel of the epilogue, if not fused (strategy/epilogue/strategy_epilogue.h); else NULL */
} tsl_plan;

/* Seconds of a run's phases; 0: no such phase. */
typedef struct tsl_phases {
  double allocate, copy_in, compute, copy_out, total;
} tsl_phases;

typedef struct tsl_plan_options {
  const tsl_subplan_factory *children; /* makes sub-plans (planner/subplan_choice.h); NULL: none are made */
  const tsl_sharding *spread; /* shards on the device's members (TSL_PLACE_PIECES), copied; else NULL */
  bool loaded_only;           /* only from loaded kernels; TESELA_UNSUPPORTED if others are needed */
} tsl_plan_options;
/* Creates a plan: opens the device, compiles kernels, writes the text. TESELA_UNSUPPORTED with the reason if
 * the strategy refuses. Free with tsl_plan_destroy(). */
tesela_status tsl_plan_create(const tsl_problem *problem, const tsl_strategy *strategy,
                              const tsl_config *config, tsl_device *device, tsl_memory_place place,
                              const tsl_plan_options *options, tsl_plan **plan);
/* Calls on sub-plans; make() fails, as the planner chooses. */
extern const tsl_subplan_factory tsl_plan_subplans;

/* Returns why no such plan can exist: the strategy's reason, the place, or too little device memory (not
 * checked for plans that the caller names). NULL: it can. */
const char *tsl_plan_refuse(const tsl_problem *problem, const tsl_strategy *strategy,
                            const tsl_config *config, const tsl_device *device, tsl_memory_place place);

/* Shrinks the config's workspace to the memory that the operands leave, if possible. Returns a reason as
 * tsl_plan_refuse() does. */
const char *tsl_plan_fit(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_device *device,
                         tsl_memory_place place, tsl_config *config);

void tsl_plan_destroy(tsl_plan *plan);

/* Runs a plan on operands at plan->place; C is complete on return. The cpu uses the operands' team, or if
 * zero the device's. phases may be NULL, which reads no clocks. */
tesela_status tsl_plan_run(tsl_plan *plan, const tsl_operands *operands, tsl_phases *phases);

/* Callbacks that enqueue work on the stream before and after a run on device operands, for one common wait,
 * and the run's hints. They store their own failures. Other runs ignore the hook. */
typedef struct tsl_concurrent_hook {
  void (*before)(void *argument, tsl_stream *stream);
  void (*after)(void *argument, tsl_stream *stream);
  void *argument;
  const tsl_run_hints *hints;
} tsl_concurrent_hook;
/* Runs a plan as tsl_plan_run(), with callbacks; beside may be NULL. */
tesela_status tsl_plan_run_beside(tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_concurrent_hook *beside, tsl_phases *phases);

/* Enqueues a run on device operands on a stream of the plan's device; on the cpu it is done at return.
 * `workspace` (tsl_plan_workspace() bytes) is in use until then. Only vendors' libraries allocate or wait. */
tesela_status tsl_plan_enqueue(const tsl_plan *plan, const tsl_operands *operands, tsl_stream *stream,
                               tsl_buffer *workspace);
/* Enqueues a run with the operands' own strides, not the problem's. */
tesela_status tsl_plan_enqueue_as_given(const tsl_plan *plan, const tsl_operands *operands,
                                        tsl_stream *stream, tsl_buffer *workspace);
/* Compiles a fused launch of different products, by a batch's plan of one. May fail: TESELA_UNSUPPORTED. */
tesela_status tsl_plan_build_joined(const tsl_plan *plan);
/* Returns true if a launch of `plan` can include the product of `member_plan`, with an error bound that is at
 * most member_plan's. Sets the operands' strides. */
bool tsl_plan_can_fuse(const tsl_plan *plan, const tsl_plan *member_plan, tsl_operands *operands);
/* Sets the operands' strides to the problem's. */
void tsl_plan_set_strides(const tsl_plan *plan, tsl_operands *operands);
/* Returns the bytes of workspace of a fused launch of `count` products. */
uint64_t tsl_plan_joined_workspace(const tsl_plan *plan, int64_t count);
/* Enqueues one launch of different products like tsl_plan_enqueue(); their operands have strides. */
tesela_status tsl_plan_enqueue_fused(const tsl_plan *plan, const tsl_fused_product *products, int64_t count,
                                     tsl_stream *stream, tsl_buffer *workspace);
/* Returns a run's bytes of device memory besides its operands. */
uint64_t tsl_plan_workspace(const tsl_plan *plan);

/* Consecutive runs that use sets of resident operands in turn, cyclically from `first` on. */
typedef struct tsl_batch {
  const tsl_operands *sets;
  int set_count, first, runs;
} tsl_batch;

/* Runs a plan on device operands repeatedly without waits, for measurements. compute and total are sums. */
tesela_status tsl_plan_run_batch(tsl_plan *plan, const tsl_batch *batch, tsl_phases *phases);

/* Returns the guaranteed accuracy. */
tsl_accuracy tsl_plan_accuracy(const tsl_plan *plan);
/* Returns the error bound for |alpha||A||B| + |beta||C|: a factor times the unit roundoff of C's type. */
double tsl_plan_error_bound(const tsl_plan *plan);
/* Returns the magnitude of the additional underflow error; see tsl_accuracy_underflow(). */
double tsl_plan_underflow(const tsl_plan *plan);
/* Gets sub-plan `index` of a strategy that splits; false past the last. */
bool tsl_plan_share(const tsl_plan *plan, int index, tsl_subplan_info *share);
/* Returns a message about runs that did not go as planned; NULL: none. */
const char *tsl_plan_note(const tsl_plan *plan);
/* Returns the strategy's work: the sums if the scales are not fused. */
static inline const tsl_work *tsl_plan_work(const tsl_plan *plan) {
  return tsl_problem_has_scales(&plan->work.problem) && !plan->work.fuses_epilogue ? &plan->sums
                                                                                   : &plan->work;
}
/* Returns a run's bytes on the device besides resident operands: copies, scratch memory, separate sums. */
uint64_t tsl_plan_bytes(const tsl_plan *plan);
/* Returns the bytes of the copies of host operands on the device. */
uint64_t tsl_plan_device_bytes(const tsl_problem *problem, const tsl_device *device, tsl_memory_place place);
/* Returns the bytes of host memory that a run on the cpu allocates for separate sums. */
uint64_t tsl_plan_host_bytes(const tsl_plan *plan);

#endif
