/* TESELA_LOG=calls: a line on stderr for each call, from the first process of the grid. */
#ifndef TSL_SCALAPACK_CALLS_H
#define TSL_SCALAPACK_CALLS_H

#include "scalapack/descriptor.h"
#include "scalapack/scalapack_symbol.h"

#include <tesela/tesela_layout.h>

typedef struct tsl_scalapack_call {
  tsl_scalapack_symbol *symbol;
  char letters[3];  /* "NT" */
  int64_t sizes[3]; /* m, n, and k for products; else 0 */
  tsl_scalapack_position position;
  double started; /* by tsl_clock(); 0: not logged */
} tsl_scalapack_call;

/* Sets the start time if calls are logged. */
void tsl_scalapack_begin(tsl_scalapack_call *call);
/* Logs a call that tesela computed. */
void tsl_scalapack_end(const tsl_scalapack_call *call, const tesela_mpi_record *record);
/* Returns the host ScaLAPACK's function for a call that is not tesela's; NULL: none, reported on stderr. */
tsl_next_function *tsl_scalapack_forward(const tsl_scalapack_call *call, const char *why);
/* Reports on stderr that the result is wrong. */
void tsl_scalapack_report_lost(const tsl_scalapack_call *call, const char *why);

#endif
