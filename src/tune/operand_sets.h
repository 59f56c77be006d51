/* Sets of operands on a device for measurements, filled with standard normal data. There are so many sets
 * that a run with the next set finds no operand in a cache.
 *
 *   buffer of A:  | A of set 0 | - | A of set 1 | - | A of set 2 | ...      B and C alike
 *
 * Sets are aligned to 512 bytes, the maximum alignment of OpenCL sub-buffers. A gap between sets varies their
 * position in the cache. */
#ifndef TSL_TUNE_OPERAND_SETS_H
#define TSL_TUNE_OPERAND_SETS_H

#include "base/kinds.h"
#include "plan/plan.h"

typedef struct tsl_operand_sets {
  tsl_device *device;
  tsl_buffer *buffers[TSL_OPERANDS];
  tsl_operands *items; /* `count` sets */
  int count;
  uint64_t set_bytes; /* bytes of the elements of one set */
  bool cold;          /* all sets together are at least twice the device's last cache */
} tsl_operand_sets;

/* Makes the sets on an open device: one set if `warm`, else enough to fill twice the last cache. Their
 * size is limited to a quarter of the memory. Frees all after a failure. The caller calls
 * tsl_operand_sets_free(), when no run is pending. */
tesela_status tsl_operand_sets_create(const tsl_problem *problem, tsl_device *device, tsl_kind data,
                                      uint64_t seed, bool warm, tsl_operand_sets *out);
void tsl_operand_sets_free(tsl_operand_sets *sets);

#endif
