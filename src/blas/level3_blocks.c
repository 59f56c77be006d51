/* Level 3 as products of blocks.
 *
 *   updates     a triangle of C by halves (blas_triangle.c)
 *   symm hemm   the factor's other triangle is filled in, in a copy; then it is one product
 *   trmm        B2 = A22 B2, B2 += A21 B1, B1 = A11 B1, where     A11           B1
 *   trsm        A11 X1 = B1, B2 -= A21 X1, A22 X2 = B2            A21 A22       B2
 *
 * Small triangular factors of trmm are copied with zeros in the other triangle and multiplied as full
 * matrices, but only for finite numbers: 0 * inf is NaN. */
#include "blas/blas_gemm.h"
#include "blas/blas_level3.h"
#include "blas/blas_triangle.h"
#include "blas/level3_helpers.h"

#include "core/checked.h"
#include "core/scratch.h"

/* Maximum rows of a triangle that is copied with zeros; maximum columns of B at a time. */
enum { SPREAD_MAX = 48, SPREAD_MAX_REAL = 32, WIDE = 512 };

typedef struct level3_blocks_job {
  const tsl_blas_symbol *symbol;
  const tsl_blas_layout *layout;
  const tsl_blas_parts *parts;
  void *factor, *copy; /* trmm: SPREAD_MAX x SPREAD_MAX and SPREAD_MAX x WIDE elements */
} level3_blocks_job;

static tsl_call_matrix view_from(const tsl_call_matrix *view, tesela_type type, int64_t i, int64_t j) {
  tsl_call_matrix part = *view;
  part.data = (const char *)view->data + (i * view->row + j * view->col) * (int64_t)tsl_blas_size(type);
  return part;
}

static void level3_blocks_update(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout, bool *done) {
  tsl_call work = layout->work;
  tsl_blas_make_real(layout);
  *done = tsl_blas_triangle(symbol, &work, layout->uplo, NULL);
  if (*done && (layout->routine == TSL_BLAS_SYR2K || layout->routine == TSL_BLAS_HER2K)) {
    work.a = layout->a2;
    work.b = layout->b2;
    tsl_call_scale(&work, layout->alpha2, (const double[2]){1});
    if (!tsl_blas_triangle(symbol, &work, layout->uplo, NULL))
      tsl_blas_loop_gemmt(&work, layout->uplo);
  }
  if (*done)
    tsl_blas_make_real(layout);
}

static bool level3_blocks_symmetric(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  tsl_call work;
  tsl_blas_general(&layout->work, layout->work.beta, &work);
  void *whole = NULL;
  size_t bytes;
  if (layout->work.alpha[0] != 0 || layout->work.alpha[1] != 0) {
    if (!tsl_size_mul((size_t)work.m, (size_t)work.m, &bytes) ||
        !tsl_size_mul(bytes, tsl_blas_size(work.type), &bytes) ||
        tsl_scratch_take(bytes, "a symmetric matrix's other triangle", &whole) != TESELA_OK)
      return false;
    tsl_blas_parts_of(work.type)->mirror(&work.a, layout->uplo, layout->hermitian, work.m, whole);
    work.a = (tsl_call_matrix){.data = whole, .row = 1, .col = work.m};
  }
  tsl_blas_inner_gemm(symbol, &work, NULL);
  tsl_scratch_give(whole);
  return true;
}

/* Returns the product: rows from i of C += alpha (columns from j of A) (rows from j of C). */
static tsl_call level3_blocks_off_diagonal(const level3_blocks_job *job, const tsl_call *whole, int64_t i,
                                           int64_t rows, int64_t j, int64_t terms) {
  tsl_call part = *whole;
  part.m = rows;
  part.k = terms;
  part.a = view_from(&whole->a, whole->type, i, j);
  part.b = view_from(&whole->c, whole->type, j, 0);
  part.c = view_from(&whole->c, whole->type, i, 0);
  tsl_call_scale(&part, job->layout->work.alpha, (const double[2]){1});
  return part;
}

static tsl_call diagonal_rows(const tsl_call *whole, int64_t i, int64_t rows) {
  tsl_call part = *whole;
  part.m = rows;
  part.a = view_from(&whole->a, whole->type, i, i);
  part.c = view_from(&whole->c, whole->type, i, 0);
  return part;
}

static void multiply_by_loops(const level3_blocks_job *job, const tsl_call *work) {
  tsl_blas_layout part = *job->layout;
  part.work = *work;
  tsl_blas_level3_loops(&part);
}

static void multiply_small(const level3_blocks_job *job, const tsl_call *work) {
  static const double zero[2];
  const bool by_row = work->c.col == 1;
  const bool a_by_row = work->a.col == 1 && work->a.row != 1;
  const tsl_call_matrix factor = {job->factor, a_by_row ? work->m : 1, a_by_row ? 1 : work->m, false};
  job->parts->spread(&work->a, job->layout->uplo, job->layout->unit, work->m, &factor);
  for (int64_t j = 0; j < work->n; j += WIDE) {
    tsl_call part = *work;
    part.n = work->n - j < WIDE ? work->n - j : WIDE;
    part.c = view_from(&work->c, work->type, 0, j);
    part.b = (tsl_call_matrix){job->copy, by_row ? part.n : 1, by_row ? 1 : part.m, false};
    if (!job->parts->copy(&part.c, part.m, part.n, &part.b)) {
      multiply_by_loops(job, &part);
      continue;
    }
    part.a = factor;
    part.k = part.m;
    tsl_call_scale(&part, part.alpha, zero);
    tsl_blas_inner_gemm(job->symbol, &part, NULL);
  }
}

static int64_t first_half_rows(int64_t m, int64_t step) {
  return (m / 2 + step - 1) / step * step;
}

static void level3_blocks_multiply(const level3_blocks_job *job, const tsl_call *work) {
  const int64_t most = tsl_blas_is_complex(work->type) ? SPREAD_MAX : SPREAD_MAX_REAL;
  if (work->m <= most) {
    multiply_small(job, work);
    return;
  }
  const int64_t top = first_half_rows(work->m, most), rest = work->m - top;
  const tsl_call first = diagonal_rows(work, 0, top), last = diagonal_rows(work, top, rest);
  const bool lower = job->layout->uplo == 'L';
  const tsl_call corner = lower ? level3_blocks_off_diagonal(job, work, top, rest, 0, top)
                                : level3_blocks_off_diagonal(job, work, 0, top, top, rest);
  level3_blocks_multiply(job, lower ? &last : &first);
  tsl_blas_inner_gemm(job->symbol, &corner, NULL);
  level3_blocks_multiply(job, lower ? &first : &last);
}

static bool multiply_by_triangle(level3_blocks_job *job, const tsl_call *general) {
  const size_t size = tsl_blas_size(job->layout->work.type);
  const int64_t n = job->layout->work.n < WIDE ? job->layout->work.n : WIDE;
  if (tsl_scratch_take((SPREAD_MAX + (size_t)n) * SPREAD_MAX * size, "a block of a triangle", &job->factor) !=
      TESELA_OK)
    return false;
  job->copy = (char *)job->factor + SPREAD_MAX * SPREAD_MAX * size;
  level3_blocks_multiply(job, general);
  tsl_scratch_give(job->factor);
  return true;
}

static void level3_blocks_solve(const level3_blocks_job *job, const tsl_call *work, const double alpha[2]) {
  static const double one[2] = {1, 0};
  if (work->m <= TSL_BLAS_SOLVED_MOST) {
    job->parts->solve(&work->a, job->layout->uplo, job->layout->unit, work->m, work->n, alpha, &work->c);
    return;
  }
  const int64_t top = first_half_rows(work->m, TSL_BLAS_SOLVED_MOST), rest = work->m - top;
  const tsl_call first = diagonal_rows(work, 0, top), last = diagonal_rows(work, top, rest);
  const bool lower = job->layout->uplo == 'L';
  tsl_call corner = lower ? level3_blocks_off_diagonal(job, work, top, rest, 0, top)
                          : level3_blocks_off_diagonal(job, work, 0, top, top, rest);
  tsl_call_scale(&corner, (const double[2]){-1}, alpha);
  level3_blocks_solve(job, lower ? &first : &last, alpha);
  tsl_blas_inner_gemm(job->symbol, &corner, NULL);
  level3_blocks_solve(job, lower ? &last : &first, one);
}

bool tsl_blas_level3_blocks(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  level3_blocks_job of = {.symbol = symbol, .layout = layout, .parts = tsl_blas_parts_of(layout->work.type)};
  static const double zero[2]; /* in every type */
  tsl_call general;
  tsl_blas_general(&layout->work, layout->work.beta, &general);
  bool done = true;
  if (layout->routine < TSL_BLAS_SYMM)
    level3_blocks_update(symbol, layout, &done);
  else if (layout->routine < TSL_BLAS_TRMM)
    done = level3_blocks_symmetric(symbol, layout);
  else if (layout->work.alpha[0] == 0 && layout->work.alpha[1] == 0)
    tsl_blas_loop_copy(general.type, general.m, general.n, zero, &general.c, &general.c);
  else if (layout->routine == TSL_BLAS_TRMM)
    done = multiply_by_triangle(&of, &general);
  else
    level3_blocks_solve(&of, &general, general.alpha);
  return done;
}
