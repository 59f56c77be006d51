#include "host/host_view.h"

#include "host/int_math.h"

tesela_triangle tsl_triangle_opposite(tesela_triangle triangle) {
  static const tesela_triangle opposite[] = {TESELA_WHOLE, TESELA_UPPER, TESELA_LOWER};
  return opposite[triangle];
}

static tsl_view transpose_view(tsl_view view) {
  const int64_t row_stride = view.row_stride;
  view.triangle = tsl_triangle_opposite(view.triangle);
  view.row_stride = view.col_stride;
  view.col_stride = row_stride;
  return view;
}

void tsl_views_swap(tsl_views *views) {
  const tsl_views before = *views;
  views->m = before.n;
  views->n = before.m;
  views->a = transpose_view(before.b);
  views->b = transpose_view(before.a);
  views->c = transpose_view(before.c);
  views->conjugates_a = before.conjugates_b;
  views->conjugates_b = before.conjugates_a;
  views->is_swapped = !before.is_swapped;
}

/* Reverses A's columns and B's rows; the square factor's triangle changes sides. */
static void reverse_terms(tsl_views *views, tsl_view *square) {
  views->a.offset += (views->k - 1) * views->a.col_stride;
  views->b.offset += (views->k - 1) * views->b.row_stride;
  views->a.col_stride = -views->a.col_stride;
  views->b.row_stride = -views->b.row_stride;
  square->triangle = tsl_triangle_opposite(square->triangle);
}

static void reverse_rows(tsl_views *views) {
  if (views->a.structure != TESELA_GENERAL)
    reverse_terms(views, &views->a);
  views->c.offset += (views->m - 1) * views->c.row_stride;
  views->a.offset += (views->m - 1) * views->a.row_stride;
  views->c.row_stride = -views->c.row_stride;
  views->a.row_stride = -views->a.row_stride;
}

static void reverse_columns(tsl_views *views) {
  if (views->b.structure != TESELA_GENERAL)
    reverse_terms(views, &views->b);
  views->c.offset += (views->n - 1) * views->c.col_stride;
  views->b.offset += (views->n - 1) * views->b.col_stride;
  views->c.col_stride = -views->c.col_stride;
  views->b.col_stride = -views->b.col_stride;
}

void tsl_views_orient(tsl_views *views) {
  if (tsl_abs(views->c.row_stride) < tsl_abs(views->c.col_stride))
    tsl_views_swap(views);
  if (views->k == 0)
    views->a.structure = views->b.structure = TESELA_GENERAL;
  if (views->c.row_stride < 0 && views->c.triangle == TESELA_WHOLE)
    reverse_rows(views);
  if (views->c.col_stride < 0 && views->c.triangle == TESELA_WHOLE)
    reverse_columns(views);
  if (views->k == 0)
    views->a.row_stride = views->a.col_stride = views->b.row_stride = views->b.col_stride = 0;
}

void tsl_views_conjugation_signs(const tsl_views *views, double signs[2]) {
  signs[0] = views->conjugates_a != views->conjugates_b ? -1 : 1;
  signs[1] = views->conjugates_b ? -1 : 1;
}

static void bind_view(tsl_view *view, const tsl_view *target, bool is_read, int64_t size,
                      unsigned char *unread) {
  view->packed = target->packed;
  view->at = is_read && !target->packed ? target->at + view->offset * size : unread;
}

void tsl_views_bind(tsl_views *views, const tsl_view *a, const tsl_view *b, void *c, int64_t size,
                    int64_t c_size) {
  const tsl_view view_of_c = {.at = c}, *first = views->is_swapped ? b : a, *last = views->is_swapped ? a : b;
  views->c.at = (unsigned char *)c + views->c.offset * c_size;
  bind_view(&views->a, views->in_place && views->a.structure == TESELA_GENERAL ? &view_of_c : first,
            views->k > 0, size, views->c.at);
  bind_view(&views->b, views->in_place && views->b.structure == TESELA_GENERAL ? &view_of_c : last,
            views->k > 0, size, views->c.at);
}
