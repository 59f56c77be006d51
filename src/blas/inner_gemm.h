/* Products within a call. */
#ifndef TSL_BLAS_INNER_GEMM_H
#define TSL_BLAS_INNER_GEMM_H

#include "api/fast_path.h"
#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* Computes a product in any case: at once if it is small, else by a cached plan, else by loops.
 * record may be NULL. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);

/* Structures of the operands of a product. */
typedef struct tsl_blas_structures {
  tesela_structure a, c;
  tesela_triangle a_triangle, c_triangle;
  bool in_place; /* c = alpha a c */
} tsl_blas_structures;

/* Computes a non-empty product without a plan. Returns false, with c unchanged, if that is
 * impossible. */
bool tsl_blas_pack_at_once(const tsl_blas_work *work, const tsl_blas_structures *structures);
/* Describes a product with few rows, columns and terms and without a triangular factor; leaves
 * alpha and beta to the caller. Returns false if its kernel cannot take it. */
bool tsl_blas_to_desc_little(const tsl_blas_work *work, const tsl_blas_structures *structures,
                             tsl_fast_structured *out);
/* Computes a product described by tsl_blas_to_desc_little(). Returns false, with c unchanged, if
 * there is no kernel. */
bool tsl_blas_multiply_little(const tsl_fast_structured *product);

#endif
