/* Who computes: tesela, or the ScaLAPACK that the program had before. */
#include "scalapack/route.h"

#include "base/env.h"

#include <string.h>

/* TESELA_SCALAPACK, read when the library is loaded. */
#define REQUEST_LIST(X) X(AUTO, "auto") X(TESELA, "tesela") X(OTHER, "other")
typedef enum request {
#define MEMBER(name, text) REQUEST_##name,
  REQUEST_LIST(MEMBER)
#undef MEMBER
} request;

static const char *const requests[] = {
#define ROW(name, text) text,
    REQUEST_LIST(ROW)
#undef ROW
};

static request wanted;

__attribute__((constructor)) static void read_request(void) {
  const char *value = tsl_env_get(TSL_ENV_SCALAPACK);
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    if (strcmp(value, requests[i]) == 0)
      wanted = (request)i;
}

int64_t tsl_scalapack_same(void) {
  return (int64_t)TESELA_VERSION_NUMBER * (int64_t)(sizeof requests / sizeof *requests) + (int64_t)wanted;
}

static bool takes(double work, double from, bool other) {
  if (wanted == REQUEST_AUTO)
    return !other || work >= from;
  return wanted == REQUEST_TESELA || !other;
}

/* From how many multiply-adds, or elements, a process on tesela is the faster one; measured (docs/SCALE.md). */
static const double gemm_from = 64.0 * 64 * 64, add_from = 256.0 * 256;

bool tsl_scalapack_takes_gemm(tesela_type type, int64_t m, int64_t n, int64_t k, int processes, bool other) {
  (void)type;
  return takes((double)m * (double)n * (double)k / processes, gemm_from, other);
}

bool tsl_scalapack_takes_add(tesela_type type, int64_t m, int64_t n, int processes, bool other) {
  (void)type;
  return takes((double)m * (double)n / processes, add_from, other);
}
