/* libtesela_scalapack.so: tesela under the names of ScaLAPACK. Distributed products and transposes are
 * computed by tesela or by the host ScaLAPACK (which the program would use without tesela), whichever is
 * faster.
 *
 *   entries/              one exported function per name; converts its arguments to scalapack_arguments.h
 *   scalapack_gemm scalapack_transpose
 *                         check the arguments, get the route, and compute or return the function to
 *                         forward to
 *   scalapack_route       tesela or the host ScaLAPACK
 *   descriptor            nine integers and an offset, checked and converted to a layout
 *   scalapack_grid        processes of a BLACS context, and their communicator
 *   processes             processes of the job that have this library
 *   scalapack_context     contexts of the process
 *   width                 integer width of the host ScaLAPACK and BLACS
 *   calls                 log of TESELA_LOG=calls
 *
 * An entry calls a function that returns NULL if the result is complete, else the host ScaLAPACK's function
 * for the entry to call. All processes of a grid decide alike: by ScaLAPACK's global arguments, and by the
 * agreement at the first use of the grid. */
#ifndef TSL_SCALAPACK_SCALAPACK_SYMBOL_H
#define TSL_SCALAPACK_SCALAPACK_SYMBOL_H

#include "interpose/next_symbol.h"

/* Exported name: a static variable of its entry. */
typedef struct tsl_scalapack_symbol {
  const char *name; /* "pdgemm_" */
  tesela_type type;
  tsl_lazy_symbol next;
} tsl_scalapack_symbol;

#endif
