/* Compiling and launching cuda_dmma. */
#include "base/memory.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/gemm/cuda_dmma/cuda_dmma.h"
#include "strategy/gemm/cuda_dmma/cuda_dmma_shared.h"

#include <stdio.h>

#define FOLDER "strategy/gemm/cuda_dmma/"

/* What build() leaves in work->state. */
typedef struct dmma_kernels {
  tsl_kernel *multiply, *fold;
} dmma_kernels;

enum { FOLD_ITEMS = 256, FOLD_ELEMENTS = 32, UNIT_BLOCKS = 16 };

tesela_status tsl_cuda_dmma_build(tsl_work *work) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  char defines[200];
  dmma_kernels made;
  void *block;
  snprintf(defines, sizeof defines,
           "#define STAGES %d\n#define WARP_M %d\n#define WARP_N %d\n#define GROUPS %d\n#define A_ACROSS %d\n"
           "#define B_ACROSS %d\n",
           tile.stages, tile.warp_m, tile.warp_n, tile.groups, tile.a_across, tile.b_across);
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_dmma.cu", "tsl_gemm_cuda_dmma", tile.items, defines,
                                 &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(made.multiply, (size_t)tile.shared_bytes));
  TSL_TRY(
      tsl_launch_kernel(work, FOLDER "cuda_dmma_fold.cu", "tsl_gemm_cuda_dmma_fold", FOLD_ITEMS, &made.fold));
  if (work->device->capabilities & TSL_CAN_WGMMA) {
    ops->kernel_early(made.multiply);
    ops->kernel_early(made.fold);
  }
  TSL_TRY(tsl_alloc(sizeof made, "cuda_dmma's kernels", &block));
  *(dmma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_dmma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* --- running --- */

/* Whether a matrix can be read or written by pairs along `along`, in `lines` lines. */
static int is_wide(tsl_buffer *buffer, int64_t along, int64_t line, int64_t lines, int64_t offset) {
  return tsl_cuda_dmma_pairs(along, line, lines, offset) &&
         (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

/* C from the sums of all parts; or from nothing, where there are none. */
static tesela_status fold(const tsl_work *work, const tsl_operands *operands,
                          const cuda_dmma_fold_arguments *given, tsl_stream *stream) {
  const dmma_kernels *kernels = work->state;
  const int64_t blocks = tsl_ceil_div(given->m * given->n, FOLD_ELEMENTS),
                most = (int64_t)UNIT_BLOCKS * work->device->compute_units;
  const tsl_grid grid = {{(uint64_t)tsl_least(blocks, most), 1, 1}, {FOLD_ITEMS, 1, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(operands->c.buffer),
                               TSL_ARG_BUFFER(given->parts > 0 ? operands->scratch : operands->c.buffer),
                               {.value = given, .bytes = sizeof *given}};
  return work->device->ops->launch(stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

tesela_status tsl_cuda_dmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const dmma_kernels *kernels = work->state;
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&work->problem, &work->config, work->device);
  const tsl_cuda_dmma_shares shares = tsl_cuda_dmma_shares_of(&tile, work->device);
  const tsl_gemm_sizes given_sizes = tsl_launch_sizes(work, operands),
                       s = tile.swapped ? tsl_launch_swapped(&given_sizes) : given_sizes;
  const bool is_split = shares.parts > 1;
  tsl_buffer *a = tile.swapped ? operands->b.buffer : operands->a.buffer,
             *b = tile.swapped ? operands->a.buffer : operands->b.buffer,
             *c = is_split ? operands->scratch : operands->c.buffer;
  const cuda_dmma_matrix result = {
      s.c_offset, s.c_row_stride, s.c_col_stride,
      is_wide(operands->c.buffer, s.c_col_stride, s.c_row_stride, s.m, s.c_offset)};
  const cuda_dmma_fold_arguments folding = {.m = s.m,
                                            .n = s.n,
                                            .pitch = shares.pitch,
                                            .part = s.m * shares.pitch,
                                            .c = result,
                                            .parts = s.k > 0 ? (int)shares.parts : 0,
                                            .alpha = work->problem.alpha[0],
                                            .beta = work->problem.beta[0]};
  if (s.k == 0)
    return fold(work, operands, &folding, stream);
  const cuda_dmma_arguments given = {
      .m = (int)s.m,
      .n = (int)s.n,
      .k = (int)s.k,
      .tiles_m = (int)shares.tiles_m,
      .tiles_n = (int)shares.tiles_n,
      .parts = (int)shares.parts,
      .a = {s.a_offset, s.a_row_stride, s.a_col_stride,
            tile.a_across ? is_wide(a, s.a_row_stride, s.a_col_stride, s.k, s.a_offset)
                          : is_wide(a, s.a_col_stride, s.a_row_stride, s.m, s.a_offset)},
      .b = {s.b_offset, s.b_row_stride, s.b_col_stride,
            tile.b_across ? is_wide(b, s.b_col_stride, s.b_row_stride, s.k, s.b_offset)
                          : is_wide(b, s.b_row_stride, s.b_col_stride, s.n, s.b_offset)},
      .c = is_split ? (cuda_dmma_matrix){0, shares.pitch, 1, 1} : result,
      .c_part = folding.part,
      .alpha = is_split ? 1 : folding.alpha,
      .beta = is_split ? 0 : folding.beta,
  };
  const tsl_argument list[] = {TSL_ARG_BUFFER(a), TSL_ARG_BUFFER(b), TSL_ARG_BUFFER(c), TSL_ARG_VALUE(given)};
  const tsl_grid grid = {{(uint64_t)shares.blocks, 1, 1}, {tile.items, 1, 1}};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grid, list, sizeof list / sizeof *list));
  return is_split ? fold(work, operands, &folding, stream) : TESELA_OK;
}
