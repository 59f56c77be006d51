#ifndef TSL_STRATEGY_GEMM_HOST_SMALL_HOST_SMALL_JOB_H
#define TSL_STRATEGY_GEMM_HOST_SMALL_HOST_SMALL_JOB_H

#include "host/host_isa.h"
#include "strategy/strategy.h"

/* MR; NR in vectors; exact tiles of a table row */
enum { TSL_SMALL_ROWS_MAX = 16, TSL_SMALL_VECTORS_MAX = 4, TSL_SMALL_EXACT_MAX = 4 };

/* Arguments of a micro-kernel that all tiles of a panel of C's columns share: c = alpha a b + beta c; beta =
 * 0 never reads c. Strides are in bytes, except for C's.
 *   `a`: rows x depth, element (i, l) at a + i * a_row + l * a_step.
 *   `b`: depth rows of vectors, row l at b + l * b_step; the last vector has `last` elements.
 *   `c`: rows x columns, element (i, j) at c + i * c_row + j * c_column; c_column = 1 is fast. */
typedef struct tsl_small_tile {
  int64_t depth;
  int64_t a_row, a_step, b_step;
  int64_t c_row, c_column; /* elements */
  int64_t last;            /* 1 to a whole vector */
  int64_t rows;            /* used by brief tiles only */
  double alpha[2], beta[2];
  double signs[2];   /* of complex types (host/tile_epilogue.h) */
  bool scales, adds; /* alpha is not 1; beta is not 0: comparisons of doubles would wait */
} tsl_small_tile;

/* Micro-kernel of some rows and vectors; the first argument is a tsl_small_tile. Returns TESELA_OK. */
typedef tsl_fast_kernel *tsl_small_function;

/* Packs `count` columns of `depth` elements, element (l, j) at in + l * along + j * across (elements), to
 * rows of `width` elements. Elements after the last column are not written. */
typedef void (*tsl_small_copy)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                               int64_t width, void *out);

/* Micro-kernel for a fixed depth, whole vectors, a_step of one element, c_column 1 and alpha 1. */
typedef struct tsl_small_exact {
  int rows, vectors, depth;
  tsl_small_function multiply;
} tsl_small_exact;

typedef struct tsl_small_kernels {
  tesela_type type;
  int64_t lanes, lanes_log2;       /* elements of a vector, and log2 of it */
  int64_t size, parts;             /* bytes of an element; its real numbers */
  int rows[TSL_SMALL_VECTORS_MAX]; /* MR of tiles of 1 to 4 vectors; 0: none of this width */
  tsl_small_copy copy;
  tsl_small_exact exact[TSL_SMALL_EXACT_MAX]; /* unused entries have 0 rows */
  /* [(rows - 1) / 2]: tiles of one vector and up to 16 rows for few steps; NULL: not available */
  tsl_small_function brief[TSL_SMALL_ROWS_MAX / 2];
  tsl_small_function multiply[TSL_SMALL_VECTORS_MAX][TSL_SMALL_ROWS_MAX]; /* [vectors - 1][rows - 1] */
} tsl_small_kernels;

typedef struct tsl_small_set {
  const tsl_small_kernels *up_to[3]; /* for rows of C of any length; of at most 32 bytes; of at most 16 */
  const tsl_small_kernels *wide;     /* instead of up_to[0] if a device has `wide_needs`; NULL: none */
  unsigned wide_needs;               /* capabilities */
} tsl_small_set;

#define TSL_SMALL_DECLARE(isa, header, needs, ...)                                                           \
  extern const tsl_small_set tsl_small_##isa##_f32, tsl_small_##isa##_f64, tsl_small_##isa##_c64,            \
      tsl_small_##isa##_c128;
TSL_ISA_LIST(TSL_SMALL_DECLARE)
#undef TSL_SMALL_DECLARE

/* Panel of C's columns: `tallers` tiles of `height` rows, then `lowers` tiles of one row less. */
typedef struct tsl_small_panel {
  tsl_small_tile tile;
  tsl_small_function taller, lower;
  int64_t height, tallers, lowers;
  int64_t width; /* in elements, rounded up to whole vectors */
} tsl_small_panel;

/* Job: C is rows x columns. Each panel of B is packed first if B's columns are not contiguous. It is also
 * packed if three tiles read rows that share a set of the first-level cache. `last` must be the first
 * member: a job of a single tile is run by the micro-kernel itself. */
typedef struct tsl_small_job {
  tsl_small_panel last;
  tsl_small_function run;
  const tsl_small_kernels *kernels;
  int64_t size; /* bytes of an element */
  int64_t depth, rows, columns;
  bool is_swapped; /* A is the problem's transposed B, and B its transposed A */
  bool copies_b;
  bool waits;                /* too few sums in a tile to hide the latency of multiply-adds */
  int64_t b_across, b_along; /* elements */
  int64_t panels;            /* all panels except the last are equal */
  tsl_small_panel whole;
} tsl_small_job;

/* Returns true if rows of B that are `step` bytes apart map to one set of the first-level cache. */
static inline bool tsl_small_has_conflict(int64_t step, int64_t steps) {
  return step != 0 && step % 4096 == 0 && steps > 8;
}
/* Makes a product's job; addresses are not used. `clocks` (or NULL): predicted vector multiply-adds. */
void tsl_small_job_make(const tsl_call *product, unsigned offers, tsl_small_job *job, double *clocks);
/* Makes the job of a product in no cache, with the widest tiles. Returns false if the processor has none. */
bool tsl_small_job_make_far(const tsl_call *product, unsigned offers, tsl_small_job *job);
/* Computes a real product of few steps without a job; sizes are at least 1. Returns false if it did nothing:
 * the strides do not allow it, or a job is faster. */
bool tsl_small_run_direct(const tsl_call *product, unsigned offers);
/* Returns true if a run allocates memory, and may fail. */
bool tsl_small_job_may_fail(const tsl_small_job *job);
static inline tesela_status tsl_small_job_run(const tsl_small_job *job, const void *a, const void *b,
                                              void *c) {
  return job->run(job, a, b, c);
}

#endif
