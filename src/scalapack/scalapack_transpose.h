/* Computes p?tran, p?tranu, p?tranc, or a transposing p?geadd. Returns the function to forward to; NULL:
 * done. */
#ifndef TSL_SCALAPACK_SCALAPACK_TRANSPOSE_H
#define TSL_SCALAPACK_SCALAPACK_TRANSPOSE_H

#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_symbol.h"

tsl_scalapack_function *tsl_scalapack_transpose(tsl_scalapack_symbol *symbol, const tsl_scalapack_add *sum);

#endif
