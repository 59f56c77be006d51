/* The process's contexts. */
#ifndef TSL_SCALAPACK_SCALAPACK_CONTEXT_H
#define TSL_SCALAPACK_SCALAPACK_CONTEXT_H

#include <tesela/tesela.h>

/* A context whose calls use the threads that are left to a process where so many share its processors. NULL
 * where none can be made. */
tesela_context *tsl_scalapack_context(int sharing);

#endif
