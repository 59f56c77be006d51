#ifndef TSL_SCALAPACK_SCALAPACK_CONTEXT_H
#define TSL_SCALAPACK_SCALAPACK_CONTEXT_H

#include <tesela/tesela.h>

/* Returns the process's context for a grid in which `sharing` processes share the caller's
 * processors. NULL: it cannot be made. The library owns the context. */
tesela_context *tsl_scalapack_context(int sharing);

#endif
