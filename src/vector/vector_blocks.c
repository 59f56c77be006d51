/* A full triangle by blocks: the part off the diagonal is a matrix times a vector.
 *
 *   triangular, upper, x = A x   \###   block by block: the rows above are updated, then the small triangle
 *                                 \##   is multiplied. Solutions and transposes use the reverse order, and
 *                                  \#   transposes update the block
 *   symmetric, lower             \      some columns at a time: below the diagonal each element is read
 *                                #\     once, and used for two elements of y
 *                                ##\
 *                                ###\   threads have ranges of columns and a y each; these are added in order
 *
 * Threads multiply by a triangle in ranges of rows, or of columns for transposes.
 */
#include "vector/vector_triangle.h"

#include "core/scratch.h"
#include "host/int_math.h"

#include <math.h>
#include <string.h>

/* ranges of a symmetric matrix begin at whole vectors (UNIT_COLUMNS) */
enum { BLOCK = 64, ELEMENT_MAX = 16, UNIT_COLUMNS = 16, RANGES_MAX = 16, RANGE_COLUMNS_MIN = 96 };

static const char *address_of_element(const tsl_vector_kernels *kernels, const tsl_triangle *t, int64_t i,
                                      int64_t j) {
  return (const char *)t->a + (i + j * t->ld) * kernels->size;
}

/* Adds columns from j, times x[j..], to x at rows off the diagonal; or the transposed product to x[j..]. */
static void add_off_diagonal(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *t,
                             bool transposed, bool solves, tsl_line x, int64_t j, int64_t columns) {
  const int64_t first = t->upper ? 0 : j + columns, rows = t->upper ? j : t->n - first;
  const tsl_line at = tsl_line_from(kernels, x, j), off_diagonal = tsl_line_from(kernels, x, first);
  if (rows > 0)
    tsl_vector_multiply(
        kernels,
        (double)rows * (double)columns * kernels->size >= TSL_VECTOR_TEAM_FROM ? team : (tsl_team){0},
        &(tsl_vector_product){.rows = rows,
                              .columns = columns,
                              .a = address_of_element(kernels, t, first, j),
                              .ld = t->ld,
                              .transposed = transposed,
                              .conjugate = t->conjugate,
                              .skips = !transposed,
                              .alpha = {solves ? -1 : 1, 0},
                              .x = transposed ? off_diagonal : at,
                              .y = transposed ? at : off_diagonal});
}

/* Multiplies a block of x by a diagonal block of the triangle, or solves with it. */
static void apply_diagonal_block(const tsl_vector_kernels *kernels, const tsl_triangle *t, bool transposed,
                                 bool solves, tsl_line x, int64_t j, int64_t columns) {
  _Alignas(64) char copied[BLOCK * ELEMENT_MAX];
  const tsl_line at = tsl_line_from(kernels, x, j);
  const bool copies = at.step != 1 || t->conjugate;
  void *dense = copies ? copied : tsl_writable(at.at);
  if (copies)
    kernels->line->copy(columns, at.at, at.step, t->conjugate, dense, 1);
  kernels->column->diagonal(columns, address_of_element(kernels, t, j, j), t->ld,
                            (tsl_diagonal){t->upper, transposed, t->unit, solves}, dense);
  if (copies)
    kernels->line->copy(columns, dense, 1, t->conjugate, tsl_writable(at.at), at.step);
}

int64_t tsl_blocks_begin(int64_t n, int ranges, int64_t range, bool grows, int64_t unit) {
  if (range == 0 || range == ranges)
    return range == 0 ? 0 : n;
  const double part = (double)range / ranges, at = (double)n * (grows ? sqrt(part) : 1 - sqrt(1 - part));
  return tsl_min(n, ((int64_t)at + unit / 2) / unit * unit);
}

typedef struct ranged_product {
  const tsl_vector_kernels *kernels;
  const tsl_triangle *triangle;
  bool transposed;
  tsl_line x, old_x;
  int ranges;
} ranged_product;

/* Adds rows from `first` of columns from j, times the old x, to x at these rows, or transposed to x[j..]. */
static void add_product_of_old_x(const ranged_product *r, int64_t first, int64_t rows, int64_t j,
                                 int64_t columns) {
  const tsl_vector_kernels *job = r->kernels;
  if (rows > 0)
    tsl_vector_multiply(job, (tsl_team){0},
                        &(tsl_vector_product){.rows = rows,
                                              .columns = columns,
                                              .a = address_of_element(job, r->triangle, first, j),
                                              .ld = r->triangle->ld,
                                              .transposed = r->transposed,
                                              .conjugate = r->triangle->conjugate,
                                              .skips = !r->transposed,
                                              .alpha = {1, 0},
                                              .x = tsl_line_from(job, r->old_x, r->transposed ? first : j),
                                              .y = tsl_line_from(job, r->x, r->transposed ? j : first)});
}

/* Computes a range, each sum in the order of one thread: the block's square, then the next blocks. */
static void ranged_product_task(void *argument, int64_t index, int worker) {
  const ranged_product *r = argument;
  const tsl_triangle *t = r->triangle;
  const bool grows = t->upper == r->transposed, ascends = t->upper;
  const int64_t begin = tsl_blocks_begin(t->n, r->ranges, index, grows, BLOCK),
                end = tsl_blocks_begin(t->n, r->ranges, index + 1, grows, BLOCK);
  const int64_t first = r->transposed || ascends ? begin : 0, last = r->transposed || !ascends ? end : t->n;
  const int64_t blocks = (last - first + BLOCK - 1) / BLOCK;
  (void)worker;
  for (int64_t step = 0; step < blocks && begin < end; step++) {
    const int64_t j = first + (ascends ? step : blocks - 1 - step) * BLOCK,
                  columns = tsl_min(BLOCK, t->n - j);
    const int64_t below = j + columns;
    if (j >= begin && j < end)
      apply_diagonal_block(r->kernels, t, r->transposed, false, r->x, j, columns);
    if (r->transposed)
      add_product_of_old_x(r, ascends ? 0 : below, ascends ? j : t->n - below, j, columns);
    else if (ascends)
      add_product_of_old_x(r, begin, tsl_min(j, end) - begin, j, columns);
    else
      add_product_of_old_x(r, below > begin ? below : begin, end - (below > begin ? below : begin), j,
                           columns);
  }
}

/* Computes a product in ranges. Returns false, with nothing done, without memory. */
static bool multiply_by_ranges(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *t,
                               bool transposed, tsl_line x) {
  void *old_x;
  if (tsl_scratch_take((size_t)(t->n * kernels->size), "a triangle's vector", &old_x) != TESELA_OK)
    return false;
  kernels->line->copy(t->n, x.at, x.step, false, old_x, 1);
  ranged_product r = {kernels, t, transposed, x, {old_x, 1}, (transposed ? 2 : 1) * tsl_team_threads(team)};
  tsl_team_run(team, r.ranges, ranged_product_task, &r);
  tsl_scratch_give(old_x);
  return true;
}

void tsl_blocks_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *t,
                           bool transposed, bool solves, tsl_line x) {
  const bool ascends = t->upper != (transposed != solves);
  const int64_t blocks = (t->n + BLOCK - 1) / BLOCK;
  if (!solves && tsl_team_threads(team) > 1 && multiply_by_ranges(kernels, team, t, transposed, x))
    return;
  for (int64_t step = 0; step < blocks; step++) {
    const int64_t j = (ascends ? step : blocks - 1 - step) * BLOCK, columns = tsl_min(BLOCK, t->n - j);
    if (transposed == solves)
      add_off_diagonal(kernels, team, t, transposed, solves, x, j, columns);
    apply_diagonal_block(kernels, t, transposed, solves, x, j, columns);
    if (transposed != solves)
      add_off_diagonal(kernels, team, t, transposed, solves, x, j, columns);
  }
}

/* State of a product: dense vectors, and a y for each range. The first range's y is the result. */
typedef struct vector_blocks_job {
  const tsl_vector_kernels *kernels;
  const tsl_triangle *triangle;
  tsl_vector_number alpha;
  const char *x;
  char *y, *others;
  int64_t pitch; /* bytes between the other ranges' y */
  int ranges;
} vector_blocks_job;

static void add_symmetric_columns(const vector_blocks_job *job, char *y, int64_t j, int64_t count) {
  const tsl_vector_kernels *k = job->kernels;
  const tsl_triangle *t = job->triangle;
  _Alignas(64) char times[BLOCK * ELEMENT_MAX];
  k->line->copy(count, job->x + j * k->size, 1, false, times, 1);
  if (!tsl_number_equals_real(job->alpha, 1))
    k->line->scale(count, job->alpha, times, 1);
  k->column->symmetric(t->n, j, j + count, t->a, t->ld, job->alpha, times, job->x, y, t->upper, t->hermitian);
}

/* Columns of a range, and the part of y that they change. */
typedef struct symmetric_range {
  int64_t begin, end, first, count; /* columns begin to end - 1; first row of y, and rows */
  char *y;
} symmetric_range;

static symmetric_range symmetric_range_of(const vector_blocks_job *job, int64_t range) {
  const tsl_triangle *t = job->triangle;
  symmetric_range r = {tsl_blocks_begin(t->n, job->ranges, range, t->upper, UNIT_COLUMNS),
                       tsl_blocks_begin(t->n, job->ranges, range + 1, t->upper, UNIT_COLUMNS), 0, 0,
                       range == 0 ? job->y : job->others + (range - 1) * job->pitch};
  r.first = t->upper ? 0 : r.begin;
  r.count = t->upper ? r.end : t->n - r.begin;
  return r;
}

/* Adds the columns of a range to the range's own y, which is zeroed first unless it is the result. */
static void symmetric_range_task(void *argument, int64_t index, int worker) {
  const vector_blocks_job *job = argument;
  const int64_t size = job->kernels->size;
  const symmetric_range r = symmetric_range_of(job, index);
  (void)worker;
  if (index > 0)
    memset(r.y + r.first * size, 0, (size_t)(r.count * size));
  for (int64_t j = r.begin; j < r.end; j += BLOCK)
    add_symmetric_columns(job, r.y, j, tsl_min(BLOCK, r.end - j));
}

static void add_other_ranges(const vector_blocks_job *job) {
  const int64_t size = job->kernels->size;
  for (int range = 1; range < job->ranges; range++) {
    const symmetric_range r = symmetric_range_of(job, range);
    job->kernels->line->add(r.count, (tsl_vector_number){1, 0}, r.y + r.first * size, 1, false,
                            job->y + r.first * size, 1);
  }
}

/* Copies vectors that are not dense, conjugated if A is, because conj(A) x = conj(A conj(x)), and allocates a
 * y for each range but the first. Returns false, with nothing done, without memory. */
static bool symmetric_on_dense_copies(vector_blocks_job *job, tsl_team team, tsl_line x, tsl_line y) {
  const tsl_vector_kernels *k = job->kernels;
  const bool conjugate = job->triangle->conjugate, copies_x = conjugate || x.step != 1,
             copies_y = conjugate || y.step != 1;
  const int64_t n = job->triangle->n, count = job->ranges - 1 + copies_x + copies_y;
  void *block = NULL;
  job->pitch = (n * k->size + 63) / 64 * 64;
  if (count > 0 &&
      tsl_scratch_take((size_t)(job->pitch * count), "a triangle's vectors", &block) != TESELA_OK)
    return false;
  job->others = block;
  job->x = x.at;
  job->y = tsl_writable(y.at);
  if (copies_x)
    job->x = job->others + (job->ranges - 1) * job->pitch;
  if (copies_y)
    job->y = job->others + (count - 1) * job->pitch;
  if (copies_x)
    k->line->copy(n, x.at, x.step, conjugate, tsl_writable(job->x), 1);
  if (copies_y)
    k->line->copy(n, y.at, y.step, conjugate, job->y, 1);
  job->alpha = tsl_number_conjugate(job->alpha, conjugate);
  tsl_team_run(team, job->ranges, symmetric_range_task, job);
  add_other_ranges(job);
  if (copies_y)
    k->line->copy(n, job->y, 1, conjugate, tsl_writable(y.at), y.step);
  tsl_scratch_give(block);
  return true;
}

bool tsl_blocks_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_vector_number alpha, tsl_line x, tsl_line y) {
  vector_blocks_job job = {.kernels = kernels, .triangle = triangle, .alpha = alpha, .ranges = 1};
  while (job.ranges < RANGES_MAX && 2 * job.ranges * RANGE_COLUMNS_MIN <= triangle->n)
    job.ranges *= 2; /* independent of the number of threads */
  return symmetric_on_dense_copies(&job, team, x, y);
}
