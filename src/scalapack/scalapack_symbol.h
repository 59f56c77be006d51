/* libtesela_scalapack.so: tesela behind ScaLAPACK's names. A program that is linked with it, or started with
 * it in LD_PRELOAD, has its distributed products and transposes computed here or by the ScaLAPACK that it had
 * before, whichever is faster.
 *
 *   entries/    one exported function a name: says its arguments as one of the structs of
 * scalapack_arguments.h gemm transpose    check them, ask route, and compute, or return whom to forward to
 *   route       tesela or the program's own ScaLAPACK
 *   descriptor  nine integers and an offset, checked and said as a layout
 *   grid        the processes of a BLACS context, and tesela's communicator of them
 *   processes   which processes of the job have this library
 *   context     the process's tesela contexts
 *   next        finds the program's own ScaLAPACK and BLACS; width: how wide their integers are
 *   calls       what TESELA_LOG=calls tells of each call
 *
 * An entry calls a function that returns NULL when the result is there, or the function of the same name in
 * another library: the entry calls that one with its own arguments. Whoever computes, all processes of the
 * grid choose the same: by what ScaLAPACK calls global arguments, and by what they agreed on when the grid
 * was first seen. */
#ifndef TSL_SCALAPACK_SCALAPACK_SYMBOL_H
#define TSL_SCALAPACK_SCALAPACK_SYMBOL_H

#include <stdatomic.h>
#include <tesela/tesela.h>

typedef void tsl_scalapack_function(void);

/* A function of another library, looked for until it is found. */
typedef struct tsl_scalapack_late {
  tsl_scalapack_function *_Atomic found;
} tsl_scalapack_late;

/* An exported name. Static in its entry. */
typedef struct tsl_scalapack_symbol {
  const char *name; /* "pdgemm_" */
  tesela_type type;
  tsl_scalapack_late next;
} tsl_scalapack_symbol;

#endif
