/* Thread limits of other libraries' variables, with which users start programs that use tesela indirectly. */
#ifndef TSL_BASE_THREAD_LIMIT_H
#define TSL_BASE_THREAD_LIMIT_H

/* Returns the minimum of at_most and the first of these variables that is a number: OPENBLAS_NUM_THREADS,
 * MKL_NUM_THREADS, BLIS_NUM_THREADS, OMP_NUM_THREADS. If TESELA_THREADS is set it returns at_most. */
int tsl_thread_limit(int at_most);

#endif
