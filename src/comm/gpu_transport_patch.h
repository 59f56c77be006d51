/* Device copies of the intersection of two patches (comm/layout.h). */
#ifndef TSL_COMM_GPU_TRANSPORT_PATCH_H
#define TSL_COMM_GPU_TRANSPORT_PATCH_H

#include "comm/gpu_transport.h"
#include "comm/layout.h"

/* Side of a copy: buffer, and byte offset of the patch's element (0, 0) or of a message's first element. */
typedef struct tsl_gpu_copy_side {
  const tesela_buffer *buffer;
  size_t at;
  bool is_message;
} tsl_gpu_copy_side;

/* Returns true if a patch is few long rows of bytes. Elements are contiguous along `order`; blocks have at
 * least tsl_gpu_copy_block_bytes_min bytes on average. */
bool tsl_gpu_transport_can_copy(const tsl_patch *patch, tsl_order order, size_t size);
/* Enqueues the copy from a's memory to b's; adds the elements to *count. Each side satisfies
 * tsl_gpu_transport_can_copy() or is a message in `order`. Fails only if the ranks' own messages fail. */
tesela_status tsl_gpu_transport_copy_patch(tsl_gpu_transport *transport, const tsl_patch *a,
                                           const tsl_gpu_copy_side *from, const tsl_patch *b,
                                           const tsl_gpu_copy_side *side, tsl_order order, size_t size,
                                           int64_t *count);

/* Minimum average bytes of a block: smaller ones cost less through host memory. Tests lower it. */
extern size_t tsl_gpu_copy_block_bytes_min;

#endif
