#ifndef TSL_BLAS_BLAS_ARGUMENTS_H
#define TSL_BLAS_BLAS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

enum { TSL_BLAS_GEMM, TSL_BLAS_DOT, TSL_BLAS_TRANSPOSE, TSL_BLAS_OPS };

enum { TSL_BLAS_ROW_MAJOR = 101, TSL_BLAS_COLUMN_MAJOR = 102 };

typedef enum tsl_blas_routine {
  TSL_BLAS_SYRK,
  TSL_BLAS_HERK,
  TSL_BLAS_SYR2K,
  TSL_BLAS_HER2K,
  TSL_BLAS_GEMMT, /* b is n x k and transposed */
  TSL_BLAS_SYMM,
  TSL_BLAS_HEMM,
  TSL_BLAS_TRMM,
  TSL_BLAS_TRSM,
  TSL_BLAS_ROUTINES
} tsl_blas_routine;

/* Arguments of gemm, gemmt or a routine of Level 3. Letters are N, T, C, or R for conjugation only, U or L, L
 * or R, and U or N; 0: invalid or absent. The scalars have the symbol's type; beta of herk and her2k and
 * alpha of herk are real. trmm and trsm overwrite b and have no c. */
typedef struct tsl_blas_multiply {
  int order, uplo, trans_a, trans_b;
  int64_t m, n, k; /* m x n: size of C; k: terms; of an update m is n */
  const void *alpha, *a;
  int64_t lda;
  const void *b;
  int64_t ldb;
  const void *beta;
  void *c;
  int64_t ldc;
  tsl_blas_routine routine; /* Level 3 only, as are side and diag */
  int side, diag;
} tsl_blas_multiply;

/* Returns m n k. */
static inline double tsl_blas_volume(const tsl_blas_multiply *product) {
  return (double)product->m * (double)product->n * (double)product->k;
}

/* Sum of x[i] y[i], or conj(x[i]) y[i]. A negative increment starts at the far end. */
typedef struct tsl_blas_sum {
  int64_t n;
  const void *x;
  int64_t incx;
  const void *y;
  int64_t incy;
  bool conjugate;
  const float *start;      /* sdsdot: added to the sum before rounding; else NULL */
  tesela_type result_type; /* f64 for dsdot and sdsdot, else the symbol's type */
  void *result;            /* a float for sdsdot, else of result_type */
} tsl_blas_sum;

/* B = alpha op(A) with A of rows x cols. b is NULL if A is overwritten. */
typedef struct tsl_blas_copy {
  int order, trans;
  int64_t rows, cols;
  const void *alpha, *a;
  int64_t lda;
  void *b;
  int64_t ldb;
  bool in_place; /* a is overwritten */
} tsl_blas_copy;

/* Converts a constant of CBLAS to a letter, like the functions of uplo, side and diag; 0: invalid. */
static inline int tsl_blas_trans(int cblas) {
  static const char letters[] = {'N', 'T', 'C', 'R'};
  return cblas >= 111 && cblas <= 114 ? letters[cblas - 111] : 0;
}
/* Converts a letter to a constant of CBLAS; 0: invalid. */
static inline int tsl_blas_cblas_trans(int letter) {
  return letter == 'N' ? 111 : letter == 'T' ? 112 : letter == 'C' ? 113 : letter == 'R' ? 114 : 0;
}
static inline int tsl_blas_uplo(int cblas) {
  return cblas == 121 ? 'U' : cblas == 122 ? 'L' : 0;
}
static inline int tsl_blas_side(int cblas) {
  return cblas == 141 ? 'L' : cblas == 142 ? 'R' : 0;
}
static inline int tsl_blas_diag(int cblas) {
  return cblas == 131 ? 'N' : cblas == 132 ? 'U' : 0;
}
static inline int tsl_blas_capital(char fortran) {
  return (unsigned char)fortran & ~0x20;
}
/* Returns the capital of N, T, C, R, U or L; 0: another letter. */
static inline int tsl_blas_letter(char fortran) {
  enum { N = 1 << ('N' - 'A'), T = 1 << ('T' - 'A'), C = 1 << ('C' - 'A') };
  enum { R = 1 << ('R' - 'A'), U = 1 << ('U' - 'A'), L = 1 << ('L' - 'A') };
  const unsigned place = (unsigned)tsl_blas_capital(fortran) - 'A';
  return place < 26 && ((N | T | C | R | U | L) >> place & 1) != 0 ? (int)(place + 'A') : 0;
}
/* Converts R or C to CBLAS's constant of the storage order; 0: invalid. */
static inline int tsl_blas_order(char fortran) {
  const int letter = tsl_blas_letter(fortran);
  return letter == 'R' ? TSL_BLAS_ROW_MAJOR : letter == 'C' ? TSL_BLAS_COLUMN_MAJOR : 0;
}

#endif
