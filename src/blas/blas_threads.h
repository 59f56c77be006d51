#ifndef TSL_BLAS_BLAS_THREADS_H
#define TSL_BLAS_BLAS_THREADS_H

/* Returns the number of threads for a call. 1 within an OpenMP parallel region of the caller; 0:
 * all. */
int tsl_blas_threads(void);
/* resets the numbers in the child of a fork, whose environment may differ */
void tsl_blas_forget_threads(void);

#endif
