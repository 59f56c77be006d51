/* Products of which one triangle is wanted. The triangle is halved until its pieces are small:
 *
 *     n = 4 pieces, lower:   \            \ on the diagonal: a small square goes to scratch memory, its triangle from
 *                            # \            there to C
 *                            ### \        # a rectangle: an ordinary product
 *                            ### # \
 */
#include "blas/blas.h"

enum { PIECE = 48 };

/* A product's place in the whole: rows i.., columns j.. of C. */
static tsl_blas_work part_of(const tsl_blas_work *whole, int64_t i, int64_t m, int64_t j, int64_t n) {
  const int64_t size = (int64_t)tsl_blas_size(whole->type);
  tsl_blas_work part = *whole;
  part.m = m;
  part.n = n;
  part.a.data = (const char *)whole->a.data + i * whole->a.row * size;
  part.b.data = (const char *)whole->b.data + j * whole->b.col * size;
  part.c.data = (const char *)whole->c.data + (i * whole->c.row + j * whole->c.col) * size;
  return part;
}

/* C's triangle = square + beta C's triangle; the square has PIECE elements a column. */
static void add_f32(const tsl_blas_work *work, int uplo, const float *square) {
  const float beta = *(const float *)work->beta;
  float *c = tsl_blas_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? work->n : j + 1); i++) {
      float *at = c + i * work->c.row + j * work->c.col;
      *at = square[i + j * PIECE] + (beta == 0 ? 0 : beta * *at);
    }
}

static void add_f64(const tsl_blas_work *work, int uplo, const double *square) {
  const double beta = *(const double *)work->beta;
  double *c = tsl_blas_writable(work->c.data);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? work->n : j + 1); i++) {
      double *at = c + i * work->c.row + j * work->c.col;
      *at = square[i + j * PIECE] + (beta == 0 ? 0 : beta * *at);
    }
}

static void diagonal(const tsl_blas_symbol *symbol, const tsl_blas_work *work, int uplo,
                     tesela_record *record) {
  static const double zero[2];
  _Alignas(64) double square[PIECE * PIECE];
  tsl_blas_work whole = *work;
  whole.c = (tsl_blas_view){.data = square, .row = 1, .col = PIECE};
  whole.beta = zero;
  if (!tsl_blas_by_tesela(symbol, &whole, record))
    tsl_blas_loop_gemm(&whole);
  if (work->type == TESELA_F32)
    add_f32(work, uplo, (const float *)square);
  else
    add_f64(work, uplo, square);
}

static void triangle(const tsl_blas_symbol *symbol, const tsl_blas_work *work, int uplo,
                     tesela_record *record) {
  if (work->n <= PIECE) {
    diagonal(symbol, work, uplo, record);
    return;
  }
  const int64_t half = (work->n / 2 + PIECE - 1) / PIECE * PIECE, rest = work->n - half;
  const tsl_blas_work first = part_of(work, 0, half, 0, half), last = part_of(work, half, rest, half, rest);
  const tsl_blas_work between =
      uplo == 'L' ? part_of(work, half, rest, 0, half) : part_of(work, 0, half, half, rest);
  triangle(symbol, &first, uplo, record);
  triangle(symbol, &last, uplo, record);
  if (!tsl_blas_by_tesela(symbol, &between, record))
    tsl_blas_loop_gemm(&between);
}

static void describe(tsl_blas_call *call, const tsl_blas_multiply *product) {
  call->sizes = 3;
  call->shape[0] = call->shape[1] = product->n;
  call->shape[2] = product->k;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 4.0 : 1.0) * (double)product->n *
                (double)(product->n + 1) * (double)product->k;
}

tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product) {
  const tesela_type type = call->symbol->type;
  const tsl_blas_route route = tsl_blas_route_gemm(call->symbol, product->n, product->n, product->k);
  describe(call, product);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  const int wrong = tsl_blas_check_gemmt(product);
  if (wrong) {
    tsl_blas_tell_wrong(call->symbol, wrong, product->order == TSL_BLAS_ROW_MAJOR, true);
    return NULL;
  }
  if (product->n == 0)
    return NULL;
  const tsl_blas_work work = tsl_blas_work_of(type, product);
  tesela_record record = {.plan = NULL};
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA && !tsl_blas_is_complex(type)) {
    triangle(call->symbol, &work, product->uplo, tsl_blas_record(call, &record));
    tsl_blas_end_plan(call, &record);
  } else {
    tsl_blas_loop_gemmt(&work, product->uplo);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return NULL;
}
