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

/* Computes a small general product of a real type, or prepares it (strategy.h, bind). Reads neither
 * structures nor triangles of the call. */
static inline bool tsl_dispatch_small(const tsl_call *call, const tsl_device *cpu, tsl_binding *binding) {
  return tsl_gemm_host_small.direct.bind(call, cpu, binding);
}
/* Computes a small call of any structure, or a triangular system, at once with the call's team. Returns
 * false, with nothing changed, if another way may be faster or memory ran out. */
bool tsl_dispatch(const tsl_call *call, const tsl_device *cpu);
/* Computes a product of any size and structure at once with up to `threads` threads of the shared pool.
 * Returns false, with nothing changed, for empty products or if memory ran out. */
bool tsl_dispatch_packed(const tsl_call *call, const tsl_device *cpu, int threads);

#endif
