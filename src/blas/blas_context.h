/* The process's contexts, and the public calls on them with as many threads as a call has now. */
#ifndef TSL_BLAS_BLAS_CONTEXT_H
#define TSL_BLAS_BLAS_CONTEXT_H

#include "api/fast_path.h"
#include "blas/async_planning.h"

#include <tesela/tesela.h>

/* tesela_gemm() and its like. */
tesela_status tsl_blas_run_gemm(const tesela_gemm_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_batch(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                 tesela_record *record);
tesela_status tsl_blas_run_grouped(const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                                   tesela_record *record);
tesela_status tsl_blas_run_dot(const tesela_dot_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_solve(const tesela_solve_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_transpose(const tesela_transpose_desc *desc, tesela_record *record);

/* Where a product runs, where the context may choose. */
tsl_blas_place tsl_blas_place_of(const tesela_gemm_desc *desc);
/* The first context's way to multiply without plans; NULL: it has none. It goes on in the child of a fork. */
const tsl_fast_path *tsl_blas_fast_path(void);

/* Whether a type was refused before by an operation, TSL_BLAS_GEMM or another, and that it was: planning is
 * not repeated for what has no strategy. */
bool tsl_blas_lacks(int op, tesela_type type, tesela_type result);
void tsl_blas_mark_unsupported(int op, tesela_type type, tesela_type result);

#endif
