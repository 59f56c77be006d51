/* Matrix instructions of GPUs in OpenCL C (Intel's DPAS, AMD's MFMA and WMMA) behind one interface. Devices
 * need TSL_CAN_FRAGMENTS (src/device/device_fragments.h). The items of a sub-group hold a matrix product
 * together; the part of an item is a "fragment". A line, a row of A or a column of B, is contiguous in local
 * memory, aligned to 16 bytes, pitch_bytes from line to line:
 *
 *   a step:   A, ROWS lines of BYTES    x    B, COLS lines of BYTES    =  ROWS x COLS sums, SUMS in each item
 *
 *   TSL_FRAGMENT_ITEMS                     items of a sub-group
 *   TSL_FRAGMENT_ROWS, _COLS, _SUMS        of a product, and sums in each item
 *   TSL_FRAGMENT_BYTES                     of each line in a step: one instruction, or 16 bytes an item
 *   TSL_FRAGMENT_ITEM(), TSL_FRAGMENT_GROUP()   number in the sub-group, in the work-group
 *   TSL_FRAGMENT_ROW(item, e), TSL_FRAGMENT_COL(item, e)   row and column of sum e of an item
 *   TSL_FRAGMENT_KERNEL(items)             before a kernel's name, instead of TSL_KERNEL(items, 1, 1)
 *   tsl_fragment_a, tsl_fragment_b, tsl_fragment_sums      types
 *   tsl_fragment_load_a(at, pitch_bytes), tsl_fragment_load_b() from local memory, first line `at`
 *   tsl_fragment_multiply(a, b, sums)      sums + a b
 *
 * All items of a sub-group call these functions together. kernel/units.h has the types. */
#ifndef TSL_KERNEL_KERNEL_FRAGMENTS_H
#define TSL_KERNEL_KERNEL_FRAGMENTS_H

/* required by units.h, not used here */
#ifndef TSL_PARAM_VECTOR
#define TSL_PARAM_VECTOR 16
#endif
#include "units.h"

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

typedef TSL_VECTOR(int, 4) tsl_chunk;
TSL_FUNCTION tsl_chunk tsl_chunk_load(TSL_LOCAL_POINTER const char *src) {
  return TSL_LOCAL_LOAD(int, 4, (TSL_LOCAL_POINTER const int *)src);
}
TSL_FUNCTION TSL_VECTOR(int, 2) tsl_chunk_half(tsl_chunk chunk, int last) {
  TSL_VECTOR(int, 2) half_of;
  TSL_LANE(half_of, 0) = last ? TSL_LANE(chunk, 2) : TSL_LANE(chunk, 0);
  TSL_LANE(half_of, 1) = last ? TSL_LANE(chunk, 3) : TSL_LANE(chunk, 1);
  return half_of;
}
TSL_FUNCTION TSL_VECTOR(int, 8) tsl_chunk_pair(tsl_chunk first, tsl_chunk second) {
  TSL_VECTOR(int, 8) both;
  TSL_LANE(both, 0) = TSL_LANE(first, 0);
  TSL_LANE(both, 1) = TSL_LANE(first, 1);
  TSL_LANE(both, 2) = TSL_LANE(first, 2);
  TSL_LANE(both, 3) = TSL_LANE(first, 3);
  TSL_LANE(both, 4) = TSL_LANE(second, 0);
  TSL_LANE(both, 5) = TSL_LANE(second, 1);
  TSL_LANE(both, 6) = TSL_LANE(second, 2);
  TSL_LANE(both, 7) = TSL_LANE(second, 3);
  return both;
}

#if defined(TSL_DPAS)
#include "fragments_dpas.h"
#elif defined(TSL_MFMA)
#include "fragments_mfma.h"
#else
#include "fragments_wmma.h"
#endif

/* Stores the item's TSL_FRAGMENT_SUMS sums in an array. */
TSL_FUNCTION void tsl_fragment_spread(TSL_REAL *dst, tsl_fragment_sums sums) {
  dst[0] = TSL_LANE(sums, 0);
  dst[1] = TSL_LANE(sums, 1);
  dst[2] = TSL_LANE(sums, 2);
  dst[3] = TSL_LANE(sums, 3);
#if TSL_FRAGMENT_SUMS == 8
  dst[4] = TSL_LANE(sums, 4);
  dst[5] = TSL_LANE(sums, 5);
  dst[6] = TSL_LANE(sums, 6);
  dst[7] = TSL_LANE(sums, 7);
#endif
}

#endif
