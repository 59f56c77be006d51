/* Who computes. */
#ifndef TSL_SCALAPACK_SCALAPACK_ROUTE_H
#define TSL_SCALAPACK_SCALAPACK_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* Prints a line on stderr, once, where TESELA_SCALAPACK is none of its words. */
void tsl_scalapack_check_request(void);

/* Whether a call is tesela's by its sizes; every process of the grid comes to the same. `other` is whether
 * the program has a ScaLAPACK of its own. */
bool tsl_scalapack_takes_gemm(int64_t m, int64_t n, int64_t k, int processes, bool other);
/* Transposes are no faster here. */
bool tsl_scalapack_takes_transpose(bool other);

/* What processes have to have in common that compute together, beside their arguments: the version, and what
 * they were told. */
int64_t tsl_scalapack_same(void);

#endif
