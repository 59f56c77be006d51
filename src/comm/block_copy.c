#include "comm/layout.h"

#include <string.h>

int64_t tsl_patch_common(const tsl_patch *a, const tsl_patch *b) {
  const int64_t rows = tsl_dim_common(&a->rows, &b->rows);
  return rows == 0 ? 0 : rows * tsl_dim_common(&a->cols, &b->cols);
}

int64_t tsl_patch_total(const tsl_patch *patch) {
  return tsl_dim_total(&patch->rows) * tsl_dim_total(&patch->cols);
}

int64_t tsl_patch_walk(const tsl_patch *a, const tsl_patch *b, tsl_order order, tsl_patch_block block,
                       void *user) {
  const bool by_rows = order == TSL_ROWS;
  int64_t before = 0;
  tsl_spans_intersect outer = {.a = by_rows ? &a->rows : &a->cols, .b = by_rows ? &b->rows : &b->cols};
  while (tsl_spans_intersect_next(&outer)) {
    tsl_spans_intersect inner = {.a = by_rows ? &a->cols : &a->rows, .b = by_rows ? &b->cols : &b->rows};
    while (tsl_spans_intersect_next(&inner)) {
      const tsl_spans_intersect *row = by_rows ? &outer : &inner, *col = by_rows ? &inner : &outer;
      const int64_t a_at = a->offset + row->in_a * a->row_stride + col->in_a * a->col_stride;
      const int64_t b_at = b->offset + row->in_b * b->row_stride + col->in_b * b->col_stride;
      block(user, row->length, col->length, a_at, b_at, before);
      before += row->length * col->length;
    }
  }
  return before;
}

/* Copy of the patches' common part, from a's `source` or a message to b's `target` or a message; the other
 * two pointers are NULL. */
typedef struct patch_copy {
  const tsl_patch *a, *b;
  const char *source;
  char *target, *message_out;
  const char *message_in;
  size_t size;
  tsl_order order;
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

static void block_copy_move_block(void *user, int64_t rows, int64_t cols, int64_t a_at, int64_t b_at,
                                  int64_t before) {
  const patch_copy *m = user;
  const bool by_rows = m->order == TSL_ROWS;
  const int64_t outer = by_rows ? rows : cols, inner = by_rows ? cols : rows;
  const int64_t a_outer = by_rows ? m->a->row_stride : m->a->col_stride;
  const int64_t a_inner = by_rows ? m->a->col_stride : m->a->row_stride;
  const int64_t b_outer = by_rows ? m->b->row_stride : m->b->col_stride;
  const int64_t b_inner = by_rows ? m->b->col_stride : m->b->row_stride;
  const int64_t size = (int64_t)m->size;
  for (int64_t i = 0; i < outer; i++) {
    const int64_t in_message = (before + i * inner) * size;
    const char *from = m->source ? m->source + (a_at + i * a_outer) * size : m->message_in + in_message;
    char *to = m->target ? m->target + (b_at + i * b_outer) * size : m->message_out + in_message;
    copy_strided_run(to, m->target ? b_inner : 1, from, m->source ? a_inner : 1, inner, m->size);
  }
}

int64_t tsl_patch_pack(const tsl_patch *a, const void *data, const tsl_patch *b, tsl_order order, size_t size,
                       void *message) {
  patch_copy m = {.a = a, .b = b, .source = data, .message_out = message, .size = size, .order = order};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}

int64_t tsl_patch_unpack(const tsl_patch *a, const tsl_patch *b, void *data, tsl_order order, size_t size,
                         const void *message) {
  patch_copy m = {.a = a, .b = b, .target = data, .message_in = message, .size = size, .order = order};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}

int64_t tsl_patch_copy(const tsl_patch *a, const void *from, const tsl_patch *b, void *dst, tsl_order order,
                       size_t size) {
  patch_copy m = {.a = a, .b = b, .source = from, .target = dst, .size = size, .order = order};
  return tsl_patch_walk(a, b, order, block_copy_move_block, &m);
}
