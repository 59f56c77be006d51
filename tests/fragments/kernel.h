/* subgroup_mma's kernel compiled as C, in several forms. */
#ifndef TSL_TESTS_FRAGMENTS_KERNEL_H
#define TSL_TESTS_FRAGMENTS_KERNEL_H

#include "device/device_fragments.h"
#include "instructions.h"

/* A kernel, with the parameters that its text was compiled with. */
typedef struct fragments_kernel {
  ptx_kernel kernel;
  tsl_fragments_index fragments;
  int type_ab, type_c, signed_a, signed_b;
  int tile_m, tile_n, sub_m, sub_n, depth;
} fragments_kernel;

/* All kernels, with the name that the build has for each. Ends with a NULL name. */
typedef struct fragments_entry {
  const char *name;
  const fragments_kernel *kernel;
} fragments_entry;
extern const fragments_entry fragments_kernels[];

/* A_MN_MAJOR and B_MN_MAJOR of the next run. */
extern int fragments_across[2];

/* A kind of device that has one device for each row of src/device/device_fragments.h, and runs these kernels.
 */
extern const struct tsl_device_kind fragments_kind;
/* The text that the strategy asked such a device to compile last, and "" before. */
const char *fragments_text(void);
/* What ptx_run() complained of in all runs, and how many runs there were. */
extern int fragments_complaints, fragments_runs;

#endif
