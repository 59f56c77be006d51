#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"

#include <stdio.h>

enum { ITEMS = 256, CHUNK = 16 };

static bool is_transposed_by_words(bool across, int64_t along, int64_t apart) {
  return !across && along != 1 && apart == 1 && along % 4 == 0;
}

/* Returns the resident blocks of a multiprocessor: three where transposing blocks wait for each other. */
static int count_resident_copy_blocks(const tsl_cuda_wgmma *tile) {
  const tsl_shape *a = &tile->problem.a, *b = &tile->problem.b;
  return tile->element == 1 && (is_transposed_by_words(tile->a_mn_major, a->col_stride, a->row_stride) ||
                                is_transposed_by_words(tile->b_mn_major, b->row_stride, b->col_stride))
             ? 3
             : 2;
}

tesela_status tsl_cuda_wgmma_lines_kernel(tsl_work *work, const tsl_cuda_wgmma *tile, tsl_kernel **kernel) {
  char defines[64];
  snprintf(defines, sizeof defines, "#define WIDENED %d\n#define RESIDENT %d\n",
           tile->element != tile->input_bytes, count_resident_copy_blocks(tile));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_lines.cu",
                                 "tsl_gemm_cuda_wgmma_lines", ITEMS, defines, kernel));
  work->device->ops->kernel_early(*kernel);
  return TESELA_OK;
}

/* Returns log2 of the chunks of a line in a unit: all `chunks`, or `most`. */
static int log2_chunks_of(int64_t chunks, int64_t most) {
  int shift = 0;
  while (((int64_t)1 << shift) < tsl_min(chunks, most))
    shift++;
  return shift;
}

/* Returns the copy method for lines of `chunks` chunks. Elements of more than a byte are contiguous here. */
static int choose_copy_method(const tsl_cuda_wgmma *tile, const tsl_rows_place *place, int64_t chunks) {
  if (tile->element == tile->input_bytes && place->row_stride == 1 && place->step != 1)
    return TSL_CUDA_WGMMA_LINES_TURNED;
  const bool is_short = log2_chunks_of(chunks, TSL_CUDA_WGMMA_LINES_BULK) < TSL_CUDA_WGMMA_LINES_BULK_SHIFT;
  return place->step == 1 && !is_short ? TSL_CUDA_WGMMA_LINES_BY_BULK : TSL_CUDA_WGMMA_LINES_GATHERED;
}

/* Returns the kernel's description of one copy. */
static cuda_wgmma_lines describe_lines(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_factor *factor,
                                       tesela_type type) {
  const tsl_rows *rows = &factor->rows;
  const tsl_rows_place *place = &factor->place;
  const int64_t bytes = tile->input_bytes, elements = rows->elements * bytes,
                chunks = tsl_ceil_div(elements, CHUNK), side = TSL_CUDA_WGMMA_LINES_SIDE;
  const int way = choose_copy_method(tile, place, chunks);
  const int64_t most =
      way == TSL_CUDA_WGMMA_LINES_BY_BULK ? TSL_CUDA_WGMMA_LINES_BULK : TSL_CUDA_WGMMA_LINES_CHUNKS;
  cuda_wgmma_lines lines = {.lines = rows->rows,
                            .elements = elements,
                            .offset = place->offset * bytes,
                            .line = place->row_stride * bytes,
                            .step = place->step,
                            .to = factor->copy_offset,
                            .pitch = rows->pitch,
                            .is_e5m2 = type == TESELA_E5M2,
                            .shift = log2_chunks_of(chunks, most),
                            .way = way};
  lines.end =
      lines.offset + tsl_max(0, (rows->rows - 1) * lines.line) + tsl_max(0, (elements - 1) * place->step) + 1;
  lines.segments = (int)tsl_ceil_div(chunks, (int64_t)1 << lines.shift);
  lines.units = (int)(way == TSL_CUDA_WGMMA_LINES_TURNED
                          ? tsl_ceil_div(rows->rows, side) * tsl_ceil_div(rows->elements, side)
                          : tsl_ceil_div(rows->rows, most >> lines.shift) * lines.segments);
  return lines;
}

tesela_status tsl_cuda_wgmma_lines(const tsl_work *work, tsl_kernel *kernel, const tsl_cuda_wgmma *tile,
                                   tsl_buffer *scratch, tsl_stream *stream,
                                   tsl_cuda_wgmma_factor factors[2]) {
  const tesela_type types[] = {tile->problem.a.type, tile->problem.b.type};
  const tsl_argument list[] = {TSL_ARG_BUFFER(factors[0].place.buffer),
                               TSL_ARG_BUFFER(factors[1].place.buffer), TSL_ARG_BUFFER(scratch)};
  cuda_wgmma_lines_arguments args = {.fits = 0};
  int64_t copied = 0;
  for (int i = 0; i < 2; i++)
    if (factors[i].packs && (tile->input_bytes == 1 || factors[i].place.step == 1)) {
      args.of[i] = describe_lines(tile, &factors[i], types[i]);
      copied += factors[i].rows.rows * factors[i].rows.pitch;
      factors[i].place = (tsl_rows_place){scratch, factors[i].copy_offset / tile->element,
                                          factors[i].rows.pitch / tile->element, 1, 0};
      factors[i].packs = false;
    }
  /* Persistent blocks: as many as are resident. */
  const int64_t units = (int64_t)args.of[0].units + args.of[1].units,
                most = (int64_t)count_resident_copy_blocks(tile) * tsl_max(1, work->device->compute_units);
  args.fits = (uint64_t)copied <= work->device->cache_bytes;
  const tsl_grid grid = {{(uint64_t)tsl_min(units, most), 1, 1}, {ITEMS, 1, 1}};
  const tsl_argument all[] = {list[0], list[1], list[2], TSL_ARG_VALUE(args)};
  return units == 0 ? TESELA_OK
                    : work->device->ops->launch(stream, kernel, &grid, all, sizeof all / sizeof *all);
}
