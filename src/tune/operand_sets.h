/* Sets of standard normal operands on a device, so many that the next set is in no cache.
 *
 *   buffer of A:  | A of set 0 | - | A of set 1 | - | A of set 2 | ...      B and C alike
 *
 * Sets are aligned to 512 bytes, the maximum of OpenCL sub-buffers. Gaps vary their position in the cache. */
#ifndef TSL_TUNE_OPERAND_SETS_H
#define TSL_TUNE_OPERAND_SETS_H

#include "core/kinds.h"
#include "plan/plan.h"

typedef struct tsl_operand_sets {
  tsl_device *device;
  tsl_buffer *buffers[TSL_OPERANDS];
  tsl_operands *items; /* `count` sets */
  int count;
  uint64_t set_bytes; /* bytes of one set's elements */
  bool cold;          /* all sets together are at least twice the last cache */
} tsl_operand_sets;

/* Makes the sets on an open device: one if `warm`, else enough to fill twice the last cache, within a quarter
 * of the memory. Free with tsl_operand_sets_free() when no run is pending; none are left on failure. */
tesela_status tsl_operand_sets_create(const tsl_problem *problem, tsl_device *device, tsl_kind data,
                                      uint64_t seed, bool warm, tsl_operand_sets *out);
void tsl_operand_sets_free(tsl_operand_sets *sets);

#endif
