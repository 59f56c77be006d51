/* Vectors in chunks for threads. Chunks depend on the length only. */
#include "vector/vector_number.h"

#include "core/floats.h"

#include <math.h>

enum { CHUNKS_MAX = 64, CHUNK_ELEMENTS_MIN = TSL_VECTOR_SHORT };

/* State of a call; each operation uses a part of it. */
typedef struct vector_lines_work {
  const tsl_vector_kernels *kernels;
  int64_t n, chunk; /* elements in all, and of each chunk except the last */
  tsl_vector_number a;
  bool flag; /* conjugate, or is_real of tsl_vector_scale() */
  tsl_line x, y;
  const double *rotation;
  tsl_vector_number results[CHUNKS_MAX];
  int64_t indices[CHUNKS_MAX];
} vector_lines_work;

static int64_t chunk_elements(int64_t n) {
  const int64_t even = (n + CHUNKS_MAX - 1) / CHUNKS_MAX, lines = (even + 63) / 64 * 64;
  return lines > CHUNK_ELEMENTS_MIN ? lines : CHUNK_ELEMENTS_MIN;
}
static bool fits_one_chunk(int64_t n) {
  return n <= CHUNK_ELEMENTS_MIN;
}

/* Sets *x and *y to a chunk's begins and returns its elements; y may be NULL. */
static int64_t locate_chunk(const vector_lines_work *work, int64_t index, tsl_line *x, tsl_line *y) {
  const int64_t first = index * work->chunk, rest = work->n - first;
  *x = tsl_line_from(work->kernels, work->x, first);
  if (y)
    *y = tsl_line_from(work->kernels, work->y, first);
  return rest < work->chunk ? rest : work->chunk;
}

/* Runs a task for each chunk and returns their number. */
static int64_t run_chunks(tsl_team team, vector_lines_work *work, tsl_pool_task task) {
  work->chunk = chunk_elements(work->n);
  const int64_t count = (work->n + work->chunk - 1) / work->chunk;
  /* with a step of 0 all chunks write one element, so they run in sequence */
  const bool alone = work->x.step == 0 || (work->y.at && work->y.step == 0);
  tsl_team_run(alone ? (tsl_team){0} : team, count, task, work);
  return count;
}

static void add_chunk(void *argument, int64_t index, int worker) {
  const vector_lines_work *work = argument;
  tsl_line x, y;
  const int64_t n = locate_chunk(work, index, &x, &y);
  (void)worker;
  work->kernels->line->add(n, work->a, x.at, x.step, false, tsl_writable(y.at), y.step);
}
void tsl_vector_add(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                    tsl_line x, tsl_line y) {
  if (fits_one_chunk(n))
    kernels->line->add(n, a, x.at, x.step, false, tsl_writable(y.at), y.step);
  else
    (void)run_chunks(team, &(vector_lines_work){.kernels = kernels, .n = n, .a = a, .x = x, .y = y},
                     add_chunk);
}

static void scale_chunk(void *argument, int64_t index, int worker) {
  const vector_lines_work *work = argument;
  tsl_line x;
  const int64_t n = locate_chunk(work, index, &x, NULL);
  (void)worker;
  if (work->flag)
    work->kernels->line->scale_by_real(n, work->a.re, tsl_writable(x.at), x.step);
  else
    work->kernels->line->scale(n, work->a, tsl_writable(x.at), x.step);
}
void tsl_vector_scale(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                      bool is_real, tsl_line x) {
  if (!fits_one_chunk(n))
    (void)run_chunks(team, &(vector_lines_work){.kernels = kernels, .n = n, .a = a, .flag = is_real, .x = x},
                     scale_chunk);
  else if (is_real)
    kernels->line->scale_by_real(n, a.re, tsl_writable(x.at), x.step);
  else
    kernels->line->scale(n, a, tsl_writable(x.at), x.step);
}

static void copy_chunk(void *argument, int64_t index, int worker) {
  const vector_lines_work *work = argument;
  tsl_line x, y;
  const int64_t n = locate_chunk(work, index, &x, &y);
  (void)worker;
  work->kernels->line->copy(n, x.at, x.step, false, tsl_writable(y.at), y.step);
}
void tsl_vector_copy(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y) {
  if (fits_one_chunk(n))
    kernels->line->copy(n, x.at, x.step, false, tsl_writable(y.at), y.step);
  else
    (void)run_chunks(team, &(vector_lines_work){.kernels = kernels, .n = n, .x = x, .y = y}, copy_chunk);
}

static void swap_chunk(void *argument, int64_t index, int worker) {
  const vector_lines_work *work = argument;
  tsl_line x, y;
  const int64_t n = locate_chunk(work, index, &x, &y);
  (void)worker;
  work->kernels->line->swap(n, tsl_writable(x.at), x.step, tsl_writable(y.at), y.step);
}
void tsl_vector_swap(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y) {
  if (fits_one_chunk(n))
    kernels->line->swap(n, tsl_writable(x.at), x.step, tsl_writable(y.at), y.step);
  else
    (void)run_chunks(team, &(vector_lines_work){.kernels = kernels, .n = n, .x = x, .y = y}, swap_chunk);
}

static void rotate_chunk(void *argument, int64_t index, int worker) {
  const vector_lines_work *work = argument;
  tsl_line x, y;
  const int64_t n = locate_chunk(work, index, &x, &y);
  (void)worker;
  work->kernels->line->rotate(n, tsl_writable(x.at), x.step, tsl_writable(y.at), y.step, work->rotation);
}
void tsl_vector_rot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y,
                    const double h[4]) {
  if (fits_one_chunk(n))
    kernels->line->rotate(n, tsl_writable(x.at), x.step, tsl_writable(y.at), y.step, h);
  else
    (void)run_chunks(team, &(vector_lines_work){.kernels = kernels, .n = n, .x = x, .y = y, .rotation = h},
                     rotate_chunk);
}

static tsl_vector_number sum_results(const vector_lines_work *work, int64_t count) {
  tsl_vector_number sum = {0, 0};
  for (int64_t i = 0; i < count; i++)
    sum = tsl_number_sum(sum, work->results[i]);
  return sum;
}

static void dot_chunk(void *argument, int64_t index, int worker) {
  vector_lines_work *work = argument;
  tsl_line x, y;
  const int64_t n = locate_chunk(work, index, &x, &y);
  (void)worker;
  work->results[index] = work->kernels->line->dot(n, x.at, x.step, work->flag, y.at, y.step);
}
tsl_vector_number tsl_vector_dot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x,
                                 bool conjugate, tsl_line y) {
  if (fits_one_chunk(n))
    return kernels->line->dot(n, x.at, x.step, conjugate, y.at, y.step);
  vector_lines_work work = {.kernels = kernels, .n = n, .flag = conjugate, .x = x, .y = y};
  return sum_results(&work, run_chunks(team, &work, dot_chunk));
}

static void absolutes_of_chunk(void *argument, int64_t index, int worker) {
  vector_lines_work *work = argument;
  tsl_line x;
  const int64_t n = locate_chunk(work, index, &x, NULL);
  (void)worker;
  work->results[index].re = work->kernels->line->absolutes(n, x.at, x.step);
}
double tsl_vector_asum(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x) {
  if (fits_one_chunk(n))
    return kernels->line->absolutes(n, x.at, x.step);
  vector_lines_work work = {.kernels = kernels, .n = n, .x = x};
  return sum_results(&work, run_chunks(team, &work, absolutes_of_chunk)).re;
}

static void squares_of_chunk(void *argument, int64_t index, int worker) {
  vector_lines_work *work = argument;
  tsl_line x;
  const int64_t n = locate_chunk(work, index, &x, NULL);
  (void)worker;
  work->results[index].re = work->kernels->line->squares(n, x.at, x.step);
}

/* Returns true if a sum of n squares rounded in the type has lost nothing by overflow or underflow. */
static bool squares_are_in_range(tesela_type type, int64_t n, double sum) {
  const bool single = type == TESELA_F32 || type == TESELA_C64;
  /* each square lost less than the smallest normal number: in all less than the sum's rounding error */
  const double least = single ? 0x1p-126 * 0x1p26 : 0x1p-1022 * 0x1p55, most = single ? 0x1p127 : 0x1p1023;
  return sum >= least * 2 * (double)n && sum <= most;
}

/* Computes the norm in f64, the largest component scaled to about 1. NaN or infinity if a component is. */
static double scaled_norm(const tsl_vector_kernels *kernels, int64_t n, tsl_line x) {
  double most = 0, sum = 0;
  bool is_wrong = false;
  for (int64_t i = 0; i < n; i++) {
    const tsl_vector_number value = tsl_line_load(kernels, x, i);
    is_wrong = is_wrong || isnan(value.re) || isnan(value.im);
    most = fmax(most, fmax(fabs(value.re), fabs(value.im)));
  }
  if (is_wrong)
    return NAN;
  if (most == 0 || isinf(most))
    return most;
  const int power = ilogb(most);
  for (int64_t i = 0; i < n; i++) {
    const tsl_vector_number value = tsl_line_load(kernels, x, i);
    const double re = scalbn(value.re, -power), im = scalbn(value.im, -power);
    sum += re * re + im * im;
  }
  return scalbn(sqrt(sum), power);
}

static double sum_of_squares(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x) {
  vector_lines_work work = {.kernels = kernels, .n = n, .x = x};
  return sum_results(&work, run_chunks(team, &work, squares_of_chunk)).re;
}

/* Masks exceptions and restores flags: squares may overflow although the norm does not. */
double tsl_vector_norm(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x) {
  const tsl_floats before = tsl_floats_read(),
                   quiet = tsl_floats_masked(before) | (before & TSL_FLOATS_FLAGS);
  if (quiet != before)
    tsl_floats_write(quiet);
  const double sum =
      fits_one_chunk(n) ? kernels->line->squares(n, x.at, x.step) : sum_of_squares(kernels, team, n, x);
  const bool good = squares_are_in_range(kernels->type, n, sum);
  const double norm = good ? sqrt(sum) : scaled_norm(kernels, n, x);
  if (quiet != before || !good)
    tsl_floats_write(before);
  return norm;
}

static void largest_of_chunk(void *argument, int64_t index, int worker) {
  vector_lines_work *work = argument;
  tsl_line x;
  const int64_t n = locate_chunk(work, index, &x, NULL);
  (void)worker;
  work->indices[index] = work->kernels->line->largest(n, x.at, x.step, &work->results[index].re);
}

/* Returns the index of the first maximum; -1: all elements are NaN. */
static int64_t index_of_largest(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x) {
  vector_lines_work work = {.kernels = kernels, .n = n, .x = x};
  const int64_t count = run_chunks(team, &work, largest_of_chunk);
  double most = -1;
  int64_t found = -1;
  for (int64_t i = 0; i < count; i++)
    if (work.results[i].re > most) {
      most = work.results[i].re;
      found = i * work.chunk + work.indices[i];
    }
  return found;
}

int64_t tsl_vector_iamax(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x) {
  const tsl_vector_number first = tsl_line_load(kernels, x, 0);
  double most;
  if (isnan(first.re) || isnan(first.im))
    return 0;
  const int64_t found = fits_one_chunk(n) ? kernels->line->largest(n, x.at, x.step, &most)
                                          : index_of_largest(kernels, team, n, x);
  return found < 0 ? 0 : found;
}
