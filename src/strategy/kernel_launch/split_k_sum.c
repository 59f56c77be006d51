#include "strategy/kernel_launch/split_k_sum.h"

#include "core/status.h"
#include "host/int_math.h"

#include <stddef.h>

/* Returns the vectors of a row that a group adds. */
static int width_of(const tsl_split_k_sum *sum) {
  return sum->shares == 1 ? 64 : 16;
}

tsl_grid tsl_split_k_sum_grid(const tsl_split_k_sum *sum, tesela_type sums, int64_t m, int64_t n,
                              int64_t batch, const tsl_device *device) {
  const int64_t bytes = (int64_t)width_of(sum) * sum->vector;
  if (sum->splits == 1)
    return (tsl_grid){{0, 0, 0}, {1, 1, 1}};
  return (tsl_grid){{(uint64_t)tsl_ceil_div(n * (int64_t)tsl_type(sums)->size, bytes),
                     tsl_launch_limited(device, 1, m), (uint64_t)batch},
                    {width_of(sum) * sum->shares, 1, 1}};
}

tesela_status tsl_split_k_sum_kernel(tsl_work *work, const tsl_split_k_sum *sum, const char *defines,
                                     tsl_kernel **kernel) {
  tsl_text text = {0};
  tesela_status status = TESELA_OK;
  *kernel = NULL;
  if (sum->splits == 1)
    return status;
  tsl_text_add(&text, "%s#define SPLITS %d\n#define SHARES %d\n#define WIDTH %d\n", defines, sum->splits,
               sum->shares, width_of(sum));
  TSL_GO(tsl_text_status(&text));
  status = tsl_launch_kernel_with(work, "strategy/kernel_launch/split_k_sum.cl", "tsl_gemm_split_k_sum",
                                  width_of(sum) * sum->shares, tsl_text_get(&text), kernel);
  tsl_launch_early(work, *kernel);
out:
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_split_k_sum_run(const tsl_work *work, tsl_kernel *kernel, const tsl_split_k_sum *sum,
                                  tsl_split_k_sum_arguments arguments, const tsl_launch_operands *operands,
                                  tsl_buffer *scratch, tsl_stream *stream) {
  const tsl_gemm_sizes *sizes = &operands->sizes;
  if (sum->splits == 1)
    return TESELA_OK;
  arguments.batch_step = sum->splits * arguments.split_step;
  arguments.c_step = operands->c_step;
  arguments.gemm = tsl_launch_scalars(work, sizes);
  const tsl_grid grid = tsl_split_k_sum_grid(sum, tsl_type(work->problem.c.type)->sums, sizes->m, sizes->n,
                                             tsl_problem_batch(&work->problem), work->device);
  const tsl_argument list[] = {
      TSL_ARG_BUFFER(scratch),
      TSL_ARG_BUFFER(operands->c),
      {.value = &arguments, .bytes = offsetof(tsl_split_k_sum_arguments, gemm) + arguments.gemm.bytes}};
  return work->device->ops->launch(stream, kernel, &grid, list, sizeof list / sizeof *list);
}

uint64_t tsl_split_k_scratch(const tsl_split_k_product *product, int64_t m, int64_t batch) {
  const double bytes =
      (double)product->sum.splits * (double)m * (double)product->pitch * product->size * (double)batch;
  return product->sum.splits == 1 ? 0 : bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

tesela_status tsl_split_k_run(const tsl_work *work, const tsl_split_k_product *product,
                              const tsl_launch_operands *operands, tsl_buffer *scratch, tsl_stream *stream) {
  const tsl_split_k_kernels *kernels = work->state;
  const bool is_split = product->sum.splits > 1;
  /* strides of splits in numbers, and in elements */
  const int64_t split_step = is_split ? operands->sizes.m * product->pitch : 0,
                element_step = split_step / product->numbers,
                c_step = is_split ? product->sum.splits * element_step : operands->c_step;
  tsl_gemm_sizes sizes = operands->sizes;
  if (is_split) {
    sizes.c_offset = 0;
    sizes.c_row_stride = product->pitch / product->numbers;
    sizes.c_col_stride = 1;
  }
  const tsl_gemm_argument given =
      is_split ? tsl_launch_unscaled(work, &sizes) : tsl_launch_scalars(work, &sizes);
  const tsl_argument list[] = {TSL_ARG_BUFFER(operands->a),
                               TSL_ARG_BUFFER(operands->b),
                               TSL_ARG_BUFFER(is_split ? scratch : operands->c),
                               {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(product->depth),
                               TSL_ARG_VALUE(element_step),
                               TSL_ARG_VALUE(operands->a_step),
                               TSL_ARG_VALUE(operands->b_step),
                               TSL_ARG_VALUE(c_step)};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &product->multiply, list,
                                    sizeof list / sizeof *list));
  return tsl_split_k_sum_run(work, kernels->sum, &product->sum,
                             (tsl_split_k_sum_arguments){.pitch = product->pitch, .split_step = split_step},
                             operands, scratch, stream);
}
