/* A full triangle by blocks: what is beside the diagonal is a matrix times a vector.
 *
 *   triangular, upper, x = A x     \###     block by block: what lies above adds to x's beginning, then the small triangle is
 *                                   \##     multiplied; solving goes the other way, transposed ones add to the block
 *                                    \#
 *   symmetric, lower               \        some columns at a time: below their diagonal elements each element is read once, for
 *                                  #\       y beside it and for y above it
 *                                  ##\
 *                                  ###\     threads have ranges of columns and a y each, which are added in order
 */
#include "vector/triangle.h"

#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, ELEMENT_MAX = 16, RANGES_MAX = 16, RANGE_LEAST = 512 };

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static const char *element(const tsl_vector_kernels *of, const tsl_triangle *t, int64_t i, int64_t j) {
  return (const char *)t->a + (i + j * t->ld) * of->size;
}

/* --- triangular --- */

/* The rows beside columns j to below j + columns: x there += what these columns make of x[j..], or the other way about. */
static void beside_block(const tsl_vector_kernels *of, tsl_team team, const tsl_triangle *t, bool transposed,
                         bool solves, tsl_line x, int64_t j, int64_t columns) {
  const int64_t first = t->upper ? 0 : j + columns, rows = t->upper ? j : t->n - first;
  const tsl_line at = tsl_line_from(of, x, j), beside = tsl_line_from(of, x, first);
  if (rows > 0)
    tsl_vector_multiply(
        of, (double)rows * (double)columns * of->size >= TSL_VECTOR_TEAM_FROM ? team : (tsl_team){0},
        &(tsl_vector_product){.rows = rows,
                              .columns = columns,
                              .a = element(of, t, first, j),
                              .ld = t->ld,
                              .transposed = transposed,
                              .conjugate = t->conjugate,
                              .skips = !transposed,
                              .alpha = {solves ? -1 : 1, 0},
                              .x = transposed ? beside : at,
                              .y = transposed ? at : beside});
}

static void diagonal_block(const tsl_vector_kernels *of, const tsl_triangle *t, bool transposed, bool solves,
                           tsl_line x, int64_t j, int64_t columns) {
  _Alignas(64) char copied[BLOCK * ELEMENT_MAX];
  const tsl_line at = tsl_line_from(of, x, j);
  const bool copies = at.step != 1 || t->conjugate;
  void *dense = copies ? copied : tsl_writable(at.at);
  if (copies)
    of->line->copy(columns, at.at, at.step, t->conjugate, dense, 1);
  of->column->diagonal(columns, element(of, t, j, j), t->ld,
                       (tsl_diagonal){t->upper, transposed, t->unit, solves}, dense);
  if (copies)
    of->line->copy(columns, dense, 1, t->conjugate, tsl_writable(at.at), at.step);
}

void tsl_blocks_triangular(const tsl_vector_kernels *of, tsl_team team, const tsl_triangle *t,
                           bool transposed, bool solves, tsl_line x) {
  const bool ascends = t->upper != (transposed != solves);
  const int64_t blocks = (t->n + BLOCK - 1) / BLOCK;
  for (int64_t step = 0; step < blocks; step++) {
    const int64_t j = (ascends ? step : blocks - 1 - step) * BLOCK, columns = least(BLOCK, t->n - j);
    if (transposed == solves)
      beside_block(of, team, t, transposed, solves, x, j, columns);
    diagonal_block(of, t, transposed, solves, x, j, columns);
    if (transposed != solves)
      beside_block(of, team, t, transposed, solves, x, j, columns);
  }
}

/* --- symmetric --- */

/* Dense vectors, and each range's y. */
typedef struct job {
  const tsl_vector_kernels *kernels;
  const tsl_triangle *triangle;
  tsl_number alpha;
  const char *x;
  char *y;
  int64_t y_pitch; /* from range to range, in bytes */
  int ranges;
} job;

/* Columns j to below j + count, at most BLOCK. */
static void some_columns(const job *of, char *y, int64_t j, int64_t count) {
  const tsl_vector_kernels *k = of->kernels;
  const tsl_triangle *t = of->triangle;
  _Alignas(64) char times[BLOCK * ELEMENT_MAX];
  k->line->copy(count, of->x + j * k->size, 1, false, times, 1);
  if (!tsl_number_is(of->alpha, 1))
    k->line->scale(count, of->alpha, times, 1);
  k->column->symmetric(t->n, j, j + count, t->a, t->ld, of->alpha, times, of->x, y, t->upper, t->hermitian);
}

/* Where a range begins: all have the same part of the triangle. */
static int64_t begin_of(const job *of, int64_t range) {
  if (range == 0 || range == of->ranges)
    return range == 0 ? 0 : of->triangle->n;
  const double n = (double)of->triangle->n, part = (double)range / of->ranges;
  const double at = of->triangle->upper ? n * sqrt(part) : n * (1 - sqrt(1 - part));
  return (int64_t)at / BLOCK * BLOCK;
}

static void range_task(void *argument, int64_t index, int worker) {
  const job *of = argument;
  char *y = of->y + index * of->y_pitch;
  const int64_t end = begin_of(of, index + 1);
  (void)worker;
  if (of->y_pitch > 0)
    memset(y, 0, (size_t)(of->triangle->n * of->kernels->size));
  for (int64_t j = begin_of(of, index); j < end; j += BLOCK)
    some_columns(of, y, j, least(BLOCK, end - j));
}

/* Copies of x, conjugated where A is, and a y for each range: conj(A) x = conj(A conj(x)). */
static bool by_copies(job *of, tsl_team team, tsl_line x, tsl_line y) {
  const tsl_vector_kernels *k = of->kernels;
  const bool conjugate = of->triangle->conjugate;
  const int64_t n = of->triangle->n, pitch = (n * k->size + 63) / 64 * 64;
  void *block;
  if (tsl_scratch_take((size_t)(pitch * (of->ranges + 1)), "vectors beside a triangle", &block) != TESELA_OK)
    return false;
  k->line->copy(n, x.at, x.step, conjugate, block, 1);
  of->x = block;
  of->y = (char *)block + pitch;
  of->y_pitch = pitch;
  of->alpha = tsl_number_conjugate(of->alpha, conjugate);
  tsl_team_run(team, of->ranges, range_task, of);
  for (int range = 0; range < of->ranges; range++)
    k->line->add(n, (tsl_number){1, 0}, of->y + range * pitch, 1, conjugate, tsl_writable(y.at), y.step);
  tsl_scratch_give(block);
  return true;
}

bool tsl_blocks_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_number alpha, tsl_line x, tsl_line y) {
  const int64_t ranges = triangle->n / RANGE_LEAST;
  job of = {.kernels = kernels, .triangle = triangle, .alpha = alpha};
  of.ranges = ranges < 1 ? 1 : ranges < RANGES_MAX ? (int)ranges : RANGES_MAX;
  if (of.ranges > 1 || x.step != 1 || y.step != 1 || triangle->conjugate)
    return by_copies(&of, team, x, y);
  of.x = x.at;
  of.y = tsl_writable(y.at);
  range_task(&of, 0, 0);
  return true;
}
