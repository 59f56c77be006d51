#include "blas/check_args.h"

#include <stdio.h>
#include <string.h>

static bool is_trans(int letter) {
  return letter == 'N' || letter == 'T' || letter == 'C' || letter == 'R';
}
static bool is_not_transposed(int letter) {
  return letter == 'N' || letter == 'R';
}
static int64_t check_args_at_least_one(int64_t size) {
  return size > 1 ? size : 1;
}
static bool is_order(int order) {
  return order == TSL_BLAS_ROW_MAJOR || order == TSL_BLAS_COLUMN_MAJOR;
}

/* Returns a row-major product as the column-major product of the transposes, B' A'. */
static tsl_blas_multiply check_args_as_columns(const tsl_blas_multiply *multiply) {
  tsl_blas_multiply seen = *multiply;
  if (multiply->order == TSL_BLAS_ROW_MAJOR) {
    seen.trans_a = multiply->trans_b;
    seen.trans_b = multiply->trans_a;
    seen.m = multiply->n;
    seen.n = multiply->m;
    seen.lda = multiply->ldb;
    seen.ldb = multiply->lda;
  }
  return seen;
}

/* gemmt has a triangle of C before the letters, and one size of C. */
static int check_product(const tsl_blas_multiply *product, bool is_gemmt) {
  if (!is_order(product->order))
    return TSL_BLAS_ORDER_IS_WRONG;
  if (is_gemmt && product->uplo != 'U' && product->uplo != 'L')
    return 1;
  /* Letters are checked before the exchange. */
  if (!is_trans(product->trans_a))
    return is_gemmt ? 2 : 1;
  if (!is_trans(product->trans_b))
    return is_gemmt ? 3 : 2;
  const tsl_blas_multiply seen = check_args_as_columns(product);
  const int64_t m = is_gemmt ? seen.n : seen.m;
  if (!is_gemmt && m < 0)
    return 3;
  if (seen.n < 0)
    return 4;
  if (seen.k < 0)
    return 5;
  if (seen.lda < check_args_at_least_one(is_not_transposed(seen.trans_a) ? m : seen.k))
    return 8;
  if (seen.ldb < check_args_at_least_one(is_not_transposed(seen.trans_b) ? seen.k : seen.n))
    return 10;
  return seen.ldc < check_args_at_least_one(m) ? 13 : 0;
}

int tsl_blas_check_gemm(const tsl_blas_multiply *product) {
  return check_product(product, false);
}

int tsl_blas_check_gemmt(const tsl_blas_multiply *product) {
  return check_product(product, true);
}

int tsl_blas_check_matcopy(const tsl_blas_copy *copy) {
  const bool by_row = copy->order == TSL_BLAS_ROW_MAJOR;
  /* Along and across the contiguous direction. */
  const int64_t along = by_row ? copy->cols : copy->rows, across = by_row ? copy->rows : copy->cols;
  if (!is_order(copy->order))
    return 1;
  if (!is_trans(copy->trans))
    return 2;
  if (copy->rows < 0)
    return 3;
  if (copy->cols < 0)
    return 4;
  if (copy->lda < check_args_at_least_one(along))
    return 7;
  if (copy->ldb < check_args_at_least_one(is_not_transposed(copy->trans) ? along : across))
    return copy->in_place ? 8 : 9;
  return 0;
}

/* Argument numbers that change places in row-major calls, by part of the name; the first match counts. */
static const struct {
  const char *piece;
  int pairs[2][2];
} exchanges[] = {
    {"gemmt", {{9, 11}}}, {"gemm", {{9, 11}, {4, 5}}}, {"gemv", {{3, 4}}}, {"gbmv", {{3, 4}, {5, 6}}},
    {"her2k", {{0}}},     {"her2", {{6, 8}}},          {"hpr2", {{6, 8}}}, {"ger", {{2, 3}, {6, 8}}},
    {"symm", {{4, 5}}},   {"hemm", {{4, 5}}},          {"trmm", {{6, 7}}}, {"trsm", {{6, 7}}},
};

static int check_args_exchange_number(const char *title, int number) {
  for (size_t row = 0; row < sizeof exchanges / sizeof *exchanges; row++) {
    if (!strstr(title, exchanges[row].piece))
      continue;
    for (int i = 0; i < 2; i++)
      for (int side = 0; side < 2; side++)
        if (exchanges[row].pairs[i][side] == number)
          return exchanges[row].pairs[i][1 - side];
    return number;
  }
  return number;
}

extern int RowMajorStrg; /* ours, in entries/xerbla.c */

/* Makes a reference cblas_xerbla exchange the numbers itself; false: it has no such variable. */
static bool set_reference_row_major(bool row_major) {
  void *address = tsl_interpose_program_has("RowMajorStrg");
  const int value = row_major;
  if (!address || address == (void *)&RowMajorStrg)
    return false;
  memcpy(address, &value, sizeof value);
  return true;
}

static void refuse_cblas(const tsl_blas_symbol *symbol, tsl_blas_function *xerbla, int number,
                         bool row_major) {
  typedef void cblas_xerbla(int, const char *, const char *, ...);
  const bool is_row_major_set = set_reference_row_major(row_major);
  if (row_major && !is_row_major_set)
    number = check_args_exchange_number(symbol->title, number);
  ((cblas_xerbla *)xerbla)(number, symbol->title, "");
}

void tsl_blas_report_argument(const tsl_blas_symbol *symbol, int number, bool row_major, bool product) {
  typedef void fortran_xerbla(const char *, const int64_t *, size_t);
  /* CBLAS's order comes first and shifts the numbers, unless the routine itself has an order. */
  const int position = number == TSL_BLAS_ORDER_IS_WRONG ? 1 : number + (symbol->cblas && product);
  const int64_t wide = position; /* little-endian: also right for a handler with 32-bit integers */
  tsl_lazy_symbol late = {0};
  tsl_blas_function *xerbla = tsl_interpose_program(&late, symbol->xerbla);
  if (!xerbla)
    fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n", symbol->title, position);
  else if (symbol->cblas)
    refuse_cblas(symbol, xerbla, position, row_major && product);
  else
    ((fortran_xerbla *)xerbla)(symbol->title, &wide, strlen(symbol->title));
}

void tsl_blas_report_failure(const tsl_blas_symbol *symbol, const char *why) {
  fprintf(stderr, "tesela: %s: %s; the result is wrong\n", symbol->name, why);
}
