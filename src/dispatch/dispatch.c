#include "dispatch/dispatch.h"

static bool dispatch_is_real(const tsl_call *call) {
  return call->type == TESELA_F32 || call->type == TESELA_F64;
}

/* Returns true if the call is no larger than its crossovers allow at once. */
static bool dispatch_is_small(const tsl_call *call) {
  const tsl_crossover_table *limits = &tsl_crossovers;
  if (call->a_is == TESELA_TRIANGULAR || call->a_is == TESELA_UNIT_TRIANGULAR)
    return call->m <= limits->triangle_rows && call->n <= limits->triangle_columns;
  const bool is_symmetric = call->a_is != TESELA_GENERAL && dispatch_is_real(call);
  const int64_t side = is_symmetric ? limits->little_side_symmetric : limits->little_side;
  return call->m <= side && call->n <= side && call->k <= side &&
         tsl_dispatch_aligned(call->type, call->a.data, call->b.data, call->c.data);
}

bool tsl_dispatch_structured(const tsl_call *call, const tsl_device *cpu) {
  return (call->solves || (call->m > 0 && call->n > 0 && call->k > 0 && dispatch_is_small(call))) &&
         tsl_solve_host_blocked.direct.bind(call, cpu, NULL);
}

bool tsl_dispatch_packed(const tsl_call *call, const tsl_device *cpu, int threads) {
  const double volume =
      (dispatch_is_real(call) ? 1.0 : 4.0) * (double)call->m * (double)call->n * (double)call->k;
  tsl_call with_team = *call;
  if (call->m <= 0 || call->n <= 0 || call->k <= 0 ||
      !tsl_dispatch_aligned(call->type, call->a.data, call->b.data, call->c.data))
    return false;
  with_team.team = volume < (double)tsl_crossovers.thread_volume ? (tsl_team){0}
                                                                 : tsl_pool_team(tsl_pool_shared(), threads);
  return tsl_gemm_host_packed.direct.bind(&with_team, cpu, NULL);
}
