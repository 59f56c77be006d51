/* Choice of the device under TESELA_DEVICE=auto: a background thread chooses and opens it and compiles
 * kernels. Until it has finished, the CPU computes calls of this kind. */
#ifndef TSL_BLAS_ASYNC_PLANNING_H
#define TSL_BLAS_ASYNC_PLANNING_H

#include <tesela/tesela.h>

typedef enum tsl_blas_place {
  TSL_BLAS_HERE,      /* the CPU; decided */
  TSL_BLAS_ELSEWHERE, /* another device, which is ready */
  TSL_BLAS_NOT_YET    /* the CPU, because the decision is pending or has failed */
} tsl_blas_place;

/* Returns the place of a call. Decides at once, in the caller's thread, if `threads` is 1 or if the process's
 * end cannot wait for a background thread. */
tsl_blas_place tsl_blas_async_placement(tesela_context *context, const tesela_gemm_desc *desc, int threads);
/* Resets the state in the child of a fork, which has no background thread. */
void tsl_blas_forget_ahead(void);

#endif
