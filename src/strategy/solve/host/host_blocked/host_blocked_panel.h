/* Names of an element type, and copies of a matrix's columns to a row-major micro-panel, for any strides. */
#ifndef TSL_STRATEGY_SOLVE_HOST_BLOCKED_HOST_BLOCKED_PANEL_H
#define TSL_STRATEGY_SOLVE_HOST_BLOCKED_HOST_BLOCKED_PANEL_H

#include "host/host_view.h"
#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#define PARTS JOIN(COMPONENTS_, TSL_TYPE)
#define SUFFIX JOIN(_, TSL_TYPE)
#define NUMBER_SUFFIX JOIN(COMPONENT_SUFFIX_, TSL_TYPE)
#define NUMBER(word) JOIN(word, NUMBER_SUFFIX)

#define PARTS_OF_f32 0
#define PARTS_OF_f64 0
#define PARTS_OF_c64 1
#define PARTS_OF_c128 1
#define PARTS_ARE_TWO JOIN(PARTS_OF_, TSL_TYPE)

#define BYTES_OF_f32 4
#define BYTES_OF_f64 8
#define BYTES_OF_c64 8
#define BYTES_OF_c128 16
#define BYTES JOIN(BYTES_OF_, TSL_TYPE)

/* Type of transposed elements: a c64 is moved as an f64 of equal size. */
#define MOVED_f32 _f32
#define MOVED_f64 _f64
#define MOVED_c64 _f64
#define MOVED_c128 _c128
#define MOVED(word) JOIN(word, JOIN(MOVED_, TSL_TYPE))

enum {
  VECTORS = 2,
  COLUMNS = VECTORS * NAME(LANES),
  STEP = VECTORS * VECTOR_BYTES / (int)sizeof(REAL) /* numbers of a row of a micro-panel */
};
_Static_assert(VECTORS == 2, "rows that are short are one vector, or two");
typedef NAME(vector) vector;
typedef NAME(element) element;
typedef MOVED(element) moved_element;

/* Columns of B that are copied to or from a micro-panel; `count` is at most COLUMNS. */
typedef struct column_group {
  const tsl_view *view;
  int64_t first, count;
} column_group;

TSL_INLINE vector times_alpha(const double alpha[2], vector value) {
  if (alpha[0] == 1 && alpha[1] == 0)
    return value;
#if PARTS_ARE_TWO
  if (alpha[1] != 0) {
    return NUMBER(fma)((REAL)alpha[1] * NUMBER(times_i)(value), (REAL)alpha[0], value);
  }
#endif
  return (REAL)alpha[0] * value;
}

static element *element_at(const tsl_view *view, int64_t row, int64_t col) {
  return (element *)(void *)view->at + row * view->row_stride + col * view->col_stride;
}

/* Stores the first `count` elements; halves and quarters without a mask, which would delay loads on AMD. */
TSL_INLINE void store_first(element *dst, vector value, int64_t count) {
  if (NAME(LANES) >= 2 && count == NAME(LANES) / 2)
    memcpy(dst, &value, VECTOR_BYTES / 2);
  else if (NAME(LANES) >= 4 && count == NAME(LANES) / 4)
    memcpy(dst, &value, VECTOR_BYTES / 4);
  else
    NAME(store_edge)(dst, value, count);
}

static void load_row(const column_group *from, int64_t row, element out[COLUMNS]) {
  const int64_t step = from->view->col_stride;
  const element *in = element_at(from->view, row, from->first);
  for (int j = 0; j < COLUMNS; j++)
    out[j] = in[j < from->count ? j * step : 0];
}

static void load_contiguous_rows(const column_group *from, int64_t rows, const double alpha[2], REAL *out) {
  for (int64_t i = 0; i < rows; i++, out += STEP) {
    const element *in = element_at(from->view, i, from->first);
    for (int j = 0; j < VECTORS; j++)
      ((vector *)(void *)out)[j] = times_alpha(alpha, NAME(load)(in + j * NAME(LANES)));
  }
}

/* Copies contiguous rows of fewer than COLUMNS columns, filled up with zeros. No loop over a row's vectors:
 * GCC 12 would store single numbers, and the next vector load would wait for them. */
static void load_short_rows(const column_group *from, int64_t rows, const double alpha[2], REAL *out) {
  enum { LANES = NAME(LANES) };
  const bool is_half_faster = from->count <= LANES;
  const int64_t rest = from->count - (is_half_faster ? 0 : LANES);
  for (int64_t i = 0; i < rows; i++, out += STEP) {
    const element *in = element_at(from->view, i, from->first);
    vector *to = (vector *)(void *)out;
    const vector last = times_alpha(alpha, NAME(load_edge)(in + (is_half_faster ? 0 : LANES), rest));
    to[0] = is_half_faster ? last : times_alpha(alpha, NAME(load)(in));
    to[1] = is_half_faster ? (vector){0} : last;
  }
}

/* Returns true for one contiguous column: vectors are along it. */
static bool is_one_line(const column_group *group) {
  return group->count == 1 && (group->view->row_stride == 1 || group->view->row_stride == -1);
}

static void scale_rows(int64_t rows, const double alpha[2], REAL *x) {
  for (int64_t i = 0; i < rows * VECTORS; i++)
    ((vector *)(void *)x)[i] = times_alpha(alpha, ((vector *)(void *)x)[i]);
}

/* Copies contiguous columns, transposed in registers, STEPS rows at a time. Returns how many rows. */
static int64_t load_columns(const column_group *from, int64_t rows, const double alpha[2], REAL *out) {
  const bool is_flipped = from->view->row_stride < 0;
  const int vectors = from->count <= NAME(LANES) ? 1 : VECTORS;
  const moved_element *column[COLUMNS];
  int64_t done = 0;
  for (int j = 0; j < vectors * NAME(LANES); j++)
    column[j] = (const moved_element *)(const void *)element_at(from->view, is_flipped ? rows - 1 : 0,
                                                                from->first + (j < from->count ? j : 0));
  for (; done + NAME(STEPS) <= rows; done += NAME(STEPS))
    for (int j = 0; j < VECTORS; j++) {
      MOVED(vector) moved[NAME(STEPS)] = {{0}};
      if (j < vectors)
        MOVED(transpose)(column + j * NAME(LANES), is_flipped ? rows - done - NAME(STEPS) : done, moved);
      for (int s = 0; s < NAME(STEPS); s++) {
        const int64_t row = done + (is_flipped ? NAME(STEPS) - 1 - s : s);
        ((vector *)(void *)out)[row * VECTORS + j] = times_alpha(alpha, (vector)moved[s]);
      }
    }
  return done;
}

static void load_panel(const column_group *from, int64_t rows, const double alpha[2], REAL *out) {
  int64_t done = 0;
  if (from->view->col_stride == 1 && from->count == COLUMNS) {
    load_contiguous_rows(from, rows, alpha, out);
    return;
  }
  if (from->view->col_stride == 1 && !is_one_line(from)) {
    load_short_rows(from, rows, alpha, out);
    return;
  }
  if (from->view->row_stride == 1 || from->view->row_stride == -1)
    done = load_columns(from, rows, alpha, out);
  for (int64_t i = done; i < rows; i++)
    load_row(from, i, (element *)(void *)(out + i * STEP));
  scale_rows(rows - done, alpha, out + done * STEP);
}

#endif
