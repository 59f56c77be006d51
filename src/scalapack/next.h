/* Search for the host ScaLAPACK, which the program would use without this library, and its BLACS. */
#ifndef TSL_SCALAPACK_NEXT_H
#define TSL_SCALAPACK_NEXT_H

#include "scalapack/scalapack_symbol.h"

/* Returns the function that a symbol interposes; NULL: none. */
tsl_scalapack_function *tsl_scalapack_next(tsl_scalapack_symbol *symbol);
/* Returns a function of the program by name; NULL: none. */
tsl_scalapack_function *tsl_scalapack_find(tsl_scalapack_late *late, const char *name);

#endif
