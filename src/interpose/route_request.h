/* Implementations that TESELA_BLAS, TESELA_SCALAPACK and TESELA_CUBLAS_CALLS request. */
#ifndef TSL_INTERPOSE_ROUTE_REQUEST_H
#define TSL_INTERPOSE_ROUTE_REQUEST_H

#include "core/env.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef enum tsl_route_request {
  TSL_REQUEST_AUTO, /* the faster one */
  TSL_REQUEST_TESELA,
  TSL_REQUEST_OTHER,                    /* the host library */
  TSL_REQUEST_LOOPS,                    /* BLAS only */
  TSL_REQUEST_HOST = TSL_REQUEST_LOOPS, /* cuBLAS only: as tesela, for operands in host memory */
  TSL_REQUEST_HOST_AUTO,                /* cuBLAS only: as auto, for operands in host memory */
  TSL_REQUEST_COUNT
} tsl_route_request;

/* Returns the request of a variable, whose words are in the order of tsl_route_request; auto for another
 * word. */
static inline tsl_route_request tsl_route_request_read(tsl_env variable) {
  const char *const *words = tsl_env_words(variable);
  int i = 0;
  while (words[i] && strcmp(words[i], tsl_env_get(variable)) != 0)
    i++;
  return words[i] ? (tsl_route_request)i : TSL_REQUEST_AUTO;
}

/* Prints that a variable has another word than its own; at the first call only. */
static inline void tsl_route_request_check(tsl_env variable) {
  static atomic_bool is_checked; /* loaded first: an exchange takes 20 clocks in each call */
  if (!atomic_load_explicit(&is_checked, memory_order_relaxed) && !atomic_exchange(&is_checked, true) &&
      tsl_env_check(variable) != TESELA_OK)
    fprintf(stderr, "tesela: %s; auto is taken\n", tesela_last_error());
}

#endif
