/* Interface of a strategy: each folder below src/strategy/<op> defines one constant tsl_strategy.
 *
 * Contract between the library and a strategy:
 *  - The device reaches the operands: at `host` on the cpu (TSL_CAN_HOST), else at `buffer` and `offset`.
 *  - run() gets m, n >= 1 and k >= 0. beta = 0 reads no C, alpha = 0 no A and B. Gaps in C are never written.
 *  - Threads may call run() concurrently, each with its own stream. run() only reads work->state.
 *  - run() uses the strides of its operands; models use the caller's strides, those of the problem.
 *  - run() only enqueues on the stream; the caller waits.
 *  - A run finds scratch() bytes of device memory in its operands: private until the stream has finished the
 *    run, uninitialized, aligned for any type. Strategies of the cpu allocate with core/scratch.h.
 *  - On the cpu, run() and pack() use only the threads of the team that they get. */
#ifndef TSL_STRATEGY_STRATEGY_H
#define TSL_STRATEGY_STRATEGY_H

#include "core/hash.h"
#include "problem/type_lists.h"
#include "strategy/accuracy.h"
#include "strategy/call.h"
#include "strategy/operands.h"

typedef struct tsl_strategy tsl_strategy;
/* Returns strategy `index` of all strategies; NULL past the end. Models of strategies that split get it as an
 * argument, tsl_strategy_at(), because no strategy may depend on the list. */
typedef const tsl_strategy *tsl_all_strategies(int index);
typedef struct tsl_cost_counts tsl_cost_counts;         /* defined in strategy/cost_counts.h */
typedef struct tsl_host_job_ops tsl_host_job_ops;       /* defined in host_jobs/host_job.h */
typedef struct tsl_subplan_factory tsl_subplan_factory; /* defined in strategy/subplans.h */
typedef struct tsl_subplan_info tsl_subplan_info;       /* defined in strategy/subplans.h */

/* Result of loading a vendor's library. */
typedef struct tsl_vendor {
  char why_not[160]; /* reason why the library is unusable, as a sentence; "" when it is usable */
  char name[64];     /* name and version: "OpenBLAS 0.3.21 SkylakeX" */
  char file[256];    /* path of the library, links resolved */
} tsl_vendor;

typedef struct tsl_work {
  const tsl_strategy *strategy;
  tsl_problem problem;
  tsl_config config;
  tsl_device *device;
  void *state;          /* data from build(), freed by release() */
  double build_seconds; /* seconds that compilers took, for reports */
  bool fuses_epilogue;  /* build() and run() include the problem's epilogue */
  /* build() must not compile: it uses kernels that are already loaded, else fails with TESELA_UNSUPPORTED */
  bool forbid_compile;
  int source_count;       /* number of kernel sources; 0: the strategy is C code of this library */
  tsl_hash source_hash;   /* hash of all kernel sources, in their order */
  tsl_text *source_texts; /* receives the kernel sources, unless it is NULL */
  const tsl_subplan_factory *subplans; /* factory of sub-plans, for strategies that split their product */
  /* bytes of scratch memory of a run that build() found with its sub-plans; 0: use resources.scratch() */
  uint64_t scratch;
  const tsl_sharding
      *sharding; /* location of the shards of sharded operands; NULL: operands are not sharded */
} tsl_work;

/* One of several products of a fused run: its problem as a single product, and its operands with strides. */
typedef struct tsl_fused_product {
  const tsl_problem *problem;
  const tsl_operands *operands;
} tsl_fused_product;

/* Fused launch of products with different sizes, by a work built for a batch of one product. All have the
 * work's config and a batch's summation order, so the bits of a product do not depend on the others. */
typedef struct tsl_fused_ops {
  /* Compiles the fused kernels before the first fused run; later calls do nothing. Thread-safe. */
  tesela_status (*build)(const tsl_work *work);
  /* Returns true if the fused run can include the product. The caller has checked refuse() for a batch. */
  bool (*takes)(const tsl_work *work, const tsl_fused_product *product);
  /* Returns the bytes of scratch memory of a fused run of `count` products. */
  uint64_t (*scratch)(int64_t count);
  /* Enqueues all products. The arrays may change on return. Thread-safe; each run needs its own scratch. */
  tesela_status (*run)(const tsl_work *work, const tsl_fused_product *products, int64_t count,
                       tsl_buffer *scratch, tsl_stream *stream);
} tsl_fused_ops;

struct tsl_strategy {
  const char *name; /* name of the folder */
  const char *idea; /* one line for documents */
  /* bound of the partner that this strategy lifts, in a few words; NULL: a vendor's library */
  const char *lifts;
  /* name of the strategy of the same op that the header names ("Beyond `element`"): explanations compare with
   * it; NULL: none */
  const char *partner;
  int rung; /* number in the course's order (docs/COURSES.md), from 1; 0: not part of the course */
  tsl_op op;
  /* increased when results or a parameter's meaning change: stored plans of older versions are discarded */
  int version;
  /* required capabilities (TSL_CAN_...); 0: cpu and devices with kernels, refuse() tests TSL_CAN_HOST */
  unsigned needs;
  /* Returns the guaranteed error bound and reproducibility of C. */
  tsl_accuracy (*accuracy)(const tsl_problem *problem, const tsl_config *config);
  /* Returns the name of the order in which an element of C adds its terms where bits=rows is required. Equal
   * names, types and k give equal bits, whatever the sizes, strides, batch and threads are. NULL: the order
   * depends on these. NULL member: always NULL. The caller has checked refuse(). */
  const char *(*row_order)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  const tsl_param *params; /* table ended by a NULL name; NULL: no parameters */
  /* run() and pack() on the cpu need round to nearest and subnormals; false: they take the caller's mode */
  bool needs_nearest;
  /* Returns NULL, or the reason ("tile=32 needs 1024 work-items, opencl:0 allows 512"), constant or of
   * tsl_refusal(). The caller has checked `needs` and parameter values. NULL member: never refuses. */
  const char *(*refuse)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  /* Predicts the seconds of a run with operands on the device, for a preselection at most. With prune(),
   * configs that only refuse() rejects get here, too: any number will do. */
  double (*score)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  /* Compiles and prepares; sets work->state. Frees everything if it fails. NULL: nothing to do. */
  tesela_status (*build)(tsl_work *work);
  /* Enqueues the computation of C on the stream. Any number of threads may call it at once. */
  tesela_status (*run)(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
  void (*release)(tsl_work *work); /* frees work->state; NULL: nothing to free */
  /* capabilities of devices where all kernels of an unneeded run exit at once (tsl_run_predicate); 0: none */
  unsigned skips;
  /* Seconds that NVIDIA's compiler takes for all kernels of a plan, sub-plans included; 0: unknown. Measured
   * on a Xeon for 4000 cubed; a plan for one run weighs them. */
  double build_seconds;
  /* fused launch of products with different sizes; NULL: not supported */
  const tsl_fused_ops *fused;
  /* jobs of a strategy in C, for build(), run(), release() and packing of host_job.h; NULL: none */
  const tsl_host_job_ops *jobs;
  struct {
    const tsl_types *types; /* list ended by a zero; NULL: f32 throughout or f64 throughout */
    /* reason of the limit to these types, for refusals ("texels of images are f32"); NULL: none */
    const char *why;
    bool conjugates, batches; /* conjugates: conjugated A and B; batches: problems with a batch */
    /* a structured A or B, or a triangle of C, in each listed type that allows structures */
    bool structures;
    /* The strategy fuses an epilogue unless refuse() refuses the problem with its epilogue. If it fuses,
     * work->fuses_epilogue is set, and build() and run() get the whole problem with the epilogue's vectors;
     * other members get tsl_problem_without_epilogue(). C in the type of its sums has the bits of
     * strategy_epilogue.h; a narrower C may be rounded less often. Not for strategies that split. */
    bool epilogues;
  } supports;
  struct {
    tsl_range ranges[TSL_PARAMS_MAX]; /* range of each parameter */
    /* names of the listed values, in their order; NULL: numbers. Texts may always contain the numbers. */
    const char *const *names[TSL_PARAMS_MAX];
    /* Returns how many leading parameters rule out the config, whatever the others are; 0: none. A walk skips
     * that branch; refuse() must refuse all of it. `needs` and `supports` are met. NULL: 0. */
    int (*prune)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  } tuning;
  struct {
    /* Returns the bytes of device memory that a run needs in addition to its operands, with any strides.
     * Called after refuse(). NULL: none. */
    uint64_t (*scratch)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* Parameter whose smaller values, from `max` by halves to `min`, need less scratch memory and keep all
     * result bits; its value 0 is the largest. max = 0: none. */
    struct {
      int param;
      int64_t min, max;
    } shrinkable;
    /* Returns an upper bound of the bytes of host memory that a run on the cpu allocates. Called after
     * refuse(). NULL: a few panels, independent of the problem size. */
    uint64_t (*host)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* Counts memory traffic and partition of a run (cost_counts.h) of a config that is not refused. `account`
     * comes with the multiply-adds, each element moved once, and one launch on a device. The problem has no
     * batch, and k = 0 where A and B are not read. NULL: unknown (vendors' libraries). */
    void (*count_costs)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account);
  } resources;
  struct {
    /* Returns the steps of k in the split from step `index` on, for an m x n block of C: at most `most`.
     * Splits are added one after the other with beta = 1. They keep every bit of the whole sum if this
     * function chose them all. `config` is for `whole`. 0 or NULL: k cannot be split. */
    int64_t (*steps)(const tsl_problem *whole, const tsl_config *config, const tsl_device *device, int64_t m,
                     int64_t n, int64_t index, int64_t most);
  } k_split;
  struct {
    /* Returns the bytes of the form that run() makes of operand A or B, on the cpu; 0: run() reads the
     * operand unpacked. NULL: run() packs nothing. */
    size_t (*bytes)(const tsl_work *work, int operand);
    /* Writes that form to `dst`, aligned to a cache line, with the team's threads. `from` has the problem's
     * strides. Runs that find the form in `packed` give the same bits. */
    void (*pack)(const tsl_work *work, int operand, const tsl_operand *from, void *dst, tsl_team team);
  } prepack;
  struct {
    /* Computes a call at once if `binding` is NULL; else prepares it for repetitions with other addresses.
     * The bits are those of run(). Returns false, with nothing changed, where a plan is faster, the call is
     * unsupported, or memory ran out. Sizes are at least 1, and the caller guarantees all that
     * tsl_problem_check() tests. The dispatcher (dispatch/dispatch.h) selects the strategy. NULL: never. */
    bool (*bind)(const tsl_call *call, const tsl_device *device, tsl_binding *binding);
    /* Returns a kernel equivalent to run() on the cpu with the device's team, and its state, for small
     * products. Called after build(), for operands with the problem's strides. NULL: only run(). */
    tsl_fast_kernel *(*run_at)(const tsl_work *work, const void **state);
  } direct;
  struct {
    /* texts of configs that cover every code path, ended by NULL, for tests; NULL member: all configs */
    const char *const *probes;
  } testing;
  struct {
    /* Sub-plans, made by build() with work->subplans, compute parts of a product of operands in host memory.
     * build() may set open values of the config. False: sub-plans, if any, read the device's operands. */
    bool parts;
    /* Predicts like score(), with the models of listed strategies for the sub-plans. NULL: score() does. */
    double (*score)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_all_strategies *list);
    /* operands may be sharded over members of the device; work->sharding has the locations */
    bool accepts_shards;
    /* Gets sub-plan `index` of a built work; false past the last. */
    bool (*subplan)(const tsl_work *work, int index, tsl_subplan_info *share);
    /* Returns an upper bound of the bytes of device memory of a run. NULL: no device memory. */
    uint64_t (*bytes)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* Returns a sentence about problems in previous runs, owned by the work; NULL: none. */
    const char *(*note)(const tsl_work *work);
  } splits;
  struct {
    /* Loads a vendor's library once in the process and for good. Such a strategy is a peer for comparison,
     * used only on request. The result is always the same and never NULL; a missing library is a reason for
     * refusal. Thread-safe. NULL member: the strategy is tesela's own. */
    const tsl_vendor *(*load)(void);
  } vendor;
};

/* Formats a refusal into a buffer of the thread. Valid until the thread's next call; never NULL or "". */
const char *tsl_refusal(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns a refusal that names the first capability in `needs` that the device lacks; NULL: none. */
const char *tsl_refuse_missing(unsigned needs, const tsl_device *device);

/* Gets entry `index` of the types that a strategy supports; false past the end. */
bool tsl_strategy_types(const tsl_strategy *strategy, int index, tsl_types *types);

/* Returns a strategy's vendor library with its version ("OpenBLAS 0.3.21 SkylakeX"), after loading it. "":
 * tesela's own strategy, a missing library, or an unsupported device. */
const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device);

/* Predicts the run time in seconds without the epilogue, with the listed strategies for sub-plans; 0 where
 * there is no model. */
double tsl_strategy_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                            const tsl_config *config, const tsl_device *device, tsl_all_strategies *list);

/* Returns true if the strategy fuses the epilogue; false: none to fuse. The config must not be refused. */
bool tsl_strategy_fuses_epilogue(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);
/* Returns the guaranteed accuracy of a problem, its epilogue included. */
tsl_accuracy tsl_strategy_error_model(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config);
/* Returns b such that |error| <= b (|alpha| |A||B| + |beta| |C|), apart from underflow. */
double tsl_strategy_error_bound(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config);
/* Returns the bytes of scratch memory of a run on the device; 0 on the cpu. Includes separate accumulators of
 * a problem with scales (tsl_strategy_sums_at()), unless the strategy fuses the epilogue. */
uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

/* Returns the bytes of host memory of a run in addition to operands and their copies: 0 except on the cpu,
 * and on an OpenCL device of the same cores (PoCL). More than tsl_scratch_limit() is refused. */
uint64_t tsl_strategy_host_bytes(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);

/* Changes the config so that tsl_strategy_scratch() is at most `max_bytes`, without a change of any result
 * bit (resources.shrinkable). Returns false, with the config unchanged, if impossible. */
bool tsl_strategy_fit_workspace(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device, uint64_t max_bytes, tsl_config *config);

/* Returns the bytes of scratch memory of a run of a built work. */
uint64_t tsl_work_workspace(const tsl_work *work);

/* Returns the byte of scratch memory where separate accumulators begin. */
uint64_t tsl_strategy_sums_at(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

#endif
