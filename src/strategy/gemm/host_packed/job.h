/* A product cut into panels and blocks, and the steps that it is made of: copy, copy, multiply. */
#ifndef TSL_GEMM_HOST_PACKED_JOB_H
#define TSL_GEMM_HOST_PACKED_JOB_H

#include "strategy/gemm/host_packed/kernels.h"

/* C is m x n with its columns side by side where one of its directions has that; all strides of C are positive. k is 0
 * where alpha is 0. */
typedef struct tsl_packed_job {
  const tsl_packed_kernels *kernels;
  size_t size; /* of an element */
  int64_t m, n, k;
  tsl_operand a, b, c;
  double alpha[2], beta[2];
  int64_t rows, columns, depth; /* of A's panel, of B's block, of both; all at least 1 */
  bool copies_a, copies_b;      /* whether they are copied; where not, the tiles read them where they lie */
} tsl_packed_job;

/* A block of C, and the panel of k that is added to it. `columns` starts at a multiple of a strip. */
typedef struct tsl_packed_block {
  int64_t row, rows, column, columns, step, depth;
} tsl_packed_block;

static inline int64_t tsl_packed_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t tsl_packed_parts(int64_t total, int64_t most) {
  return total <= 0 ? 1 : (total - 1) / most + 1;
}
/* Where part `index` of `parts` starts, which differ by one at most: part 0 at 0, the one past the last at `total`. */
static inline int64_t tsl_packed_start(int64_t total, int64_t parts, int64_t index) {
  return total / parts * index + tsl_packed_least(total % parts, index);
}

/* The job of a problem on these operands, in panels of at most `depth` products and blocks of B of about `block`
 * bytes. */
tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *operands, int64_t depth,
                                  int64_t block, const tsl_device *device);
/* What a block of B may take of a core's second-level cache. */
int64_t tsl_packed_block_bytes(const tsl_device *device);

/* Bytes of a copy of `rows` x `depth` of A, and of `depth` x `columns` of B; whole cache lines. */
size_t tsl_packed_bytes_of_a(const tsl_packed_job *job, int64_t rows, int64_t depth);
size_t tsl_packed_bytes_of_b(const tsl_packed_job *job, int64_t columns, int64_t depth);

/* Copies a block's part of A as slivers, of which there are as few as can be and all nearly alike: each has as many
 * rows as fit a tile, for each step along the panel one after the other. Nothing where A is not copied. */
void tsl_packed_copy_a(const tsl_packed_job *job, const tsl_packed_block *block, void *copy);
/* Copies a block's part of B as strips as wide as a tile. Where B is not copied, only a last strip with a part of a
 * vector is. */
void tsl_packed_copy_b(const tsl_packed_job *job, const tsl_packed_block *block, void *copy);
/* Slivers from `first` to before `end` of the block's, times all of its strips, added to C. */
void tsl_packed_multiply_block(const tsl_packed_job *job, const tsl_packed_block *block, const void *a_copy,
                               const void *b_copy, int64_t first, int64_t end);
int64_t tsl_packed_slivers(const tsl_packed_job *job, const tsl_packed_block *block);

/* All of it, in the caller's thread. The copies have room for a panel of A and a block of B. */
void tsl_packed_multiply(const tsl_packed_job *job, void *a_copy, void *b_copy);

#endif
