/* The strategy descriptor: one folder, one const tsl_strategy, and nothing else knows that it exists.
 *
 * What may be relied upon, and what must be kept:
 *  - Operands lie where the device can reach them. On a device with TSL_CAN_HOST (the cpu) `host` is element
 * (0, 0). On others `buffer` and `offset` (in elements) are.
 *  - m, n are at least 1 when run() is called; k may be 0. beta = 0 never reads C; alpha = 0 never reads A or
 * B. The gaps between C's rows (its strides) are never written.
 *  - run() may be called by many threads at once, each with its own stream; what build() made is read-only
 * then.
 *  - Strides are those of the run's operands; the problem's are those that the caller has in mind, good for
 * predictions.
 *  - run() only enqueues on the stream; the caller waits.
 *  - A run that needs device memory of its own says how much with scratch(), and finds it in its operands: it
 * is this run's alone until the stream is done with it, its contents are undefined, and it is aligned for any
 * type. Strategies of the cpu take theirs from base/scratch.h.
 *  - A run on the cpu uses the threads of its operands' team and no others, whatever else there is; so does
 * pack().
 */
#ifndef TSL_STRATEGY_STRATEGY_H
#define TSL_STRATEGY_STRATEGY_H

#include "base/pool.h"
#include "base/source.h"
#include "device/device.h"
#include "strategy/operand_reuse.h"
#include "strategy/problem.h"
#include "strategy/sharding.h"

#define TSL_PARAMS_MAX 12
#define TSL_PARAM_VALUES_MAX 12

typedef struct tsl_param {
  const char *name; /* NULL ends the table */
  const char *what; /* one line, with the unit */
  int64_t fallback; /* the default */
  /* What walks, searches and the planner take, ended by 0 or the array's end; none: they leave it at the
   * default. */
  int64_t values[TSL_PARAM_VALUES_MAX];
} tsl_param;

/* What a user may name beside a parameter's listed values: any number from least to most; most = 0: nothing.
 */
typedef struct tsl_range {
  int64_t least, most;
} tsl_range;

/* Values of a strategy's parameters, in the order of its table. */
typedef struct tsl_config {
  int64_t value[TSL_PARAMS_MAX];
} tsl_config;

/* Element by element: |computed - exact| <= factor * u * (|alpha| |A||B| + |beta| |C|), u being the unit
 * roundoff of C's type, plus underflow; of a transpose, of |alpha| |A|. `repeats`: same inputs, same device
 * and same config give the same bits. `rounded`: the result is the exact one, rounded once to nearest even,
 * however much cancels; so it is the same everywhere. */
typedef struct tsl_accuracy {
  double factor; /* 0: exact (integers) */
  bool repeats;
  bool rounded;
  bool tree;      /* sums are cut and added alike on every device: the bits are the same everywhere */
  double flushes; /* magnitudes below it may be taken as 0, in A, in B and in sums, as tile units do; 0: none
                     are */
  bool cuts;      /* factors are cut to fewer digits, which the factor above counts; `flushes` says which ones
                     nothing is left of */
  double slips;   /* beside, each factor may count as off by so much: what units lose of numbers below the
                     smallest normal one; 0: nothing */
  bool finite;    /* of finite operands and results alone: what NaN and infinity become is not promised */
} tsl_accuracy;

/* What a factor may be off by at most, apart from its digits: it is the factor of underflow, flushes or
 * slips. */
static inline double tsl_accuracy_underflow(const tsl_accuracy *accuracy) {
  return accuracy->flushes + accuracy->slips;
}

/* Types that a strategy takes together. */
typedef struct tsl_types {
  tesela_type a, b, c;
} tsl_types;

/* "f32", which is A, B and what tsl_result_type() says of C; "bf16:f32", A and B, then C; "u8:i8:i32", each.
 * The first of these forms that says it is what is printed. False where a word is no type or there are more
 * than three. */
bool tsl_types_parse(tsl_op op, const char *text, tsl_types *types);
void tsl_types_print(tsl_op op, const tsl_types *types, tsl_text *text);

/* One operand of a run. The strides are given with every run, and rule: a plan runs on operands where they
 * lie, and on copies of them that are packed. Their signs and sizes are free. */
typedef struct tsl_operand {
  void *host; /* element (0, 0); or NULL and: */
  tsl_buffer *buffer;
  int64_t offset; /* elements from the buffer's start to element (0, 0) */
  int64_t row_stride, col_stride;
  const void *packed; /* NULL, or what pack() made of it for this work: then nothing else is read */
  int64_t step;       /* of a problem that is a batch: elements from product to product, of any sign */
  const tsl_shard_buffer
      *held; /* of a work with a spread: its pieces, in their order there; then nothing else is read */
} tsl_operand;
/* Of a run whose result may turn out not to be wanted, which the device alone knows: nobody reads C unless
 * the int at byte `at` of scratch memory is above `above` when the run begins. Who likes may leave the run
 * out then; zero: C is wanted. */
typedef struct tsl_run_predicate {
  bool is_told;
  int64_t at;
  int above;
} tsl_run_predicate;

/* Of a run of which nobody reads C but its elements modulo p, of a work that makes these itself (`reduces`):
 * bytes from 0 to p - 1, in rows of `row` bytes from byte `at` of scratch memory on, up to three anything
 * behind a row's last. x / p is x magic / 2^39, cut off, for x up to 2^31; bias is a multiple of p that makes
 * no sum negative. Zero: C is written. */
typedef struct tsl_modular_output {
  int64_t at, row;
  uint32_t p, magic, bias;
} tsl_modular_output;

typedef struct tsl_operands {
  tsl_operand a, b, c;
  tsl_operand bias; /* of problems that have one, the same for all of a batch where its step is 0 */
  tsl_operand scale_a, scale_b; /* likewise */
  tsl_operand sums;    /* of the last step, which is told here where the sums of a problem with scales are */
  tsl_buffer *scratch; /* of as many bytes as scratch() said; NULL where that is 0, and on the cpu */
  tsl_run_predicate wanted;
  tsl_modular_output rests;
  tsl_operand_reuse *stays; /* of runs that are queued: a factor that several have; NULL: none */
  tsl_team team;            /* the threads that the run may use, on the cpu; zero: the caller's alone */
} tsl_operands;

typedef struct tsl_strategy tsl_strategy;
typedef struct tsl_cost_counts tsl_cost_counts;         /* strategy/cost_counts.h */
typedef struct tsl_host_job_ops tsl_host_job_ops;       /* strategy/host_job.h */
typedef struct tsl_subplan_factory tsl_subplan_factory; /* strategy/subplans.h */
typedef struct tsl_subplan_info tsl_subplan_info;       /* there, too */

/* A product of one real type in host memory as it is called, with nothing prepared: C (m x n) = alpha A B +
 * beta C. */
typedef struct tsl_fast_product {
  tesela_type type;
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, b_row, b_col, c_row, c_col; /* strides in elements */
  double alpha, beta;
  bool alpha_is_0, alpha_is_1,
      beta_is_0; /* told beside: comparing numbers would wait for the multiply-adds before */
} tsl_fast_product;

/* A system with a triangle in host memory, likewise, solved in place: X (m x n) = alpha inverse(A) X,
 * whatever the type. */
typedef struct tsl_fast_solve {
  tesela_type type;
  const void *a;
  int64_t m;
  void *x;
  int64_t n;
  int64_t a_row, x_row, a_col, x_col; /* strides in elements */
  bool is_upper, is_unit, conjugates;
  double alpha[2];
  tsl_team team;
} tsl_fast_solve;

/* A small product in host memory, likewise: C (m x n) = alpha A B + beta C, whatever the type. A may have a
 * structure; with a triangular one, B is C, and beta 0. Of C one triangle may be wanted, whose diagonal is
 * real where it is hermitian. In this order no neighbours come from neighbours: compilers copy such together,
 * and wait for whoever wrote them one by one. */
typedef struct tsl_fast_structured {
  tesela_type type;
  const void *a;
  int64_t m;
  const void *b;
  int64_t n;
  void *c;
  int64_t k;
  int64_t a_row, b_row, c_row, a_col, b_col, c_col; /* strides in elements */
  tesela_structure a_is, c_is;
  tesela_triangle a_triangle, c_triangle;
  bool conjugates_a, conjugates_b;
  double alpha[2], beta[2];
} tsl_fast_structured;

/* A product of which all but the addresses is known: `state` knows it. */
typedef tesela_status tsl_fast_kernel(const void *state, const void *a, const void *b, void *c);

/* What came of loading a vendor's library. */
typedef struct tsl_vendor {
  char why_not[160]; /* why it cannot be used, a sentence; "" when it can */
  char name[64];     /* what was loaded, with its version: "OpenBLAS 0.3.21 SkylakeX" */
  char file[256];    /* where it lies, links followed */
} tsl_vendor;

/* A strategy bound to a problem, a config and an open device. */
typedef struct tsl_work {
  const tsl_strategy *strategy;
  tsl_problem problem;
  tsl_config config;
  tsl_device *device;
  void *state;          /* what build() made */
  double build_seconds; /* time in compilers, for reports */
  bool finishes;        /* build() and run() do the problem's last step, too; false: they pass over it */
  bool reduces; /* runs may be told where residues of C are wanted in its place (tsl_modular_output): build()
                   says so */
  bool loaded_only; /* build() takes kernels that are loaded already, and fails for others: TESELA_UNSUPPORTED
                     */
  int texts;       /* how many texts of kernels were compiled or found compiled; 0: it is C of this library */
  tsl_hash source; /* of all of them, in their order */
  tsl_text *kept;  /* gets the texts themselves, where it is not NULL */
  const tsl_subplan_factory *children; /* who makes plans for parts of it; of strategies that split */
  uint64_t scratch; /* bytes that a run needs beside its operands, where build() says it: children's are known
                       then. 0: uses.scratch() */
  const tsl_sharding *spread; /* operands lie in pieces, and this is where; NULL: they do not */
} tsl_work;

/* One of several products that a run takes together, its problem alone, and where its operands are, strides
 * included. */
typedef struct tsl_fused_product {
  const tsl_problem *problem;
  const tsl_operands *operands;
} tsl_fused_product;

/* How a strategy takes products whose sizes differ in one run of a work that was built for a batch of one of
 * them. Its config rules, and the order of sums is that of a batch: the bits of each product do not depend on
 * the others. */
typedef struct tsl_fused_ops {
  /* Compiles what such runs need, unless that was done; before the first of them. Any number of threads. */
  tesela_status (*build)(const tsl_work *work);
  /* Whether this product may be one of them. The problem was not refused as such a batch. */
  bool (*takes)(const tsl_work *work, const tsl_fused_product *product);
  /* Bytes of scratch memory that a run of so many products needs. */
  uint64_t (*scratch)(int64_t count);
  /* Enqueued. All of them are taken; the arrays may be changed on return. Any number of threads, with scratch
   * memory of their own. */
  tesela_status (*run)(const tsl_work *work, const tsl_fused_product *products, int64_t count,
                       tsl_buffer *scratch, tsl_stream *stream);
} tsl_fused_ops;

struct tsl_strategy {
  const char *name;  /* the folder's name */
  const char *idea;  /* one line */
  const char *lifts; /* a few words: the bound of the rung below that it lifts; NULL for what is on no rung */
  tsl_op op;
  int version; /* raised when results or the meaning of a parameter change: retires this strategy's remembered
                  plans */
  /* Capabilities, of TSL_CAN_...; 0 where it runs both on the cpu and on devices with kernels, which is all
   * of them, and looks at the device's TSL_CAN_HOST itself. */
  unsigned needs;
  tsl_accuracy (*accuracy)(const tsl_problem *problem, const tsl_config *config);
  const tsl_param *params; /* ends with a NULL name; NULL: none */
  /* Results rely on rounding to nearest and on subnormal numbers: on the cpu run() and pack() have the
   * default floating-point environment (base/floats.h). False: the caller's mode holds. */
  bool needs_nearest;
  /* NULL, or a short sentence saying why not ("tile=32 needs 1024 work-items, opencl:0 allows 512"). The text
   * is constant or from tsl_refusal(). Capabilities in `needs` and parameter values were looked at already; a
   * strategy that takes all the rest leaves this member NULL. */
  const char *(*refuse)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  /* Predicted seconds on the device, operands resident; at most a screen. Where there is a prune(), also of
   * configs that it leaves and refuse() does not: any number, then. */
  double (*score)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  /* Compiles and prepares; sets work->state. On failure nothing is left behind. NULL: nothing to prepare. */
  tesela_status (*build)(tsl_work *work);
  tesela_status (*run)(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
  void (*release)(tsl_work *work); /* NULL: nothing to free */
  /* What follows is optional: zero where a strategy has none of it. */
  /* Whether the last step of such a problem rides with the product: then work->finishes is set, build() and
   * run() have the whole problem, and the operands its vectors. All others are asked as ever, of scaled sums
   * about those (tsl_problem_without_epilogue()). A C in the type of its sums has the bits that
   * strategy/strategy_epilogue.h makes of them; of narrower types rounding less is right. Called after
   * refuse(), and never of strategies that split. NULL: it never does. */
  bool (*finishes)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  /* Capabilities of devices where all kernels of a run that is not wanted end at once (tsl_run_predicate); 0:
   * none
   */
  unsigned skips;
  /* Seconds that NVIDIA's compiler takes for the kernels of a plan, children's too; 0: as most strategies. A
   * plan for one run weighs them. Measured on an H200 machine's Xeon, 4000 cubed. */
  double build_seconds;
  /* Products that differ in one run: NULL: it takes none so. */
  const tsl_fused_ops *joins;
  /* Of strategies in C whose build(), run(), release() and packing are those of strategy/host_job.h. */
  const tsl_host_job_ops *jobs;
  struct {
    const tsl_types *types; /* ends with a zero; NULL: f32 throughout or f64 throughout */
    const char *why; /* why no others, for refusals ("texels of images are f32"); NULL: nothing to say */
    bool conjugates, batches; /* conjugates of A and B; problems that are batches */
    bool structures; /* factors and C of which one triangle is stored or computed, each of the types above
                        that has them */
  } takes;
  struct {
    tsl_range ranges[TSL_PARAMS_MAX]; /* of each parameter */
    /* What text says in place of the listed values, in their order; NULL: the numbers. Numbers are read all
     * the same: texts have them that are older than a name. */
    const char *const *names[TSL_PARAMS_MAX];
    /* How many of the leading parameters rule the config out, whatever the others are; 0: not by this. Walks
     * over all configs leave out the rest of such a branch, so that many configs cost no more than the legal
     * ones. Says nothing that refuse() does not say, and is asked only where needs and types are met. NULL:
     * always 0. */
    int (*prune)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
  } values;
  struct {
    /* Bytes of device memory that a run needs beside its operands, whatever their strides are; called after
     * refuse(). NULL: none. */
    uint64_t (*scratch)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* Of strategies whose runs may do with less: changes a config, the least that it can, so that scratch()
     * is at most `most`; the bits stay. False: it cannot. NULL: there is nothing to change. */
    bool (*within)(const tsl_problem *problem, const tsl_device *device, uint64_t most, tsl_config *config);
    /* Bytes of host memory that a run on the cpu takes beside its operands, as an upper bound; called after
     * refuse(). NULL: a few panels at most, whatever the problem's size. */
    uint64_t (*host)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* Counts what a run with a config that is not refused moves and shares out (strategy/cost_counts.h).
     * `account` has the problem's multiply-adds, each element moved once and one launch; k is 0 where nothing
     * of A and B is read, and there is one product. What it knows score() need not count again. NULL: it
     * cannot tell (vendors' libraries). */
    void (*account)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_cost_counts *account);
  } uses;
  struct {
    /* Products that do not fit into memory at once are summed in parts of k, added one after the other by
     * beta = 1. The most steps from `index` on, at most `most`, that the next part of a block of m x n
     * elements of C may have, where parts before it were told so too, and the sums are the whole's, bit by
     * bit; 0: these are all of k at once only. `whole` is the problem that `config` is for. NULL: always 0.
     */
    int64_t (*part)(const tsl_problem *whole, const tsl_config *config, const tsl_device *device, int64_t m,
                    int64_t n, int64_t index, int64_t most);
  } sums;
  struct {
    /* The form that run() makes of A or B for itself, made once for many runs, which find it in their
     * operand's `packed` and give the same bits: its bytes, which are 0 where run() reads that operand as it
     * lies, and the form, made by a team at an address aligned to a cache line. The operand has the problem's
     * strides. On the cpu. NULL: run() packs nothing. */
    size_t (*bytes)(const tsl_work *work, int operand);
    void (*pack)(const tsl_work *work, int operand, const tsl_operand *from, void *dst, tsl_team team);
  } packing;
  struct {
    /* Multiplies at once, in the caller's thread, where no plan of any strategy would be done sooner; false:
     * it would, or this cannot, and nothing was touched. Sizes are at least 1, and whatever
     * tsl_problem_check() looks at is right. The bits are those of run(). NULL: never. */
    bool (*multiply)(const tsl_fast_product *product, const tsl_device *device);
    /* For such products that come again, elsewhere: a block for tsl_free() with all that multiply() finds out
     * about it, or NULL; and the multiplication. Where that cannot fail, `kernel` gets what does the same
     * with no way round, else NULL. With multiply(). */
    void *(*prepare)(const tsl_fast_product *product, const tsl_device *device, tsl_fast_kernel **kernel);
    tsl_fast_kernel *run_prepared;
    /* As prepare(), with a kernel always, for one of many products in a row whose operands are in no cache:
     * in the order in which memory is read soonest. The bits are those of run(). NULL, of the function or of
     * the block: there is no such way. */
    void *(*prepare_far)(const tsl_fast_product *product, const tsl_device *device, tsl_fast_kernel **kernel);
    /* What does the same as run() on the cpu by the device's team, and what to give it as state, where the
     * strides are the problem's: for products so small that passing operands takes as long as they do. After
     * build(). NULL: there is only run(). */
    tsl_fast_kernel *(*run_at)(const tsl_work *work, const void **state);
    /* Solves at once by the team of the description, as multiply() multiplies; false where memory ran out.
     * NULL: never. */
    bool (*solve)(const tsl_fast_solve *solve, const tsl_device *device);
    /* X = alpha A X in place of the solution, by the calling thread; false, and X as it was, where A has too
     * many rows. */
    bool (*multiply_triangle)(const tsl_fast_solve *product, const tsl_device *device);
    /* Multiplies at once by the calling thread; false, and C as it was, where the product is not small, or
     * cannot be done so. Sizes are at least 1. */
    bool (*multiply_little)(const tsl_fast_structured *product, const tsl_device *device);
    /* Computes any product of `takes` at once by the operands' team, on strides that are the problem's; false
     * where memory ran out. NULL: never. */
    bool (*compute)(const tsl_problem *problem, const tsl_operands *operands, const tsl_device *device);
  } fast_path;
  struct {
    /* Configs as text, "tile=16 ...", that between them take every path of the strategy's code: what tests
     * try where all configs are too many. Ends with NULL; NULL: all configs. */
    const char *const *probes;
  } testing;
  struct {
    /* Whether the strategy has parts of its product computed by plans of their own, made by work->children in
     * build(), which may set what the config leaves open. Its operands are in host memory, whatever the
     * device; it takes none in buffers. A strategy whose children work on the device's operands, as it does
     * itself, leaves this false. */
    bool parts;
    /* Whether it takes operands that lie in pieces on members of its device: then work->spread says where. */
    bool spreads;
    /* Share `index` of a work that was built; false past the last. */
    bool (*share)(const tsl_work *work, int index, tsl_subplan_info *share);
    /* Bytes of the device's memory that a run takes at most. NULL: none there. */
    uint64_t (*bytes)(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
    /* A sentence about what did not go as planned in runs until now, which lives as long as the work; NULL:
     * nothing. */
    const char *(*note)(const tsl_work *work);
  } splits;
  struct {
    /* NULL: the strategy is tesela's own work. Else it calls a vendor's library, which this loads at the
     * first call in the process and keeps: a peer to compare with, which nobody lists or chooses without
     * being asked. Absence is a reason for refusal. The answer is never NULL, the same at each call, from any
     * thread. */
    const tsl_vendor *(*load)(void);
  } vendor;
};

/* The accuracy of sums of k products in any fixed order, each operation rounded or fused, then scaled and
 * added to beta C: factor k + 4. k terms cost k u without any restriction on k (Jeannerod, Rump 2013); alpha,
 * beta, the last sum and second-order terms cost the rest. */
tsl_accuracy tsl_accuracy_of_sum(int64_t k);
/* Of sums that were made in the type's `sums` and rounded to it once, at the end; of integers, exactness.
 * Both of the functions below end so. */
tsl_accuracy tsl_accuracy_in_type(tsl_accuracy of_sums, tesela_type type);
/* The same as a descriptor's accuracy(), for strategies that add their k products one after the other. */
tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config);
/* Of substitution with a triangle of k = m rows, whose terms are taken off one after the other: element by
 * element, |alpha B - A X| <= factor u |A||X|, |A| and |X| being magnitudes. A real row is a sum of k terms,
 * and the quotient, which may be a product by the rounded reciprocal, two roundings: k + 4. A part of a
 * complex row is a sum of 2 k terms, and a quotient by Smith's method or by such a reciprocal is right to 12
 * roundings: 2 k + 16. It is not told by |X| how far X is from the exact solution: that is up to A's
 * condition, as with any substitution. */
tsl_accuracy tsl_accuracy_of_substitution(const tsl_problem *problem, const tsl_config *config);
/* The same of kernels compiled with fast, relaxed arithmetic: any order of the sums, numbers too small to be
 * normal taken as 0, and neither NaN nor infinity thought of. */
tsl_accuracy tsl_accuracy_relaxed(tsl_accuracy of_sums, const tsl_problem *problem, bool relaxed);
/* The same of NVIDIA's matrix instructions on narrow types: products are exact; an instruction aligns 8 of
 * them (16 on newer devices) and the sum before to the largest, cuts each off below f32's last digit and adds
 * (Fasi, Higham, Mikaitis, Pranesh 2021): at most nine cuts of 2 u for 8 products. Numbers below the smallest
 * normal one are taken with that one's exponent, so that what is cut behind them is as much as if they were
 * as large: with s = 2^-14 of f16 (2^-126 of bf16) they count as up to s in all sums of magnitudes, (|a| + s)
 * (|b| + s), and s times what is guaranteed of those is `slips`. */
tsl_accuracy tsl_accuracy_of_tensor_cores(const tsl_problem *problem, const tsl_config *config);
/* Of such sums of k products, in roundings of f32; and where sums of `panel` products are added to others in
 * f32, those of parts of k, which have four panels or more, among them. */
double tsl_accuracy_cuts(double k);
double tsl_accuracy_cuts_of_panels(double k, double panel);
/* `slips` where such units guarantee `factor`, in roundings of f32; 0 of types without numbers that they take
 * so. */
double tsl_accuracy_slips(const tsl_problem *problem, double factor);
/* The same of their units for 8-bit floating point, where sums of `panel` products are added to sums in f32
 * (of all k: they are not). An instruction aligns 32 exact products and the sum before to the largest
 * exponent among them, cuts each 13 binary places below it, and cuts their sum to 13 places (DeepSeek-AI,
 * "DeepSeek-V3 Technical Report", 2024, section 3.5.2, says 14 bits; docs/lab/cuda_wgmma.md has what was
 * seen). */
tsl_accuracy tsl_accuracy_of_eights(const tsl_problem *problem, int64_t panel);
/* The accuracy of sums taken in panels of `panel` products, where each panel's sum is multiplied by alpha and
 * added to what C holds: factor min(k, panel) + ceil(k / panel) + 3, and 2 k u for second-order terms. A
 * product is rounded min(k, panel) times in its panel (Jeannerod, Rump 2013, as above), once with alpha, and
 * at each addition to C; one panel costs as much as tsl_accuracy_of_sum(k). */
tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel);

/* The same of sums that scales multiply, which are rounded to C once, behind all of its last step: of
 * |alpha||scale_a||A||B||scale_b| + |beta||C| + |bias|. `of_sums` is of f32, or of integers. Those are
 * rounded, then there are three factors, beta C and a bias: six roundings of f32, and as much as two for what
 * they make of each other. */
tsl_accuracy tsl_accuracy_scaled(tsl_accuracy of_sums, const tsl_problem *problem);
/* The same of what the last step of other products (tsl_problem_has_epilogue()) makes of a C that is there,
 * rounded to its type: of |alpha||A||B| + |beta||C| + |bias|. The function's slope, of GELU at most 1.13,
 * multiplies what C is off and what adding the bias costs; the function itself is off by a few roundings, of
 * which OpenCL's erf may cost 16 of its last digit, and its result is rounded once more. A maximum with 0
 * costs nothing. */
tsl_accuracy tsl_accuracy_finished(tsl_accuracy of_product, const tsl_problem *problem);

/* What a strategy that splits promises of sums that are made `slabs` at a time by children, and what it asks
 * of each of them: the bound of sums in any fixed order, of tensor cores where the types are theirs. A sum of
 * p slabs errs by p times what one of them may, as each is added to all before. */
tsl_accuracy tsl_accuracy_of_parts(const tsl_problem *problem, int64_t slabs);
/* The same where the problem's ask allows more than that: then all of what it allows is promised, cut factors
 * of f32 included, and one slab of several may have its share, so that an ask for tf32 or a number reaches
 * the children. */
tsl_accuracy tsl_accuracy_asked_of_parts(const tsl_problem *problem, int64_t slabs);
tsl_accuracy tsl_accuracy_of_one_part(const tsl_problem *whole, const tsl_problem *part, int64_t slabs);

/* Formats a refusal into this thread's buffer; valid until the thread's next one. */
const char *tsl_refusal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All strategies, in ladder order per op; NULL past the end. */
const tsl_strategy *tsl_strategy_at(int index);
/* The same for models of strategies whose children may be any other. The list knows all of them, so that none
 * may know it: it hands itself over when the library is loaded. */
extern const tsl_strategy *(*tsl_strategy_list_hook)(int index);
/* By op and name; NULL when there is none. */
const tsl_strategy *tsl_strategy_find(tsl_op op, const char *name);

/* The first rung of an operation's ladder. That of products takes every combination of types and every layout
 * that any strategy takes, on the cpu, has nothing to build, and runs without memory of its own. Never NULL.
 */
const tsl_strategy *tsl_strategy_specification(tsl_op op);

/* Every type, each throughout: for strategies that move elements. Ends with a zero. */
extern const tsl_types tsl_types_all[];
/* What matrix instructions of processors multiply: bf16 and f16 with sums of 32 bits, 8-bit integers in all
 * mixes. */
extern const tsl_types tsl_types_narrow[];
/* Those, and both types of 8-bit floating point in any mix with results of f32, bf16 and f16. */
extern const tsl_types tsl_types_small[];
/* f32 and f64 throughout, and those. */
extern const tsl_types tsl_types_real[];
/* Every combination that any gemm takes. */
extern const tsl_types tsl_types_every[];
/* Entry `index` of the types that a strategy takes; false past the end. */
bool tsl_strategy_types(const tsl_strategy *strategy, int index, tsl_types *types);

/* Its place on its operation's ladder, from 1: among the operation's strategies in the order of
 * strategy_list.h, vendors' left out, which have none (0). */
int tsl_strategy_rung(const tsl_strategy *strategy);

/* How many values a parameter lists. */
int tsl_param_values(const tsl_param *param);
/* "8, 16, 32, or any number from 1 to 128": of parameter `index`. */
void tsl_param_print(const tsl_strategy *strategy, int index, tsl_text *text);
/* A value of parameter `index` as text has it, "8" or "local"; and back: false where it is neither a name nor
 * a number. */
void tsl_param_print_value(const tsl_strategy *strategy, int index, int64_t value, tsl_text *text);
bool tsl_param_parse_value(const tsl_strategy *strategy, int index, const char *word, int64_t *value);
/* Its name among the names of values; NULL where numbers are meant. */
const char *tsl_param_value_name(const tsl_strategy *strategy, int index, int64_t value);
/* Whether text leaves it out: it has its default, and nobody but a user would give it another value. */
bool tsl_param_is_silent(const tsl_param *param, int64_t value);

/* Number of a strategy's parameters, its default config, and all its configs: tsl_strategy_config(s, i, &c)
 * for i from 0 until false. */
int tsl_strategy_params(const tsl_strategy *strategy);
tsl_config tsl_strategy_defaults(const tsl_strategy *strategy);
bool tsl_strategy_config(const tsl_strategy *strategy, int index, tsl_config *config);
/* The configs that tests try, for index from 0 until false: the strategy's probes, or all. */
bool tsl_strategy_probe(const tsl_strategy *strategy, int index, tsl_config *config);

/* A walk over all configs that prune() leaves, the last parameter fastest: zero it, then read `config` after
 * each tsl_strategy_walk() that returns true. A parameter with a bit in `fixed` keeps the value that it has
 * in `config`, which need not be listed. There are none where the strategy refuses problem or device whatever
 * the config: families are large, and reasons take time to write. */
typedef struct tsl_walk {
  tsl_config config;
  unsigned fixed;
  int place[TSL_PARAMS_MAX]; /* of each parameter's value among those listed */
  bool begun;
} tsl_walk;
bool tsl_strategy_walk(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       tsl_walk *walk);

/* A model's seconds for a problem, its last step left out; 0 where there is no model. */
double tsl_strategy_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                            const tsl_config *config, const tsl_device *device);

/* The one question that planner, explain, tuner and tests ask: capabilities, types, whether a vendor's
 * library is there, parameter values, the strategy's refuse(), and whether it guarantees what the problem
 * asks for. NULL: it can. */
const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device);
/* Whether it does the problem's last step itself; false where there is none. Of configs that are not refused.
 */
bool tsl_strategy_fuses_epilogue(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);
/* What a strategy guarantees of a problem, its last step included. */
tsl_accuracy tsl_strategy_error_model(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config);
/* What of it no device changes: types and forms of a problem of its operation, and what that asks for. */
const char *tsl_strategy_refuse_anywhere(const tsl_strategy *strategy, const tsl_problem *problem,
                                         const tsl_config *config);
/* The guarantee in the unit of an ask: |error| <= this * (|alpha| |A||B| + |beta| |C|), underflow aside. */
double tsl_strategy_error_bound(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config);
/* When the bits of what promises this come again, strategy and config being the same. */
tsl_reproducibility tsl_accuracy_bits(const tsl_accuracy *accuracy);
/* Bytes of scratch memory on the device; 0 on the cpu. Behind the strategy's own are the sums of a problem
 * with scales, where they do not lie in C and the strategy does not finish them itself: from
 * tsl_strategy_sums_at() on. */
uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

/* Bytes of host memory that a run takes beside its operands and their copies: on the cpu, or on a device of
 * its cores (PoCL); 0 elsewhere. Refused where it is more than tsl_scratch_limit(). */
uint64_t tsl_strategy_host_bytes(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device);

/* Has that be at most so much by a change of the config that no bit of a result tells (uses.within); false:
 * it cannot be, and nothing is changed. */
bool tsl_strategy_fit_workspace(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device, uint64_t most, tsl_config *config);

/* The same of a work that was built. */
uint64_t tsl_work_workspace(const tsl_work *work);

uint64_t tsl_strategy_sums_at(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device);

/* "tile_local tile=16"; and back from a record's keys, where a missing one keeps `config`'s value.
 * TESELA_BAD_INPUT names the key or value that is wrong and lists the right ones. `given`, when not NULL,
 * gets a bit per parameter that was named. */
void tsl_config_print(const tsl_strategy *strategy, const tsl_config *config, tsl_text *text);
/* "tile=16": parameter `index` alone. */
void tsl_config_print_one(const tsl_strategy *strategy, int index, const tsl_config *config, tsl_text *text);
tesela_status tsl_config_parse(const tsl_strategy *strategy, const tsl_record *record, tsl_config *config,
                               unsigned *argument);

#endif
