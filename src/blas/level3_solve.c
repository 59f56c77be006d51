/* Triangular systems without a plan, since factorizations have a new shape in each call. */
#include "blas/blas_context.h"
#include "blas/blas_level3.h"
#include "blas/blas_threads.h"

#include "core/memory.h"
#include "dispatch/crossovers.h"
#include "vector/vector.h"

static tsl_team level3_solve_team_of(double work, double from) {
  return work < from ? (tsl_team){0} : tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
}

/* A row-major triangle is its transpose in column-major order, with the other triangle stored. */
static void solve_single_column(const tsl_blas_layout *layout) {
  const tsl_blas_work *work = &layout->work;
  const tsl_vector_kernels *kernels = tsl_vector_kernels_of(work->type);
  const bool by_row = work->a.row != 1;
  const double elements = (double)work->m * (double)work->m / 2;
  const tsl_team team = level3_solve_team_of(elements * kernels->size, TSL_VECTOR_TEAM_FROM);
  const tsl_line x = {work->c.data, work->c.row};
  const tsl_triangle triangle = {.storage = TSL_STORED_FULL,
                                 .upper = (layout->uplo == 'U') != by_row,
                                 .n = work->m,
                                 .ld = by_row ? work->a.row : work->a.col,
                                 .a = work->a.data,
                                 .unit = layout->unit,
                                 .conjugate = work->a.conjugate};
  if (layout->alpha[0] != 1 || layout->alpha[1] != 0)
    tsl_vector_scale(kernels, team, work->m, (tsl_vector_number){layout->alpha[0], layout->alpha[1]},
                     layout->alpha[1] == 0, x);
  tsl_vector_triangular(kernels, team, &triangle, by_row, true, x);
}

/* Clearing and copying would take as long as a tiny system. */
static void set_fast_solve(const tsl_blas_layout *layout, tsl_fast_solve *out) {
  const tsl_blas_work *work = &layout->work;
  out->type = work->type;
  out->m = work->m;
  out->n = work->n;
  out->a = work->a.data;
  out->x = tsl_writable(work->c.data);
  out->a_row = work->a.row;
  out->a_col = work->a.col;
  out->x_row = work->c.row;
  out->x_col = work->c.col;
  out->is_upper = layout->uplo == 'U';
  out->is_unit = layout->unit;
  out->conjugates = work->a.conjugate;
  out->alpha[0] = layout->alpha[0];
  out->alpha[1] = layout->alpha[1];
}

bool tsl_blas_level3_solve(const tsl_blas_layout *layout) {
  const tsl_blas_work *work = &layout->work;
  const tsl_fast_path *path = tsl_blas_fast_path();
  const bool is_zero = layout->alpha[0] == 0 && layout->alpha[1] == 0;
  if (layout->routine != TSL_BLAS_TRSM || !path || !path->solver)
    return false;
  const int64_t alone =
      tsl_blas_is_complex(work->type) ? tsl_crossovers.solve_vector_complex : tsl_crossovers.solve_vector;
  if (work->n == 1 && work->m >= alone && !is_zero) {
    solve_single_column(layout);
    return true;
  }
  tsl_fast_solve words;
  set_fast_solve(layout, &words);
  words.team = level3_solve_team_of((double)work->m * (double)work->m / 2 * (double)work->n,
                                    (double)tsl_crossovers.thread_solve);
  return path->solver->direct.solve(&words, path->device);
}

bool tsl_blas_level3_multiply(const tsl_blas_layout *layout) {
  const tsl_fast_path *path = tsl_blas_fast_path();
  if ((layout->alpha[0] == 0 && layout->alpha[1] == 0) || !path || !path->solver ||
      !path->solver->direct.multiply_triangle)
    return false;
  tsl_fast_solve words;
  set_fast_solve(layout, &words);
  return path->solver->direct.multiply_triangle(&words, path->device);
}
