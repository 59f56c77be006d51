#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_whole/cuda_whole.h"
#include "strategy/gemm/nvidia/cuda_whole/cuda_whole_shared.h"

#include <stdio.h>

tesela_status tsl_cuda_whole_build(tsl_work *work) {
  const tsl_cuda_whole tile = tsl_cuda_whole_of(&work->problem, &work->config);
  const tsl_device_ops *ops = work->device->ops;
  const tsl_problem *problem = &tile.problem;
  char defines[256];
  tsl_kernel *kernel;
  snprintf(defines, sizeof defines,
           "#define ROOM %lld\n#define THREADS_MOST %d\n#define RESIDENT %d\n#define A_TYPE %s\n#define "
           "B_TYPE %s\n"
           "#define A_MN_MAJOR %d\n#define B_MN_MAJOR %d\n#define C_FORM %d\n",
           (long long)tile.shared_bytes, 32 * tile.most_warps, tile.resident,
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type), tile.a.across,
           tile.b.across, tsl_launch_form(problem->c.type));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/cuda_whole/cuda_whole.cu", "tsl_gemm_cuda_whole",
                                 (int)(32 * tile.warps * tile.together), defines, &kernel));
  TSL_TRY(ops->kernel_local_bytes(kernel, (size_t)tile.shared_bytes));
  if (work->device->capabilities & TSL_CAN_WGMMA)
    ops->kernel_early(kernel);
  work->state = kernel;
  return TESELA_OK;
}

void tsl_cuda_whole_release(tsl_work *work) {
  work->state = NULL;
}

static cuda_whole_factor cuda_whole_factor_of(const tsl_cuda_whole_lines *lines, const tsl_operand *operand,
                                              int64_t end, int64_t offset, int64_t line, int64_t step,
                                              int64_t products) {
  enum { ALIGNED = 16, ELEMENT = 2 };
  const int64_t apart = products > 1 ? operand->batch_step : 0;
  const bool is_aligned =
      (uintptr_t)operand->buffer->device->ops->native_buffer(operand->buffer) % ALIGNED == 0;
  return (cuda_whole_factor){.offset = offset,
                             .line = lines->line_count > 1 ? line : lines->line_length,
                             .step = lines->line_length > 1 ? step : 1,
                             .apart = apart,
                             .line_count = (int)lines->line_count,
                             .line_length = (int)lines->line_length,
                             .width = is_aligned ? tsl_cuda_whole_width(lines, step, line, offset, apart)
                                                 : ELEMENT,
                             .pitch = (int)lines->pitch,
                             .to = (int)end};
}

tesela_status tsl_cuda_whole_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_whole tile = tsl_cuda_whole_of(&work->problem, &work->config);
  const tsl_gemm_sizes given_sizes = tsl_launch_sizes(work, operands),
                       s = tile.swapped ? tsl_launch_swapped(&given_sizes) : given_sizes;
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &s);
  const tsl_operand *a = tile.swapped ? &operands->b : &operands->a,
                    *b = tile.swapped ? &operands->a : &operands->b;
  tsl_buffer *c = operands->c.buffer;
  const int64_t products = tsl_problem_batch(&work->problem);
  const float alpha = scaled.scalars.f32[0], beta = scaled.scalars.f32[1];
  cuda_whole_arguments args = {
      .m = (int)s.m,
      .n = (int)s.n,
      .k = (int)s.k,
      .warps = (int)tile.warps,
      .warps_n = (int)tile.warps_n,
      .together = (int)tile.together,
      .bytes = (int)tile.bytes,
      .products = products,
      .c = {.offset = s.c_offset,
            .row = s.c_row_stride,
            .col = s.c_col_stride,
            .apart = products > 1 ? operands->c.batch_step : 0,
            .dense = s.c_col_stride == 1 && (s.m == 1 || s.c_row_stride == s.n) && beta == 0},
      .alpha = alpha,
      .beta = beta};
  if (s.k > 0) { /* for k = 0 the operands may be absent */
    args.a = cuda_whole_factor_of(&tile.a, a, 0, s.a_offset, tile.a.across ? s.a_col_stride : s.a_row_stride,
                                  tile.a.across ? s.a_row_stride : s.a_col_stride, products);
    args.b = cuda_whole_factor_of(&tile.b, b, tile.a.bytes, s.b_offset,
                                  tile.b.across ? s.b_row_stride : s.b_col_stride,
                                  tile.b.across ? s.b_col_stride : s.b_row_stride, products);
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(s.k > 0 ? a->buffer : c),
                               TSL_ARG_BUFFER(s.k > 0 ? b->buffer : c), TSL_ARG_BUFFER(c),
                               TSL_ARG_VALUE(args)};
  const tsl_grid grid = {{(uint64_t)tile.blocks, 1, 1}, {(int)(32 * tile.warps * tile.together), 1, 1}};
  return work->device->ops->launch(stream, work->state, &grid, list, sizeof list / sizeof *list);
}
