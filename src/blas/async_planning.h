/* Where products go whose device is free to choose (TESELA_DEVICE=auto), without waiting for it: the choice
 * is made, the device opened and kernels compiled by a thread beside the program, whose calls of that kind
 * the processor computes meanwhile. */
#ifndef TSL_BLAS_ASYNC_PLANNING_H
#define TSL_BLAS_ASYNC_PLANNING_H

#include <tesela/tesela.h>

typedef enum tsl_blas_place {
  TSL_BLAS_HERE,      /* the processor, as was found */
  TSL_BLAS_ELSEWHERE, /* another device, which is ready */
  TSL_BLAS_NOT_YET    /* the processor, as it is being found out, or could not be */
} tsl_blas_place;

/* Of a call with these sizes, strides and scalars. With one thread it is found out at once, in the caller's;
 * so it is where the end of the process could not wait for another. */
tsl_blas_place tsl_blas_async_placement(tesela_context *context, const tesela_gemm_desc *desc, int threads);
/* In the child of a fork, which has no such thread. */
void tsl_blas_forget_ahead(void);

#endif
