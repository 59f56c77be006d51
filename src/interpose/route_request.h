/* Implementations that TESELA_BLAS and TESELA_SCALAPACK request. */
#ifndef TSL_INTERPOSE_ROUTE_REQUEST_H
#define TSL_INTERPOSE_ROUTE_REQUEST_H

#include "core/env.h"

#include <string.h>

typedef enum tsl_route_request {
  TSL_REQUEST_AUTO, /* the faster one */
  TSL_REQUEST_TESELA,
  TSL_REQUEST_OTHER, /* the host library */
  TSL_REQUEST_LOOPS  /* BLAS only */
} tsl_route_request;

/* Returns the request of a variable whose words, in the order of tsl_route_request, end with NULL. */
static inline tsl_route_request tsl_route_request_read(tsl_env variable, const char *const *words) {
  int i = 0;
  while (words[i] && strcmp(words[i], tsl_env_get(variable)) != 0)
    i++;
  return words[i] ? (tsl_route_request)i : TSL_REQUEST_AUTO;
}

#endif
