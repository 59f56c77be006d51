#ifndef TSL_SCALAPACK_SCALAPACK_ROUTE_H
#define TSL_SCALAPACK_SCALAPACK_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* Reports an invalid TESELA_SCALAPACK on stderr, once. */
void tsl_scalapack_check_request(void);

/* Returns true if sizes make a call tesela's, alike on all processes. has_other: a host ScaLAPACK exists. */
bool tsl_scalapack_takes_gemm(int64_t m, int64_t n, int64_t k, int processes, bool has_other);
/* Returns true if tesela computes transposes: on request, or without a host ScaLAPACK, which is as fast. */
bool tsl_scalapack_takes_transpose(bool has_other);

/* Returns version and request as a number that must be equal on all processes. */
int64_t tsl_scalapack_settings(void);

#endif
