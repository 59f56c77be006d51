#ifndef TSL_BLAS_BLAS_CONTEXT_H
#define TSL_BLAS_BLAS_CONTEXT_H

#include "api/fast_path.h"
#include "blas/background.h"

#include <tesela/tesela.h>

/* Calls tesela_gemm() on the context for the current number of threads. Without a context it returns
 * TESELA_OUT_OF_MEMORY, as do the functions below. */
tesela_status tsl_blas_run_gemm(const tesela_gemm_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_batch(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                 tesela_record *record);
tesela_status tsl_blas_run_grouped(const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                                   tesela_record *record);
tesela_status tsl_blas_run_dot(const tesela_dot_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_solve(const tesela_solve_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_transpose(const tesela_transpose_desc *desc, tesela_record *record);

/* Returns the place of a product if the context may choose its device. */
tsl_blas_place tsl_blas_place_of(const tesela_gemm_desc *desc);
/* Returns the cpu for calls without plans, valid also in the child of a fork; NULL: the first context's calls
 * all need plans. */
const tsl_device *tsl_blas_cpu(void);

/* Returns true after tsl_blas_mark_unsupported(), so that planning is not repeated. */
bool tsl_blas_lacks(int op, tesela_type type, tesela_type result);
/* Records that an operation (TSL_BLAS_GEMM, ...) has no strategy for the types. */
void tsl_blas_mark_unsupported(int op, tesela_type type, tesela_type result);

#endif
