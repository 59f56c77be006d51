/* How many threads variables allow that are not tesela's: programs are started with them that know nothing of
 * it. */
#ifndef TSL_BASE_THREAD_LIMIT_H
#define TSL_BASE_THREAD_LIMIT_H

/* The least of a number and of what the first of OPENBLAS_NUM_THREADS, MKL_NUM_THREADS, BLIS_NUM_THREADS and
 * OMP_NUM_THREADS that is a number says. Where TESELA_THREADS is set, that rules alone, and the number stays.
 */
int tsl_thread_limit(int at_most);

#endif
