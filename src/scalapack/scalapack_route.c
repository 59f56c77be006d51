#include "scalapack/scalapack_route.h"

#include "core/env.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tesela/tesela.h>

#define REQUEST_LIST(X) X(AUTO, "auto") X(TESELA, "tesela") X(OTHER, "other")
typedef enum scalapack_route_request {
#define MEMBER(name, text) REQUEST_##name,
  REQUEST_LIST(MEMBER)
#undef MEMBER
} scalapack_route_request;

static const char *const requests[] = {
#define ROW(name, text) text,
    REQUEST_LIST(ROW)
#undef ROW
        NULL,
};
enum { REQUESTS = sizeof requests / sizeof *requests - 1 };

static scalapack_route_request requested;

__attribute__((constructor)) static void read_request(void) {
  const char *value = tsl_env_get(TSL_ENV_SCALAPACK);
  for (int i = 0; i < REQUESTS; i++)
    if (strcmp(value, requests[i]) == 0)
      requested = (scalapack_route_request)i;
}

void tsl_scalapack_check_request(void) {
  static atomic_flag checked = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&checked) && tsl_env_check(TSL_ENV_SCALAPACK, requests) != TESELA_OK)
    fprintf(stderr, "tesela: %s; %s is taken\n", tesela_last_error(), requests[requested]);
}

int64_t tsl_scalapack_settings(void) {
  return (int64_t)TESELA_VERSION_NUMBER * REQUESTS + (int64_t)requested;
}

static bool tesela_computes(bool is_faster, bool has_other) {
  return !has_other || requested == REQUEST_TESELA || (requested == REQUEST_AUTO && is_faster);
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
