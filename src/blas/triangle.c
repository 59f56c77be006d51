/* Products of which one triangle is wanted. The triangle is halved until its pieces are small:
 *
 *     n = 4 pieces, lower:   \            \ on the diagonal: a small square goes to scratch memory, its triangle from
 *                            # \            there to C
 *                            ### \        # a rectangle: an ordinary product
 *                            ### # \
 */
#include "blas/triangle.h"

#include "base/memory.h"
#include "blas/context.h"
#include "blas/gemm.h"
#include "blas/pieces.h"

#include <complex.h>

enum { PIECE = 48 };

/* A triangle under way. */
typedef struct job {
  const tsl_blas_symbol *symbol;
  int uplo;
  void *square; /* scratch memory for one on the diagonal: PIECE columns of PIECE elements */
  tesela_record *record;
} job;

/* A product's place in the whole: rows i.., columns j.. of C. */
static tsl_blas_work block_of(const tsl_blas_work *whole, int64_t i, int64_t m, int64_t j, int64_t n) {
  const int64_t size = (int64_t)tsl_blas_size(whole->type);
  tsl_blas_work block = *whole;
  block.m = m;
  block.n = n;
  block.a.data = (const char *)whole->a.data + i * whole->a.row * size;
  block.b.data = (const char *)whole->b.data + j * whole->b.col * size;
  block.c.data = (const char *)whole->c.data + (i * whole->c.row + j * whole->c.col) * size;
  return block;
}

/* Rows of column j that are in the triangle: first to below last. */
static int64_t first_row(int uplo, int64_t j) {
  return uplo == 'L' ? j : 0;
}
static int64_t last_row(int uplo, int64_t j, int64_t n) {
  return uplo == 'L' ? n : j + 1;
}

/* C's triangle = square + beta C's triangle, for each type. */
static void add_f32(const tsl_blas_work *work, const job *of) {
  const float beta = *(const float *)work->beta, *square = of->square;
  float *c = tsl_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = first_row(of->uplo, j); i < last_row(of->uplo, j, work->n); i++) {
      float *at = c + i * work->c.row + j * work->c.col;
      *at = square[i + j * PIECE] + (beta == 0 ? 0 : beta * *at);
    }
}

static void add_f64(const tsl_blas_work *work, const job *of) {
  const double beta = *(const double *)work->beta, *square = of->square;
  double *c = tsl_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = first_row(of->uplo, j); i < last_row(of->uplo, j, work->n); i++) {
      double *at = c + i * work->c.row + j * work->c.col;
      *at = square[i + j * PIECE] + (beta == 0 ? 0 : beta * *at);
    }
}

static void add_c64(const tsl_blas_work *work, const job *of) {
  const float complex beta = *(const float complex *)work->beta, *square = of->square;
  float complex *c = tsl_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = first_row(of->uplo, j); i < last_row(of->uplo, j, work->n); i++) {
      float complex *at = c + i * work->c.row + j * work->c.col;
      *at = beta == 0 ? square[i + j * PIECE] : square[i + j * PIECE] + beta * *at;
    }
}

static void add_c128(const tsl_blas_work *work, const job *of) {
  const double complex beta = *(const double complex *)work->beta, *square = of->square;
  double complex *c = tsl_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = first_row(of->uplo, j); i < last_row(of->uplo, j, work->n); i++) {
      double complex *at = c + i * work->c.row + j * work->c.col;
      *at = beta == 0 ? square[i + j * PIECE] : square[i + j * PIECE] + beta * *at;
    }
}

typedef void add_triangle(const tsl_blas_work *work, const job *of);
static add_triangle *const adding[] = {
    [TESELA_F32] = add_f32, [TESELA_F64] = add_f64, [TESELA_C64] = add_c64, [TESELA_C128] = add_c128};

static void diagonal(const tsl_blas_work *work, const job *of) {
  static const double zero[2];
  tsl_blas_work whole = *work;
  whole.c = (tsl_blas_view){.data = of->square, .row = 1, .col = PIECE};
  whole.beta = zero;
  tsl_blas_piece(of->symbol, &whole, of->record);
  adding[work->type](work, of);
}

static void triangle(const tsl_blas_work *work, const job *of) {
  if (work->n <= PIECE) {
    diagonal(work, of);
    return;
  }
  const int64_t half = (work->n / 2 + PIECE - 1) / PIECE * PIECE, remainder = work->n - half;
  const tsl_blas_work first = block_of(work, 0, half, 0, half),
                      last = block_of(work, half, remainder, half, remainder);
  const tsl_blas_work between =
      of->uplo == 'L' ? block_of(work, half, remainder, 0, half) : block_of(work, 0, half, half, remainder);
  triangle(&first, of);
  triangle(&last, of);
  tsl_blas_piece(of->symbol, &between, of->record);
}

bool tsl_blas_triangle(const tsl_blas_symbol *symbol, const tsl_blas_work *work, int uplo,
                       tesela_record *record) {
  job of = {.symbol = symbol, .uplo = uplo, .record = record};
  const size_t bytes = PIECE * PIECE * tsl_blas_size(work->type);
  if (tsl_blas_lacks(TSL_BLAS_GEMM, work->type, work->type) ||
      tsl_alloc(bytes, "a square on a triangle's diagonal", &of.square) != TESELA_OK)
    return false;
  triangle(work, &of);
  tsl_free(of.square);
  return true;
}
