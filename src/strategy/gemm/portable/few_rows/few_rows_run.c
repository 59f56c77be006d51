#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/few_rows/few_rows.h"

/* Kernels that build() stores in work->state. */
typedef struct few_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum; /* adds the k splits; NULL without split-k */
} few_kernels;

void tsl_few_rows_define(const tsl_few_rows *few, tsl_text *defines) {
  tsl_launch_define_types(&few->problem, defines);
  tsl_text_add(defines,
               "#define TSL_PARAM_VECTOR 16\n#define ROWS %d\n#define B_ALONG_K %d\n#define ODD %d\n#define "
               "GROUPS %d\n"
               "#define SWAPPED %d\n#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n",
               few->rows, few->b_along_k, !few->vectors, tsl_few_rows_groups_wanted(few), few->swapped,
               few->problem.conjugate_a, few->problem.conjugate_b);
}

tesela_status tsl_few_rows_build(tsl_work *work) {
  const tsl_few_rows few = tsl_few_rows_of(&work->problem, &work->config);
  tesela_status status;
  few_kernels made = {NULL, NULL};
  tsl_text defines = {0};
  void *block;
  tsl_few_rows_define(&few, &defines);
  TSL_GO(tsl_text_status(&defines));
  TSL_GO(tsl_launch_kernel_with(work, "strategy/gemm/portable/few_rows/few_rows.cl", "tsl_gemm_few_rows",
                                few.items, tsl_text_get(&defines), &made.multiply));
  const tsl_split_k_sum sum = tsl_few_rows_sum(&few);
  TSL_GO(tsl_split_k_sum_kernel(work, &sum, tsl_text_get(&defines), &made.sum));
  TSL_GO(tsl_alloc(sizeof made, "few_rows' kernels", &block));
  *(few_kernels *)block = made;
  work->state = block;
out:
  tsl_text_free(&defines);
  return status;
}

tesela_status tsl_few_rows_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const few_kernels *kernels = work->state;
  const tsl_few_rows few = tsl_few_rows_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, few.swapped);
  const tsl_few_rows_grids grids =
      tsl_few_rows_grids_of(&few, own.sizes.m, own.sizes.n, tsl_problem_batch(&work->problem), work->device);
  const tsl_split_k_sum sum = tsl_few_rows_sum(&few);
  const bool splits = few.split > 1;
  /* splits: strides in elements, which are two numbers of complex types */
  const int64_t pitch = tsl_few_rows_pitch(&few), split_step = splits ? own.sizes.m * pitch : 0;
  const int64_t element_step = split_step / few.numbers,
                c_step = splits ? few.split * element_step : own.c_step;
  tsl_gemm_sizes sizes = own.sizes;
  if (splits) {
    sizes.c_offset = 0;
    sizes.c_row_stride = pitch / few.numbers;
    sizes.c_col_stride = 1;
  }
  const tsl_gemm_argument given =
      splits ? tsl_launch_unscaled(work, &sizes) : tsl_launch_scalars(work, &sizes);
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a),
                               TSL_ARG_BUFFER(own.b),
                               TSL_ARG_BUFFER(splits ? operands->scratch : own.c),
                               {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(few.depth),
                               TSL_ARG_VALUE(element_step),
                               TSL_ARG_VALUE(own.a_step),
                               TSL_ARG_VALUE(own.b_step),
                               TSL_ARG_VALUE(c_step)};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grids.multiply, list,
                                    sizeof list / sizeof *list));
  return tsl_split_k_sum_run(work, kernels->sum, &sum,
                             (tsl_split_k_sum_arguments){.pitch = pitch, .split_step = split_step}, &own,
                             operands->scratch, stream);
}
