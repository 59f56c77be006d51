#include "core/thread_limit.h"

#include "core/env.h"
#include "core/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The first variable that is set to a number counts. */
static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                                        "OMP_NUM_THREADS"};

/* Returns the first number, of a list by levels in OpenMP ("4,2"); 0: no number. */
static int first_number_of_list(const char *value) {
  char first[16];
  int64_t number;
  const size_t length = strcspn(value, ",");
  if (length == 0 || length >= sizeof first)
    return 0;
  memcpy(first, value, length);
  first[length] = '\0';
  return tsl_parse_i64(first, &number) && number >= 1 ? (int)(number < INT_MAX ? number : INT_MAX) : 0;
}

int tsl_thread_limit_from_env(int threads_max) {
  if (tsl_env_get(TSL_ENV_THREADS)[0] != '\0')
    return threads_max;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    const int number = value ? first_number_of_list(value) : 0;
    if (number > 0)
      return number < threads_max ? number : threads_max;
  }
  return threads_max;
}
