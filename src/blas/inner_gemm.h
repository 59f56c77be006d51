/* Computes products by tesela, without a choice between libraries. */
#ifndef TSL_BLAS_INNER_GEMM_H
#define TSL_BLAS_INNER_GEMM_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"
#include "blas/reference_blas.h"

/* Returns the layout of a checked product. */
tsl_call tsl_blas_work_of(tesela_type type, const tsl_blas_multiply *product);
/* Computes a product by tesela. Returns false if tesela cannot; then C is unchanged. */
bool tsl_blas_by_tesela(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record);

/* Computes a product without structures: at once if it is small, else packed, by a cached plan, or by loops.
 * record may be NULL. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record);
/* Computes any product by packed panels; false: C is unchanged. */
bool tsl_blas_packed(const tsl_call *work);

/* Converts a view to tesela's description of an input matrix. */
tesela_matrix tsl_blas_matrix_of(const tsl_call_matrix *view, tesela_type type);
tesela_result tsl_blas_result_of(const tsl_call_matrix *view, tesela_type type);
/* Description of a product; it points to the scalars. */
typedef struct tsl_blas_desc_storage {
  tesela_gemm_desc desc;
  double alpha[2], beta[2];
} tsl_blas_desc_storage;
void tsl_blas_to_desc(const tsl_call *work, tsl_blas_desc_storage *out);

#endif
