/* Computes p?tran, p?tranu, p?tranc, transposing p?geadd. Returns NULL, or the function to forward to. */
#ifndef TSL_SCALAPACK_SCALAPACK_TRANSPOSE_H
#define TSL_SCALAPACK_SCALAPACK_TRANSPOSE_H

#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_symbol.h"

tsl_next_function *tsl_scalapack_transpose(tsl_scalapack_symbol *symbol, const tsl_scalapack_add *sum);

#endif
