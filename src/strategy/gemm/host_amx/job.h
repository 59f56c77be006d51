/* A product of narrow types, cut into panels, slivers and strips; host_amx.c has the picture. */
#ifndef TSL_GEMM_HOST_AMX_JOB_H
#define TSL_GEMM_HOST_AMX_JOB_H

#include "strategy/gemm/host_amx/kernels.h"

/* C is m x n. k is 0 where alpha is 0. */
typedef struct tsl_amx_job {
  const tsl_amx_kernels *kernels;
  tsl_amx_copy_function *copy_a, *copy_b;
  tsl_amx_last_function *last;
  int64_t m, n, k;
  int64_t size, c_size; /* of an element of A and B, and of C */
  tsl_operand a, b, c;  /* with host memory once the job is bound to it */
  bool is_turned;       /* the problem is turned over: A is its B, transposed, and B its A */
  double alpha, beta;
  bool streams;                        /* C is written past the caches */
  int64_t units, depth, panels;        /* of k in all, of a panel but the last, and how many of these */
  int64_t slivers, strips;             /* of A and of B */
  int64_t block_slivers, block_strips; /* of what a thread takes at once */
} tsl_amx_job;

static inline int64_t tsl_amx_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t tsl_amx_count(int64_t total, int64_t of) {
  return total <= 0 ? 0 : (total - 1) / of + 1;
}

/* The job of a problem on operands with these strides, in panels of at most `depth` units, and blocks of A of about `kept`
 * bytes. The kernels are those for the problem's types, turned over where C's columns lie side by side. */
tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t kept, const tsl_device *device);
/* The same with these kernels, for that many threads. */
tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, bool is_turned, const tsl_problem *problem,
                             const tsl_operands *strides, int64_t depth, int64_t kept, int threads);
void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands);
/* Multiplies, with one thread or all. */
tesela_status tsl_amx_run(const tsl_amx_job *job, bool alone);

#endif
