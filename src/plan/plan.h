/* The plan: a problem, a strategy with its config, a device, and where the operands live. One line of text
 * says all of it. */
#ifndef TSL_PLAN_PLAN_H
#define TSL_PLAN_PLAN_H

#include "device/self_tests.h"
#include "plan/plan_text.h"
#include "strategy/subplans.h"

/* What measuring the error of a run keeps for the next one (judge/device_reference.h): kernels, under the
 * lock of its slots and NULL until they are compiled, and streams with memory. */
enum { TSL_DEVICE_REFERENCE_KERNELS = 3 };
typedef struct tsl_looks {
  tsl_kernel *kernels[TSL_DEVICE_REFERENCE_KERNELS];
  struct tsl_run_slots *slots;
} tsl_looks;

typedef struct tsl_plan {
  tsl_work work;
  tsl_work sums; /* of a problem with scales that its strategy does not finish: what that computes, which the
                    last step makes C of; it has the work's state */
  tsl_text_place place;
  double expected; /* seconds of a run, by whoever chose it; 0: nobody did */
  char *text;      /* "gemm tile_local version=1 tile=16 device=opencl:0 place=host m=... " */
  bool was_tried;  /* its kernels were, and this is what came of it (planner/kernel_self_test.h): */
  tsl_self_test self_test;
  double self_test_seconds;    /* that the self-test took just now; 0: it was remembered */
  struct tsl_run_slots *slots; /* streams and staging buffers of runs that need them; plan/run_slot.c */
  tsl_looks *looks;            /* where the plan has slots; else NULL */
  tsl_sharding *spread;        /* of operands in pieces; else NULL */
  struct tsl_pipeline_plan
      *cut;           /* how copies overlap with computing (plan/block_grid.h); NULL: they do not */
  tsl_kernel *finish; /* the last step, on devices with kernels where the problem has one that the strategy
                         leaves to others (strategy/strategy_epilogue.h) */
} tsl_plan;

/* Where the time of one run went, in seconds. Phases that did not happen are 0; a plan's later runs find
 * memory on the device that the first one took. */
typedef struct tsl_phases {
  double allocate, copy_in, compute, copy_out, total;
} tsl_phases;

/* Opens the device, compiles, and makes the text. TESELA_UNSUPPORTED with the strategy's sentence when it
 * refuses. */
tesela_status tsl_plan_create(const tsl_problem *problem, const tsl_strategy *strategy,
                              const tsl_config *config, tsl_device *device, tsl_text_place place,
                              tsl_plan **plan);
/* The same of kernels that are loaded already; TESELA_UNSUPPORTED where it would take others. */
tesela_status tsl_plan_create_loaded(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, tsl_device *device, tsl_text_place place,
                                     tsl_plan **plan);
/* The same of a strategy that splits, whose children are made by `children`. */
tesela_status tsl_plan_create_with(const tsl_problem *problem, const tsl_strategy *strategy,
                                   const tsl_config *config, tsl_device *device, tsl_text_place place,
                                   const tsl_subplan_factory *children, tsl_plan **plan);
/* The same of operands in pieces on members of a group: the place is TSL_PLACE_PIECES. The plan has a copy of
 * the spread, which was checked. */
tesela_status tsl_plan_create_spread(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, tsl_device *group, const tsl_sharding *spread,
                                     const tsl_subplan_factory *children, tsl_plan **plan);
/* Children as plans make them for themselves, by models alone. A child is a plan. */
extern const tsl_subplan_factory tsl_plan_children;
tsl_subplan *tsl_plan_child(tsl_plan *plan);
/* Whether a strategy with this config would do for a child; the config is changed where its runs need less
 * memory then, and give the same bits. */
bool tsl_plan_meets_request(const tsl_subplan_request *wish, const tsl_strategy *strategy,
                            tsl_config *config);

/* Why there is no such plan: the strategy's reason, the place, or the device's memory, which plans that are
 * made by name are not asked about. NULL: there is. */
const char *tsl_plan_refuse(const tsl_problem *problem, const tsl_strategy *strategy,
                            const tsl_config *config, const tsl_device *device, tsl_text_place place);

/* From text; unknown or missing words, a retired version, an unknown device: TESELA_BAD_INPUT or
 * TESELA_NO_DEVICE, naming them. */
tesela_status tsl_plan_parse(tsl_devices *devices, const char *text, tsl_plan **plan);
void tsl_plan_destroy(tsl_plan *plan);
/* Frees what runs left behind for later ones: memory on the device. While no run is in progress; NULL is
 * allowed. */
void tsl_plan_trim(tsl_plan *plan);

/* Runs on operands as plan->place says and returns when C is complete. On the cpu, by the operands' team;
 * where that is zero, by the device's. phases may be NULL, which saves the clocks. */
tesela_status tsl_plan_run(tsl_plan *plan, const tsl_operands *operands, tsl_phases *phases);

/* What somebody queues around a run on operands on a device, which is waited for once: `before` it and
 * `behind` it, on its stream. What goes wrong is kept by who queues. Other runs pass over it. */
typedef struct tsl_concurrent_hook {
  void (*before)(void *argument, tsl_stream *stream);
  void (*behind)(void *argument, tsl_stream *stream);
  void *argument;
} tsl_concurrent_hook;
/* tsl_plan_run(); beside may be NULL. */
tesela_status tsl_plan_run_beside(tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_concurrent_hook *beside, tsl_phases *phases);

/* Queues a run of a plan whose place is TSL_PLACE_DEVICE on a stream of its device and returns; on the cpu,
 * whatever the place, it is done then. `workspace` has tsl_plan_workspace() bytes, and is in use until the
 * work is done. Takes no memory and waits for nothing, unless the strategy is a vendor's library that does.
 */
tesela_status tsl_plan_enqueue(const tsl_plan *plan, const tsl_operands *operands, tsl_stream *stream,
                               tsl_buffer *workspace);
/* The same, where strides are the operands' and not the problem's. */
tesela_status tsl_plan_enqueue_as_given(const tsl_plan *plan, const tsl_operands *operands,
                                        tsl_stream *stream, tsl_buffer *workspace);
/* Products that differ in one run, by a plan of a batch of one of them: compiling what that needs; whether
 * its strategy takes one so, which is a plan's of its own, what it promises of it being no less than what
 * that does; bytes of workspace; and queuing it, as tsl_plan_enqueue(). Operands have their strides: the
 * first sets them, and so does the one behind. */
tesela_status tsl_plan_build_joined(const tsl_plan *plan);
bool tsl_plan_can_fuse(const tsl_plan *plan, const tsl_plan *plan_in, tsl_operands *operands);
void tsl_plan_set_strides(const tsl_plan *plan, tsl_operands *operands);
uint64_t tsl_plan_joined_workspace(const tsl_plan *plan, int64_t count);
tesela_status tsl_plan_enqueue_fused(const tsl_plan *plan, const tsl_fused_product *products, int64_t count,
                                     tsl_stream *stream, tsl_buffer *workspace);
/* Bytes of the device's memory that a run needs beside its operands. */
uint64_t tsl_plan_workspace(const tsl_plan *plan);

/* Runs that take the sets of resident operands in turn, from number `first` on and around the end. */
typedef struct tsl_batch {
  const tsl_operands *sets;
  int set_count, first, runs;
} tsl_batch;

/* Runs of a plan whose place is TSL_PLACE_DEVICE, one after the other without a wait in between: compute and
 * total are of all of them together. For measuring. */
tesela_status tsl_plan_run_batch(tsl_plan *plan, const tsl_batch *batch, tsl_phases *phases);

/* What its strategy guarantees. */
tsl_accuracy tsl_plan_accuracy(const tsl_plan *plan);
/* Absolute bound per unit of |alpha||A||B| + |beta||C|: factor * u of C's type. */
double tsl_plan_error_bound(const tsl_plan *plan);
/* What underflow is counted by beside that (tsl_accuracy_underflow()). */
double tsl_plan_underflow(const tsl_plan *plan);
/* Share `index` of a plan whose strategy splits; false past the last, and of others. */
bool tsl_plan_share(const tsl_plan *plan, int index, tsl_subplan_info *share);
/* A sentence about what did not go as planned in its runs until now; NULL: nothing. */
const char *tsl_plan_note(const tsl_plan *plan);
/* What its strategy was built for. */
static inline const tsl_work *tsl_plan_work(const tsl_plan *plan) {
  return tsl_problem_has_scales(&plan->work.problem) && !plan->work.finishes ? &plan->sums : &plan->work;
}
/* Bytes that a run needs on the plan's device besides operands that are there already: copies of the others,
 * and the strategy's scratch memory, with sums that lie apart. The second counts the copies alone; the third
 * is what a run takes of the host's memory where it computes there: sums that lie apart. */
uint64_t tsl_plan_bytes(const tsl_plan *plan);
uint64_t tsl_plan_device_bytes(const tsl_problem *problem, const tsl_device *device, tsl_text_place place);
uint64_t tsl_plan_host_bytes(const tsl_plan *plan);

#endif
