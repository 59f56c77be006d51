/* A small product cut into panels and tiles. */
#ifndef TSL_GEMM_HOST_SMALL_JOB_H
#define TSL_GEMM_HOST_SMALL_JOB_H

#include "strategy/gemm/host_small/kernels.h"

/* Columns of C, in vectors, from top to bottom: `tallers` tiles of `height` rows, then `lowers` of one row less. */
typedef struct tsl_small_panel {
  tsl_small_tile tile;
  tsl_small_function taller, lower;
  int64_t height, tallers, lowers;
  int64_t width; /* whole vectors, in elements */
} tsl_small_panel;

/* C is rows x columns; where B's columns do not lie side by side, each panel of B is copied first. The last panel stands
 * first, and in it what its tiles share: so a job that is one tile is run by the tile's kernel, which is given the job. */
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
tsl_instant tsl_small_product(const tsl_problem *problem, const tsl_operands *operands);
/* The job of a product, wherever its operands lie. `clocks`, when not NULL, gets a prediction, in vector
 * multiply-adds. */
void tsl_small_job_make(const tsl_instant *product, unsigned offers, tsl_small_job *job, double *clocks);
/* Whether a run needs memory, without which it fails. */
bool tsl_small_job_may_fail(const tsl_small_job *job);
/* Multiplies the problem's operands, in the caller's thread. */
static inline tesela_status tsl_small_job_run(const tsl_small_job *job, const void *a, const void *b,
                                              void *c) {
  return job->run(job, a, b, c);
}

#endif
