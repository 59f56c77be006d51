/* One triangle of a square matrix, column by column, in any storage; columns are contiguous.
 *
 *   upper:  full      packed        band, k = 2       lower:  full     packed     band, k = 2
 *           a b d     a|b c|d e f   . . d             a . .   a b d|c e|f         a c f
 *           . c e                   . b e             b c .                       b e .
 *           . . f                   a c f             d e f                       d . . */
#include "vector/vector_triangle.h"

#include "host/int_math.h"

#include <math.h>

static void *address_of_element(const tsl_vector_kernels *kernels, const void *a, int64_t i) {
  return (char *)tsl_writable(a) + i * kernels->size;
}
static tsl_triangle_elements elements_of_column(const tsl_vector_kernels *kernels, const tsl_triangle *t,
                                                int64_t j) {
  const bool band = t->storage == TSL_STORED_BAND;
  const int64_t reach = band ? t->k : t->n;
  const int64_t count = tsl_min(reach, t->upper ? j : t->n - 1 - j), first = t->upper ? j - count : j + 1;
  int64_t diagonal = j * t->ld + (band ? t->upper ? t->k : 0 : j);
  if (t->storage == TSL_STORED_PACKED)
    diagonal = t->upper ? j * (j + 1) / 2 + j : j * t->n - j * (j - 1) / 2;
  return (tsl_triangle_elements){
      first, count, address_of_element(kernels, t->a, t->upper ? diagonal - count : diagonal + 1),
      address_of_element(kernels, t->a, diagonal)};
}

/* Returns a diagonal element: real if hermitian, conjugated if the triangle is. */
static tsl_vector_number diagonal_of(const tsl_vector_kernels *kernels, const tsl_triangle *t,
                                     const tsl_triangle_elements *column) {
  tsl_vector_number value = tsl_number_load(kernels, column->diagonal);
  if (t->hermitian)
    value.im = 0;
  return tsl_number_conjugate(value, t->conjugate);
}

static void add_multiple_of_column(const tsl_vector_kernels *kernels, const tsl_triangle_elements *column,
                                   tsl_vector_number a, bool conjugate, tsl_line y) {
  const tsl_line to = tsl_line_from(kernels, y, column->first);
  kernels->line->add(column->count, a, column->off_diagonal, 1, conjugate, tsl_writable(to.at), to.step);
}
static tsl_vector_number dot_of_column(const tsl_vector_kernels *kernels, const tsl_triangle_elements *column,
                                       bool conjugate, tsl_line x) {
  const tsl_line with = tsl_line_from(kernels, x, column->first);
  return kernels->line->dot(column->count, column->off_diagonal, 1, conjugate, with.at, with.step);
}

/* Computes y += alpha A x column by column, for every storage, without memory. */
static void columns_symmetric(const tsl_vector_kernels *kernels, const tsl_triangle *t,
                              tsl_vector_number alpha, tsl_line x, tsl_line y) {
  for (int64_t j = 0; j < t->n; j++) {
    const tsl_triangle_elements column = elements_of_column(kernels, t, j);
    const tsl_vector_number times = tsl_number_product(kernels, alpha, tsl_line_load(kernels, x, j));
    add_multiple_of_column(kernels, &column, times, t->conjugate, y);
    const tsl_vector_number off_diagonal = dot_of_column(kernels, &column, t->hermitian != t->conjugate, x);
    const tsl_vector_number sum =
        tsl_number_sum(tsl_number_product(kernels, times, diagonal_of(kernels, t, &column)),
                       tsl_number_product(kernels, alpha, off_diagonal));
    tsl_number_store(kernels, tsl_line_address(kernels, y, j),
                     tsl_number_sum(tsl_line_load(kernels, y, j), sum));
  }
}

/* Divides by R. L. Smith's method (1962). */
static tsl_vector_number quotient(const tsl_vector_kernels *kernels, tsl_vector_number a,
                                  tsl_vector_number b) {
  if (!kernels->is_complex)
    return (tsl_vector_number){a.re / b.re, 0};
  const bool flat = fabs(b.re) >= fabs(b.im);
  const double large = flat ? b.re : b.im, small = flat ? b.im : b.re, ratio = small / large;
  const double below = large + small * ratio;
  return flat ? (tsl_vector_number){(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below}
              : (tsl_vector_number){(a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below};
}

/* Replaces x[j] by the product of column j and x, or by the solution for it. */
static void apply_transposed_column(const tsl_vector_kernels *kernels, const tsl_triangle *t, int64_t j,
                                    bool solves, tsl_line x) {
  const tsl_triangle_elements column = elements_of_column(kernels, t, j);
  tsl_vector_number value = tsl_line_load(kernels, x, j),
                    sum = dot_of_column(kernels, &column, t->conjugate, x);
  if (solves) {
    value = (tsl_vector_number){value.re - sum.re, value.im - sum.im};
    if (!t->unit)
      value = quotient(kernels, value, diagonal_of(kernels, t, &column));
  } else {
    if (!t->unit)
      value = tsl_number_product(kernels, value, diagonal_of(kernels, t, &column));
    value = tsl_number_sum(value, sum);
  }
  tsl_number_store(kernels, tsl_line_address(kernels, x, j), value);
}

/* Replaces x[j] by its product or quotient, and adds its multiple of column j to rows off the diagonal. */
static void apply_column(const tsl_vector_kernels *kernels, const tsl_triangle *t, int64_t j, bool solves,
                         tsl_line x) {
  const tsl_triangle_elements column = elements_of_column(kernels, t, j);
  tsl_vector_number value = tsl_line_load(kernels, x, j);
  if (tsl_number_equals_real(value, 0))
    return;
  if (solves) {
    if (!t->unit)
      tsl_number_store(kernels, tsl_line_address(kernels, x, j),
                       quotient(kernels, value, diagonal_of(kernels, t, &column)));
    value = tsl_line_load(kernels, x, j);
    add_multiple_of_column(kernels, &column, (tsl_vector_number){-value.re, -value.im}, t->conjugate, x);
    return;
  }
  add_multiple_of_column(kernels, &column, value, t->conjugate, x);
  if (!t->unit)
    tsl_number_store(kernels, tsl_line_address(kernels, x, j),
                     tsl_number_product(kernels, value, diagonal_of(kernels, t, &column)));
}

/* Computes x = op(A) x, or the solution of op(A) z = x. */
static void columns_triangular(const tsl_vector_kernels *kernels, const tsl_triangle *t, bool transposed,
                               bool solves, tsl_line x) {
  const bool ascends = t->upper != (transposed != solves);
  for (int64_t step = 0; step < t->n; step++) {
    const int64_t j = ascends ? step : t->n - 1 - step;
    (transposed ? apply_transposed_column : apply_column)(kernels, t, j, solves, x);
  }
}

void tsl_vector_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *t,
                          tsl_vector_number alpha, tsl_line x, tsl_line y) {
  if (t->storage != TSL_STORED_FULL || !tsl_blocks_symmetric(kernels, team, t, alpha, x, y))
    columns_symmetric(kernels, t, alpha, x, y);
}

void tsl_vector_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *t,
                           bool transposed, bool solves, tsl_line x) {
  if (t->storage == TSL_STORED_FULL)
    tsl_blocks_triangular(kernels, team, t, transposed, solves, x);
  else
    columns_triangular(kernels, t, transposed, solves, x);
}

/* State of an update, whose columns are cut into `ranges`. */
typedef struct update {
  const tsl_vector_kernels *kernels;
  const tsl_triangle *triangle;
  tsl_vector_number alpha;
  tsl_line x, y;
  int ranges;
} update;

/* Returns the first column of a range. */
static int64_t first_column_of(const update *u, int64_t range) {
  enum { UNIT = 8 };
  return tsl_blocks_begin(u->triangle->n, u->ranges, range, u->triangle->upper, UNIT);
}

/* Computes column j of A += x t; makes the diagonal of a hermitian triangle real. */
static void add_to_column(const update *u, int64_t j, const tsl_triangle_elements *column, tsl_line x,
                          tsl_vector_number t) {
  const tsl_vector_kernels *kernels = u->kernels;
  const bool conjugate = u->triangle->conjugate;
  if (!tsl_number_equals_real(t, 0)) {
    const tsl_line from = tsl_line_from(kernels, x, column->first);
    kernels->line->add(column->count, t, from.at, from.step, conjugate, column->off_diagonal, 1);
    const tsl_vector_number added =
        tsl_number_product(kernels, tsl_number_conjugate(tsl_line_load(kernels, x, j), conjugate), t);
    tsl_number_store(kernels, column->diagonal,
                     tsl_number_sum(tsl_number_load(kernels, column->diagonal), added));
  }
  if (u->triangle->hermitian) {
    const tsl_vector_number value = tsl_number_load(kernels, column->diagonal);
    tsl_number_store(kernels, column->diagonal, (tsl_vector_number){value.re, 0});
  }
}

/* Returns alpha x[j], conjugated if exactly one is true: A is hermitian, the triangle conjugates. */
static tsl_vector_number column_factor(const update *u, tsl_vector_number alpha, tsl_line x, int64_t j) {
  const bool conjugates = u->triangle->hermitian != u->triangle->conjugate;
  return tsl_number_product(u->kernels, alpha,
                            tsl_number_conjugate(tsl_line_load(u->kernels, x, j), conjugates));
}

/* Returns true for a full triangle and a dense vector, which one kernel processes many columns at a time. */
static bool is_plain(const update *u, tsl_line x) {
  return u->triangle->storage == TSL_STORED_FULL && x.step == 1 && !u->triangle->conjugate;
}

static void update_plain_columns(const update *u, int64_t first, int64_t end, tsl_vector_number a, tsl_line x,
                                 tsl_line y) {
  enum { COLUMNS = 32, ELEMENT_MAX = 16 };
  const tsl_vector_kernels *kernels = u->kernels;
  const tsl_triangle *t = u->triangle;
  _Alignas(64) char times[COLUMNS * ELEMENT_MAX];
  for (int64_t j = first; j < end; j += COLUMNS) {
    const int64_t count = tsl_min(COLUMNS, end - j);
    const tsl_line from = tsl_line_from(kernels, y, j);
    kernels->line->copy(count, from.at, from.step, t->hermitian, times, 1);
    if (!tsl_number_equals_real(a, 1))
      kernels->line->scale(count, a, times, 1);
    kernels->column->update_triangle(t->n, j, j + count, x.at, times, tsl_writable(t->a), t->ld, t->upper,
                                     t->hermitian);
  }
}

static void update_rank_one(void *argument, int64_t index, int worker) {
  const update *u = argument;
  const tsl_triangle *t = u->triangle;
  const int64_t first = first_column_of(u, index), end = first_column_of(u, index + 1);
  (void)worker;
  if (is_plain(u, u->x)) {
    update_plain_columns(u, first, end, u->alpha, u->x, u->x);
    return;
  }
  for (int64_t j = first; j < end; j++) {
    const tsl_triangle_elements column = elements_of_column(u->kernels, t, j);
    add_to_column(u, j, &column, u->x, column_factor(u, u->alpha, u->x, j));
  }
}

static void update_rank_two(void *argument, int64_t index, int worker) {
  const update *u = argument;
  const tsl_triangle *t = u->triangle;
  const tsl_vector_number second = tsl_number_conjugate(u->alpha, t->hermitian);
  const int64_t first = first_column_of(u, index), end = first_column_of(u, index + 1);
  (void)worker;
  if (is_plain(u, u->x) && is_plain(u, u->y)) {
    for (int64_t j = first; j < end; j += 8) { /* eight columns stay in the cache between both products */
      update_plain_columns(u, j, tsl_min(end, j + 8), u->alpha, u->x, u->y);
      update_plain_columns(u, j, tsl_min(end, j + 8), second, u->y, u->x);
    }
    return;
  }
  for (int64_t j = first; j < end; j++) {
    const tsl_triangle_elements column = elements_of_column(u->kernels, t, j);
    add_to_column(u, j, &column, u->x, column_factor(u, u->alpha, u->y, j));
    add_to_column(u, j, &column, u->y, column_factor(u, second, u->x, j));
  }
}

/* Runs an update. Each thread has one range, whose columns its second-level cache holds for the next call. */
static void run_ranges(tsl_team team, update *u, tsl_pool_task task) {
  u->ranges = tsl_team_threads(team);
  tsl_team_run(team, u->ranges, task, u);
}

void tsl_vector_rank_one(const tsl_vector_kernels *vector_kernels, tsl_team team, const tsl_triangle *t,
                         tsl_vector_number alpha, tsl_line x) {
  run_ranges(team, &(update){.kernels = vector_kernels, .triangle = t, .alpha = alpha, .x = x},
             update_rank_one);
}
void tsl_vector_rank_two(const tsl_vector_kernels *vector_kernels, tsl_team team, const tsl_triangle *t,
                         tsl_vector_number alpha, tsl_line x, tsl_line y) {
  run_ranges(team, &(update){.kernels = vector_kernels, .triangle = t, .alpha = alpha, .x = x, .y = y},
             update_rank_two);
}
