/* Sets of operands on a device, for measuring: full of standard normal data, and so many of them that a run
 * which takes the next set each time finds nothing of it in a cache.
 *
 *   buffer of A:  | A of set 0 | - | A of set 1 | - | A of set 2 | ...      the same for B and C
 *
 * Sets start 512 bytes aligned, as OpenCL asks of parts of buffers at most, and a little apart, so that they
 * do not all begin at the same place of a cache. */
#ifndef TSL_TUNE_OPERAND_SETS_H
#define TSL_TUNE_OPERAND_SETS_H

#include "base/kinds.h"
#include "plan/plan.h"

typedef struct tsl_operand_sets {
  tsl_device *device;
  tsl_buffer *buffers[TSL_OPERANDS];
  tsl_operands *items; /* `count` of them */
  int count;
  uint64_t set_bytes; /* elements of one set */
  bool cold;          /* all sets together are at least twice the device's last cache */
} tsl_operand_sets;

/* Makes the sets on an open device: one when `warm`, else as many as fill twice the last cache, within a
 * quarter of the memory. On failure nothing is left. Free with tsl_operand_sets_free(), when no run is
 * pending. */
tesela_status tsl_operand_sets_create(const tsl_problem *problem, tsl_device *device, tsl_kind data,
                                      uint64_t seed, bool warm, tsl_operand_sets *out);
void tsl_operand_sets_free(tsl_operand_sets *sets);

#endif
