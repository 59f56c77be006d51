#include "api/fast_path.h"

#include "api/api.h"
#include "core/floats.h"
#include "core/log.h"
#include "core/status.h"
#include "planner/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tesela_status tsl_api_cpu(tesela_context *context, const tsl_device **cpu) {
  TSL_DEFAULT_FLOATS;
  tsl_devices *devices;
  tsl_device *device;
  const bool has_cpu = strcmp(context->device, "cpu") == 0 || strcmp(context->device, "auto") == 0;
  *cpu = NULL;
  if (!has_cpu || context->asks)
    return TESELA_OK;
  TSL_TRY(tsl_api_devices(context, &devices));
  TSL_TRY(tsl_devices_find(devices, "cpu", &device));
  *cpu = device;
  return TESELA_OK;
}

static bool is_not_cpu(const tsl_device *device) {
  return !tsl_device_is_host(device);
}

static bool fast_path_build_key(tesela_context *context, const tesela_gemm_desc *desc, tsl_call_key *key) {
  tsl_request request;
  return tsl_api_gemm_request(context, desc, &request) == TESELA_OK &&
         tsl_api_request(context, &request, key) == TESELA_OK;
}

/* Returns true if the plan is for another device than the cpu. Gives the plan back. */
static bool runs_off_cpu(tesela_context *context, tsl_cached_plan *cached) {
  const bool elsewhere = is_not_cpu(tsl_plan_cache_plan(cached)->plan->work.device);
  tsl_plan_cache_give_back(&context->cache, cached);
  return elsewhere;
}

/* Lists the candidates, the fastest first, from devices that may be faster than the processor. */
static tesela_status fast_path_list(tesela_context *context, const tsl_call_key *key, tsl_candidate **list,
                                    int *count) {
  TSL_DEFAULT_FLOATS;
  tsl_shared_wisdom *known;
  tsl_choice choice = {
      .vendors = tsl_planner_vendors(), .sparing = true, .device = key->device, .place = key->place};
  TSL_TRY(tsl_api_devices(context, &choice.devices));
  TSL_TRY(tsl_api_wisdom(context, &known));
  choice.wisdom = known->wisdom;
  const tesela_status status = tsl_planner_list(&key->problem, &choice, list, count);
  tsl_api_wisdom_release(known);
  return status;
}

bool tsl_api_goes_elsewhere(tesela_context *context, const tesela_gemm_desc *desc) {
  tsl_call_key key;
  tsl_cached_plan *cached;
  return fast_path_build_key(context, desc, &key) &&
         tsl_api_cached_plan(context, &key, &cached) == TESELA_OK && runs_off_cpu(context, cached);
}

/* Plans `request` and caches the plan under `key`. Refuses it if it is expected to take more than
 * `seconds_max`. */
static tesela_status fast_path_remember(tesela_context *context, const tsl_call_key *request,
                                        const tsl_call_key *key, double seconds_max, bool replaces) {
  const uint64_t generation = tsl_plan_cache_generation(&context->cache);
  tesela_plan *plan;
  tsl_cached_plan *cached;
  TSL_TRY(tsl_api_plan(context, request, &plan));
  if (plan->plan->expected > seconds_max) {
    tesela_plan_destroy(plan);
    return tsl_fail(TESELA_UNSUPPORTED, "the strategy that compiles soonest is slower than the processor");
  }
  TSL_TRY(tsl_plan_cache_add(&context->cache, key, generation, plan, plan->plan->work.device,
                             tsl_plan_bytes(plan->plan), replaces, &cached));
  tsl_plan_cache_give_back(&context->cache, cached);
  return TESELA_OK;
}

bool tsl_api_knows_elsewhere(tesela_context *context, const tesela_gemm_desc *desc, bool *elsewhere) {
  tsl_call_key key;
  tsl_cached_plan *cached =
      fast_path_build_key(context, desc, &key) ? tsl_plan_cache_find(&context->cache, &key) : NULL;
  *elsewhere = cached && runs_off_cpu(context, cached);
  return cached != NULL;
}

/* Returns the seconds of the fastest candidate on the processor. */
static double seconds_on_cpu(const tsl_candidate *list, int count) {
  for (int i = 0; i < count; i++)
    if (!list[i].refusal[0] && !is_not_cpu(list[i].device))
      return list[i].seconds;
  return INFINITY;
}

/* Plans by the strategy on the named device whose kernels compile soonest, then by the fastest. Returns false
 * if the processor is faster than the former. */
static bool fast_path_plan_twice(tesela_context *context, const tsl_call_key *key, const char *device,
                                 double on_cpu) {
  tsl_call_key request = *key;
  snprintf(request.device, sizeof request.device, "%s", device);
  request.runs = 1;
  if (fast_path_remember(context, &request, key, on_cpu, false) != TESELA_OK)
    return false;
  tsl_log(TSL_LOG_PLAN, "%lld x %lld x %lld goes to another device by a strategy that compiles soon",
          (long long)key->problem.m, (long long)key->problem.n, (long long)key->problem.k);
  (void)fast_path_remember(context, key, key, INFINITY, true);
  return true;
}

void tsl_api_prepare_elsewhere(tesela_context *context, const tesela_gemm_desc *desc,
                               void (*drivers_loaded)(void)) {
  tsl_call_key key;
  tsl_candidate *list = NULL;
  int count = 0;
  const bool leaves = fast_path_build_key(context, desc, &key) &&
                      fast_path_list(context, &key, &list, &count) == TESELA_OK && count > 0 &&
                      !list[0].refusal[0] && is_not_cpu(list[0].device);
  if (!leaves)
    tsl_log(TSL_LOG_PLAN, "%lld x %lld x %lld stays on the processor", (long long)desc->m, (long long)desc->n,
            (long long)desc->k);
  drivers_loaded();
  if (!leaves || key.strategy ||
      !fast_path_plan_twice(context, &key, list[0].device->name, seconds_on_cpu(list, count)))
    (void)tsl_api_goes_elsewhere(context, desc);
  free(list);
}
