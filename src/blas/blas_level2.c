/* BLAS level 2. A row-major matrix is handled as its transpose: U and L, N and T, C and R change places. */
#include "blas/blas_level2.h"

#include "blas/blas_arguments.h"
#include "blas/check_args.h"
#include "core/memory.h"
#include "core/strides.h"

#include <string.h>

typedef tsl_blas_level2 arguments;

typedef struct blas_level2_job {
  const tsl_vector_kernels *kernels;
  const arguments *args;
  bool by_rows; /* the call was row-major */
  tsl_team team;
} blas_level2_job;

/* Position of each argument, from 1; 0: none. */
typedef struct argument_positions {
  int uplo, trans, diag, m, n, kl, ku, lda, incx, incy;
} argument_positions;

typedef void computing(const blas_level2_job *j);
static computing blas_level2_general, blas_level2_banded, blas_level2_symmetric, blas_level2_triangular,
    blas_level2_ger, blas_level2_rank_one, blas_level2_rank_two;

typedef struct blas_level2_row {
  computing *compute;
  tsl_storage storage;
  tsl_blas_class class;
  argument_positions positions;
} blas_level2_row;

static const blas_level2_row table[] = {
#define ROW(name, compute, storage, class, ...)                                                              \
  [TSL_BLAS_##name] = {blas_level2_##compute, TSL_STORED_##storage, TSL_BLAS_CLASS_##class, {__VA_ARGS__}}
    ROW(GEMV, general, FULL, MATRIX, .trans = 1, .m = 2, .n = 3, .lda = 6, .incx = 8, .incy = 11),
    ROW(GBMV, banded, BAND, OTHER, .trans = 1, .m = 2, .n = 3, .kl = 4, .ku = 5, .lda = 8, .incx = 10,
        .incy = 13),
    ROW(SYMV, symmetric, FULL, SYMMETRIC, .uplo = 1, .n = 2, .lda = 5, .incx = 7, .incy = 10),
    ROW(SBMV, symmetric, BAND, OTHER, .uplo = 1, .n = 2, .kl = 3, .lda = 6, .incx = 8, .incy = 11),
    ROW(SPMV, symmetric, PACKED, OTHER, .uplo = 1, .n = 2, .incx = 6, .incy = 9),
    ROW(TRMV, triangular, FULL, TRIANGLE, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .lda = 6, .incx = 8),
    ROW(TBMV, triangular, BAND, OTHER, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .kl = 5, .lda = 7,
        .incx = 9),
    ROW(TPMV, triangular, PACKED, OTHER, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .incx = 7),
    ROW(TRSV, triangular, FULL, TRIANGLE, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .lda = 6, .incx = 8),
    ROW(TBSV, triangular, BAND, OTHER, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .kl = 5, .lda = 7,
        .incx = 9),
    ROW(TPSV, triangular, PACKED, OTHER, .uplo = 1, .trans = 2, .diag = 3, .n = 4, .incx = 7),
    ROW(GER, ger, FULL, UPDATE, .m = 1, .n = 2, .incx = 5, .incy = 7, .lda = 9),
    ROW(SYR, rank_one, FULL, UPDATE, .uplo = 1, .n = 2, .incx = 5, .lda = 7),
    ROW(SPR, rank_one, PACKED, OTHER, .uplo = 1, .n = 2, .incx = 5),
    ROW(SYR2, rank_two, FULL, UPDATE, .uplo = 1, .n = 2, .incx = 5, .incy = 7, .lda = 9),
    ROW(SPR2, rank_two, PACKED, OTHER, .uplo = 1, .n = 2, .incx = 5, .incy = 7),
#undef ROW
};

static int64_t min_leading_dimension(const arguments *args) {
  const bool is_general = table[args->routine].positions.m > 0;
  const int64_t rows = is_general ? args->m : args->n;
  if (table[args->routine].positions.kl > 0)
    return args->kl + args->ku + 1;
  return rows > 1 ? rows : 1;
}

/* Returns the smaller of `found` and `index` if the argument is wrong; 0: none found. */
static int smaller_wrong_index(int found, int index, bool is_wrong) {
  return index > 0 && is_wrong && (found == 0 || index < found) ? index : found;
}

/* Returns 0, or the number of the first wrong argument of column-major arguments (check_args.h). */
static int check_level2(const arguments *args) {
  const argument_positions *at = &table[args->routine].positions;
  int found = smaller_wrong_index(0, at->uplo, args->uplo != 'U' && args->uplo != 'L');
  found = smaller_wrong_index(
      found, at->trans, args->trans != 'N' && args->trans != 'T' && args->trans != 'C' && args->trans != 'R');
  found = smaller_wrong_index(found, at->diag, args->diag != 'U' && args->diag != 'N');
  found = smaller_wrong_index(found, at->m, args->m < 0);
  found = smaller_wrong_index(found, at->n, args->n < 0);
  found = smaller_wrong_index(found, at->kl, args->kl < 0);
  found = smaller_wrong_index(found, at->ku, args->ku < 0);
  found = smaller_wrong_index(found, at->lda, args->lda < min_leading_dimension(args));
  found = smaller_wrong_index(found, at->incx, args->incx == 0);
  return smaller_wrong_index(found, at->incy, args->incy == 0);
}

static int transposed_letter(int letter) {
  return letter == 'N' ? 'T' : letter == 'T' ? 'N' : letter == 'C' ? 'R' : letter == 'R' ? 'C' : 0;
}

/* Converts row-major arguments. x and y of ger and of hermitian rank-2 updates change places. */
static void convert_to_column_major(const arguments *args, arguments *seen) {
  const bool is_two = args->routine == TSL_BLAS_SYR2 || args->routine == TSL_BLAS_SPR2;
  *seen = *args;
  seen->uplo = args->uplo == 'U' ? 'L' : args->uplo == 'L' ? 'U' : 0;
  seen->trans = transposed_letter(args->trans);
  if (table[args->routine].positions.m > 0)
    tsl_exchange(&seen->m, &seen->n);
  if (args->routine == TSL_BLAS_GBMV)
    tsl_exchange(&seen->kl, &seen->ku);
  if (args->routine == TSL_BLAS_GER || (is_two && args->hermitian)) {
    seen->x = args->y;
    seen->y = args->x;
    tsl_exchange(&seen->incx, &seen->incy);
  }
}

static bool is_real_number(tsl_vector_number value, double re) {
  return value.re == re && value.im == 0;
}
static bool blas_level2_conjugates(const blas_level2_job *j) {
  return j->kernels->is_complex && (j->args->trans == 'C' || j->args->trans == 'R');
}
static bool blas_level2_transposes(const blas_level2_job *j) {
  return j->args->trans == 'T' || j->args->trans == 'C';
}

static void blas_level2_scale(const blas_level2_job *j, int64_t n, tsl_line y) {
  static const double zero[2];
  const tsl_vector_number beta = j->args->beta;
  void *at = tsl_writable(y.at);
  if (is_real_number(beta, 1))
    return;
  if (!is_real_number(beta, 0))
    tsl_vector_scale(j->kernels, (tsl_team){0}, n, beta, false, y);
  else if (y.step == 1)
    memset(at, 0, (size_t)n * (size_t)j->kernels->size);
  else
    j->kernels->line->copy(n, zero, 0, false, at, y.step);
}

static void blas_level2_general(const blas_level2_job *j) {
  const arguments *args = j->args;
  const bool is_transposed = blas_level2_transposes(j);
  const int64_t x_count = is_transposed ? args->m : args->n, y_count = is_transposed ? args->n : args->m;
  if (args->m == 0 || args->n == 0)
    return;
  const tsl_vector_product product = {.rows = args->m,
                                      .columns = args->n,
                                      .a = args->a,
                                      .ld = args->lda,
                                      .transposed = is_transposed,
                                      .conjugate = blas_level2_conjugates(j),
                                      .alpha = args->alpha,
                                      .x = tsl_vector_at(j->kernels, args->x, x_count, args->incx),
                                      .y = tsl_vector_at(j->kernels, args->y, y_count, args->incy)};
  blas_level2_scale(j, y_count, product.y);
  if (!is_real_number(args->alpha, 0))
    tsl_vector_multiply(j->kernels, j->team, &product);
}

/* Multiplies a band; column j has the rows j - ku to j + kl, from the top of the band on. */
static void blas_level2_banded(const blas_level2_job *j) {
  const tsl_vector_kernels *k = j->kernels;
  const arguments *args = j->args;
  const bool is_transposed = blas_level2_transposes(j), conjugate = blas_level2_conjugates(j);
  const tsl_line x = tsl_vector_at(k, args->x, is_transposed ? args->m : args->n, args->incx),
                 y = tsl_vector_at(k, args->y, is_transposed ? args->n : args->m, args->incy);
  if (args->m == 0 || args->n == 0)
    return;
  blas_level2_scale(j, is_transposed ? args->n : args->m, y);
  if (is_real_number(args->alpha, 0))
    return;
  for (int64_t column = 0; column < args->n; column++) {
    const int64_t first = column > args->ku ? column - args->ku : 0,
                  end = column + args->kl + 1 < args->m ? column + args->kl + 1 : args->m;
    if (end <= first)
      continue;
    const tsl_vector_product product = {
        .rows = end - first,
        .columns = 1,
        .a = (const char *)args->a + (column * args->lda + args->ku + first - column) * k->size,
        .ld = args->lda,
        .transposed = is_transposed,
        .conjugate = conjugate,
        .alpha = args->alpha,
        .x = {(const char *)x.at + (is_transposed ? first : column) * x.step * k->size, x.step},
        .y = {(const char *)y.at + (is_transposed ? column : first) * y.step * k->size, y.step}};
    tsl_vector_multiply(k, (tsl_team){0}, &product);
  }
}

/* A row-major hermitian matrix is the conjugate. For triangular matrices `trans` has the conjugation. */
static tsl_triangle blas_level2_triangle_of(const blas_level2_job *j) {
  const arguments *args = j->args;
  return (tsl_triangle){.storage = table[args->routine].storage,
                        .upper = args->uplo == 'U',
                        .n = args->n,
                        .k = args->kl,
                        .ld = args->lda,
                        .a = args->a,
                        .hermitian = args->hermitian,
                        .unit = args->diag == 'U',
                        .conjugate = args->hermitian ? j->by_rows : blas_level2_conjugates(j)};
}

static void blas_level2_symmetric(const blas_level2_job *j) {
  const arguments *args = j->args;
  const tsl_triangle triangle = blas_level2_triangle_of(j);
  const tsl_line x = tsl_vector_at(j->kernels, args->x, args->n, args->incx),
                 y = tsl_vector_at(j->kernels, args->y, args->n, args->incy);
  blas_level2_scale(j, args->n, y);
  if (!is_real_number(args->alpha, 0))
    tsl_vector_symmetric(j->kernels, j->team, &triangle, args->alpha, x, y);
}

static void blas_level2_triangular(const blas_level2_job *j) {
  const arguments *args = j->args;
  const tsl_triangle triangle = blas_level2_triangle_of(j);
  const bool solves =
      args->routine == TSL_BLAS_TRSV || args->routine == TSL_BLAS_TBSV || args->routine == TSL_BLAS_TPSV;
  tsl_vector_triangular(j->kernels, j->team, &triangle, blas_level2_transposes(j), solves,
                        tsl_vector_at(j->kernels, args->x, args->n, args->incx));
}

static void blas_level2_ger(const blas_level2_job *j) {
  const arguments *args = j->args;
  if (!is_real_number(args->alpha, 0) && args->m > 0)
    tsl_vector_ger(j->kernels, j->team,
                   &(tsl_vector_update){.rows = args->m,
                                        .columns = args->n,
                                        .alpha = args->alpha,
                                        .x = tsl_vector_at(j->kernels, args->x, args->m, args->incx),
                                        .y = tsl_vector_at(j->kernels, args->y, args->n, args->incy),
                                        .conjugate_x = args->hermitian && j->by_rows,
                                        .conjugate_y = args->hermitian && !j->by_rows,
                                        .a = tsl_writable(args->a),
                                        .ld = args->lda});
}

static void blas_level2_rank_one(const blas_level2_job *j) {
  const tsl_triangle triangle = blas_level2_triangle_of(j);
  if (!is_real_number(j->args->alpha, 0))
    tsl_vector_rank_one(j->kernels, j->team, &triangle, j->args->alpha,
                        tsl_vector_at(j->kernels, j->args->x, j->args->n, j->args->incx));
}

static void blas_level2_rank_two(const blas_level2_job *j) {
  const arguments *args = j->args;
  const tsl_triangle triangle = blas_level2_triangle_of(j);
  if (!is_real_number(args->alpha, 0))
    tsl_vector_rank_two(j->kernels, j->team, &triangle, args->alpha,
                        tsl_vector_at(j->kernels, args->x, args->n, args->incx),
                        tsl_vector_at(j->kernels, args->y, args->n, args->incy));
}

/* Counts the matrix elements that are read or written. */
static double blas_level2_elements_of(const arguments *args) {
  const double n = (double)args->n, band = (double)(args->kl + args->ku + 1);
  if (table[args->routine].positions.kl > 0)
    return n * band;
  return table[args->routine].positions.m > 0 ? (double)args->m * n : n * n / 2;
}

tsl_blas_function *tsl_blas_matrix_vector(tsl_blas_call *call, const arguments *args) {
  const double elements = blas_level2_elements_of(args);
  if (tsl_blas_logging) {
    call->sizes = table[args->routine].positions.m > 0 ? 2 : 1;
    call->shape[0] = table[args->routine].positions.m > 0 ? args->m : args->n;
    call->shape[1] = args->n;
    call->flops = 2 * elements;
  }
  tsl_blas_function *next = tsl_blas_begin_vectors(call, table[args->routine].class, elements);
  if (next)
    return next;
  const bool by_rows = args->order == TSL_BLAS_ROW_MAJOR;
  arguments exchanged;
  const arguments *seen = args; /* a copy takes as long as a small product */
  if (by_rows) {
    convert_to_column_major(args, &exchanged);
    seen = &exchanged;
  }
  const int wrong =
      !by_rows && args->order != TSL_BLAS_COLUMN_MAJOR ? TSL_BLAS_ORDER_IS_WRONG : check_level2(seen);
  if (wrong) {
    tsl_blas_report_argument(call->symbol, wrong, by_rows, true);
  } else if (seen->n > 0) {
    const tsl_vector_kernels *kernels = tsl_vector_kernels_of(call->symbol->type);
    const blas_level2_job job = {kernels, seen, by_rows, tsl_blas_team(elements * kernels->size)};
    table[seen->routine].compute(&job);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}
