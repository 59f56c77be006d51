#ifndef TSL_CORE_THREAD_LIMIT_H
#define TSL_CORE_THREAD_LIMIT_H

/* Returns the minimum of threads_max and the first number of OPENBLAS_NUM_THREADS, MKL_NUM_THREADS,
 * BLIS_NUM_THREADS and OMP_NUM_THREADS; threads_max if TESELA_THREADS is set. */
int tsl_thread_limit_from_env(int threads_max);

#endif
