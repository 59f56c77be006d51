/* The error handlers of the test executable, which the drop-in calls in place of its own. */
#ifndef TSL_TESTS_BLAS_XERBLA_H
#define TSL_TESTS_BLAS_XERBLA_H

#include <stdint.h>

/* Name and number of the last call of a handler; xerbla_64_() adds 1000 to the number. */
extern char told_name[32];
extern int64_t told_number;

#endif
