/* opencl_mma_pack.cl for bytes as C, as kernel.c has opencl_mma.cl. */
#include "../../src/strategy/gemm/opencl_mma/opencl_mma_pack.cl"

#include <string.h>

static void run(const char *a, const char *b, void *c, const void *given) {
  (void)b;
  opencl_mma_pack_arguments all;
  memcpy(&all, given, sizeof all);
  tsl_gemm_opencl_mma_pack((const unsigned char *)a, c, all);
}

extern const ptx_kernel ptx_pack_bytes;
const ptx_kernel ptx_pack_bytes = {run, ptx_items, 0, 0, 0, 32};
