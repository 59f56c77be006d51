/* TESELA_LOG=calls: a line on stderr for each call, of the process in the grid's first place. */
#ifndef TSL_SCALAPACK_CALLS_H
#define TSL_SCALAPACK_CALLS_H

#include "scalapack/descriptor.h"
#include "scalapack/scalapack_symbol.h"

#include <tesela/tesela_layout.h>

/* One call under way. */
typedef struct tsl_scalapack_call {
  tsl_scalapack_symbol *symbol;
  char letters[3];  /* "NT" */
  int64_t sizes[3]; /* m, n and of a product k; else 0 */
  tsl_scalapack_place place;
  double started; /* by tsl_clock(); 0: nobody listens */
} tsl_scalapack_call;

void tsl_scalapack_begin(tsl_scalapack_call *call);
/* It was done here. */
void tsl_scalapack_end(const tsl_scalapack_call *call, const tesela_mpi_record *record);
/* It is for the other library, for this reason: returns that one's function. Where there is none stderr is
 * told, since ScaLAPACK's routines have no status, and NULL returned: C stays as it was. */
tsl_scalapack_function *tsl_scalapack_forward(const tsl_scalapack_call *call, const char *why);
/* The result cannot be given. */
void tsl_scalapack_lost(const tsl_scalapack_call *call, const char *why);

#endif
