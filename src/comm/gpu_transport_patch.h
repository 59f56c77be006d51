/* What two patches have in common (comm/layout.h), copied on a device: rows of bytes, in order of a lane's
 * stream. */
#ifndef TSL_COMM_GPU_TRANSPORT_PATCH_H
#define TSL_COMM_GPU_TRANSPORT_PATCH_H

#include "comm/gpu_transport.h"
#include "comm/layout.h"

/* One side of a copy: a buffer, and how many bytes from its start element (0, 0) of the patch lies, or the
 * first one of a message. */
typedef struct tsl_lane_side {
  const tesela_buffer *buffer;
  size_t at;
  bool is_message;
} tsl_lane_side;

/* Whether patches of elements of `size` bytes lie so that a device copies them by rows of bytes, few and
 * long: next to each other along the order, and in blocks of tsl_lane_least_block bytes on average. */
bool tsl_lane_takes(const tsl_patch *patch, tsl_order order, size_t size);
/* Copies from the first patch's memory to the second's, where each lies as tsl_lane_takes() wants it, or is a
 * message in this order. Adds the number of elements to *count. What fails is the ranks' own messages. */
tesela_status tsl_lane_patch(tsl_lane *lane, const tsl_patch *a, const tsl_lane_side *from,
                             const tsl_patch *b, const tsl_lane_side *side, tsl_order order, size_t size,
                             int64_t *count);

/* Matrices that lie in smaller blocks pass through host memory, where a block costs less than to begin a copy
 * of its own. Tests have small matrices. */
extern size_t tsl_lane_least_block;

#endif
