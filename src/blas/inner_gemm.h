/* Products that are parts of a call. */
#ifndef TSL_BLAS_INNER_GEMM_H
#define TSL_BLAS_INNER_GEMM_H

#include "api/fast_path.h"
#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* Computes it, whatever comes: at once where it is not large, else by a plan that is kept, else by loops.
 * record may be NULL. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);

/* What the matrices of a product are of which a triangle is stored, or computed. */
typedef struct tsl_blas_structures {
  tesela_structure a, c;
  tesela_triangle a_triangle, c_triangle;
  bool in_place; /* the product of a and c */
} tsl_blas_structures;

/* A product that is not empty, without a plan; false where that cannot be, and c is as it was. */
bool tsl_blas_pack_at_once(const tsl_blas_work *work, const tsl_blas_structures *structures);
/* One of few rows, columns and terms, whose factor is no triangle: in the words of who computes it, but for
 * alpha and beta, false where it is not for them; and done. */
bool tsl_blas_to_desc_little(const tsl_blas_work *work, const tsl_blas_structures *structures,
                             tsl_fast_structured *out);
bool tsl_blas_multiply_little(const tsl_fast_structured *product);

#endif
