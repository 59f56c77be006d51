/* BLAS level 3 except gemm. */
#ifndef TSL_BLAS_BLAS_LEVEL3_H
#define TSL_BLAS_BLAS_LEVEL3_H

#include "blas/blas_route.h"
#include "blas/call_log.h"
#include "blas/reference_blas.h"

/* Returns the host BLAS function to forward to; NULL: the call is complete. */
tsl_blas_function *tsl_blas_level3(tsl_blas_call *call, const tsl_blas_multiply *structured);
/* Computes gemmt, an update with two independent factors, in the same ways. */
tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product);

/* Returns multiply-adds, complex or real. */
static inline double tsl_blas_level3_volume(const tsl_blas_multiply *structured) {
  const double m = (double)structured->m, n = (double)structured->n;
  return structured->routine < TSL_BLAS_SYMM ? m * n * (double)structured->k
                                             : m * n * (structured->side == 'L' ? m : n);
}

/* Returns 0, or the number of the first wrong argument. */
int tsl_blas_check_level3(tesela_type type, const tsl_blas_multiply *structured);

/* Checked call in terms of its operands. Strides express rows and columns, op is applied, and a factor on the
 * right is one on the left of the transposed problem.
 *
 *   updates    triangle `uplo` of c = alpha a b + beta c; rank 2k adds alpha2 a2 b2
 *   symm hemm  c = alpha a b + beta c, a symmetric or hermitian, with `uplo` stored
 *   trmm       c = alpha a c, a is the triangle `uplo`
 *   trsm       solves a c = alpha (old c) */
typedef struct tsl_blas_layout {
  tsl_blas_routine routine;
  int uplo;
  bool unit, hermitian; /* hermitian: the other triangle is the conjugate */
  tsl_call work;
  tsl_call_matrix a2, b2; /* factors of the second product of an update of rank 2k */
  double alpha2[2];       /* its scalar */
} tsl_blas_layout;

/* Converts arguments to a layout. */
void tsl_blas_lay_out(tesela_type type, const tsl_blas_multiply *structured, tsl_blas_layout *out);
/* Converts gemmt's arguments, for any device. */
void tsl_blas_lay_out_gemmt(tesela_type type, const tsl_blas_multiply *product, tsl_blas_layout *out);
/* Sets the imaginary parts on the diagonal of a hermitian C to 0. */
void tsl_blas_make_real(const tsl_blas_layout *layout);

/* Name of the implementation if a plan computed. */
extern const char tsl_blas_by_plan[];
/* Computes by tesela. Returns the implementation's name; NULL: no memory, with only `layout` changed. */
const char *tsl_blas_level3_compute(const tsl_blas_symbol *symbol, tsl_blas_layout *layout,
                                    tesela_record *record);
/* Converts an update of rank 2k with few terms to rank k with twice as many, on a concatenated copy of the
 * factors. Returns the copy, which the caller frees; NULL: `layout` is unchanged. */
void *tsl_blas_level3_join(tsl_blas_layout *layout);
/* Solves a triangular system without a plan. Returns false, with c unchanged, if it cannot. */
bool tsl_blas_level3_solve(tsl_blas_layout *layout);
/* Computes a call with few rows, columns and terms. Returns false, with c unchanged, for larger calls. */
bool tsl_blas_level3_little(tsl_blas_layout *layout);
static inline tesela_triangle tsl_blas_level3_side(const tsl_blas_layout *layout) {
  return layout->uplo == 'L' ? TESELA_LOWER : TESELA_UPPER;
}
/* Returns true if an update of rank 2k is a product plus its transpose: both have one factor. */
static inline bool tsl_blas_level3_is_sum(const tsl_blas_layout *layout) {
  return layout->routine == TSL_BLAS_SYR2K ||
         (layout->routine == TSL_BLAS_HER2K && layout->work.alpha[1] == 0);
}
/* Computes without a plan if that is faster. Returns false, with c unchanged, otherwise. */
bool tsl_blas_level3_direct(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout);
/* Returns true if a plan pays for a call of this size. */
bool tsl_blas_level3_is_planned(const tsl_blas_layout *layout);
/* Returns true if all numbers of c are finite; else zeros outside of a triangle would make NaNs. */
bool tsl_blas_level3_is_finite(const tsl_call *work);
/* Computes by public calls; false, with c unchanged, if that does not pay or fails. record may be NULL. */
bool tsl_blas_level3_plan(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout,
                          tesela_record *record);
/* Computes by products of blocks. Returns false, with c unchanged, without memory. */
bool tsl_blas_level3_blocks(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout);
void tsl_blas_level3_loops(const tsl_blas_layout *layout);

#endif
