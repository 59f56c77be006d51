#ifndef TSL_BLAS_INNER_GEMM_H
#define TSL_BLAS_INNER_GEMM_H

#include "api/fast_path.h"
#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* Computes a product: at once if it is small, else by a cached plan, else by loops. record may be NULL. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);

typedef struct tsl_blas_structures {
  tesela_structure a, c;
  tesela_triangle a_triangle, c_triangle;
  bool in_place; /* c = alpha a c */
} tsl_blas_structures;

/* Computes a non-empty product without a plan. Returns false, with c unchanged, if it cannot. */
bool tsl_blas_pack_at_once(const tsl_blas_work *work, const tsl_blas_structures *structures);
/* Describes a small product without a triangular factor; alpha and beta are left out. False: no kernel. */
bool tsl_blas_to_desc_little(const tsl_blas_work *work, const tsl_blas_structures *structures,
                             tsl_fast_structured *out);
/* Computes the described product. Returns false, with c unchanged, if there is no kernel. */
bool tsl_blas_multiply_little(const tsl_fast_structured *product);

#endif
