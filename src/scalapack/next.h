/* The program's own ScaLAPACK, and its BLACS. */
#ifndef TSL_SCALAPACK_NEXT_H
#define TSL_SCALAPACK_NEXT_H

#include "scalapack/scalapack_symbol.h"

/* The function that a symbol stands in front of; NULL where there is none. */
tsl_scalapack_function *tsl_scalapack_next(tsl_scalapack_symbol *symbol);
/* Any function that the program has. */
tsl_scalapack_function *tsl_scalapack_find(tsl_scalapack_late *late, const char *name);

#endif
