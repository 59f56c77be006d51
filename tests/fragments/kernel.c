/* subgroup_mma.cl as C. The build defines FRAGMENTS_KERNEL, the name of the resulting kernel, and
 * the kernel's parameters. The layout of operands is an argument at run time. */
#include "kernel.h"

#include <string.h>

#define A_MN_MAJOR fragments_across[0]
#define B_MN_MAJOR fragments_across[1]

#include "../../src/strategy/gemm/portable/subgroup_mma/subgroup_mma.cl"

static void run(const char *a, const char *b, void *c, const void *argument) {
  tsl_gemm_arguments whole;
  memcpy(&whole, argument, sizeof whole);
  tsl_gemm_subgroup_mma((const tsl_element *)a, (const tsl_element *)b, c, whole);
}

extern const fragments_kernel FRAGMENTS_KERNEL;
const fragments_kernel FRAGMENTS_KERNEL = {{run, ptx_items, DEPTH, TILE_M, TILE_N, TSL_FRAGMENT_ITEMS},
                                           FRAGMENTS_INDEX,
                                           TSL_TYPE_AB,
                                           TSL_TYPE_C,
                                           TSL_SIGNED_A,
                                           TSL_SIGNED_B,
                                           TILE_M,
                                           TILE_N,
                                           SUB_M,
                                           SUB_N,
                                           DEPTH_BYTES};
