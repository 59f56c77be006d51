/* pack_rows.cl for bytes as C, as kernel.c has opencl_mma.cl. */
#include "../../src/strategy/kernel_launch/pack_rows.cl"

#include <string.h>

static void run(const char *a, const char *b, void *c, const void *argument) {
  (void)b;
  tsl_pack_rows_arguments all;
  memcpy(&all, argument, sizeof all);
  tsl_pack_rows((const unsigned char *)a, c, all);
}

extern const ptx_kernel ptx_pack_bytes;
const ptx_kernel ptx_pack_bytes = {run, ptx_items, 0, 0, 0, 32};
