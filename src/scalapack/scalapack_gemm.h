#ifndef TSL_SCALAPACK_SCALAPACK_GEMM_H
#define TSL_SCALAPACK_SCALAPACK_GEMM_H

#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_symbol.h"

/* Returns the function to forward to; NULL: the call is complete. */
tsl_next_function *tsl_scalapack_gemm(tsl_scalapack_symbol *symbol, const tsl_scalapack_multiply *product);

#endif
