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
#include "core/pool.h"
#include "device/device.h"
#include "problem/problem.h"
#include "problem/sharding.h"
#include "strategy/call.h"
#include "strategy/run_hints.h"

#define TSL_PARAMS_MAX 12
#define TSL_PARAM_VALUES_MAX 12

typedef struct tsl_param {
  const char *name; /* name in texts; NULL ends the table */
  const char *what; /* description of one line, with the unit */
  int64_t fallback; /* default value */
  /* Values that searches and the planner try, ended by 0 or the array's end. None: always the default. */
  int64_t values[TSL_PARAM_VALUES_MAX];
} tsl_param;

/* Range of values that a user may set in addition to the listed values. `max` = 0: none. */
typedef struct tsl_range {
  int64_t min, max;
} tsl_range;

/* Parameter values, in the order of the strategy's table. */
typedef struct tsl_config {
  int64_t value[TSL_PARAMS_MAX];
} tsl_config;

/* Error bound and reproducibility of a result. For each element of C, |computed - exact| <= factor u (|alpha|
 * |A||B| + |beta| |C|) + underflow; u: unit roundoff of C's type. Transpose: factor u |alpha||A|. */
typedef struct tsl_accuracy {
  double factor; /* in unit roundoffs of C's type; 0: exact (integers) */
  /* equal inputs, device and config give equal bits */
  bool is_reproducible;
  /* the exact result rounded once to nearest even, hence the same on every device */
  bool is_correctly_rounded;
  bool has_fixed_tree;    /* same summation tree on every device, hence the same bits on every device */
  double flush_threshold; /* magnitudes below it in A, B and sums may be replaced by 0; 0: no flush */
  /* A and B may be truncated to fewer digits, within `factor`; magnitudes below `flush_threshold` may become
   * 0 */
  bool truncates_inputs;
  double subnormal_error; /* additional absolute error of each element of A and B, from subnormal inputs; 0:
                             none */
  bool finite_only;       /* the bound holds for finite inputs and results only */
} tsl_accuracy;

/* Returns `underflow` of the bound above: the absolute error of a factor from flushed and subnormal
 * numbers. */
static inline double tsl_accuracy_underflow(const tsl_accuracy *accuracy) {
  return accuracy->flush_threshold + accuracy->subnormal_error;
}

/* Types of A, B and C that a strategy supports together. */
typedef struct tsl_types {
  tesela_type a, b, c;
} tsl_types;

/* Reads "f32" (A and B; C is tsl_result_type()), "bf16:f32" (A and B, then C) or "u8:i8:i32" (A, B, C).
 * Returns false for an unknown type or more than three. */
bool tsl_types_parse(tsl_op op, const char *text, tsl_types *types);
/* Appends the shortest text that tsl_types_parse() reads as these types. */
void tsl_types_print(tsl_op op, const tsl_types *types, tsl_text *text);

/* One operand of a run. Strides have any sign and size; a packed copy's differ from the problem's. */
typedef struct tsl_operand {
  void *host; /* element (0, 0) in host memory; NULL: the operand is in `buffer` */
  tsl_buffer *buffer;
  int64_t offset; /* element (0, 0), in elements from the start of the buffer */
  int64_t row_stride, col_stride;
  /* result of prepack.pack() for this work, used instead of all other members; NULL: none */
  const void *packed;
  /* in a batch: distance in elements from one product's operand to the next, of any sign */
  int64_t batch_step;
  /* shards of a sharded operand, in the order of work->sharding, used instead of all other members */
  const tsl_shard_buffer *shards;
} tsl_operand;
typedef struct tsl_operands {
  tsl_operand a, b, c;
  tsl_operand bias; /* used where the problem has a bias; step 0: one bias for all products of a batch */
  /* used where the problem has scales; step 0: one scale for all products of a batch */
  tsl_operand scale_a, scale_b;
  tsl_operand sums;           /* accumulators of a problem with scales, read by the epilogue only */
  tsl_buffer *scratch;        /* device memory of scratch() bytes; NULL where that is 0, and on the cpu */
  const tsl_run_hints *hints; /* of the strategy whose sub-plan runs; NULL: none */
  tsl_team team;              /* threads that the run may use, on the cpu; zero: only the calling thread */
} tsl_operands;

typedef struct tsl_strategy tsl_strategy;
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
  /* bound of the previous rung that this strategy lifts, in a few words; NULL: not on the ladder */
  const char *lifts;
  tsl_op op;
  /* increased when results or a parameter's meaning change: stored plans of older versions are discarded */
  int version;
  /* required capabilities (TSL_CAN_...); 0: cpu and devices with kernels, refuse() tests TSL_CAN_HOST */
  unsigned needs;
  /* Returns the guaranteed error bound and reproducibility of C. */
  tsl_accuracy (*accuracy)(const tsl_problem *problem, const tsl_config *config);
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
  /* Returns true if the strategy fuses the problem's epilogue; called after refuse(), never for strategies
   * that split. Then work->fuses_epilogue is set, and build() and run() get the whole problem with the
   * epilogue's vectors; other members get tsl_problem_without_epilogue(). C in the type of its sums has the
   * bits of strategy_epilogue.h; a narrower C may be rounded less often. NULL: never. */
  bool (*can_fuse_epilogue)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
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
    /* Changes the config as little as possible so that scratch() is at most `most`, without a change of any
     * result bit. Returns false if impossible. NULL: no such config. */
    bool (*fit_workspace)(const tsl_problem *problem, const tsl_device *device, uint64_t most,
                          tsl_config *config);
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

/* Returns the bound of sums of k products in any fixed order, scaled and added to beta C, fused or not. The
 * factor is k + 4. The k terms cost k u for any k (Jeannerod, Rump 2013); alpha, beta, the last addition and
 * second-order terms cost the rest. */
tsl_accuracy tsl_accuracy_of_sum(int64_t k);
/* Returns the bound of sums that were made in the type's `sums` and rounded once to `type`; exact for
 * integers. The functions below apply it to their results. */
tsl_accuracy tsl_accuracy_in_type(tsl_accuracy of_sums, tesela_type type);
/* Returns the bound of sequential sums, as a descriptor's accuracy(). */
tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config);
/* Returns the bound of substitution with a triangle of k = m rows, terms subtracted one after the other:
 *
 *   |alpha B - A X| <= factor u |A||X|     for each element, |A| and |X| being magnitudes
 *
 * The distance from the exact solution depends on the condition of A. The factor is k + 4: a sum of k terms,
 * and two roundings for a quotient or a rounded reciprocal. For complex types it is 2 k + 16: 2 k terms a
 * part, and 12 roundings for a quotient by Smith's method or such a reciprocal. */
tsl_accuracy tsl_accuracy_of_substitution(const tsl_problem *problem, const tsl_config *config);
/* Returns the bound for kernels with fast, relaxed arithmetic where `relaxed`, else `of_sums`. Relaxed: any
 * order of the sums, subnormals flushed to 0, finite values only. */
tsl_accuracy tsl_accuracy_relaxed(tsl_accuracy of_sums, const tsl_problem *problem, bool relaxed);
/* Returns the bound of NVIDIA's matrix instructions on narrow types. Products are exact. An instruction
 * aligns 8 products (16 on newer devices) and the accumulator to the largest magnitude, and truncates each
 * below f32's last digit (Fasi, Higham, Mikaitis, Pranesh 2021). So 8 products have at most nine truncations
 * of 2 u. Subnormals keep the exponent of the smallest normal number s, 2^-14 (f16) or 2^-126 (bf16), so they
 * count as (|a| + s) (|b| + s) in sums of magnitudes. `subnormal_error` is s times the factor of such sums.
 */
tsl_accuracy tsl_accuracy_of_tensor_cores(const tsl_problem *problem, const tsl_config *config);
/* Returns the factor of tensor-core sums of k products, in roundings of f32. */
double tsl_accuracy_cuts(double k);
/* Returns the factor where sums of `panel` products are added in f32, in roundings of f32. Holds for parts of
 * k with at least four panels, too. */
double tsl_accuracy_cuts_of_panels(double k, double panel);
/* Returns `subnormal_error` for a factor of `factor` roundings of f32; 0 for integers and types above two
 * bytes. */
double tsl_accuracy_slips(const tsl_problem *problem, double factor);
/* Returns the bound of tensor cores for 8-bit floating point, where sums of `panel` products are added in f32
 * (`panel` >= k: no additions). An instruction aligns 32 exact products and the accumulator to their largest
 * exponent. It truncates each, and the sum, 13 binary places below. (DeepSeek-AI, "DeepSeek-V3 Technical
 * Report", 2024, section 3.5.2: 14 bits; measured: docs/lab/cuda_wgmma.md.) */
tsl_accuracy tsl_accuracy_of_eights(const tsl_problem *problem, int64_t panel);
/* Returns the bound of sums in panels of `panel` products, each multiplied by alpha and added to C. The
 * factor is min(k, panel) + ceil(k / panel) + 3, plus 2 k u for second-order terms. A product is rounded
 * min(k, panel) times in its panel, once with alpha, and at each addition to C. One panel: a sum of k. */
tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel);

/* Returns the bound of a C with scales, rounded once after the epilogue, relative to
 * |alpha||scale_a||A||B||scale_b| + |beta||C| + |bias|. `of_sums` is the bound of sums in f32 or integers.
 * The sums, three factors, beta C and the bias cost six roundings of f32, second-order terms two. */
tsl_accuracy tsl_accuracy_scaled(tsl_accuracy of_sums, const tsl_problem *problem);
/* Returns the bound after an epilogue without scales on the stored C, relative to |alpha||A||B| + |beta||C| +
 * |bias|. The activation's slope (at most 1.13 for GELU) multiplies the error of C and of the bias addition.
 * GELU costs a few roundings (OpenCL's erf up to 16 ulp) and one for the result; ReLU costs none. */
tsl_accuracy tsl_accuracy_finished(tsl_accuracy of_product, const tsl_problem *problem);

/* Returns the bound of a sum of `slabs` parts of k, computed by sub-plans in any fixed order, or on tensor
 * cores. Slabs are added in order, so the factor is `slabs` times that of one slab. */
tsl_accuracy tsl_accuracy_of_parts(const tsl_problem *problem, int64_t slabs);
/* Returns tsl_accuracy_of_parts(), or all that the problem's requirement allows if more, truncated f32 inputs
 * included. So a requirement for tf32 or a number reaches the sub-plans. */
tsl_accuracy tsl_accuracy_asked_of_parts(const tsl_problem *problem, int64_t slabs);
/* Returns the bound that a sub-plan must meet for one slab `part` of `slabs` slabs of `whole`. */
tsl_accuracy tsl_accuracy_of_one_part(const tsl_problem *whole, const tsl_problem *part, int64_t slabs);

/* Formats a refusal into a buffer of the thread. Valid until the thread's next call; never NULL or "". */
const char *tsl_refusal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns strategy `index` of all strategies, in ladder order for each op; NULL past the end. */
const tsl_strategy *tsl_strategy_at(int index);
/* Returns the path of the strategy's folder from src/, "strategy/gemm/ladder/element". */
const char *tsl_strategy_folder(const tsl_strategy *strategy);
/* Pointer to tsl_strategy_at(), set by a constructor in strategy_list.c: models may try any strategy, but
 * strategies must not depend on the list. */
extern const tsl_strategy *(*tsl_strategy_list_hook)(int index);
/* Finds a strategy by op and name; NULL: none. */
const tsl_strategy *tsl_strategy_find(tsl_op op, const char *name);

/* Returns the first rung of an operation's ladder, never NULL. For products it runs on the cpu, needs no
 * build and no memory, and supports every combination of types and layouts that any strategy supports. */
const tsl_strategy *tsl_strategy_specification(tsl_op op);

/* Every type, A, B and C alike: for strategies that move elements. Ends with a zero. */
extern const tsl_types tsl_types_all[];
/* Types of matrix instructions on processors: bf16, f16, and all pairs of 8-bit integers. */
extern const tsl_types tsl_types_narrow[];
/* tsl_types_narrow, and both 8-bit floating-point types in any combination with C in f32, bf16 and f16. */
extern const tsl_types tsl_types_small[];
/* f32, f64, and tsl_types_narrow. Ends with a zero. */
extern const tsl_types tsl_types_real[];
/* Every combination of types of products, 8-bit floating point included. Ends with a zero. */
extern const tsl_types tsl_types_every[];
/* Gets entry `index` of the types that a strategy supports; false past the end. */
bool tsl_strategy_types(const tsl_strategy *strategy, int index, tsl_types *types);

/* Returns the position on the operation's ladder, from 1 (strategy_list.h); 0 for vendors' strategies. */
int tsl_strategy_rung(const tsl_strategy *strategy);
/* Returns a strategy's vendor library with its version ("OpenBLAS 0.3.21 SkylakeX"), after loading it. "":
 * tesela's own strategy, a missing library, or an unsupported device. */
const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device);

/* Returns the number of listed values; 0: only the default. */
int tsl_param_values(const tsl_param *param);
/* Appends the allowed values of parameter `index`: "8, 16, 32, or any number from 1 to 128". */
void tsl_param_print(const tsl_strategy *strategy, int index, tsl_text *text);
/* Appends a value of parameter `index` by its name or number: "local", "8". */
void tsl_param_print_value(const tsl_strategy *strategy, int index, int64_t value, tsl_text *text);
/* Reads a value of parameter `index` by its name or number; false: neither. */
bool tsl_param_parse_value(const tsl_strategy *strategy, int index, const char *word, int64_t *value);
/* Returns the name of a value; NULL where the value has no name. */
const char *tsl_param_value_name(const tsl_strategy *strategy, int index, int64_t value);
/* Returns true if texts omit the parameter: it has no listed values, and `value` is its default. */
bool tsl_param_is_silent(const tsl_param *param, int64_t value);

int tsl_strategy_params(const tsl_strategy *strategy);
tsl_config tsl_strategy_defaults(const tsl_strategy *strategy);
/* Gets config `index` of all listed combinations, from 0 until false. */
bool tsl_strategy_config(const tsl_strategy *strategy, int index, tsl_config *config);
/* Gets config `index` for tests, from 0 until false: the strategy's probes, or all configs. */
bool tsl_strategy_probe(const tsl_strategy *strategy, int index, tsl_config *config);

/* Iterator over all configs that prune() keeps, the last parameter fastest. Start from zero; read `config`
 * after each tsl_strategy_walk() that returns true. A parameter with a bit in `fixed` keeps its value in
 * `config`, listed or not. The walk is empty where every config is refused. */
typedef struct tsl_walk {
  tsl_config config;
  unsigned fixed;            /* bit i: parameter i keeps its value */
  int place[TSL_PARAMS_MAX]; /* index of each parameter's current value in its list */
  bool begun;
} tsl_walk;
/* Advances to the next config; false past the last. */
bool tsl_strategy_walk(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       tsl_walk *walk);

/* Predicts the run time in seconds without the epilogue; 0 where there is no model. */
double tsl_strategy_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                            const tsl_config *config, const tsl_device *device);

/* Returns NULL, or the reason why the strategy cannot run the problem: capabilities, types, the vendor's
 * library, parameter values, refuse(), the required accuracy, scratch memory or host memory. */
const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device);
/* Returns true if the strategy fuses the epilogue; false: none to fuse. The config must not be refused. */
bool tsl_strategy_fuses_epilogue(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);
/* Returns the guaranteed accuracy of a problem, its epilogue included. */
tsl_accuracy tsl_strategy_error_model(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config);
/* Returns the device-independent part of tsl_strategy_refuse(): types, structure, batch and required
 * accuracy. The problem has the strategy's op. */
const char *tsl_strategy_refuse_anywhere(const tsl_strategy *strategy, const tsl_problem *problem,
                                         const tsl_config *config);
/* Returns b such that |error| <= b (|alpha| |A||B| + |beta| |C|), apart from underflow. */
double tsl_strategy_error_bound(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config);
/* Returns the strongest reproducibility that `accuracy` guarantees, for an equal strategy and config. */
tsl_reproducibility tsl_accuracy_bits(const tsl_accuracy *accuracy);
/* Returns the bytes of scratch memory of a run on the device; 0 on the cpu. Includes separate accumulators of
 * a problem with scales (tsl_strategy_sums_at()), unless the strategy fuses the epilogue. */
uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

/* Returns the bytes of host memory of a run in addition to operands and their copies: 0 except on the cpu,
 * and on an OpenCL device of the same cores (PoCL). More than tsl_scratch_limit() is refused. */
uint64_t tsl_strategy_host_bytes(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);

/* Changes the config so that tsl_strategy_scratch() is at most `max_bytes`, without a change of any result
 * bit (resources.fit_workspace). Returns false, with the config unchanged, if impossible. */
bool tsl_strategy_fit_workspace(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device, uint64_t max_bytes, tsl_config *config);

/* Returns the bytes of scratch memory of a run of a built work. */
uint64_t tsl_work_workspace(const tsl_work *work);

/* Returns the byte of scratch memory where separate accumulators begin. */
uint64_t tsl_strategy_sums_at(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

/* Appends the name and all parameters that are not silent: "tile_local tile=16". */
void tsl_config_print(const tsl_strategy *strategy, const tsl_config *config, tsl_text *text);
/* Appends parameter `index` alone: "tile=16". */
void tsl_config_print_one(const tsl_strategy *strategy, int index, const tsl_config *config, tsl_text *text);
/* Reads parameter values from a record; a missing key keeps its value in `config`. `present`, unless NULL,
 * gets a bit for each parameter present. TESELA_BAD_INPUT names the wrong value and lists the valid ones. */
tesela_status tsl_config_parse(const tsl_strategy *strategy, const tsl_record *record, tsl_config *config,
                               unsigned *present);

#endif
