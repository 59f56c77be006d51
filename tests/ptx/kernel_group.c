/* opencl_mma_group.cl as C, as kernel.c has opencl_mma.cl. */
#include "../../src/strategy/gemm/portable/opencl_mma/opencl_mma_group.cl"

#include <string.h>

/* For at most three groups, from the third description on. */
static _Alignas(128) char scratch[8 * MAP_BYTES];

static void run(const char *a, const char *b, void *c, const void *argument) {
  opencl_mma_group_arguments all = {.maps = 2 * MAP_BYTES, .wanted = -1};
  memcpy(&all.whole, argument, sizeof all.whole);
  tsl_gemm_opencl_mma_group(a, b, c, scratch, all);
}

#if REDUCES
/* With all that the kernel is given, and C's place for the scratch memory. */
static void run_rests(const char *a, const char *b, void *c, const void *argument) {
  opencl_mma_group_arguments all;
  memcpy(&all, argument, sizeof all);
  tsl_gemm_opencl_mma_group(a, b, c, c, all);
}

extern const ptx_kernel ptx_group_rests;
const ptx_kernel ptx_group_rests = {run_rests, ptx_items, DEPTH, TILE_M, TILE_N, 32};
#endif

extern const ptx_kernel PTX_KERNEL;
const ptx_kernel PTX_KERNEL = {run, ptx_items, DEPTH, TILE_M, TILE_N, 32};
