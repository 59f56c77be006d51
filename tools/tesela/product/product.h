/* Computes one product of matrix files, or a dot product, a solve or a transpose. The files are opened,
 * the work is planned, computed by panels of rows of C, verified and written.
 * Where not even a small panel fits into memory, the work goes by blocks (blocks.h).
 * The tool computes through the public header. Only explain/plan_facts.h and check/verify.h use internals.
 *
 *        A (m x k)          B (k x n)        C (m x n)
 *   row -> +-------+        +-------+        +-------+
 *   panel  |#######|   x    |       |   =    |#######|   a panel of A makes a panel of C; B is held whole
 *          |       |        |       |        |       |
 *          +-------+        +-------+        +-------+
 *
 * Where everything fits into memory there is one panel, of all m rows. A file whose rows cannot be read in
 * order (a pipe in Fortran order, Matrix Market) is held whole. Where A is transposed, a panel of C needs
 * columns of A: A is held whole while it fits, else its columns are read, if the format permits it.
 * A dot product has a row and a column, both held whole. A transpose has A alone.
 *
 * Matrices with a structure are held whole, and there is one panel. Of A A^T the lower triangle is computed,
 * and the upper triangle is its mirror image (structured.c). A solve has the triangle in A, the right-hand
 * sides in B and X in C.
 *
 * A bias and vectors of scales are held whole. A panel of rows uses its part of the vectors along columns
 * (finish.c). */
#ifndef TSL_TOOL_PRODUCT_PRODUCT_H
#define TSL_TOOL_PRODUCT_PRODUCT_H

#include "check/verify.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "explain/plan_facts.h"
#include "io/io.h"
#include "product/plan_choice.h"
#include "strategy/structure.h"

/* Stages of the work whose time is reported, in the order of a program for a device. X(NAME, name) */
#define TSL_STAGE_LIST(X)                                                                                    \
  X(PLAN, plan)                                                                                              \
  X(READ, read)                                                                                              \
  X(ALLOCATE, allocate)                                                                                      \
  X(COPY_IN, copy in)                                                                                        \
  X(COMPUTE, compute)                                                                                        \
  X(COPY_OUT, copy out)                                                                                      \
  X(FREE, free)                                                                                              \
  X(VERIFY, verify)                                                                                          \
  X(WRITE, write)

typedef enum tsl_stage {
#define TSL_STAGE_MEMBER(name, text) TSL_STAGE_##name,
  TSL_STAGE_LIST(TSL_STAGE_MEMBER)
#undef TSL_STAGE_MEMBER
      TSL_STAGE_COUNT
} tsl_stage;
const char *tsl_stage_name(tsl_stage stage);

/* Options that several commands share. Each command's table lists the ones that it accepts. */
typedef struct tsl_product_options {
  const char *output, *add, *device, *strategy, *accuracy, *bits, *expect, *format;
  bool verify, measure_error, quiet, json, resume;
  tsl_scalar alpha, beta;
  tsl_option_number tolerance;
  int64_t threads, repeat;
  uint64_t memory;
} tsl_product_options;

/* The request of the user: files, options and operation. */
typedef struct tsl_product_request {
  tsl_op op;
  const char *a, *b, *c0, *bias, *output,
      *expected;      /* paths; one input may be "-", and the output may be "-"; NULL: no such file */
  /* the format of "-" and of an output without a known ending; NULL: from the first bytes or the
   * ending */
  const char *format;
  bool transpose_a, transpose_b, conjugate_a, conjugate_b, in_place, verify, resume;
  bool by_itself; /* B is A's transpose, without a file of its own; a triangle of C is computed */
  bool hermitian; /* `by_itself`, and B is conjugated: A A^H */
  bool right;     /* a solve of X A = alpha B, with the triangle on the right */
  tsl_option_structure a_is, b_is; /* structures of the files A and B */
  tesela_bias_axis bias_axis;      /* the axis of `bias`; TESELA_NO_BIAS: no bias is added */
  tesela_activation activation;
  const char *scales[2]; /* scales of A and B: a path, or a number as the user wrote it; NULL: no scale */
  bool in_parts;         /* the caller writes the output, in parts */
  double alpha[2], beta[2];
  tsl_option_number tolerance; /* the tolerance of the comparison with `expected` */
  tsl_types types;             /* types of A, B and C; zeros: taken from the files */
  const char *device, *strategy, *accuracy, *bits;
  uint64_t measure; /* the seed of the error samples, as in tesela_desc; 0: no error is measured */
  uint64_t memory;  /* the memory limit in bytes; 0: most of the available memory */
  int64_t repeat;
} tsl_product_request;

/* A matrix file that supplies rows: held whole, or read panel by panel. */
typedef struct tsl_matrix_source {
  const char *path;
  tsl_reader *reader;
  int64_t rows, cols;                     /* sizes as stored in the file */
  tesela_type type;                       /* the element type in the file */
  tesela_type as;                         /* the element type that it is converted to when read */
  bool by_rows, by_columns, text, header; /* properties of the file, as in tsl_file_info */
  bool by_blocks, columns_first;          /* properties of the file, as in tsl_file_info */
  tsl_file_state state;                   /* the file's state when it was opened */
  bool across;                            /* panels are columns of the file */
  bool held;
  const tsl_printed *printed; /* the precision of the numbers of a text file; NULL: no text file */
  void *memory;               /* the allocation that holds `data`; freed at close */
  /* the whole matrix or the present panel (rows or columns), dense, row-major, aligned to a page */
  char *data;
} tsl_matrix_source;

#define TSL_DIFFERENCES_MAX 1000

/* The difference between C and the file of --expect. */
typedef struct tsl_difference {
  /* elements outside the bound; counting stops at the end of the first panel that has some */
  int64_t count;
  int64_t row, col; /* position of the first such element */
  /* of that element: both values (re, im), and the two parts of the bound */
  double computed[2], expected[2], rounding, printed;
  double error;                                       /* the largest |C - E| of all elements */
  int64_t by_print; /* elements that agree only because of half a unit of the last printed digit */
  /* elements that agree although the bound permits half of their value or more: they prove nothing */
  int64_t weak;
} tsl_difference;

/* The errors that the library measured, over all runs. */
typedef struct tsl_product_errors {
  double largest, seconds;
  int64_t rows, cols; /* rows and columns of the largest sample */
  bool measured, all; /* measured: at least one run measured its error; all: each run measured all elements */
} tsl_product_errors;

/* The bound that decided whether C and the expected file agree. X(NAME, name) */
#define TSL_DECIDER_LIST(X) X(ROUNDING, "rounding") X(PRINT, "printed digits") X(TOLERANCE, "tolerance")
typedef enum tsl_decider {
#define TSL_DECIDER_MEMBER(name, text) TSL_DECIDED_BY_##name,
  TSL_DECIDER_LIST(TSL_DECIDER_MEMBER)
#undef TSL_DECIDER_MEMBER
} tsl_decider;

typedef struct tsl_blocks tsl_blocks; /* product/blocks.h */

typedef struct tsl_product {
  tsl_product_request request;
  tsl_matrix_source a, b, c0, bias, scales[2], expected; /* a C0 that is read by rows is read into C itself */
  tesela_scaling scalings[2];                            /* scalings of A and B */
  /* the scales of A and B where the user wrote numbers */
  float scale_numbers[2];
  tsl_writer *writer;
  tsl_types types;
  tesela_type type;       /* the type of C */
  int64_t m, n, k, panel; /* panel: the number of rows of C that are computed at once */
  tsl_problem whole;      /* the problem of all rows, from which the report counts operations and bytes */
  uint64_t memory;        /* the memory limit in bytes */
  uint64_t memory_needed; /* bytes that the chosen plan and panel need */
  uint64_t memory_fixed;  /* the part of memory_needed that does not depend on the panel's size */
  uint64_t workspace;     /* the part of memory_needed that a run takes in addition to the blocks */
  tesela_context *context;
  tesela_plan *plan, *last_plan; /* plans of a full panel, and of a smaller last panel */
  tsl_plan_facts *facts;         /* of the first */
  tsl_plan_choice of_whole; /* what was chosen of all rows at once, before plans of fewer were made; empty:
                               not asked, or nothing takes it */
  double whole_seconds;     /* expected of that; 0: not asked */
  bool by_blocks;           /* else by panels of rows */
  tsl_blocks *blocks;       /* NULL until they are planned, and of panels */
  void *c_memory, *before_memory;
  char *c, *before; /* before: C0's panel (in place, A), kept where it is overwritten and wanted again */
  double started, seconds[TSL_STAGE_COUNT], total;
  double fastest;   /* compute time of the fastest repeats */
  double *samples;  /* one for each repeat of a panel */
  double result[2]; /* of a dot */
  char note[256];   /* the record's of the last run that had one; "": none */
  tsl_verdict verdict;
  tsl_product_errors errors;
  tsl_difference difference;
  tsl_progress *progress;
} tsl_product;

/* Opens the files, looks at shapes and types, and starts the output, so that a folder that cannot be written
 * is reported before any work. */
tesela_status tsl_product_open(const tsl_product_request *request, tsl_product *product);
/* Chooses how many rows at once, and the plan. */
tesela_status tsl_product_plan(tsl_product *product);
/* Reads, multiplies, verifies, writes; the output appears at the end. TESELA_WRONG_RESULT when the judge or
 * the expected file disagree; the product's verdict and difference say how. */
tesela_status tsl_product_run(tsl_product *product);
void tsl_product_close(tsl_product *product);
/* Of at least one sample; sorts them. */
double tsl_product_median(double *samples, int64_t count);
/* A panel as large as memory allows: of all rows, or else of a multiple of the tiles' sizes. `doubled`: the
 * device computes in the host's memory, on copies of its own. */
tesela_status tsl_product_size_panel(tsl_product *product, bool doubled);
/* Turns a refusal of all strategies, for what they take beside operands, into a lack of memory. */
tesela_status tsl_product_lacks_memory(tesela_status status);
/* Makes the panel half as large; false: it cannot be smaller, or needs more than is allowed. */
bool tsl_product_halve_panel(tsl_product *product, bool doubled);
/* A failure for lack of memory, where panels, or smaller ones, would do: its sentence gets a hint at
 * --memory. Returns `status`. */
tesela_status tsl_product_hint(const tsl_product *product, tesela_status status);
/* All of that, with a progress line, no temporary file left behind by an interrupt, and the report at the
 * end: to standard output, as text or as JSON of `call`; none where it is to be quiet, unless something is
 * wrong. */
tesela_status tsl_product_do(const tsl_call *call, const tsl_product_request *request,
                             const tsl_product_options *options);

/* A call's words and shared options as a request, and the limit of threads set. TESELA_BAD_CALL. */
tesela_status tsl_product_ask(tsl_op op, const tsl_call *call, const tsl_product_options *options,
                              tsl_product_request *request);

/* Where element (i, l) of A and (l, j) of B are, of a panel of so many rows, in elements from the panel's
 * first. */
typedef struct tsl_file_layout {
  int64_t a_row, a_col, b_row, b_col;
} tsl_file_layout;
tsl_file_layout tsl_product_layout(const tsl_product *product, int64_t rows);

/* "C = 1.5 A^T B,  3 x 4 by 4 x 5, f64" and a line end. */
void tsl_product_add_heading(const tsl_product *product, tsl_text *out);
/* "product", "dot product", "transpose" */
const char *tsl_product_result_name(const tsl_product *product);
/* What a plan made, whose element (0, 0) is at this row and column of the whole. */
typedef struct tsl_product_verdict {
  const tesela_plan *plan;
  const void *a, *b, *before, *c;
  tesela_epilogue last; /* vectors of the last step, from this row on */
  int64_t row, col;
  bool is_part; /* of a sum that goes on: its elements are counted at the end */
} tsl_product_verdict;
/* Adds to the product's verdict; TESELA_WRONG_RESULT where it is wrong. */
tesela_status tsl_product_judge(tsl_product *product, const tsl_product_verdict *judged);
/* The same of a verdict that is there already. */
tesela_status tsl_product_add_verdict(tsl_product *product, const tsl_verdict *verdict,
                                      const tsl_product_verdict *judged);
/* What --verify and --expect came to, where they were asked for; of JSON, null where not. */
void tsl_product_add_checks(const tsl_product *product, tsl_table *table);
json_t *tsl_product_json_verified(const tsl_product *product);
json_t *tsl_product_json_expected(const tsl_product *product);

/* Adds what a run of a plan for `rows` x `cols` elements came to, what was measured of its error and the
 * record's note, to the product. Returns `status`. */
tesela_status tsl_product_measured(tsl_product *product, tesela_status status, const tesela_record *record,
                                   int64_t rows, int64_t cols);
/* "largest error seen 3.1e-08 of |A||B| in 64 rows (bound 4.8e-07)"; nothing where nothing was measured. */
void tsl_product_add_measured(const tsl_product *product, tsl_table *table);
json_t *tsl_product_json_measured(const tsl_product *product);

/* Whether matrices are held whole, since a triangle of one stands for all of it. */
bool tsl_product_is_structured(const tsl_product *product);
/* How what a run takes for B lies in memory, of which A's panel is here. */
const void *tsl_product_second(const tsl_product *product, const char *a);
/* Adds the structures to the description of all rows. */
void tsl_product_shape(const tsl_product *product, tsl_problem *whole);
/* Of A A^T and its like: makes the upper triangle of C, and of what it held before, that of the lower one. */
void tsl_product_mirror(tsl_product *product);
/* TESELA_BAD_CALL and TESELA_BAD_INPUT: structures that no product of these files has. */
tesela_status tsl_product_check_structures(const tsl_product *product);
/* A solve's triangle is there: TESELA_BAD_INPUT where its diagonal has a 0. */
tesela_status tsl_product_check_diagonal(const tsl_product *product);
/* Adds ", A symmetric_lower"; and "a_is", "b_is", "c_is" to JSON. */
void tsl_product_add_structures(const tsl_product *product, tsl_text *out);
void tsl_product_json_structures(const tsl_product *product, json_t *object);

/* Whether scales, a bias or an activation are the last step. */
bool tsl_product_is_finished(const tsl_product *product);
/* Adds it to the description of all rows. */
void tsl_product_add_finish(const tsl_product *product, tsl_problem *whole);
/* What rows of C from this one on get of its vectors, which have no data where there are none. */
tesela_epilogue tsl_product_finish_at(const tsl_product *product, int64_t row);
/* What scales are, numbers or files, whose sizes say of what. TESELA_BAD_INPUT: of neither the matrix nor its
 * rows or columns. */
tesela_status tsl_product_size_scales(tsl_product *product);
bool tsl_product_is_scaled(const tsl_product *product);
/* TESELA_BAD_CALL and TESELA_BAD_INPUT: a last step that no product of these files has; a bias that is no
 * vector, or not of C's sizes. */
tesela_status tsl_product_check_finish(const tsl_product *product);
/* Adds ", bias row, scale A tensor"; and "bias", "activation", "scale_a", "scale_b" to JSON. */
void tsl_product_add_vectors(const tsl_product *product, tsl_text *out);
void tsl_product_json_finish(const tsl_product *product, json_t *object);

/* Whether C0's panel has to be kept beside C. */
bool tsl_product_keeps_before(const tsl_product *product);
/* A and B, or pieces of them, as they lie in memory. */
typedef struct tsl_factors {
  const void *a, *b;
  tsl_file_layout at;
} tsl_factors;
/* Of one element: the sum of the magnitudes of its products, of each component, and what flushing them to 0
 * may cost. */
typedef struct tsl_element_sum {
  double magnitude[2], terms;
} tsl_element_sum;
/* An element that |C| alone does not explain. Whoever has it open adds up its magnitudes, over all of k. */
typedef struct tsl_open_element {
  int64_t row, col;
  double computed[2], expected[2], before[2]; /* before: of C0 */
  tsl_element_sum sum;
} tsl_open_element;
typedef struct tsl_open_list {
  tsl_open_element *elements;
  int64_t count, most;
} tsl_open_list;
/* A part of C that is compared: its first element is at this row and column of the whole. C, what it held
 * before (NULL: it is not read) and what is expected are packed row by row; A and B have what the part needs,
 * all of k. Where they are not there, elements that ask for them are left open. */
typedef struct tsl_compared {
  const void *c, *before, *expected;
  tesela_epilogue last; /* from the first row on */
  tsl_factors factors;
  tsl_open_list *open; /* where there are no factors */
  int64_t row, col, rows, cols;
  tsl_plan_bound guaranteed;
} tsl_compared;
/* Adds to the product's difference, from element `from` of the part on, row by row. Returns the element that
 * the list has no room for, else their number. */
int64_t tsl_product_compare(tsl_product *product, const tsl_compared *compared, int64_t from);
/* Adds `depth` products, from number `first` on, of the element at this row and column of the factors. */
void tsl_product_add_magnitudes(const tsl_product *product, tsl_element_sum *sum, const tsl_factors *factors,
                                int64_t row, int64_t col, int64_t first, int64_t depth);
/* Magnitudes that explain nearly all elements; so many are added before anybody asks. */
enum { TSL_MAGNITUDES_FIRST = 32 };
/* Adds an element that was open. False, and nothing is added, where its sum is not whole, and more of it may
 * matter. */
bool tsl_product_settle(tsl_product *product, const tsl_plan_bound *guaranteed,
                        const tsl_open_element *element, bool is_whole);
/* TESELA_WRONG_RESULT with the first element that differs, where one does. `is_last`: all that there is was
 * compared. */
tesela_status tsl_product_tell_difference(const tsl_product *product, bool is_last);
/* Of the comparison so far. */
tsl_decider tsl_product_decider(const tsl_product *product);
const char *tsl_decider_name(tsl_decider decider);

/* Checks options that the commands share: sizes of --alpha and --beta, --tolerance. TESELA_BAD_CALL. */
tesela_status tsl_product_check_request(const tsl_product_request *request);

/* Rows of a command's table for what is in `shared`, its tsl_product_options. */
#define TSL_OPTION_SHARED(struct_type, member, name, value, fallback, what)                                  \
  TSL_OPTION(struct_type, shared.member, name, value, fallback, what)
#define TSL_OPTION_DEVICE(struct_type)                                                                       \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, device, "device", DEVICE, NULL,                                                           \
      "run on this device, such as cpu or opencl:0 (default: TESELA_DEVICE, else the fastest)")
#define TSL_OPTIONS_OF_GUARANTEES(struct_type)                                                               \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, accuracy, "accuracy", ACCURACY, NULL,                                                     \
      "how right the result is to be: default, a number such as 1e-5 (of |A||B|), e4m3, tf32, "              \
      "bf16, f32, f64, exact (default: TESELA_ACCURACY)"),                                                   \
      TSL_OPTION_SHARED(struct_type, bits, "bits", BITS, NULL,                                               \
                        "when the same bits are to come again: any, run, threads, devices (default: "        \
                        "TESELA_BITS)")
#define TSL_OPTIONS_OF_ASKING(struct_type)                                                                   \
  TSL_OPTIONS_OF_GUARANTEES(struct_type),                                                                    \
      TSL_OPTION_SHARED(struct_type, measure_error, "measure-error", FLAG, NULL,                             \
                        "measure the error, on a sample of rows and columns where the result is large "      \
                        "(default: TESELA_MEASURE_ERROR); one beyond its bound is not written")
#define TSL_OPTION_THREADS(struct_type)                                                                      \
  TSL_OPTION_SHARED(struct_type, threads, "threads", COUNT, NULL, "use at most so many host threads")
#define TSL_OPTION_TOLERANCE(struct_type)                                                                    \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, tolerance, "tolerance", NUMBER, NULL,                                                     \
      "with --expect: elements agree that differ by at most this (default: the strategy's error bound "      \
      "and half a unit of the file's last printed digit)")
#define TSL_OPTION_RESUME(struct_type)                                                                       \
  TSL_OPTION_SHARED(struct_type, resume, "resume", FLAG, NULL,                                               \
                    "go on with what an interrupted run left of an output that went by blocks; else begin")
#define TSL_OPTIONS_OF_PRINTING(struct_type)                                                                 \
  TSL_OPTION_SHARED(struct_type, format, "format", FORMAT, NULL,                                             \
                    "the format of -, and of an output whose name does not end in one: npy mtx csv txt"),    \
      TSL_OPTION_SHARED(struct_type, quiet, "quiet", FLAG, NULL, "print nothing when it worked"),            \
      TSL_OPTION_SHARED(struct_type, json, "json", FLAG, NULL, "print JSON (docs/JSON.md)")

#endif
