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
  const tsl_patch *patch[2];
  const tsl_gpu_copy_side *side[2];
  tsl_order order;
  size_t size;
  tesela_status status;
} copying;

/* Enqueues the copy of a block (tsl_patch_block), unless an earlier block failed. */
static void gpu_transport_patch_copy_block(void *user, int64_t rows, int64_t cols, int64_t a_at, int64_t b_at,
                                           int64_t before) {
  copying *c = user;
  const bool by_rows = c->order == TSL_ROWS;
  const int64_t inner = by_rows ? cols : rows, at[2] = {a_at, b_at};
  size_t offset[2], pitch[2];
  for (int i = 0; i < 2; i++) {
    const tsl_gpu_copy_side *side = c->side[i];
    const int64_t apart = by_rows ? c->patch[i]->row_stride : c->patch[i]->col_stride;
    offset[i] = side->at + (size_t)(side->is_message ? before : at[i]) * c->size;
    pitch[i] = (size_t)(side->is_message ? inner : apart) * c->size;
  }
  const tsl_api_rows block = {.from = c->side[0]->buffer,
                              .to = c->side[1]->buffer,
                              .from_offset = offset[0],
                              .from_pitch = pitch[0],
                              .to_offset = offset[1],
                              .to_pitch = pitch[1],
                              .rows = (size_t)(by_rows ? rows : cols),
                              .row_bytes = (size_t)inner * c->size};
  if (c->status == TESELA_OK)
    c->status = tsl_gpu_transport_copy(c->transport, &block);
}

tesela_status tsl_gpu_transport_copy_patch(tsl_gpu_transport *transport, const tsl_patch *a,
                                           const tsl_gpu_copy_side *from, const tsl_patch *b,
                                           const tsl_gpu_copy_side *side, tsl_order order, size_t size,
                                           int64_t *count) {
  copying c = {transport, {a, b}, {from, side}, order, size, TESELA_OK};
  *count += tsl_patch_walk(a, b, order, gpu_transport_patch_copy_block, &c);
  return c.status;
}
