#ifndef TSL_SCALAPACK_NEXT_H
#define TSL_SCALAPACK_NEXT_H

#include "scalapack/scalapack_symbol.h"

/* Returns the host ScaLAPACK function that a symbol interposes; NULL: none. */
tsl_scalapack_function *tsl_scalapack_next(tsl_scalapack_symbol *symbol);
/* Returns a function of the program, such as its BLACS's, by name; NULL: none. */
tsl_scalapack_function *tsl_scalapack_find(tsl_scalapack_lookup *lookup, const char *name);

#endif
