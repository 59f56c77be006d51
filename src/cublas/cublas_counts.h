/* Counts of calls for TESELA_LOG=calls, printed at the process's end. */
#ifndef TSL_CUBLAS_CUBLAS_COUNTS_H
#define TSL_CUBLAS_CUBLAS_COUNTS_H

#include "cublas/cublas_symbol.h"

/* Counts a call of a name if calls are logged. */
void tsl_cublas_count(tsl_cublas_symbol *symbol, bool is_ours);

#endif
