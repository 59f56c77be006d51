/* Products of which one triangle is computed. The triangle is halved until its blocks are small:
 *
 *     n = 4 blocks, lower:    \            \ on the diagonal: a small square in scratch memory, whose
 *                             # \            triangle is copied to C
 *                             ### \        # a rectangle: an ordinary product
 *                             ### # \ */
#include "blas/blas_triangle.h"

#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/level3_helpers.h"
#include "core/memory.h"

enum { PIECE = 48 };

typedef struct blas_triangle_job {
  const tsl_blas_symbol *symbol;
  int uplo;
  void *square; /* scratch memory of PIECE x PIECE elements */
  tesela_record *record;
} blas_triangle_job;

/* Returns the block of C: m rows from i, n columns from j. */
static tsl_call blas_triangle_block_of(const tsl_call *whole, int64_t i, int64_t m, int64_t j, int64_t n) {
  const int64_t size = (int64_t)tsl_blas_size(whole->type);
  tsl_call block = *whole;
  block.m = m;
  block.n = n;
  block.a.data = (const char *)whole->a.data + i * whole->a.row * size;
  block.b.data = (const char *)whole->b.data + j * whole->b.col * size;
  block.c.data = (const char *)whole->c.data + (i * whole->c.row + j * whole->c.col) * size;
  return block;
}

/* The square has C's storage order. */
static void blas_triangle_square(const tsl_call *work, const blas_triangle_job *job) {
  static const double zero[2];
  const int64_t n = work->n;
  const bool by_row = work->c.row != 1;
  tsl_call whole = *work;
  whole.c = (tsl_call_matrix){.data = job->square, .row = by_row ? n : 1, .col = by_row ? 1 : n};
  tsl_call_scale(&whole, work->alpha, zero);
  tsl_blas_inner_gemm(job->symbol, &whole, job->record);
  tsl_blas_parts_of(work->type)
      ->put(job->square, (job->uplo == 'L') != by_row, n, work->beta, tsl_writable(work->c.data),
            by_row ? work->c.row : work->c.col);
}

static void blas_triangle_halve(const tsl_call *work, const blas_triangle_job *job) {
  if (work->n <= PIECE) {
    blas_triangle_square(work, job);
    return;
  }
  const int64_t half = (work->n / 2 + PIECE - 1) / PIECE * PIECE, remainder = work->n - half;
  const tsl_call first = blas_triangle_block_of(work, 0, half, 0, half),
                 last = blas_triangle_block_of(work, half, remainder, half, remainder);
  const tsl_call between = job->uplo == 'L' ? blas_triangle_block_of(work, half, remainder, 0, half)
                                            : blas_triangle_block_of(work, 0, half, half, remainder);
  blas_triangle_halve(&first, job);
  blas_triangle_halve(&last, job);
  tsl_blas_inner_gemm(job->symbol, &between, job->record);
}

bool tsl_blas_triangle(const tsl_blas_symbol *symbol, const tsl_call *work, int uplo, tesela_record *record) {
  blas_triangle_job job = {.symbol = symbol, .uplo = uplo, .record = record};
  const size_t bytes = PIECE * PIECE * tsl_blas_size(work->type);
  if (tsl_blas_lacks(TSL_BLAS_GEMM, work->type, work->type) ||
      tsl_alloc(bytes, "a diagonal block of a triangle", &job.square) != TESELA_OK)
    return false;
  tsl_call general;
  tsl_blas_general(work, work->beta, &general);
  blas_triangle_halve(&general, &job);
  tsl_free(job.square);
  return true;
}
