/* Compiling and launching cuda_wgmma. */
#include "base/memory.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/gemm/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/cuda_wgmma/cuda_wgmma_shared.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/cuda_wgmma/"

/* What build() leaves in work->state. */
typedef struct wgmma_kernels {
  tsl_kernel *multiply, *fold, *pack;
} wgmma_kernels;

enum { WARPGROUP = 128, WARP = 32, FOLD_ITEMS = 256, UNIT_BLOCKS = 4 };
/* Bytes that a launch's blocks together have brought to the last cache before they may start: what memory gives in the time from the
 * last bytes of one product to the first of the next. */
enum { AHEAD = 6 << 20 };

static int items_of(const tsl_cuda_wgmma *tile) {
  return tile->flows ? WARPGROUP + WARP : WARPGROUP * (tile->warpgroups + 1);
}

/* Threads that share the parts of an element in the last step. */
static int fold_shares(const tsl_cuda_wgmma_shares *shares) {
  return shares->parts >= 32 ? 8 : shares->parts >= 8 ? 4 : 1;
}

static tsl_cuda_wgmma_shares shares_of(const tsl_work *work, const tsl_cuda_wgmma *tile) {
  const tsl_problem *problem = &tile->problem;
  return tsl_cuda_wgmma_shares_of(tile, problem->m, problem->n, problem->k, work->device);
}

/* --- building --- */

static const char *word_of(tesela_type type) {
  return type == TESELA_F32 ? "tf32" : tsl_launch_ptx_word(type);
}

tesela_status tsl_cuda_wgmma_build(tsl_work *work) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  const tsl_problem *problem = &tile.problem;
  const int form = tsl_launch_form(problem->c.type);
  const tsl_cuda_wgmma_shares shares = shares_of(work, &tile);
  const bool flows = tile.flows;
  char defines[320];
  wgmma_kernels made;
  void *block;
  snprintf(defines, sizeof defines,
           "#define STAGES %d\n#define BOXES %d\n#define ELEMENT %d\n#define A_TYPE %s\n#define B_TYPE %s\n"
           "#define C_FORM %d\n#define A_ACROSS %d\n#define B_ACROSS %d\n#define SPLIT %d\n"
           "#define RESIDENT %d\n",
           tile.stages, tile.boxes, tile.element, word_of(problem->a.type), word_of(problem->b.type), form,
           tile.a_across, tile.b_across, shares.parts > 1, TSL_CUDA_WGMMA_RESIDENT);
  TSL_TRY(tsl_launch_kernel_with(work, flows ? FOLDER "cuda_wgmma_flow.cu" : FOLDER "cuda_wgmma.cu",
                                 flows ? "tsl_gemm_cuda_wgmma_flow" : "tsl_gemm_cuda_wgmma", items_of(&tile),
                                 defines, &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(made.multiply, (size_t)tile.shared_bytes));
  snprintf(defines, sizeof defines, "#define C_FORM %d\n#define SHARES %d\n", form, fold_shares(&shares));
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_wgmma_fold.cu", "tsl_gemm_cuda_wgmma_fold", FOLD_ITEMS,
                                 defines, &made.fold));
  TSL_TRY(tsl_pack_rows_kernel(work, tile.element, &made.pack));
  ops->kernel_early(made.multiply);
  ops->kernel_early(made.fold);
  TSL_TRY(tsl_alloc(sizeof made, "cuda_wgmma's kernels", &block));
  *(wgmma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_wgmma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* --- running --- */

/* A factor on its way to the kernel. */
typedef struct factor {
  tsl_rows rows;
  tsl_rows_place place;
} factor;

/* A map of a factor: boxes of `lines` rows along k, or of a panel's depths of 64 elements across. */
static tesela_status map_factor(const tsl_cuda_wgmma *tile, const factor *own, bool across, int lines,
                                tsl_tensor_map *map) {
  const int64_t pitch = own->rows.rows > 1 ? own->place.row_stride * tile->element : own->rows.pitch;
  const tsl_tensor tensor = {.buffer = own->place.buffer,
                             .offset = (size_t)(own->place.offset * tile->element),
                             .element = tile->element,
                             .size = {own->rows.elements, own->rows.rows, 1},
                             .pitch = {pitch, 16},
                             .box = {across ? 64 : tile->depth, across ? tile->depth : lines}};
  return own->place.buffer->device->ops->tensor_map(&tensor, map);
}

/* A factor as `lines` rows (columns of B) of k elements, packed to `to` in scratch memory where it must be, and its map. */
static tesela_status prepare(const tsl_work *work, const tsl_cuda_wgmma *tile, bool across, int box_lines,
                             int64_t to, tsl_buffer *scratch, tsl_stream *stream, factor *own,
                             tsl_tensor_map *map) {
  if (tsl_cuda_wgmma_packs(own->place.row_stride, own->place.step, own->place.offset, &own->rows,
                           tile->element))
    TSL_TRY(tsl_pack_rows(work, ((const wgmma_kernels *)work->state)->pack, &own->rows, tile->element,
                          scratch, to, stream, &own->place));
  return map_factor(tile, own, across, box_lines, map);
}

static tesela_status prepare_factors(const tsl_work *work, const tsl_cuda_wgmma *tile,
                                     const tsl_gemm_sizes *sizes, const tsl_operands *operands,
                                     tsl_stream *stream, tsl_tensor_map maps[2]) {
  const bool a = tile->a_across, b = tile->b_across;
  factor of_a = {tsl_rows_of(sizes->m, sizes->k, a, tile->element),
                 {tile->swapped ? operands->b.buffer : operands->a.buffer, sizes->a_offset,
                  a ? sizes->a_col_stride : sizes->a_row_stride,
                  a ? sizes->a_row_stride : sizes->a_col_stride}};
  factor of_b = {tsl_rows_of(sizes->n, sizes->k, b, tile->element),
                 {tile->swapped ? operands->a.buffer : operands->b.buffer, sizes->b_offset,
                  b ? sizes->b_row_stride : sizes->b_col_stride,
                  b ? sizes->b_col_stride : sizes->b_row_stride}};
  TSL_TRY(prepare(work, tile, a, tile->tile_m, 0, operands->scratch, stream, &of_a, &maps[0]));
  return prepare(work, tile, b, tsl_cuda_wgmma_columns(tile), tile->a_bytes, operands->scratch, stream, &of_b,
                 &maps[1]);
}

/* The bits of alpha or beta, as the kernels take them: 32 of them in f32 or i32. */
static cuda_wgmma_scalar scalar_of(const tsl_gemm_argument *scaled, int index) {
  cuda_wgmma_scalar scalar;
  memcpy(&scalar, &scaled->scalars.i32[index], sizeof scalar);
  return scalar;
}

static tesela_status map_result(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *sizes, tsl_buffer *c,
                                tsl_tensor_map *map) {
  const int64_t pitch =
      sizes->m > 1 ? sizes->c_row_stride * tile->c_element : (sizes->n * tile->c_element + 15) / 16 * 16;
  const tsl_tensor tensor = {.buffer = c,
                             .offset = (size_t)(sizes->c_offset * tile->c_element),
                             .element = tile->c_element,
                             .size = {sizes->n, sizes->m, 1},
                             .pitch = {pitch, 16},
                             .box = {128 / tile->c_element, 64}};
  return c->device->ops->tensor_map(&tensor, map);
}

/* Where the sums of parts go: scratch memory behind packed operands. */
typedef struct sums_place {
  int64_t offset, part; /* elements of 4 bytes */
  bool by_map;
} sums_place;

static tesela_status map_sums(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *sizes,
                              const tsl_cuda_wgmma_shares *shares, tsl_buffer *scratch, sums_place *place,
                              tsl_tensor_map *map) {
  *place = (sums_place){.offset = (tile->a_bytes + tile->b_bytes) / 4,
                        .part = shares->sums_bytes / shares->parts / 4,
                        .by_map = tile->tile_n >= 32 && !tile->flows};
  const tsl_tensor tensor = {.buffer = scratch,
                             .offset = (size_t)(tile->a_bytes + tile->b_bytes),
                             .element = 4,
                             .size = {sizes->n, sizes->m, shares->parts},
                             .pitch = {4 * shares->pitch, 4 * place->part},
                             .box = {32, 64}};
  return place->by_map ? scratch->device->ops->tensor_map(&tensor, map) : TESELA_OK;
}

/* C from the sums of all parts; or from nothing, where there are no products. */
static tesela_status fold(const tsl_work *work, const tsl_operands *operands, const tsl_gemm_sizes *sizes,
                          const cuda_wgmma_fold_arguments *given, int across, bool any, int64_t offset,
                          tsl_stream *stream) {
  const wgmma_kernels *kernels = work->state;
  const int64_t blocks = (sizes->m * sizes->n + across - 1) / across,
                most = (int64_t)UNIT_BLOCKS * work->device->compute_units;
  const tsl_grid grid = {{(uint64_t)(blocks < most ? blocks : most), 1, 1}, {FOLD_ITEMS, 1, 1}};
  const long long from = any ? offset : 0;
  const tsl_argument list[] = {TSL_ARG_BUFFER(operands->c.buffer),
                               TSL_ARG_BUFFER(any ? operands->scratch : operands->c.buffer),
                               TSL_ARG_VALUE(from),
                               {.value = given, .bytes = sizeof *given}};
  return work->device->ops->launch(stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

/* Panels that each block has brought to the last cache early. */
static int ahead_of(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_shares *shares) {
  const int64_t panel = (int64_t)(tile->tile_m + tile->tile_n) * TSL_CUDA_WGMMA_PANEL;
  return tile->flows ? (int)tsl_ceil_div(AHEAD, panel * tsl_most(1, shares->blocks)) : 0;
}

tesela_status tsl_cuda_wgmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const wgmma_kernels *kernels = work->state;
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(&work->problem, &work->config, work->device);
  const tsl_gemm_sizes given_sizes = tsl_launch_sizes(work, operands),
                       sizes = tile.swapped ? tsl_launch_swapped(&given_sizes) : given_sizes;
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &sizes),
                          plain = tsl_launch_unscaled(work, &sizes);
  const tsl_cuda_wgmma_shares shares = shares_of(work, &tile);
  const bool any = sizes.k > 0, is_split = any && shares.parts > 1, flows = tile.flows;
  const int across = FOLD_ITEMS / fold_shares(&shares);
  cuda_wgmma_fold_arguments folding = {.m = sizes.m,
                                       .n = sizes.n,
                                       .pitch = shares.pitch,
                                       .c_offset = sizes.c_offset,
                                       .c_row = sizes.c_row_stride,
                                       .c_col = sizes.c_col_stride,
                                       .alpha = scalar_of(&scaled, 0),
                                       .beta = scalar_of(&scaled, 1)};
  if (!any)
    return fold(work, operands, &sizes, &folding, across, false, 0, stream);
  _Alignas(64) tsl_tensor_map maps[3];
  sums_place place = {0, 0, false};
  memset(&maps[2], 0, sizeof maps[2]);
  TSL_TRY(prepare_factors(work, &tile, &sizes, operands, stream, maps));
  cuda_wgmma_arguments given = {.m = (int)sizes.m,
                                .n = (int)sizes.n,
                                .k = (int)sizes.k,
                                .tiles_m = (int)shares.tiles_m,
                                .tiles_n = (int)shares.tiles_n,
                                .band = tile.band,
                                .parts = (int)shares.parts,
                                .ahead = ahead_of(&tile, &shares),
                                .c_offset = sizes.c_offset,
                                .c_row = sizes.c_row_stride,
                                .c_col = sizes.c_col_stride,
                                .alpha = folding.alpha,
                                .beta = folding.beta};
  if (is_split) {
    TSL_TRY(map_sums(&tile, &sizes, &shares, operands->scratch, &place, &maps[2]));
    given.by_map = place.by_map;
    given.c_offset = place.offset, given.c_part = place.part;
    given.c_row = shares.pitch, given.c_col = 1;
    given.alpha = scalar_of(&plain, 0), given.beta = scalar_of(&plain, 1);
  } else if (!flows && tsl_cuda_wgmma_by_map(&tile, &sizes, folding.beta.integer != 0)) {
    TSL_TRY(map_result(&tile, &sizes, operands->c.buffer, &maps[2]));
    given.by_map = 1;
  }
  tsl_argument list[5] = {TSL_ARG_VALUE(maps[0]), TSL_ARG_VALUE(maps[1])};
  int count = 2;
  if (!flows)
    list[count++] = (tsl_argument)TSL_ARG_VALUE(maps[2]);
  list[count++] = (tsl_argument)TSL_ARG_BUFFER(is_split ? operands->scratch : operands->c.buffer);
  list[count++] = (tsl_argument)TSL_ARG_VALUE(given);
  const tsl_grid grid = {{(uint64_t)shares.blocks, 1, 1}, {items_of(&tile), 1, 1}};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grid, list, count));
  if (!is_split)
    return TESELA_OK;
  folding.parts = (int)shares.parts;
  folding.part = place.part;
  return fold(work, operands, &sizes, &folding, across, true, place.offset, stream);
}
