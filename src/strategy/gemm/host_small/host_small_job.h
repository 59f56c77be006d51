/* A small product cut into panels and tiles. */
#ifndef TSL_STRATEGY_GEMM_HOST_SMALL_HOST_SMALL_JOB_H
#define TSL_STRATEGY_GEMM_HOST_SMALL_HOST_SMALL_JOB_H

#include "host/host_isa.h"
#include "strategy/strategy.h"

/* --- micro-kernels: a row for each instruction set and element type; all that knows how wide a vector is.
 * host_small_job.c cuts a product into tiles and knows nothing else of them --- */

/* Most rows of a tile, and most vectors across it, of any row of the table. */
enum { TSL_SMALL_ROWS_MAX = 16, TSL_SMALL_VECTORS_MAX = 4, TSL_SMALL_EXACT_MAX = 4 };

/* What all tiles of a panel of C's columns share: c = alpha a b + beta c, where beta = 0 never reads c.
 * Strides are in bytes, but for C's.
 *
 *   a: rows x depth, element (i, l) at a + i * a_row + l * a_step
 *   b: depth rows of vectors, row l at b + l * b_step; the last vector has `last` numbers
 *   c: rows x columns, element (i, j) at c + i * c_row + j * c_column; c_column = 1 is fast */
typedef struct tsl_small_tile {
  int64_t depth;
  int64_t a_row, a_step, b_step;
  int64_t c_row, c_column; /* elements */
  int64_t last;            /* 1 to a whole vector */
  int64_t rows;            /* for brief tiles alone */
  double alpha, beta;
  bool scales,
      adds; /* alpha is not 1; beta is not 0: comparing numbers would wait for the multiply-adds before */
} tsl_small_tile;

/* Computes a tile of as many rows and vectors as its place in the table says; `tile` is a tsl_small_tile.
 * Returns TESELA_OK, so that a whole run may end with it. */
typedef tsl_fast_kernel *tsl_small_function;

/* Copies `count` columns of `depth` numbers each, element (l, j) at in + l * along + j * across (elements),
 * to rows of `width` numbers; those behind the last column are not written. */
typedef void (*tsl_small_copy)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                               int64_t width, void *out);

/* The same with as many steps, for the plain case: whole vectors, a_step an element's size, c_column 1,
 * alpha 1. */
typedef struct tsl_small_exact {
  int rows, vectors, depth;
  tsl_small_function multiply;
} tsl_small_exact;

typedef struct tsl_small_kernels {
  tesela_type type;
  int64_t lanes, lanes_log2;       /* elements of a vector */
  int rows[TSL_SMALL_VECTORS_MAX]; /* of the largest tile of 1 to 4 vectors; 0: there are none so wide */
  tsl_small_copy copy;
  tsl_small_exact exact[TSL_SMALL_EXACT_MAX]; /* the others have 0 rows */
  tsl_small_function
      brief[TSL_SMALL_ROWS_MAX / 2]; /* [(rows - 1) / 2], or NULL: tiles of one vector and up to 16 rows */
  tsl_small_function multiply[TSL_SMALL_VECTORS_MAX][TSL_SMALL_ROWS_MAX]; /* [vectors - 1][rows - 1] */
} tsl_small_kernels;

/* Those of an instruction set and element type. */
typedef struct tsl_small_set {
  const tsl_small_kernels *up_to[3]; /* for rows of C of any length; of at most 32 bytes; of at most 16 */
  const tsl_small_kernels
      *wide; /* instead of the first, where a device also has these capabilities; or NULL */
  unsigned wide_needs;
} tsl_small_set;

#define TSL_SMALL_DECLARE(isa, header, needs, ...)                                                           \
  extern const tsl_small_set tsl_small_##isa##_f32, tsl_small_##isa##_f64;
TSL_ISA_LIST(TSL_SMALL_DECLARE)
#undef TSL_SMALL_DECLARE

/* --- the job --- */

/* Columns of C, in vectors, from top to bottom: `tallers` tiles of `height` rows, then `lowers` of one row
 * less. */
typedef struct tsl_small_panel {
  tsl_small_tile tile;
  tsl_small_function taller, lower;
  int64_t height, tallers, lowers;
  int64_t width; /* whole vectors, in elements */
} tsl_small_panel;

/* C is rows x columns; where B's columns do not lie side by side, each panel of B is copied first. The last
 * panel stands first, and in it what its tiles share: so a job that is one tile is run by the tile's kernel,
 * which is given the job. */
typedef struct tsl_small_job {
  tsl_small_panel last;
  tsl_small_function run;
  const tsl_small_kernels *kernels;
  int64_t size; /* of an element */
  int64_t depth, rows, columns;
  bool is_swapped; /* the transposed product: A is the problem's B, transposed, and B its A */
  bool copies_b;
  bool waits;                /* for multiply-adds: a tile has too few sums */
  int64_t b_across, b_along; /* elements */
  int64_t panels;            /* all but the last one are alike */
  tsl_small_panel whole;
} tsl_small_job;

/* A problem on operands with these strides, f32 or f64 throughout. */
tsl_fast_product tsl_small_product(const tsl_problem *problem, const tsl_operands *operands);
/* The job of a product, wherever its operands lie. `clocks`, when not NULL, gets a prediction, in vector
 * multiply-adds. */
void tsl_small_job_make(const tsl_fast_product *product, unsigned offers, tsl_small_job *job, double *clocks);
/* The same of a product whose operands are in no cache, with tiles as wide as rows may be, so that memory is
 * read and written line after line. False: this processor has none. */
bool tsl_small_job_make_far(const tsl_fast_product *product, unsigned offers, tsl_small_job *job);
/* A product of few steps where its operands lie, without a job; false: they do not lie so, or a job is worth
 * its while. Sizes are at least 1. */
bool tsl_small_run_at_once(const tsl_fast_product *product, unsigned offers);
/* Whether a run needs memory, without which it fails. */
bool tsl_small_job_may_fail(const tsl_small_job *job);
/* Multiplies the problem's operands, in the caller's thread. */
static inline tesela_status tsl_small_job_run(const tsl_small_job *job, const void *a, const void *b,
                                              void *c) {
  return job->run(job, a, b, c);
}

#endif
