/* How many threads a call has. */
#ifndef TSL_BLAS_BLAS_THREADS_H
#define TSL_BLAS_BLAS_THREADS_H

/* Now; 1 where the caller is parallel already (inside its own OpenMP region); 0: all that there are. */
int tsl_blas_threads(void);
void tsl_blas_forget_threads(void); /* in the child of a fork: variables may be others there */

#endif
