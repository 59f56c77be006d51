/* One product of matrix files (or a dot, or a transpose): opened, planned, computed in panels of rows of C, verified,
 * written.
 *
 *        A (m x k)          B (k x n)        C (m x n)
 *   row -> +-------+        +-------+        +-------+
 *   panel  |#######|   x    |       |   =    |#######|   a panel of A makes a panel of C; B is held whole
 *          |       |        |       |        |       |
 *          +-------+        +-------+        +-------+
 *
 * Where everything fits into memory there is one panel, of all m rows. A file whose rows cannot be read in order
 * (Fortran order, coordinates, A transposed) is held whole instead. A dot is the product of a row and a column, both
 * held; a transpose has A alone, held, and its panels of C are columns of A. */
#ifndef TSL_TOOL_PRODUCT_H
#define TSL_TOOL_PRODUCT_H

#include "io/io.h"
#include "options.h"
#include "plan/check.h"
#include "plan/planner.h"
#include "progress.h"
#include "tool.h"

/* What the time goes into. X(NAME, name) */
#define TSL_STAGE_LIST(X)                                                                                    \
  X(PLAN, plan)                                                                                              \
  X(ALLOCATE, allocate)                                                                                      \
  X(READ, read)                                                                                              \
  X(COPY_IN, copy in)                                                                                        \
  X(COMPUTE, compute)                                                                                        \
  X(COPY_OUT, copy out)                                                                                      \
  X(VERIFY, verify)                                                                                          \
  X(WRITE, write)

typedef enum tsl_stage {
#define TSL_STAGE_MEMBER(name, text) TSL_STAGE_##name,
  TSL_STAGE_LIST(TSL_STAGE_MEMBER)
#undef TSL_STAGE_MEMBER
      TSL_STAGE_COUNT
} tsl_stage;
const char *tsl_stage_name(tsl_stage stage);

/* What the user asked for. */
typedef struct tsl_product_wish {
  tsl_op op;
  const char *a, *b, *c0, *output, *expected; /* paths; NULL: none */
  bool transpose_a, transpose_b, in_place, verify;
  double alpha, beta;
  tsl_types types; /* zeros: from the files */
  const char *device, *strategy;
  uint64_t memory; /* bytes to stay within; 0: most of what is available */
  int64_t repeat;
} tsl_product_wish;

/* A matrix file as a supplier of rows: held whole, or a panel at a time. */
typedef struct tsl_feed {
  const char *path;
  tsl_reader *reader;
  int64_t rows, cols; /* as stored */
  tesela_type type;   /* as stored */
  tesela_type as;     /* what it is read as */
  bool by_rows, held;
  void *memory; /* to free */
  char *data;   /* the whole matrix or the present panel, dense, row-major; aligned to a page */
} tsl_feed;

#define TSL_DIFFERENCES_MAX 1000

/* How C differs from the file of --expect. */
typedef struct tsl_difference {
  int64_t count;    /* elements outside the bound; counting stops at the end of a panel that has some */
  int64_t row, col; /* the first of them */
  double computed, expected, bound; /* there */
  double error;                     /* largest |C - E| of all elements */
} tsl_difference;

typedef struct tsl_product {
  tsl_product_wish wish;
  tsl_feed a, b, c0, expected; /* C0 that is read by rows is read into C itself */
  tsl_writer *writer;
  tsl_types types;
  tesela_type type;       /* of C */
  int64_t m, n, k, panel; /* panel: rows of C at once */
  uint64_t memory;        /* bytes to stay within */
  uint64_t memory_needed; /* by what was planned */
  tsl_devices *devices;
  tsl_wisdom *wisdom;
  tsl_plan *plan, *last_plan; /* of a whole panel, and of a last one that is smaller */
  void *c_memory, *before_memory;
  char *c, *before; /* before: C0's panel (in place, A), kept where it is overwritten and wanted again */
  double started, seconds[TSL_STAGE_COUNT], total;
  double fastest;  /* compute time of the fastest repeats */
  double *samples; /* one for each repeat of a panel */
  tsl_verdict verdict;
  tsl_difference difference;
  tsl_progress *progress;
} tsl_product;

/* Opens the files, looks at shapes and types, and starts the output, so that a folder that cannot be written is
 * reported before any work. */
tesela_status tsl_product_open(const tsl_product_wish *wish, tsl_product *product);
/* Chooses how many rows at once, and the plan. */
tesela_status tsl_product_plan(tsl_product *product);
/* Reads, multiplies, verifies, writes; the output appears at the end. TESELA_WRONG_RESULT when the judge or the
 * expected file disagree; the product's verdict and difference say how. */
tesela_status tsl_product_run(tsl_product *product);
void tsl_product_close(tsl_product *product);
/* All of that, with a progress line, no temporary file left behind by an interrupt, and the report at the end: to
 * standard output, as text or as JSON of `call`; none where `quiet`, unless something is wrong. */
tesela_status tsl_product_do(const tsl_call *call, const tsl_product_wish *wish, bool quiet, bool json);

/* The problem of `rows` rows of C, the strides being those of what is held. */
tsl_problem tsl_product_problem(const tsl_product *product, int64_t rows);
/* Whether C0's panel has to be kept beside C. */
bool tsl_product_keeps_before(const tsl_product *product);
/* Compares `rows` rows of C from `first` with `expected`; the operands are the panel's. */
void tsl_product_compare(tsl_product *product, const tsl_problem *problem, const void *a, int64_t first,
                         const void *expected);

#endif
