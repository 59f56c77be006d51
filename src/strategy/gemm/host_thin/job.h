/* A thin product, seen in the direction in which it is thin, and cut into pieces for threads. */
#ifndef TSL_GEMM_HOST_THIN_JOB_H
#define TSL_GEMM_HOST_THIN_JOB_H

#include "base/pool.h"
#include "strategy/gemm/host_thin/kernels.h"
#include "strategy/strategy.h"

typedef enum tsl_thin_way {
  TSL_THIN_ROWS,   /* rows of the large operand are added up, times numbers */
  TSL_THIN_REDUCE, /* its numbers lie side by side along the sums */
  TSL_THIN_OUTER   /* the sums are short, C is large */
} tsl_thin_way;

/* C is few x many. Where it is swapped, "few" counts the problem's columns. Of an outer product few counts C's rows, and
 * many its columns, side by side; depth is small. Strides in elements:
 *   large   element (l, j) at large + l * along + j * across     l < depth, j < many
 *   thin    element (i, l) at thin + i * thin_across + l * thin_along   i < few
 *   C       element (i, j) at c + i * c_few + j * c_many */
typedef struct tsl_thin_job {
  const tsl_thin_kernels *kernels;
  tsl_thin_way way;
  bool is_swapped; /* the large operand is A */
  int64_t size;    /* of an element */
  int64_t few, many, depth;
  int64_t across, along, thin_across, thin_along, c_few, c_many;
  double alpha, beta;
  bool nontemporal; /* C goes past the caches */
  bool is_far;      /* too large to be found in a cache */
  bool alone;       /* too little for a second thread */
} tsl_thin_job;

/* NULL, or why a product is not thin: a sentence. */
const char *tsl_thin_refuse(const tsl_problem *problem);
/* The job of a problem that is thin, on operands with these strides. */
void tsl_thin_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_thin_job *job);
/* Multiplies the problem's operands by a team. Failures are of memory. */
tesela_status tsl_thin_job_run(const tsl_thin_job *job, tsl_team team, const void *a, const void *b, void *c);

#endif
