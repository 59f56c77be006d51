#include "cublas/cublas_route.h"

#include "interpose/route_request.h"

static tsl_route_request requested;

__attribute__((constructor)) static void read_request(void) {
  requested = tsl_route_request_read(TSL_ENV_CUBLAS_CALLS);
}

bool tsl_cublas_is_off(void) {
  tsl_route_request_check(TSL_ENV_CUBLAS_CALLS);
  return requested == TSL_REQUEST_OTHER;
}

bool tsl_cublas_is_forced(void) {
  return requested == TSL_REQUEST_TESELA || requested == TSL_REQUEST_HOST;
}

bool tsl_cublas_on_host(void) {
  return requested == TSL_REQUEST_HOST || requested == TSL_REQUEST_HOST_AUTO;
}
