/* opencl_mma.cl as C. The build defines PTX_KERNEL, the name of the resulting ptx_kernel, and the
 * kernel's parameters. */
#include "../../src/strategy/gemm/portable/opencl_mma/opencl_mma.cl"

#include <string.h>

#if SPLIT
/* C's place holds scratch memory. Groups that join parts store C in front of it. */
static void run(const char *a, const char *b, void *c, const void *argument) {
  opencl_mma_arguments whole;
  memcpy(&whole, argument, sizeof whole);
  tsl_gemm_opencl_mma(a, b, c, c, whole);
}
#else
static void run(const char *a, const char *b, void *c, const void *argument) {
  opencl_mma_arguments whole;
  memcpy(&whole, argument, sizeof whole);
  tsl_gemm_opencl_mma(a, b, c, whole);
}
#endif

extern const ptx_kernel PTX_KERNEL;
const ptx_kernel PTX_KERNEL = {run, ptx_items, DEPTH, TILE_M, TILE_N, 32};
