/* Level 3 beside gemm: products with a factor that is symmetric, hermitian or triangular, or of whose result
 * one triangle is wanted, and systems with a triangle. */
#ifndef TSL_BLAS_BLAS_LEVEL3_H
#define TSL_BLAS_BLAS_LEVEL3_H

#include "blas/blas_route.h"
#include "blas/call_log.h"
#include "blas/reference_blas.h"

typedef enum tsl_blas_routine {
  TSL_BLAS_SYRK,
  TSL_BLAS_HERK,
  TSL_BLAS_SYR2K,
  TSL_BLAS_HER2K,
  TSL_BLAS_GEMMT, /* b is n x k, and transposed */
  TSL_BLAS_SYMM,
  TSL_BLAS_HEMM,
  TSL_BLAS_TRMM,
  TSL_BLAS_TRSM,
  TSL_BLAS_ROUTINES
} tsl_blas_routine;

/* A call's arguments: letters, 0 for what is none or is not there. Scalars are of the symbol's type, but
 * herk's and her2k's beta and herk's alpha, which are real. trmm and trsm overwrite b, and have no c. */
typedef struct tsl_blas_structured {
  tsl_blas_routine routine;
  int order, side, uplo, trans, diag;
  int64_t m, n, k; /* of C; k is the rank of an update, whose m is n */
  const void *alpha, *a;
  int64_t lda;
  const void *b;
  int64_t ldb;
  const void *beta;
  void *c;
  int64_t ldc;
} tsl_blas_structured;

tsl_blas_function *tsl_blas_level3(tsl_blas_call *call, const tsl_blas_structured *structured);

/* Multiply-adds of a complex or a real type alike, by which calls are routed. */
static inline double tsl_blas_level3_volume(const tsl_blas_structured *structured) {
  const double m = (double)structured->m, n = (double)structured->n;
  return structured->routine < TSL_BLAS_SYMM ? m * n * (double)structured->k
                                             : m * n * (structured->side == 'L' ? m : n);
}

/* Who computes one with so many multiply-adds. */
tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume);

/* 0, or the number of the first wrong argument, as tsl_blas_check_gemm(). */
int tsl_blas_check_level3(tesela_type type, const tsl_blas_structured *structured);

/* A checked call in terms of what is multiplied: rows and columns are where strides say, ops are done, and a
 * factor on the right is one on the left of all transposed.
 *
 *   updates    c's triangle `uplo` = alpha a b + beta c; of rank 2k, the second one is alpha2 (b a)
 *   symm hemm  c = alpha a b + beta c, a symmetric or hermitian, of which `uplo` is stored
 *   trmm       c = alpha a c, a being the triangle `uplo`
 *   trsm       a c = alpha c before */
typedef struct tsl_blas_layout {
  tsl_blas_routine routine;
  int uplo;
  bool unit, hermitian;         /* a's or c's other triangle is conjugated, diagonals are real */
  tsl_blas_work work;           /* its scalars lie below */
  tsl_blas_view a2, b2;         /* of the second product of an update of rank 2k */
  double alpha[2], beta[2];     /* values; */
  double alpha2[2], scalars[8]; /* and of the type, for work: alpha, beta, alpha2, 1 */
} tsl_blas_layout;

enum { TSL_BLAS_AT_ALPHA = 0, TSL_BLAS_AT_BETA = 2, TSL_BLAS_AT_ALPHA2 = 4, TSL_BLAS_AT_ONE = 6 };

void tsl_blas_lay_out(tesela_type type, const tsl_blas_structured *structured, tsl_blas_layout *out);
/* gemmt's, whose factors each have a letter of their own; on any device. */
void tsl_blas_lay_out_gemmt(tesela_type type, const tsl_blas_multiply *product, tsl_blas_layout *out);
/* The imaginary parts of a hermitian C's diagonal, of which nothing is read, and which are written as 0. */
void tsl_blas_make_real(const tsl_blas_layout *layout);

/* By tesela, however: who did it; NULL: memory ran out, and c is as it was, though `layout` is not. record
 * may be NULL. */
const char *tsl_blas_level3_compute(const tsl_blas_symbol *symbol, tsl_blas_layout *layout,
                                    tesela_record *record);
/* The same of a call that has begun, which ends if it is done. */
bool tsl_blas_level3_end(tsl_blas_call *call, tsl_blas_layout *layout);
/* An update of rank 2k with few terms becomes one of rank k with twice as many, on copies of its factors,
 * which are returned and are to be freed; NULL: it stays as it was. */
void *tsl_blas_level3_join(tsl_blas_layout *layout);
/* Systems with a triangle, at once; false where there is no such way, or no memory, and c is as it was. */
bool tsl_blas_level3_solve(const tsl_blas_layout *layout);
/* Products with a triangle of few rows, where it lies; false, and c as it was, where there is no such way. */
bool tsl_blas_level3_multiply(const tsl_blas_layout *layout);
/* Few rows, columns and terms; false, and c as it was, where there are more, or no such way. */
bool tsl_blas_level3_little(const tsl_blas_layout *layout);
/* Which triangle is stored, or computed. */
static inline tesela_triangle tsl_blas_level3_side(const tsl_blas_layout *layout) {
  return layout->uplo == 'L' ? TESELA_LOWER : TESELA_UPPER;
}
/* Whether an update of rank 2k is one product and its transpose: both have the same factor. */
static inline bool tsl_blas_level3_is_sum(const tsl_blas_layout *layout) {
  return layout->routine == TSL_BLAS_SYR2K || (layout->routine == TSL_BLAS_HER2K && layout->alpha[1] == 0);
}
/* Without a plan, where that is sooner done than one is made; false where it is not, or cannot be, and c is
 * as it was. */
bool tsl_blas_level3_at_once(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout);
/* Whether a plan is worth it, if there is one. */
bool tsl_blas_level3_is_planned(const tsl_blas_layout *layout);
/* Whether all numbers of c are finite: zeros beside a triangle that is multiplied would be seen beside
 * others. */
bool tsl_blas_level3_is_finite(const tsl_blas_work *work);
/* By one or two public calls; false where that is not worth it, or they cannot, and c is as it was. record
 * may be NULL. */
bool tsl_blas_level3_plan(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout,
                          tesela_record *record);
/* By products of blocks; false where there is no memory, and c is as it was. And by plain loops. */
bool tsl_blas_level3_blocks(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout);
void tsl_blas_level3_loops(const tsl_blas_layout *layout);

#endif
