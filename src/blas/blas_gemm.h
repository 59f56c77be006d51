/* Products. */
#ifndef TSL_BLAS_BLAS_GEMM_H
#define TSL_BLAS_BLAS_GEMM_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"
#include "blas/reference_blas.h"

tsl_blas_function *tsl_blas_gemm(tsl_blas_call *call, const tsl_blas_multiply *product);

/* What products that are a triangle or a batch share with it: whether C keeps its value, since an argument is
 * wrong (check_args.h), which is told, or there is nothing to do; */
bool tsl_blas_ends_early(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product, int wrong);
/* the layout of a checked product; and its result by tesela, false where it cannot. */
tsl_blas_work tsl_blas_work_of(tesela_type type, const tsl_blas_multiply *product);
bool tsl_blas_by_tesela(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);

/* In tesela's words: a view of a matrix that is read, and of one that is written; and a product with its
 * scalars, whose description points into the struct. */
tesela_matrix tsl_blas_matrix_of(const tsl_blas_view *view, tesela_type type);
tesela_result tsl_blas_result_of(const tsl_blas_view *view, tesela_type type);
typedef struct tsl_blas_desc_storage {
  tesela_gemm_desc desc;
  double alpha[2], beta[2];
} tsl_blas_desc_storage;
void tsl_blas_to_desc(const tsl_blas_work *work, tsl_blas_desc_storage *out);

#endif
