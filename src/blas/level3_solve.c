/* Triangular systems without a plan, since factorizations have a new shape in each call, and calls that take
 * less time than the selection. */
#include "blas/blas_context.h"
#include "blas/blas_level3.h"
#include "blas/blas_threads.h"

#include "vector/vector.h"

static tsl_team level3_solve_team_of(double work, double from) {
  return work < from ? (tsl_team){0} : tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
}

/* A row-major triangle is its transpose in column-major order, with the other triangle stored. */
static void solve_single_column(const tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
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
  if (layout->work.alpha[0] != 1 || layout->work.alpha[1] != 0)
    tsl_vector_scale(kernels, team, work->m,
                     (tsl_vector_number){layout->work.alpha[0], layout->work.alpha[1]},
                     layout->work.alpha[1] == 0, x);
  tsl_vector_triangular(kernels, team, &triangle, by_row, true, x);
}

bool tsl_blas_level3_solve(tsl_blas_layout *layout) {
  tsl_call *work = &layout->work;
  const tsl_device *cpu = tsl_blas_cpu();
  const bool is_zero = work->alpha[0] == 0 && work->alpha[1] == 0;
  if (!work->solves || !cpu)
    return false;
  const int64_t alone =
      tsl_blas_is_complex(work->type) ? tsl_crossovers.solve_vector_complex : tsl_crossovers.solve_vector;
  if (work->n == 1 && work->m >= alone && !is_zero) {
    solve_single_column(layout);
    return true;
  }
  work->team = level3_solve_team_of((double)work->m * (double)work->m / 2 * (double)work->n,
                                    (double)tsl_crossovers.thread_solve);
  return tsl_dispatch(work, cpu, NULL);
}

bool tsl_blas_level3_little(tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
  if (work->solves)
    return work->m <= tsl_crossovers.solve_rows && work->n <= tsl_crossovers.solve_columns &&
           tsl_blas_level3_solve(layout);
  const tsl_device *cpu = tsl_blas_cpu();
  return cpu && layout->routine != TSL_BLAS_SYR2K && layout->routine != TSL_BLAS_HER2K &&
         tsl_dispatch(work, cpu, NULL);
}
