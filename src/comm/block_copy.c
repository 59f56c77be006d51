#include "comm/layout.h"

#include <string.h>

int64_t tsl_patch_common(const tsl_patch *a, const tsl_patch *b) {
  const int64_t rows = tsl_dim_common(&a->rows, &b->rows);
  return rows == 0 ? 0 : rows * tsl_dim_common(&a->cols, &b->cols);
}

int64_t tsl_patch_total(const tsl_patch *patch) {
  return tsl_dim_total(&patch->rows) * tsl_dim_total(&patch->cols);
}

int64_t tsl_patch_walk(const tsl_patch *a, const tsl_patch *b, tsl_order order, tsl_block_function function,
                       void *user) {
  const bool by_rows = order == TSL_ROWS;
  tsl_common_block block = {.a_line = by_rows ? a->row_stride : a->col_stride,
                            .a_step = by_rows ? a->col_stride : a->row_stride,
                            .b_line = by_rows ? b->row_stride : b->col_stride,
                            .b_step = by_rows ? b->col_stride : b->row_stride};
  tsl_spans_intersect outer = {.a = by_rows ? &a->rows : &a->cols, .b = by_rows ? &b->rows : &b->cols};
  while (tsl_spans_intersect_next(&outer)) {
    tsl_spans_intersect inner = {.a = by_rows ? &a->cols : &a->rows, .b = by_rows ? &b->cols : &b->rows};
    while (tsl_spans_intersect_next(&inner)) {
      block.lines = outer.length;
      block.length = inner.length;
      block.a_at = a->offset + outer.in_a * block.a_line + inner.in_a * block.a_step;
      block.b_at = b->offset + outer.in_b * block.b_line + inner.in_b * block.b_step;
      function(user, &block);
      block.before += block.lines * block.length;
    }
  }
  return block.before;
}

/* Copy of the patches' common part, from a's `source` or a message to b's `target` or a message; the other
 * two pointers are NULL. */
typedef struct patch_copy {
  const char *source;
  char *target, *message_out;
  const char *message_in;
  size_t size;
} patch_copy;

static void copy_strided_run(char *dst, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                             size_t size) {
  if (to_step == 1 && from_step == 1) {
    memcpy(dst, from, (size_t)count * size);
    return;
  }
  const int64_t to_bytes = to_step * (int64_t)size, from_bytes = from_step * (int64_t)size;
  switch (size) {
  case 4:
    for (int64_t i = 0; i < count; i++)
      memcpy(dst + i * to_bytes, from + i * from_bytes, 4);
    return;
  case 8:
    for (int64_t i = 0; i < count; i++)
      memcpy(dst + i * to_bytes, from + i * from_bytes, 8);
    return;
  default:
    for (int64_t i = 0; i < count; i++)
      memcpy(dst + i * to_bytes, from + i * from_bytes, size);
  }
}

static void block_copy_move_block(void *user, const tsl_common_block *block) {
  const patch_copy *m = user;
  const int64_t size = (int64_t)m->size;
  for (int64_t i = 0; i < block->lines; i++) {
    const int64_t in_message = (block->before + i * block->length) * size;
    const char *from =
        m->source ? m->source + (block->a_at + i * block->a_line) * size : m->message_in + in_message;
    char *to = m->target ? m->target + (block->b_at + i * block->b_line) * size : m->message_out + in_message;
    copy_strided_run(to, m->target ? block->b_step : 1, from, m->source ? block->a_step : 1, block->length,
                     m->size);
  }
}

int64_t tsl_patch_pack(const tsl_patch *a, const void *data, const tsl_patch *b, tsl_order order, size_t size,
                       void *message) {
  patch_copy m = {.source = data, .message_out = message, .size = size};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}

int64_t tsl_patch_unpack(const tsl_patch *a, const tsl_patch *b, void *data, tsl_order order, size_t size,
                         const void *message) {
  patch_copy m = {.target = data, .message_in = message, .size = size};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}

int64_t tsl_patch_copy(const tsl_patch *a, const void *from, const tsl_patch *b, void *dst, tsl_order order,
                       size_t size) {
  patch_copy m = {.source = from, .target = dst, .size = size};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}
