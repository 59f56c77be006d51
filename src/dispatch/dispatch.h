/* Selects what computes a call on the cpu. The first of these steps that can computes it:
 *
 *     1  call_cache.h   the kernel, the plan or the other library of a repeated call
 *     2  crossovers.h   by its sizes a strategy, or a plan
 *     3  bind()         the strategy computes the call, or prepares it for repetitions
 *     4  planner        finds a plan: plan_cache.h, planner/planner.h */
#ifndef TSL_DISPATCH_DISPATCH_H
#define TSL_DISPATCH_DISPATCH_H

#include "dispatch/call_cache.h"
#include "dispatch/crossovers.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"

/* tsl_dispatch() for complex types, structures, triangles and systems. */
bool tsl_dispatch_structured(const tsl_call *call, const tsl_device *cpu);
/* Computes a small call, or a triangular system, with the call's team; with a binding, prepares a general
 * product of a real type instead (strategy.h, bind). Returns false, with nothing changed, if another way may
 * be faster or memory ran out. Inline, because a known type makes it one call. */
static inline bool tsl_dispatch(const tsl_call *call, const tsl_device *cpu, tsl_binding *binding) {
  const bool is_plain = (call->type == TESELA_F32 || call->type == TESELA_F64) && !call->solves &&
                        call->a_is == TESELA_GENERAL && call->c_triangle == TESELA_WHOLE;
  if (!is_plain)
    return !binding && tsl_dispatch_structured(call, cpu);
  return call->m > 0 && call->n > 0 && call->k > 0 &&
         tsl_dispatch_aligned(call->type, call->a.data, call->b.data, call->c.data) &&
         tsl_gemm_host_small.direct.bind(call, cpu, binding);
}
/* Computes a product of any size and structure at once with up to `threads` threads of the shared pool.
 * Returns false, with nothing changed, for empty products or if memory ran out. */
bool tsl_dispatch_packed(const tsl_call *call, const tsl_device *cpu, int threads);

#endif
