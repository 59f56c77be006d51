/* register_tile.cl with asynchronous copies as C, as kernel.c has opencl_mma.cl. */
#include "../../src/strategy/gemm/portable/register_tile/register_tile.cl"

#include <string.h>

static void run(const char *a, const char *b, void *c, const void *argument) {
  tsl_register_tile_arguments all;
  memcpy(&all, argument, sizeof all);
  tsl_gemm_register_tile((const float *)a, (const float *)b, c, all);
}

extern const ptx_kernel PTX_KERNEL;
const ptx_kernel PTX_KERNEL = {run, ptx_items, TSL_PARAM_TILE_K, TILE_M, TILE_N, 32};
