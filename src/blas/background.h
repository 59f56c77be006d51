/* Background thread of the library. Under TESELA_DEVICE=auto it chooses and opens the device of a call and
 * compiles kernels; it also races the host BLAS against tesela. Until it has finished, the CPU computes calls
 * of this kind, and the crossovers decide between the libraries. */
#ifndef TSL_BLAS_BACKGROUND_H
#define TSL_BLAS_BACKGROUND_H

#include "blas/blas_arguments.h"
#include "blas/blas_symbol.h"

typedef enum tsl_blas_place {
  TSL_BLAS_HERE,      /* the CPU; decided */
  TSL_BLAS_ELSEWHERE, /* another device, which is ready */
  TSL_BLAS_NOT_YET    /* the CPU, because the decision is pending or has failed */
} tsl_blas_place;

/* Returns the place of a call. Decides at once, in the caller's thread, if `threads` is 1 or if the process's
 * end cannot wait for a background thread. */
tsl_blas_place tsl_blas_async_placement(tesela_context *context, const tesela_gemm_desc *desc, int threads);

/* Compares the symbol's host BLAS function with tesela, and stores the result in the symbol. */
typedef void tsl_blas_race(tsl_blas_symbol *symbol, tsl_blas_routine routine);
/* Queues a race. Returns false if there is no background thread, or if the queue is full. */
bool tsl_blas_race_later(tsl_blas_race *race, tsl_blas_symbol *symbol, tsl_blas_routine routine);

/* Resets the state in the child of a fork, which has no background thread. */
void tsl_blas_forget_background(void);

#endif
