/* Matrix instructions in OpenCL C behind src/kernel/kernel_fragments.h, one row each. */
#ifndef TSL_DEVICE_DEVICE_FRAGMENTS_H
#define TSL_DEVICE_DEVICE_FRAGMENTS_H

#include <stdbool.h>

/* X(NAME, members of tsl_fragments in order). Rates are from data sheets, per OpenCL compute unit: an Intel
 * vector engine, a CDNA compute unit, an RDNA work-group processor. AMD's MIOpen documents gfx90a's flush. */
#define TSL_FRAGMENTS_LIST(X)                                                                                \
  X(DPAS_8, "dpas_8", "TSL_DPAS 8", "8", 8, 8, 8, 32, 8, 8, 72, 128, 256, true, true)                        \
  X(DPAS_16, "dpas_16", "TSL_DPAS 16", "16", 16, 8, 16, 32, 4, 8, 72, 256, 512, true, true)                  \
  X(MFMA_908, "mfma_gfx908", "TSL_MFMA 0x908", "gfx908", 64, 16, 16, 64, 4, 4, 448, 1024, 1024, false, true) \
  X(MFMA_90A, "mfma_gfx90a", "TSL_MFMA 0x90a", "gfx90a", 64, 16, 16, 64, 4, 4, 448, 1024, 1024, false,       \
    false)                                                                                                   \
  X(MFMA_940, "mfma_gfx940", "TSL_MFMA 0x940", "gfx94 gfx950", 64, 16, 16, 64, 4, 4, 448, 2048, 4096, false, \
    true)                                                                                                    \
  X(WMMA_11, "wmma_gfx11", "TSL_WMMA 11", "gfx11", 32, 16, 16, 32, 8, 8, 190, 1024, 1024, true, true)        \
  X(WMMA_12, "wmma_gfx12", "TSL_WMMA 12", "gfx12", 32, 16, 16, 32, 4, 4, 190, 2048, 4096, true, true)

typedef struct tsl_fragments {
  const char *name;
  const char *define;    /* definition for kernels that include kernel/kernel_fragments.h */
  const char *match;     /* Intel: smallest sub-group size; AMD: prefixes of names, separated by blanks */
  int items, rows, cols; /* items of a sub-group; rows and columns of the sums of one product */
  int bytes;             /* bytes along k of each line in one step */
  int words_a, words_b;  /* an item's 32-bit registers for a fragment */
  int registers;         /* an item's registers before compilers spill */
  int rate_16, rate_8;   /* operations per clock and unit; a multiply-add is two */
  bool unsigned_bytes;
  bool subnormal_f16; /* subnormal f16 inputs are not flushed to zero */
} tsl_fragments;

typedef enum tsl_fragments_index {
#define TSL_FRAGMENTS_MEMBER(NAME, ...) TSL_FRAGMENTS_##NAME,
  TSL_FRAGMENTS_LIST(TSL_FRAGMENTS_MEMBER)
#undef TSL_FRAGMENTS_MEMBER
      TSL_FRAGMENTS_COUNT
} tsl_fragments_index;

extern const tsl_fragments tsl_fragments_all[TSL_FRAGMENTS_COUNT];

/* Returns the row for an Intel sub-group size (0: not Intel), or an AMD name ("gfx90a:xnack-"); or NULL. */
const tsl_fragments *tsl_fragments_of(int sub_group, const char *architecture);

#endif
