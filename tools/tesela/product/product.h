/* Computes one product of matrix files, or a dot product, a solve or a transpose. The files are opened,
 * the work is planned, computed by panels of rows of C, verified and written.
 * If not even a small panel fits into memory, the work is done by blocks (blocks.h).
 * The tool computes through the public header. Only explain/plan_facts.h and check/verify.h use internals.
 *
 *        A (m x k)          B (k x n)        C (m x n)
 *   row -> +-------+        +-------+        +-------+
 *   panel  |#######|   x    |       |   =    |#######|   a panel of A makes a panel of C; B is held whole
 *          |       |        |       |        |       |
 *          +-------+        +-------+        +-------+
 *
 * If everything fits into memory there is one panel, of all m rows. A file whose rows cannot be read in
 * order (a pipe in Fortran order, Matrix Market) is held whole. If A is transposed, a panel of C needs
 * columns of A: A is held whole if it fits, else its columns are read, if the format permits it.
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
#include "problem/structure.h"
#include "product/plan_choice.h"

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

/* Options that several commands share. Each command's table lists its options. */
typedef struct tsl_product_options {
  const char *output, *add, *device, *strategy, *accuracy, *bits, *checksums, *expect, *format, *copies;
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
      *expected; /* paths; one input may be "-", and the output may be "-"; NULL: no such file */
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
  const char *device, *strategy, *accuracy, *bits, *checksums;
  uint64_t measure; /* the seed of the error samples, as `measure_error` of tesela_gemm_desc */
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
  double error;     /* the largest |C - E| of all elements */
  int64_t by_print; /* elements that agree only because of half a unit of the last printed digit */
  /* elements that agree, but differ by half of the larger magnitude or more: they prove nothing */
  int64_t weak;
} tsl_difference;

/* The errors that the library measured, over all runs. */
typedef struct tsl_product_errors {
  double largest, seconds;
  int64_t rows, cols; /* rows and columns of the largest sample */
  bool measured, all; /* measured: at least one run measured its error; all: each run measured all elements */
} tsl_product_errors;

/* Verification of whole results by the library, over all runs. */
typedef struct tsl_product_checksums {
  double hidden, seconds; /* hidden: largest error that may be overlooked */
  int64_t verified, unverified;
} tsl_product_checksums;

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
  tsl_plan_facts *facts;         /* facts of `plan` */
  /* the choices of a plan of all rows, made before the plans of panels; empty: no such plan was
   * tried or accepted */
  tsl_plan_choice of_whole;
  double whole_seconds; /* predicted seconds of the plan of all rows; 0: not predicted */
  bool by_blocks;       /* true: computed by blocks; false: by panels of rows */
  tsl_blocks *blocks;   /* NULL for panels, and before blocks are planned */
  void *c_memory, *before_memory;
  /* before: a copy of C0's panel (in place: of A), where a run overwrites it and it is needed again */
  char *c, *before;
  double started, seconds[TSL_STAGE_COUNT], total;
  double fastest;   /* seconds of computing, by the fastest repeats */
  double *samples;  /* seconds of each repeat of a panel */
  double result[2]; /* the result of a dot product (re, im) */
  char note[256];   /* the note of the last record that had one; "": none */
  tsl_verdict verdict;
  tsl_product_errors errors;
  tsl_product_checksums checksums;
  tsl_difference difference;
  tsl_progress *progress;
} tsl_product;

/* Opens the files, checks shapes and types, and opens the output, so that an unwritable folder is
 * reported before any work. The caller closes the product, also after a failure. */
tesela_status tsl_product_open(const tsl_product_request *request, tsl_product *product);
/* Chooses the plan and the rows of a panel, or the blocks. */
tesela_status tsl_product_plan(tsl_product *product);
/* Reads, multiplies, verifies and writes; the output appears at the end. Returns
 * TESELA_WRONG_RESULT if --verify or --expect found an error; the product's verdict and difference
 * hold the details. */
tesela_status tsl_product_run(tsl_product *product);
void tsl_product_close(tsl_product *product);
/* Returns the median of at least one sample; sorts the samples. */
double tsl_product_median(double *samples, int64_t count);
/* Sets the largest panel that memory permits: all rows, or else a multiple of the tile size.
 * `doubled`: the device computes in host memory on copies of its own. */
tesela_status tsl_product_size_panel(tsl_product *product, bool doubled);
/* Turns a refusal by all strategies because of their workspace into a lack of memory. */
tesela_status tsl_product_lacks_memory(tesela_status status);
/* Halves the panel; returns false if it cannot be smaller, or needs more than the limit. */
bool tsl_product_halve_panel(tsl_product *product, bool doubled);
/* Adds a hint at --memory to the message of a lack of memory, if panels or smaller panels would
 * fit. Returns `status`. */
tesela_status tsl_product_hint(const tsl_product *product, tesela_status status);
/* Runs the whole command: opens, plans, runs and closes the product, with a progress line. An
 * interrupt leaves no temporary file. Prints the report to standard output as text or JSON; with
 * --quiet only if something is wrong. */
tesela_status tsl_product_do(const tsl_command_call *call, const tsl_product_request *request,
                             const tsl_product_options *options);

/* Fills the request from a call's words and shared options, and sets the limit of threads. Returns
 * TESELA_BAD_CALL if they are wrong. */
tesela_status tsl_product_ask(tsl_op op, const tsl_command_call *call, const tsl_product_options *options,
                              tsl_product_request *request);

/* The distances, in elements, between rows and between columns of A and B in memory, for a panel of
 * a given number of rows. */
typedef struct tsl_file_layout {
  int64_t a_row, a_col, b_row, b_col;
} tsl_file_layout;
tsl_file_layout tsl_product_layout(const tsl_product *product, int64_t rows);

/* Appends "C = 1.5 A^T B, 3 x 4 by 4 x 5, f64" and a newline. */
void tsl_product_add_heading(const tsl_product *product, tsl_text *out);
/* Returns "product", "dot product" or "transpose". */
const char *tsl_product_result_name(const tsl_product *product);
/* The operands and the result of one run of a plan, to be verified. Element (0, 0) is at this row
 * and column of the whole C. */
typedef struct tsl_product_verdict {
  const tesela_plan *plan;
  const void *a, *b, *before, *c;
  tesela_epilogue last; /* the epilogue, with its vectors from this row on */
  int64_t row, col;
  bool is_part; /* a partial sum over k; its elements are counted with the last part */
} tsl_product_verdict;
/* Verifies a result and adds to the product's verdict; returns TESELA_WRONG_RESULT if it is wrong. */
tesela_status tsl_product_judge(tsl_product *product, const tsl_product_verdict *judged);
/* Adds an existing verdict to the product's verdict; returns TESELA_WRONG_RESULT if it is wrong. */
tesela_status tsl_product_add_verdict(tsl_product *product, const tsl_verdict *verdict,
                                      const tsl_product_verdict *judged);
/* Add the results of --verify and --expect, if requested; the JSON functions return null if not. */
void tsl_product_add_checks(const tsl_product *product, tsl_table *table);
json_t *tsl_product_json_verified(const tsl_product *product);
json_t *tsl_product_json_expected(const tsl_product *product);

/* Adds the error that a run for `rows` x `cols` elements measured, its verified elements, and the record's
 * note, to the product. Returns `status`. */
tesela_status tsl_product_measured(tsl_product *product, tesela_status status, const tesela_record *record,
                                   int64_t rows, int64_t cols);
/* Adds "largest error seen 3.1e-08 of |A||B| in 64 rows (bound 4.8e-07)"; nothing if no error was
 * measured. */
void tsl_product_add_measured(const tsl_product *product, tsl_table *table);
json_t *tsl_product_json_measured(const tsl_product *product);
/* Adds "all 4,096 elements right; errors up to 2e-4 may be hidden"; nothing if nothing was verified. */
void tsl_product_add_checksums(const tsl_product *product, tsl_table *table);
json_t *tsl_product_json_checksums(const tsl_product *product);

/* Returns the options of a plan for the product, or for a part of it. */
tesela_options tsl_product_plan_options(const tsl_product *product, const char *device, const char *strategy,
                                        int64_t runs);

/* Returns true if a matrix has a structure. Such matrices are held whole, since a triangle stands
 * for all of it. */
bool tsl_product_is_structured(const tsl_product *product);
/* Returns the data that a run takes for B; `a` is the panel of A. */
const void *tsl_product_second(const tsl_product *product, const char *a);
/* Adds the structures to the problem of all rows. */
void tsl_product_shape(const tsl_product *product, tsl_problem *whole);
/* Mirrors the lower triangle of C, and of C's earlier content, into the upper one, for A A^T and A
 * A^H. */
void tsl_product_mirror(tsl_product *product);
/* Returns TESELA_BAD_CALL or TESELA_BAD_INPUT if no product of these files has the requested
 * structures. */
tesela_status tsl_product_check_structures(const tsl_product *product);
/* Returns TESELA_BAD_INPUT if the diagonal of a solve's triangle contains a 0. */
tesela_status tsl_product_check_diagonal(const tsl_product *product);
/* Append ", A symmetric_lower" to text, and "a_is", "b_is", "c_is" to JSON. */
void tsl_product_add_structures(const tsl_product *product, tsl_text *out);
void tsl_product_json_structures(const tsl_product *product, json_t *object);

/* Returns true if the product has an epilogue: scales, a bias or an activation. */
bool tsl_product_is_finished(const tsl_product *product);
/* Adds the epilogue to the problem of all rows. */
void tsl_product_add_finish(const tsl_product *product, tsl_problem *whole);
/* Returns the epilogue for the rows of C from `row` on; absent vectors are NULL. */
tesela_epilogue tsl_product_finish_at(const tsl_product *product, int64_t row);
/* Decides from a scale's size whether it belongs to the whole matrix, its rows or its columns.
 * Returns TESELA_BAD_INPUT if the size matches none. */
tesela_status tsl_product_size_scales(tsl_product *product);
bool tsl_product_is_scaled(const tsl_product *product);
/* Returns TESELA_BAD_CALL or TESELA_BAD_INPUT if these files permit no such epilogue: the bias is
 * no vector, or does not match C. */
tesela_status tsl_product_check_finish(const tsl_product *product);
/* Append ", bias row, scale A tensor" to text, and "bias", "activation", "scale_a", "scale_b" to
 * JSON. */
void tsl_product_add_vectors(const tsl_product *product, tsl_text *out);
void tsl_product_json_finish(const tsl_product *product, json_t *object);

/* Returns true if a copy of C0's panel is needed in addition to C. */
bool tsl_product_keeps_before(const tsl_product *product);
/* A and B, or pieces of A and B, with their strides in memory. */
typedef struct tsl_factors {
  const void *a, *b;
  tsl_file_layout at;
} tsl_factors;
/* Sums for one element of C: |a b| for each component, and the largest error of flushing the products to 0.
 */
typedef struct tsl_element_sum {
  double magnitude[2], terms;
} tsl_element_sum;
/* An element whose difference |C| alone does not explain. The sum of magnitudes over all of k is
 * still to be added. */
typedef struct tsl_open_element {
  int64_t row, col;
  double computed[2], expected[2], before[2]; /* before: the element of C0 */
  tsl_element_sum sum;
} tsl_open_element;
typedef struct tsl_open_list {
  tsl_open_element *elements;
  int64_t count, most;
} tsl_open_list;
/* A part of C that is compared; its first element is at this row and column of the whole C. C, its
 * earlier content (NULL: not read) and the expected values are packed by rows. `factors` hold what
 * the part needs, over all of k. Without factors, elements that need magnitudes are put on the list
 * `open`. */
typedef struct tsl_compared {
  const void *c, *before, *expected;
  tesela_epilogue last; /* the epilogue, from the first row on */
  tsl_factors factors;
  tsl_open_list *open; /* the list that receives undecided elements; used if there are no factors */
  int64_t row, col, rows, cols;
  tsl_plan_bound guaranteed;
} tsl_compared;
/* Compares elements from number `from` of the part on, row by row, and adds to the product's
 * difference. Returns the number of the element for which the list has no room, else the number of
 * elements. */
int64_t tsl_product_compare(tsl_product *product, const tsl_compared *compared, int64_t from);
/* Adds the magnitudes of `depth` products, from index `first` of k on, for one element of the
 * factors. */
void tsl_product_add_magnitudes(const tsl_product *product, tsl_element_sum *sum, const tsl_factors *factors,
                                int64_t row, int64_t col, int64_t first, int64_t depth);
/* The number of magnitudes that explain nearly all elements; they are added before the first
 * decision. */
enum { TSL_MAGNITUDES_FIRST = 32 };
/* Decides an open element and adds it to the product's difference. Returns false, and adds nothing,
 * if its sum is incomplete and the rest may matter. */
bool tsl_product_settle(tsl_product *product, const tsl_plan_bound *guaranteed,
                        const tsl_open_element *element, bool is_whole);
/* Returns TESELA_WRONG_RESULT with a message about the first element that differs, if one does.
 * `is_last`: the comparison is complete. */
tesela_status tsl_product_tell_difference(const tsl_product *product, bool is_last);
/* Returns the bound that decided the comparison so far. */
tsl_decider tsl_product_decider(const tsl_product *product);
const char *tsl_decider_name(tsl_decider decider);

/* Checks options that the commands share: sizes of --alpha and --beta, --tolerance. Returns
 * TESELA_BAD_CALL. */
tesela_status tsl_product_check_request(const tsl_product_request *request);

/* Rows of a command's option table for members of `shared`, its tsl_product_options. */
#define TSL_OPTION_SHARED(struct_type, member, name, value, fallback, what)                                  \
  TSL_OPTION(struct_type, shared.member, name, value, fallback, what)
#define TSL_OPTION_DEVICE(struct_type)                                                                       \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, device, "device", DEVICE, NULL,                                                           \
      "run on this device, such as cpu or opencl:0; the default is TESELA_DEVICE, else the fastest device")
#define TSL_OPTIONS_OF_GUARANTEES(struct_type)                                                               \
  TSL_OPTION_SHARED(struct_type, accuracy, "accuracy", ACCURACY, NULL,                                       \
                    "required accuracy, such as 1e-5 or exact; all: default, a number (of |A||B|), e4m3, "   \
                    "tf32, bf16, f32, f64, exact (default: TESELA_ACCURACY)"),                               \
      TSL_OPTION_SHARED(struct_type, bits, "bits", BITS, NULL,                                               \
                        "when results must be bit-for-bit the same; any, run, threads, rows or devices "     \
                        "(default: TESELA_BITS)")
#define TSL_OPTIONS_OF_ASKING(struct_type)                                                                   \
  TSL_OPTIONS_OF_GUARANTEES(struct_type),                                                                    \
      TSL_OPTION_SHARED(                                                                                     \
          struct_type, measure_error, "measure-error", FLAG, NULL,                                           \
          "measure the error on a sample; rows and columns are sampled where the result is large (default: " \
          "TESELA_MEASURE_ERROR). A result beyond its error bound is not written")
#define TSL_OPTION_CHECKSUMS(struct_type)                                                                    \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, checksums, "checksums", CHECKSUMS, NULL,                                                  \
      "verify the whole result by checksums; all: a wrong result is not written, repair: it is "             \
      "computed again first, none (default: TESELA_VERIFY; docs/VERIFY.md)")
#define TSL_OPTION_THREADS(struct_type)                                                                      \
  TSL_OPTION_SHARED(struct_type, threads, "threads", COUNT, NULL, "limit the number of host threads")
#define TSL_OPTION_TOLERANCE(struct_type)                                                                    \
  TSL_OPTION_SHARED(struct_type, tolerance, "tolerance", NUMBER, NULL,                                       \
                    "with --expect: allow differences up to this; the default is the strategy's error "      \
                    "bound and half a unit of the file's last printed digit")
#define TSL_OPTION_RESUME(struct_type)                                                                       \
  TSL_OPTION_SHARED(                                                                                         \
      struct_type, resume, "resume", FLAG, NULL,                                                             \
      "continue an interrupted run; only for an output by blocks. Begins anew if there is no such run")
#define TSL_OPTIONS_OF_PRINTING(struct_type)                                                                 \
  TSL_OPTION_SHARED(struct_type, format, "format", FORMAT, NULL,                                             \
                    "npy, mtx, csv or txt; needed for - and for output names without such an ending"),       \
      TSL_OPTION_SHARED(struct_type, quiet, "quiet", FLAG, NULL, "print nothing on success"),                \
      TSL_OPTION_SHARED(struct_type, json, "json", FLAG, NULL, "print JSON (docs/JSON.md)")

#endif
