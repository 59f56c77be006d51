/* Inner products have many sizes, and planning each would take longer. */
#include "blas/inner_gemm.h"

#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/blas_threads.h"

bool tsl_blas_packed(const tsl_call *work) {
  const tsl_device *cpu = tsl_blas_cpu();
  return cpu && tsl_dispatch_packed(work, cpu, tsl_blas_threads());
}

void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record) {
  const tsl_device *cpu = tsl_blas_cpu();
  if (cpu && tsl_dispatch(work, cpu))
    return;
  const double volume =
      (tsl_blas_is_complex(work->type) ? 4.0 : 1.0) * (double)work->m * (double)work->n * (double)work->k;
  if ((volume < (double)tsl_crossovers.plan_volume && tsl_blas_packed(work)) ||
      tsl_blas_by_tesela(symbol, work, record))
    return;
  tsl_blas_loop_gemm(work);
}
