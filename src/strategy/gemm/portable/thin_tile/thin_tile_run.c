#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <stdio.h>

#define FOLDER "strategy/gemm/portable/thin_tile/"

/* Kernels that build() stores in work->state. */
typedef struct thin_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum; /* adds the k splits; NULL without split-k */
} thin_kernels;

/* Returns the groups per unit for the compiler: as many as fit with the maximum of registers per item. */
static int thin_tile_groups_wanted(const tsl_thin_tile *tile) {
  return tile->items < 256 ? 256 / tile->items : 1;
}

tesela_status tsl_thin_tile_build(tsl_work *work) {
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  char defines[128];
  thin_kernels made = {NULL, NULL};
  void *block;
  snprintf(defines, sizeof defines, "#define B_ALONG_K %d\n#define GROUPS %d\n", tile.b_along_k,
           thin_tile_groups_wanted(&tile));
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "thin_tile.cl", "tsl_gemm_thin_tile", tile.items, defines,
                                 &made.multiply));
  const tsl_split_k_sum sum = tsl_thin_tile_sum(&tile);
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, "", &made.sum));
  TSL_TRY(tsl_alloc(sizeof made, "thin_tile's kernels", &block));
  *(thin_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_thin_tile_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* One launch. `sizes` are the kernels': C = A B, swapped or not. */
typedef struct thin_tile_running {
  const tsl_work *work;
  const thin_kernels *kernels;
  tsl_thin_tile tile;
  tsl_gemm_sizes sizes;
  tsl_thin_tile_grids grids;
  tsl_buffer *a, *b, *c, *scratch;
  int64_t steps[TSL_OPERANDS]; /* strides between products of a batch */
  tsl_stream *stream;
} thin_tile_running;

static tesela_status thin_tile_multiply(const thin_tile_running *run) {
  const tsl_thin_tile *tile = &run->tile;
  const bool parts = tile->split > 1;
  const int64_t part = tsl_ceil_div(tsl_ceil_div(run->sizes.k, tile->split), tile->chunk) * tile->chunk;
  const int64_t pitch = tsl_thin_tile_pitch(tile), part_step = parts ? run->sizes.m * pitch : 0;
  const int64_t c_step = parts ? tile->split * part_step : run->steps[TSL_OPERAND_C];
  tsl_gemm_sizes sizes = run->sizes;
  tsl_gemm_argument given = tsl_launch_scalars(run->work, &sizes);
  if (parts) {
    sizes.c_offset = 0;
    sizes.c_row_stride = pitch;
    sizes.c_col_stride = 1;
    given = tsl_launch_unscaled(run->work, &sizes);
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a),
                               TSL_ARG_BUFFER(run->b),
                               TSL_ARG_BUFFER(parts ? run->scratch : run->c),
                               {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(part),
                               TSL_ARG_VALUE(part_step),
                               TSL_ARG_VALUE(run->steps[TSL_OPERAND_A]),
                               TSL_ARG_VALUE(run->steps[TSL_OPERAND_B]),
                               TSL_ARG_VALUE(c_step)};
  return run->work->device->ops->launch(run->stream, run->kernels->multiply, &run->grids.multiply, list,
                                        sizeof list / sizeof *list);
}

static tesela_status thin_tile_run_sum(const thin_tile_running *run) {
  const int64_t pitch = tsl_thin_tile_pitch(&run->tile), split_step = run->sizes.m * pitch;
  const tsl_split_k_sum_arguments args = {.pitch = pitch,
                                          .split_step = split_step,
                                          .batch_step = run->tile.split * split_step,
                                          .c_step = run->steps[TSL_OPERAND_C],
                                          .gemm = tsl_launch_scalars(run->work, &run->sizes)};
  return tsl_split_k_sum_run(run->work, run->kernels->sum, &run->grids.sum, &args, run->scratch, run->c,
                             run->stream);
}

tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  /* every argument needs a buffer, even if nothing is read */
  tsl_buffer *c = operands->c.buffer, *a = operands->a.buffer ? operands->a.buffer : c,
             *b = operands->b.buffer ? operands->b.buffer : c;
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  const tsl_gemm_sizes swapped = tile.swapped ? tsl_launch_swapped(&sizes) : sizes;
  const thin_tile_running run = {
      .work = work,
      .kernels = work->state,
      .tile = tile,
      .sizes = swapped,
      .grids = tsl_thin_tile_grids_of(&tile, swapped.m, swapped.n, tsl_problem_batch(&work->problem),
                                      work->device),
      .a = tile.swapped ? b : a,
      .b = tile.swapped ? a : b,
      .c = c,
      .scratch = operands->scratch,
      .steps = {tile.swapped ? operands->b.batch_step : operands->a.batch_step,
                tile.swapped ? operands->a.batch_step : operands->b.batch_step, operands->c.batch_step},
      .stream = stream,
  };
  TSL_TRY(thin_tile_multiply(&run));
  return thin_tile_run_sum(&run);
}
