/** How many threads the BLAS drop-in, libtesela_blas.so, computes with. Its products have BLAS's names, which
 * every BLAS's own headers declare. docs/BLAS.md says what else limits them. */
#ifndef TESELA_BLAS_H
#define TESELA_BLAS_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Calls use at most so many threads from now on, in the whole process; never more than TESELA_THREADS, or
 * the processors that the process may run on. Less than 1: as if this had not been called. */
TESELA_API void tesela_set_num_threads(int threads);

/** How many threads a large call would use now. */
TESELA_API int tesela_get_num_threads(void);

#ifdef __cplusplus
}
#endif
#endif
