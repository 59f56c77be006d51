/* Matrices times vectors, in blocks whose vectors stay in the L1 cache:
 *
 *        |<-- BLOCK columns -->|<-- -->|        t, s: BLOCK elements, dense
 *     -  +---------------------+-------+        y, x: the part of a block of rows, in place if it is dense
 *   rows |                     |       |           and not conjugated, else in STRIP_BYTES of the stack
 *     -  +---------------------+-------+
 *
 * Threads get blocks of rows, or of columns if A is transposed, so that no sum is split between threads. Sums
 * over very many columns are split by their number; threads get these parts for few long rows. */
#include "vector/vector_number.h"

#include "core/scratch.h"
#include "host/int_math.h"

#include <string.h>

/* columns of a task are a multiple of KERNEL_COLUMNS, the columns of a kernel */
enum { COLUMNS = TSL_VECTOR_SMALL, KERNEL_COLUMNS = 16, STRIP_BYTES = 1 << 14, ELEMENT_MAX = 16 };
enum { L1_BYTES = 1 << 15, COLUMN_PARTS_MAX = 16, PART_COLUMNS_MIN = TSL_VECTOR_SHORT };

typedef struct buffers {
  _Alignas(64) char x_strip[STRIP_BYTES];
  _Alignas(64) char column_numbers[COLUMNS * ELEMENT_MAX];
} buffers;

typedef struct matrix_job {
  const tsl_vector_kernels *kernels;
  const tsl_vector_product *product;
  const tsl_vector_update *update;
  int64_t rows_each, columns_each; /* per task */
  int64_t row_tasks;
  char *sums; /* one vector for each part of the columns */
  int64_t sums_bytes;
} matrix_job;

/* Returns the size of a task, a multiple of `unit`, at most `max_size`: several tasks for every thread. */
static int64_t matrix_task_size(int64_t total, int threads, int64_t unit, int64_t max_size) {
  const int64_t each = (total + 4 * threads - 1) / (4 * threads), whole = (each + unit - 1) / unit * unit;
  return threads == 1 ? max_size : tsl_min(max_size, whole);
}
/* Returns the rows or columns of a task: one task for each thread, or more if `max_size` requires it. A task
 * reads whole streams, and the thread's second-level cache holds them for the next call. */
static int64_t matrix_long_task_size(int64_t total, int threads, int64_t unit, int64_t max_size) {
  const int64_t tasks = threads * ((total + threads * max_size - 1) / (threads * max_size)),
                each = tasks > 0 ? (total + tasks - 1) / tasks : unit;
  return threads == 1 ? max_size : tsl_min(max_size, (each + unit - 1) / unit * unit);
}
/* Returns the columns of a task for transposed products; few columns are split evenly. */
static int64_t matrix_task_columns(int64_t total, int threads) {
  const int64_t few = (total + threads - 1) / threads;
  if (threads > 1 && total < KERNEL_COLUMNS * threads)
    return (few + 1) / 2 * 2;
  return matrix_task_size(total, threads, KERNEL_COLUMNS, total > 0 ? total : 1);
}
static const char *address_of_element(const tsl_vector_kernels *kernels, const void *a, int64_t ld, int64_t i,
                                      int64_t j) {
  return (const char *)a + (i + j * ld) * kernels->size;
}
static bool can_use_in_place(tsl_line x, bool conjugate) {
  return x.step == 1 && !conjugate;
}

/* Computes t = a x[j..], then conjugated if `conjugate`. */
static void make_coefficients(const tsl_vector_kernels *kernels, int64_t count, tsl_vector_number a,
                              tsl_line x, bool conjugate, void *t) {
  kernels->line->copy(count, x.at, x.step, conjugate, t, 1);
  const tsl_vector_number by = tsl_number_conjugate(a, conjugate);
  if (!tsl_number_equals_real(by, 1))
    kernels->line->scale(count, by, t, 1);
}

/* Returns the columns of a part; at least `columns` if they are not split. */
static int64_t columns_per_part(int64_t columns) {
  const int64_t even = (columns + COLUMN_PARTS_MAX - 1) / COLUMN_PARTS_MAX,
                whole = (even + COLUMNS - 1) / COLUMNS * COLUMNS;
  return whole > PART_COLUMNS_MIN ? whole : PART_COLUMNS_MIN;
}

/* Computes rows from i of y += alpha A x for columns from j, or with the conjugate of A. */
static void matrix_multiply_block(const tsl_vector_kernels *kernels, const tsl_vector_product *p, int64_t i,
                                  int64_t rows, int64_t j, int64_t columns, void *y) {
  _Alignas(64) char small[COLUMNS * ELEMENT_MAX];
  if (can_use_in_place(p->x, p->conjugate) && tsl_number_equals_real(p->alpha, 1)) {
    const tsl_line x = tsl_line_from(kernels, p->x, j);
    kernels->column->add(rows, columns, address_of_element(kernels, p->a, p->ld, i, j), p->ld, x.at, y,
                         p->skips);
    return;
  }
  for (const int64_t end = j + columns; j < end; j += COLUMNS) {
    const int64_t count = tsl_min(COLUMNS, end - j);
    make_coefficients(kernels, count, p->alpha, tsl_line_from(kernels, p->x, j), p->conjugate, small);
    kernels->column->add(rows, count, address_of_element(kernels, p->a, p->ld, i, j), p->ld, small, y,
                         p->skips);
  }
}

/* Adds separate sums to rows from i of y; conj(A) x = conj(A conj(x)). */
static void add_separate_sums(const tsl_vector_kernels *kernels, const tsl_vector_product *p, int64_t i,
                              int64_t rows, const void *sums) {
  const tsl_line target = tsl_line_from(kernels, p->y, i);
  kernels->line->add(rows, (tsl_vector_number){1, 0}, sums, 1, p->conjugate, tsl_writable(target.at),
                     target.step);
}

static void matrix_multiply_rows(const tsl_vector_kernels *kernels, const tsl_vector_product *p, int64_t i,
                                 int64_t rows) {
  _Alignas(64) char strip[STRIP_BYTES];
  const int64_t part_columns = columns_per_part(p->columns);
  if (can_use_in_place(p->y, p->conjugate) && p->columns <= part_columns) {
    matrix_multiply_block(kernels, p, i, rows, 0, p->columns, tsl_line_address(kernels, p->y, i));
    return;
  }
  for (int64_t j = 0; j < p->columns; j += part_columns) {
    memset(strip, 0, (size_t)(rows * kernels->size));
    matrix_multiply_block(kernels, p, i, rows, j, tsl_min(part_columns, p->columns - j), strip);
    add_separate_sums(kernels, p, i, rows, strip);
  }
}

static void multiply_column_part_task(void *argument, int64_t index, int worker) {
  const matrix_job *job = argument;
  const tsl_vector_product *p = job->product;
  const int64_t part_columns = columns_per_part(p->columns), j = index * part_columns;
  char *sums = job->sums + index * job->sums_bytes;
  (void)worker;
  memset(sums, 0, (size_t)(p->rows * job->kernels->size));
  matrix_multiply_block(job->kernels, p, 0, p->rows, j, tsl_min(part_columns, p->columns - j), sums);
}

/* Computes parts of the columns in parallel, adds them in order. False, with nothing done: no memory. */
static bool multiply_column_parts(matrix_job *job, tsl_team team) {
  const tsl_vector_product *p = job->product;
  const int64_t part_columns = columns_per_part(p->columns),
                parts = (p->columns + part_columns - 1) / part_columns;
  void *sums;
  job->sums_bytes = (p->rows * job->kernels->size + 63) / 64 * 64;
  if (tsl_scratch_take((size_t)(parts * job->sums_bytes), "sums of long rows", &sums) != TESELA_OK)
    return false;
  job->sums = sums;
  tsl_team_run(team, parts, multiply_column_part_task, job);
  for (int64_t i = 0; i < parts; i++)
    add_separate_sums(job->kernels, p, 0, p->rows, job->sums + i * job->sums_bytes);
  tsl_scratch_give(sums);
  return true;
}

/* Computes y[j] to y[j + columns - 1] += alpha op(A) x of a transposed product. */
static void matrix_multiply_columns(const tsl_vector_kernels *kernels, const tsl_vector_product *p, int64_t j,
                                    int64_t columns) {
  const int64_t strip = STRIP_BYTES / kernels->size, sums = COLUMNS * ELEMENT_MAX / kernels->size;
  buffers own;
  for (int64_t i = 0; i < p->rows; i += strip) {
    const int64_t rows = tsl_min(strip, p->rows - i);
    const tsl_line from = tsl_line_from(kernels, p->x, i);
    const void *x = from.at;
    if (!can_use_in_place(p->x, p->conjugate)) {
      kernels->line->copy(rows, from.at, from.step, p->conjugate, own.x_strip, 1);
      x = own.x_strip;
    }
    if (can_use_in_place(p->y, p->conjugate) && tsl_number_equals_real(p->alpha, 1)) {
      kernels->column->dot(rows, columns, address_of_element(kernels, p->a, p->ld, i, j), p->ld, x,
                           tsl_line_address(kernels, p->y, j));
      continue;
    }
    for (int64_t at = j; at < j + columns; at += sums) {
      const int64_t count = tsl_min(sums, j + columns - at);
      const tsl_line target = tsl_line_from(kernels, p->y, at);
      memset(own.column_numbers, 0, (size_t)(count * kernels->size));
      kernels->column->dot(rows, count, address_of_element(kernels, p->a, p->ld, i, at), p->ld, x,
                           own.column_numbers);
      kernels->line->add(count, p->alpha, own.column_numbers, 1, p->conjugate, tsl_writable(target.at),
                         target.step);
    }
  }
}

static void multiply_task(void *argument, int64_t index, int worker) {
  const matrix_job *job = argument;
  const tsl_vector_product *p = job->product;
  (void)worker;
  if (p->transposed)
    matrix_multiply_columns(job->kernels, p, index * job->columns_each,
                            tsl_min(job->columns_each, p->columns - index * job->columns_each));
  else
    matrix_multiply_rows(job->kernels, p, index * job->rows_each,
                         tsl_min(job->rows_each, p->rows - index * job->rows_each));
}

void tsl_vector_multiply(const tsl_vector_kernels *kernels, tsl_team team,
                         const tsl_vector_product *product) {
  const int threads = tsl_team_threads(team);
  const int64_t strip = STRIP_BYTES / kernels->size;
  matrix_job job = {.kernels = kernels, .product = product};
  int64_t count;
  if (product->transposed) {
    job.columns_each = matrix_task_columns(product->columns, threads);
    count = (product->columns + job.columns_each - 1) / job.columns_each;
  } else {
    const bool few = threads > 1 && product->rows < 64 * threads;
    if (few && product->columns > columns_per_part(product->columns) && multiply_column_parts(&job, team))
      return;
    job.rows_each = matrix_long_task_size(product->rows, threads, 64, strip);
    count = (product->rows + job.rows_each - 1) / job.rows_each;
  }
  tsl_team_run(team, count, multiply_task, &job);
}

static void matrix_update_block(const tsl_vector_kernels *kernels, const tsl_vector_update *u, int64_t i,
                                int64_t rows, int64_t j, int64_t columns) {
  buffers own;
  const tsl_line from = tsl_line_from(kernels, u->x, i);
  const bool far = u->rows * u->columns * kernels->size > L1_BYTES;
  const void *x = from.at;
  if (!can_use_in_place(u->x, u->conjugate_x)) {
    kernels->line->copy(rows, from.at, from.step, u->conjugate_x, own.x_strip, 1);
    x = own.x_strip;
  }
  for (int64_t at = j; at < j + columns; at += COLUMNS) {
    const int64_t count = tsl_min(COLUMNS, j + columns - at);
    const tsl_line y = tsl_line_from(kernels, u->y, at);
    kernels->line->copy(count, y.at, y.step, u->conjugate_y, own.column_numbers, 1);
    if (!tsl_number_equals_real(u->alpha, 1))
      kernels->line->scale(count, u->alpha, own.column_numbers, 1);
    kernels->column->update(rows, count, x, own.column_numbers,
                            tsl_writable(address_of_element(kernels, u->a, u->ld, i, at)), u->ld, far);
  }
}

static void update_task(void *argument, int64_t index, int worker) {
  const matrix_job *job = argument;
  const tsl_vector_update *u = job->update;
  const int64_t i = index % job->row_tasks * job->rows_each, j = index / job->row_tasks * job->columns_each;
  (void)worker;
  matrix_update_block(job->kernels, u, i, tsl_min(job->rows_each, u->rows - i), j,
                      tsl_min(job->columns_each, u->columns - j));
}

void tsl_vector_ger(const tsl_vector_kernels *kernels, tsl_team team, const tsl_vector_update *update) {
  const int threads = tsl_team_threads(team);
  /* whole columns are read and written in one stream; x may come from the L2 cache, a copy has less room */
  const int64_t strip = can_use_in_place(update->x, update->conjugate_x) ? (1 << 20) / kernels->size
                                                                         : STRIP_BYTES / kernels->size;
  matrix_job job = {.kernels = kernels, .update = update, .rows_each = strip};
  job.columns_each =
      matrix_long_task_size(update->columns, threads, 4, update->columns > 0 ? update->columns : 1);
  job.row_tasks = (update->rows + job.rows_each - 1) / job.rows_each;
  const int64_t count = job.row_tasks * ((update->columns + job.columns_each - 1) / job.columns_each);
  if (threads == 1)
    for (int64_t i = 0; i < count; i++)
      update_task(&job, i, 0);
  else
    tsl_team_run(team, count, update_task, &job);
}
