/* The loops over panels and blocks, in one thread. */
#include "strategy/gemm/host_packed/job.h"

void tsl_packed_multiply(const tsl_packed_job *job, void *a_copy, void *b_copy) {
  for (int64_t row = 0; row < job->m; row += job->rows)
    for (int64_t step = 0; step == 0 || step < job->k; step += job->depth) {
      tsl_packed_block block = {.row = row,
                                .rows = tsl_packed_least(job->rows, job->m - row),
                                .step = step,
                                .depth = tsl_packed_least(job->depth, job->k - step)};
      tsl_packed_copy_a(job, &block, a_copy);
      for (int64_t column = 0; column < job->n; column += job->columns) {
        block.column = column;
        block.columns = tsl_packed_least(job->columns, job->n - column);
        tsl_packed_copy_b(job, &block, b_copy);
        tsl_packed_multiply_block(job, &block, a_copy, b_copy, 0, tsl_packed_slivers(job, &block));
      }
    }
}
