/* Route of a call: tesela or the host ScaLAPACK. */
#ifndef TSL_SCALAPACK_SCALAPACK_ROUTE_H
#define TSL_SCALAPACK_SCALAPACK_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* Reports an invalid TESELA_SCALAPACK on stderr, once. */
void tsl_scalapack_check_request(void);

/* Returns true if a call is tesela's by its sizes; equal on all processes of the grid. other: there
 * is a host ScaLAPACK. */
bool tsl_scalapack_takes_gemm(int64_t m, int64_t n, int64_t k, int processes, bool other);
/* Returns true if a transpose is tesela's. Transposes are not faster here. */
bool tsl_scalapack_takes_transpose(bool other);

/* Returns a number that must be equal on all processes of a call: version and request. */
int64_t tsl_scalapack_same(void);

#endif
