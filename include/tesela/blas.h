/** @file blas.h
 * @brief Number of threads of the BLAS drop-in, libtesela_blas.so.
 *
 * The products have BLAS's names, which the header of any BLAS declares. docs/BLAS.md lists further limits.
 */
#ifndef TESELA_BLAS_H
#define TESELA_BLAS_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets the maximum number of threads of later calls in the whole process. It is never more than
 * TESELA_THREADS, or the processors that the process may run on. A value below 1 restores the default. */
TESELA_API void tesela_set_num_threads(int threads);

/** Returns the number of threads that a large call would use now. */
TESELA_API int tesela_get_num_threads(void);

#ifdef __cplusplus
}
#endif
#endif
