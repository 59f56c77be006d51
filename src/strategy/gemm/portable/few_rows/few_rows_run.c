#include "core/memory.h"
#include "core/status.h"
#include "strategy/gemm/portable/few_rows/few_rows.h"

void tsl_few_rows_define(const tsl_few_rows *few, tsl_text *defines) {
  tsl_launch_define_types(&few->problem, defines);
  tsl_text_add(defines,
               "#define TSL_PARAM_VECTOR 16\n#define ROWS %d\n#define B_ALONG_K %d\n#define READ %d\n#define "
               "GROUPS %d\n"
               "#define SWAPPED %d\n#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n",
               few->rows, few->b_along_k, few->read, tsl_few_rows_groups_wanted(few), few->swapped,
               few->problem.conjugate_a, few->problem.conjugate_b);
}

tesela_status tsl_few_rows_build(tsl_work *work) {
  const tsl_few_rows few = tsl_few_rows_of(&work->problem, &work->config);
  tesela_status status;
  tsl_split_k_kernels made = {NULL, NULL};
  tsl_text defines = {0};
  void *block;
  tsl_few_rows_define(&few, &defines);
  TSL_GO(tsl_text_status(&defines));
  TSL_GO(tsl_launch_kernel_with(work, "strategy/gemm/portable/few_rows/few_rows.cl", "tsl_gemm_few_rows",
                                few.items, tsl_text_get(&defines), &made.multiply));
  tsl_launch_early(work, made.multiply);
  const tsl_split_k_sum sum = tsl_few_rows_sum(&few);
  TSL_GO(tsl_split_k_sum_kernel(work, &sum, tsl_text_get(&defines), &made.sum));
  TSL_GO(tsl_alloc(sizeof made, "few_rows' kernels", &block));
  *(tsl_split_k_kernels *)block = made;
  work->state = block;
out:
  tsl_text_free(&defines);
  return status;
}

tesela_status tsl_few_rows_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_few_rows few = tsl_few_rows_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, few.swapped);
  tsl_split_k_product product = tsl_few_rows_product(&few);
  product.multiply =
      tsl_few_rows_grids_of(&few, own.sizes.m, own.sizes.n, tsl_problem_batch(&work->problem), work->device)
          .multiply;
  return tsl_split_k_run(work, &product, &own, operands->scratch, stream);
}
