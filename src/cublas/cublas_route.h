/* Request of TESELA_CUBLAS_CALLS. */
#ifndef TSL_CUBLAS_CUBLAS_ROUTE_H
#define TSL_CUBLAS_CUBLAS_ROUTE_H

#include <stdbool.h>

/* Returns true if the program's cuBLAS computes everything. Reports a wrong word once, on stderr. */
bool tsl_cublas_is_off(void);
/* Returns true if tesela computes every call that it can. */
bool tsl_cublas_is_forced(void);
/* Returns true if operands are in host memory, in tests with a stand-in for cuBLAS. */
bool tsl_cublas_on_host(void);

#endif
