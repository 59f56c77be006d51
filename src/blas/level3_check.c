/* Checks in the reference's order; a row-major call as a column-major call on transposed matrices. */
#include "blas/blas_level3.h"

#include "blas/check_args.h"

static int64_t level3_check_at_least_one(int64_t size) {
  return size > 1 ? size : 1;
}
static int exchange_letter(int letter, int value, int two) {
  return letter == value ? two : letter == two ? value : letter;
}

/* For real types C is T. */
static bool level3_check_accepts_trans(tesela_type type, tsl_blas_routine routine, int trans) {
  const bool hermitian = routine == TSL_BLAS_HERK || routine == TSL_BLAS_HER2K;
  return trans == 'N' || (trans == 'T' && !hermitian) ||
         (trans == 'C' && (hermitian || !tsl_blas_is_complex(type)));
}

/* Order: uplo, trans, n, k, alpha, a, lda, [b, ldb,] beta, c, ldc. */
static int check_update(tesela_type type, const tsl_blas_multiply *structured) {
  const bool by_row = structured->order == TSL_BLAS_ROW_MAJOR;
  const bool two = structured->routine == TSL_BLAS_SYR2K || structured->routine == TSL_BLAS_HER2K;
  const int64_t rows = (structured->trans_a == 'N') != by_row ? structured->n : structured->k;
  return structured->uplo != 'U' && structured->uplo != 'L'                            ? 1
         : !level3_check_accepts_trans(type, structured->routine, structured->trans_a) ? 2
         : structured->n < 0                                                           ? 3
         : structured->k < 0                                                           ? 4
         : structured->lda < level3_check_at_least_one(rows)                           ? 7
         : two && structured->ldb < level3_check_at_least_one(rows)                    ? 9
         : structured->ldc < level3_check_at_least_one(structured->n)                  ? (two ? 12 : 10)
                                                                                       : 0;
}

static tsl_blas_multiply level3_check_as_columns(const tsl_blas_multiply *structured) {
  tsl_blas_multiply seen = *structured;
  if (structured->order == TSL_BLAS_ROW_MAJOR) {
    seen.side = exchange_letter(structured->side, 'L', 'R');
    seen.m = structured->n;
    seen.n = structured->m;
  }
  return seen;
}

/* Order: side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc. */
static int check_symmetric(const tsl_blas_multiply *structured) {
  const tsl_blas_multiply seen = level3_check_as_columns(structured);
  return seen.side != 'L' && seen.side != 'R'                                       ? 1
         : seen.uplo != 'U' && seen.uplo != 'L'                                     ? 2
         : seen.m < 0                                                               ? 3
         : seen.n < 0                                                               ? 4
         : seen.lda < level3_check_at_least_one(seen.side == 'L' ? seen.m : seen.n) ? 7
         : seen.ldb < level3_check_at_least_one(seen.m)                             ? 9
         : seen.ldc < level3_check_at_least_one(seen.m)                             ? 12
                                                                                    : 0;
}

/* Order: side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb. */
static int check_triangle(const tsl_blas_multiply *structured) {
  const tsl_blas_multiply seen = level3_check_as_columns(structured);
  return seen.side != 'L' && seen.side != 'R'                                                       ? 1
         : seen.uplo != 'U' && seen.uplo != 'L'                                                     ? 2
         : seen.trans_a != 'N' && seen.trans_a != 'T' && seen.trans_a != 'C' && seen.trans_a != 'R' ? 3
         : seen.diag != 'U' && seen.diag != 'N'                                                     ? 4
         : seen.m < 0                                                                               ? 5
         : seen.n < 0                                                                               ? 6
         : seen.lda < level3_check_at_least_one(seen.side == 'L' ? seen.m : seen.n)                 ? 9
         : seen.ldb < level3_check_at_least_one(seen.m)                                             ? 11
                                                                                                    : 0;
}

int tsl_blas_check_level3(tesela_type type, const tsl_blas_multiply *structured) {
  if (structured->order != TSL_BLAS_ROW_MAJOR && structured->order != TSL_BLAS_COLUMN_MAJOR)
    return TSL_BLAS_ORDER_IS_WRONG;
  if (structured->routine < TSL_BLAS_SYMM)
    return check_update(type, structured);
  return structured->routine < TSL_BLAS_TRMM ? check_symmetric(structured) : check_triangle(structured);
}
