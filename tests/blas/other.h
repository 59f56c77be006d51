/* Names that other.c has in addition to BLAS's names. */
#ifndef TSL_TESTS_BLAS_OTHER_H
#define TSL_TESTS_BLAS_OTHER_H

#include "blas/names.h"

enum { OTHER_MARK = 4242 };

extern int other_is_parallel;
int omp_in_parallel(void);

#endif
