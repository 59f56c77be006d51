/* Matrix instructions of graphics processors that OpenCL C has names for: what the host knows of those that
 * src/kernel/kernel_fragments.h puts behind one interface. A device with TSL_CAN_FRAGMENTS has one of them.
 */
#ifndef TSL_DEVICE_DEVICE_FRAGMENTS_H
#define TSL_DEVICE_DEVICE_FRAGMENTS_H

#include <stdbool.h>

/* X(NAME, name, define, match, items, rows, cols, bytes, words_a, words_b, registers, rate_16, rate_8,
 * unsigned_bytes, subnormal_f16): see tsl_fragments. Rates are of data sheets: a unit is what OpenCL counts,
 * an Intel vector engine, a compute unit of CDNA, a work-group processor of RDNA. gfx90a takes subnormal
 * halves as zeros (AMD's MIOpen documents it). */
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
  const char
      *define; /* what stands behind #define in front of kernels that include kernel/kernel_fragments.h */
  const char *match; /* Intel: the smallest sub-group; AMD: how names of the architectures begin, with blanks
                        between */
  int items, rows, cols; /* of a sub-group; of sums of a product */
  int bytes;             /* of each line that a step takes along k */
  int words_a, words_b;  /* 32-bit registers of an item that hold a fragment */
  int registers; /* that an item may have for sums, fragments and what it copies, before compilers spill */
  int rate_16, rate_8; /* operations of a unit in a clock, a multiply-add counting two */
  bool unsigned_bytes; /* takes them, too */
  bool subnormal_f16;  /* does not take them for zeros */
} tsl_fragments;

typedef enum tsl_fragments_index {
#define TSL_FRAGMENTS_MEMBER(NAME, ...) TSL_FRAGMENTS_##NAME,
  TSL_FRAGMENTS_LIST(TSL_FRAGMENTS_MEMBER)
#undef TSL_FRAGMENTS_MEMBER
      TSL_FRAGMENTS_COUNT
} tsl_fragments_index;

extern const tsl_fragments tsl_fragments_all[TSL_FRAGMENTS_COUNT];

/* Sub-group size (0: not one of Intel's), or an architecture's name, "gfx90a:sramecc+:xnack-", as the row
 * that has it; NULL where none does. */
const tsl_fragments *tsl_fragments_of(int sub_group, const char *architecture);

#endif
