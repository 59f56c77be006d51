#ifndef TSL_BLAS_BLAS_THREADS_H
#define TSL_BLAS_BLAS_THREADS_H

/* Returns the threads of a call; 1 within the caller's OpenMP parallel region; 0: all. */
int tsl_blas_threads(void);
/* Resets the numbers in the child of a fork. */
void tsl_blas_forget_threads(void);

#endif
