#ifndef TSL_SCALAPACK_SCALAPACK_CONTEXT_H
#define TSL_SCALAPACK_SCALAPACK_CONTEXT_H

#include <tesela/tesela.h>

/* Returns the library's context for `sharing` processes on the caller's processors; NULL on failure. */
tesela_context *tsl_scalapack_context(int sharing);

#endif
