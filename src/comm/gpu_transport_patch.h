/* Device copies of the intersection of two patches (comm/layout.h), as rows of bytes in the
 * transport's stream. */
#ifndef TSL_COMM_GPU_TRANSPORT_PATCH_H
#define TSL_COMM_GPU_TRANSPORT_PATCH_H

#include "comm/gpu_transport.h"
#include "comm/layout.h"

/* One side of a copy: a buffer, and the byte offset of the patch's element (0, 0), or of a
 * message's first element. */
typedef struct tsl_lane_side {
  const tesela_buffer *buffer;
  size_t at;
  bool is_message;
} tsl_lane_side;

/* Returns true if a device can copy a patch as few long rows of bytes. Elements are contiguous
 * along `order`, and blocks have at least tsl_lane_least_block bytes on average. */
bool tsl_lane_takes(const tsl_patch *patch, tsl_order order, size_t size);
/* Enqueues the copy from patch a's memory to b's. Each side satisfies tsl_lane_takes() or is a
 * message in `order`. Adds the number of elements to *count. Fails only if the ranks' own messages
 * fail. */
tesela_status tsl_lane_patch(tsl_lane *lane, const tsl_patch *a, const tsl_lane_side *from,
                             const tsl_patch *b, const tsl_lane_side *side, tsl_order order, size_t size,
                             int64_t *count);

/* Minimum average bytes of a block for device copies. Smaller blocks cost less through host memory
 * than one copy launch each. Tests lower it, because their matrices are small. */
extern size_t tsl_lane_least_block;

#endif
