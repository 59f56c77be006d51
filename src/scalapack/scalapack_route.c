#include "scalapack/scalapack_route.h"

#include "interpose/route_request.h"

#include <tesela/tesela.h>

static tsl_route_request requested;

__attribute__((constructor)) static void read_request(void) {
  requested = tsl_route_request_read(TSL_ENV_SCALAPACK);
}

void tsl_scalapack_check_request(void) {
  tsl_route_request_check(TSL_ENV_SCALAPACK);
}

int64_t tsl_scalapack_settings(void) {
  return (int64_t)TESELA_VERSION_NUMBER * TSL_REQUEST_COUNT + (int64_t)requested;
}

static bool tesela_computes(bool is_faster, bool has_other) {
  return !has_other || requested == TSL_REQUEST_TESELA || (requested == TSL_REQUEST_AUTO && is_faster);
}

/* Minimum multiply-adds per process, and minimum side, for which tesela is faster (docs/lab/scalapack.md). In
 * small products processes wait for each other more often. */
static const double gemm_work_min = 1100.0 * 1100 * 1100;
enum { SIDE_MIN = 256 };

bool tsl_scalapack_takes_gemm(int64_t m, int64_t n, int64_t k, int processes, bool has_other) {
  return tesela_computes(m >= SIDE_MIN && n >= SIDE_MIN && k >= SIDE_MIN &&
                             (double)m * (double)n * (double)k >= gemm_work_min * processes,
                         has_other);
}

bool tsl_scalapack_takes_transpose(bool has_other) {
  return tesela_computes(false, has_other);
}
