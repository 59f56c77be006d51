/* Fused launches of products of different sizes by cuda_wgmma_joined.cu. */
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(cuda_wgmma_joined) % 128 == 0 && sizeof(tsl_tensor_map) == 128, "maps are aligned");
_Static_assert(sizeof(cuda_wgmma_scalar) == 4, "a table's words");

/* Returns the work for one product, with the whole batch size, so that tiles are chosen as for a batch. */
static tsl_work work_of(const tsl_work *work, const tsl_fused_product *product) {
  tsl_work own = *work;
  own.problem = *product->problem;
  own.problem.batch = work->problem.batch;
  return own;
}

static tsl_cuda_wgmma derive_joined(const tsl_work *work) {
  return tsl_cuda_wgmma_derive(&work->problem, &work->config, work->device, TSL_CUDA_WGMMA_JOINED);
}

/* Returns the launch of one product with this tile. */
static tsl_cuda_wgmma_launch get_launch(const tsl_work *work, const tsl_operands *operands,
                                        const tsl_cuda_wgmma *tile) {
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  return (tsl_cuda_wgmma_launch){.work = work,
                                 .operands = operands,
                                 .tile = tile,
                                 .sizes = tile->swapped ? tsl_launch_swapped(&sizes) : sizes,
                                 .count = 1};
}

/* Returns true if a fused launch can take the product: no packing, C by TMA, the work's types and layout. */
static bool joined_takes(const tsl_work *work, const tsl_fused_product *product) {
  const tsl_work own = work_of(work, product);
  const tsl_problem *problem = &own.problem, *like = &work->problem;
  if (tsl_problem_batch(like) < 2 || problem->k == 0 || problem->alpha[0] == 0 || problem->beta[0] != 0 ||
      tsl_problem_has_epilogue(problem) || problem->a.type != like->a.type ||
      problem->b.type != like->b.type || problem->c.type != like->c.type)
    return false;
  const tsl_cuda_wgmma tile = derive_joined(&own), common = derive_joined(work);
  const tsl_cuda_wgmma_launch run = get_launch(&own, product->operands, &tile);
  tsl_cuda_wgmma_factor factors[2];
  tsl_cuda_wgmma_find_factors(&run, factors);
  return tile.stages > 0 && tile.a_mn_major == common.a_mn_major && tile.b_mn_major == common.b_mn_major &&
         tile.by_columns == common.by_columns && !factors[0].packs && !factors[1].packs &&
         tsl_cuda_wgmma_run_by_map(&run, false);
}

/* Returns the bytes of one table; successive launches reuse it. */
static uint64_t joined_scratch(int64_t count) {
  return (uint64_t)(tsl_min(count, TSL_CUDA_WGMMA_JOINED_MOST) + 1) * sizeof(cuda_wgmma_joined);
}

static tesela_status joined_build(const tsl_work *work) {
  const tsl_cuda_wgmma tile = derive_joined(work);
  tsl_kernel *kernel;
  return tile.stages > 0
             ? tsl_cuda_wgmma_variant_kernel(work, &tile, TSL_CUDA_WGMMA_VARIANT_JOINED, &kernel)
             : tsl_fail(TESELA_UNSUPPORTED,
                        "%s lacks shared memory for the product table and two stages, or A goes to registers",
                        work->device->name);
}

/* Fills in the product's row of the table. `before`: work tiles of earlier rows; *work_tiles: its own. */
static tesela_status fill_row(const tsl_work *work, const tsl_fused_product *product, int64_t before,
                              cuda_wgmma_joined *row, int64_t *work_tiles) {
  const tsl_work own = work_of(work, product);
  const tsl_cuda_wgmma tile = derive_joined(&own);
  const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, own.device);
  const tsl_cuda_wgmma_launch run = get_launch(&own, product->operands, &tile);
  const tsl_gemm_argument scaled = tsl_launch_scalars(&own, &run.sizes);
  tsl_cuda_wgmma_factor factors[2];
  _Alignas(64) tsl_tensor_map map;
  tsl_cuda_wgmma_find_factors(&run, factors);
  memset(row, 0, sizeof *row);
  for (int i = 0; i < 2; i++) {
    TSL_TRY(tsl_cuda_wgmma_map_factor(&run, &factors[i], &map));
    memcpy(row->maps[i], &map, sizeof map);
  }
  TSL_TRY(tsl_cuda_wgmma_map_result(&run, &map));
  memcpy(row->maps[2], &map, sizeof map);
  row->first = (int)before;
  row->tiles_m = (int)schedule.tiles_m;
  row->tiles_n = (int)schedule.tiles_n;
  row->k = (int)run.sizes.k;
  memcpy(&row->alpha, &scaled.scalars.i32[0], sizeof row->alpha);
  *work_tiles = schedule.tiles_m * schedule.tiles_n;
  return TESELA_OK;
}

/* Enqueues one launch with as many blocks as are resident, at most one cluster per work tile. */
static tesela_status joined_launch(const tsl_work *work, const tsl_cuda_wgmma *tile, tsl_kernel *kernel,
                                   int products, int work_tiles, tsl_buffer *table, tsl_stream *stream) {
  const int64_t room = tsl_max(1, (int64_t)work->device->compute_units * tile->resident / tile->cluster),
                clusters = tsl_min(room, work_tiles);
  const int raster_height = tile->raster_height;
  const tsl_argument list[] = {TSL_ARG_BUFFER(table), TSL_ARG_VALUE(products), TSL_ARG_VALUE(work_tiles),
                               TSL_ARG_VALUE(raster_height)};
  const tsl_grid grid = {{(uint64_t)(clusters * tile->cluster), 1, 1}, {tile->items, 1, 1}};
  return work->device->ops->launch(stream, kernel, &grid, list, sizeof list / sizeof *list);
}

/* Compares products for qsort(): long k first, so that the last round is short. */
static int by_depth(const void *x, const void *y) {
  const tsl_fused_product *a = x, *b = y;
  const int64_t k = a->problem->k, other = b->problem->k;
  return k != other ? (k < other ? 1 : -1) : 0;
}

/* Enqueues products in their order, in launches of at most TSL_CUDA_WGMMA_JOINED_MOST products. */
static tesela_status run_sorted(const tsl_work *work, const tsl_fused_product *products, int64_t count,
                                cuda_wgmma_joined *rows, tsl_buffer *table, tsl_stream *stream) {
  const tsl_cuda_wgmma tile = derive_joined(work);
  static const int64_t work_tiles_max = 0x7f000000;
  tsl_kernel *kernel;
  TSL_TRY(tsl_cuda_wgmma_variant_kernel(work, &tile, TSL_CUDA_WGMMA_VARIANT_JOINED, &kernel));
  for (int64_t first = 0; first < count;) {
    int64_t work_tiles = 0, added = 0, taken = 0;
    for (; first + taken < count && taken < TSL_CUDA_WGMMA_JOINED_MOST; taken++) {
      TSL_TRY(fill_row(work, &products[first + taken], work_tiles, &rows[taken], &added));
      if (taken > 0 && work_tiles + added > work_tiles_max)
        break;
      work_tiles += added;
    }
    memset(&rows[taken], 0, sizeof *rows);
    rows[taken].first = (int)work_tiles;
    TSL_TRY(tsl_device_write(stream, table, 0, rows, (size_t)(taken + 1) * sizeof *rows));
    TSL_TRY(joined_launch(work, &tile, kernel, (int)taken, (int)work_tiles, table, stream));
    first += taken;
  }
  return TESELA_OK;
}

static tesela_status joined_run(const tsl_work *work, const tsl_fused_product *products, int64_t count,
                                tsl_buffer *table, tsl_stream *stream) {
  void *block;
  const int64_t most = tsl_min(count, TSL_CUDA_WGMMA_JOINED_MOST);
  TSL_TRY(tsl_alloc((size_t)(most + 1) * sizeof(cuda_wgmma_joined) + (size_t)count * sizeof *products,
                    "a table of products", &block));
  cuda_wgmma_joined *rows = block;
  tsl_fused_product *sorted = (tsl_fused_product *)(rows + most + 1);
  memcpy(sorted, products, (size_t)count * sizeof *products);
  qsort(sorted, (size_t)count, sizeof *sorted, by_depth);
  const tesela_status status = run_sorted(work, sorted, count, rows, table, stream);
  tsl_free(block);
  return status;
}

const tsl_fused_ops tsl_cuda_wgmma_joining = {
    .build = joined_build, .takes = joined_takes, .scratch = joined_scratch, .run = joined_run};
