#include "scalapack/scalapack_context.h"

#include "core/env.h"
#include "core/pool.h"
#include "core/thread_limit.h"
#include "interpose/contexts.h"

/* Returns the threads of one of `sharing` processes; TESELA_THREADS counts per process. */
static int scalapack_context_threads(int sharing) {
  const int all = tsl_pool_default_threads();
  if (tsl_env_get_or_null(TSL_ENV_THREADS))
    return all;
  const int own = all / sharing;
  return tsl_thread_limit_from_env(own > 1 ? own : 1);
}

tesela_context *tsl_scalapack_context(int sharing) {
  return tsl_interpose_context(scalapack_context_threads(sharing));
}
