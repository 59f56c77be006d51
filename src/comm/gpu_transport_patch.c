#include "comm/gpu_transport_patch.h"

#include "core/status.h"

size_t tsl_gpu_copy_block_bytes_min = 64 << 10;

bool tsl_gpu_transport_can_copy(const tsl_patch *patch, tsl_order order, size_t size) {
  const bool by_rows = order == TSL_ROWS;
  const int64_t rows = tsl_dim_total(&patch->rows), cols = tsl_dim_total(&patch->cols);
  const int64_t outer = by_rows ? rows : cols, inner = by_rows ? cols : rows;
  const int64_t apart = by_rows ? patch->row_stride : patch->col_stride,
                step = by_rows ? patch->col_stride : patch->row_stride;
  if (rows == 0 || cols == 0)
    return true;
  const double blocks = (double)patch->rows.count * (double)patch->cols.count;
  return (step == 1 || inner == 1) && (apart >= inner || outer == 1) &&
         (double)rows * (double)cols * (double)size >= blocks * (double)tsl_gpu_copy_block_bytes_min;
}

typedef struct copying {
  tsl_gpu_transport *transport;
  const tsl_gpu_copy_side *from, *to;
  size_t size;
  tesela_status status;
} copying;

/* Enqueues the copy of a block, unless an earlier block failed. */
static void gpu_transport_patch_copy_block(void *user, const tsl_common_block *block) {
  copying *c = user;
  const bool unpacks = c->from->is_message, packs = c->to->is_message;
  const tsl_api_rows rows = {.from = c->from->buffer,
                             .to = c->to->buffer,
                             .from_offset =
                                 c->from->at + (size_t)(unpacks ? block->before : block->a_at) * c->size,
                             .from_pitch = (size_t)(unpacks ? block->length : block->a_line) * c->size,
                             .to_offset = c->to->at + (size_t)(packs ? block->before : block->b_at) * c->size,
                             .to_pitch = (size_t)(packs ? block->length : block->b_line) * c->size,
                             .rows = (size_t)block->lines,
                             .row_bytes = (size_t)block->length * c->size};
  if (c->status == TESELA_OK)
    c->status = tsl_gpu_transport_copy(c->transport, &rows);
}

tesela_status tsl_gpu_transport_copy_patch(tsl_gpu_transport *transport, const tsl_patch *a,
                                           const tsl_gpu_copy_side *from, const tsl_patch *b,
                                           const tsl_gpu_copy_side *side, tsl_order order, size_t size,
                                           int64_t *count) {
  copying c = {transport, from, side, size, TESELA_OK};
  *count += tsl_patch_walk(a, b, order, gpu_transport_patch_copy_block, &c);
  return c.status;
}
