/* Split-k reduction of opencl_mma_group.cl: C from the sums of all parts, added in their order. Define C_FORM
 * as for opencl_mma.cl.
 *   scratch: | part 0: rows x pitch sums | part 1 | ...       four columns of a row per item */
#define A_MN_MAJOR 0
#define B_MN_MAJOR 0
#define TILES_M 1
#define TILES_N 2
#include "ptx.h"

#include "mma_sums.h"

#define FOLD_ITEMS 256

TSL_KERNEL(FOLD_ITEMS, 1, 1)
tsl_gemm_opencl_mma_fold(TSL_GLOBAL MMA_RESULT *TSL_RESTRICT c, TSL_GLOBAL const char *TSL_RESTRICT scratch,
                         const opencl_mma_group_arguments args) {
  const opencl_mma_arguments whole = args.whole;
  const TSL_INDEX pitch = whole.tiles_n * TSL_PARAM_TILE_N, part = whole.tiles_m * TSL_PARAM_TILE_M * pitch;
  const TSL_INDEX quads = (whole.gemm.n + 3) / 4, count = quads * whole.gemm.m;
  const TSL_INDEX all = (TSL_INDEX)TSL_GROUPS(0) * FOLD_ITEMS;
  const TSL_INDEX step = whole.gemm.c_col_stride;
  const bool is_wide = step == 1 && (whole.gemm.c_offset | whole.gemm.c_row_stride) % 4 == 0;
  TSL_GLOBAL const MMA_NUMBER *sums = (TSL_GLOBAL const MMA_NUMBER *)(scratch + args.sums);
  for (TSL_INDEX i = TSL_GLOBAL_ITEM(0); i < count; i += all) {
    const TSL_INDEX row = i / quads, col = i % quads * 4;
    TSL_GLOBAL const MMA_NUMBER *at = sums + (row * pitch + col);
    MMA_NUMBER line[4] = {0, 0, 0, 0};
    TSL_UNROLL_BY(8)
    for (int p = 0; p < (int)args.split_k; p++, at += part) {
      const TSL_VECTOR(MMA_NUMBER, 4) own = TSL_LOAD_ALIGNED(MMA_NUMBER, 4, at);
      line[0] += TSL_LANE(own, 0);
      line[1] += TSL_LANE(own, 1);
      line[2] += TSL_LANE(own, 2);
      line[3] += TSL_LANE(own, 3);
    }
    TSL_GLOBAL MMA_RESULT *to = c + (whole.gemm.c_offset + row * whole.gemm.c_row_stride + col * step);
    if (is_wide && col + 4 <= whole.gemm.n)
      store_four(to, line, whole);
    else
      store_inside(to, step, whole.gemm.n - col < 4 ? (int)(whole.gemm.n - col) : 4, line, whole);
  }
}
