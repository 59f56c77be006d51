/* Products so small that even a plan takes longer: multiplied from the description, where the planner would have nothing to choose. */
#include "planner/at_once.h"

#include "api/api.h"
#include "base/status.h"
#include "planner/planner.h"

/* Whether planning would come to the strategy that it returns, as it would for a plan of the same problem; else NULL. */
static const tsl_strategy *strategy_for(tesela_context *context, const tsl_call_key *key,
                                        const tsl_device **cpu) {
  tsl_choice choice = {
      .device = key->device, .place = key->place, .vendors = tsl_planner_vendors(), .sparing = true};
  tsl_known *known;
  if (tsl_api_devices(context, &choice.devices) != TESELA_OK || tsl_api_wisdom(context, &known) != TESELA_OK)
    return NULL;
  choice.wisdom = known->wisdom;
  const tsl_strategy *strategy = tsl_planner_at_once(&key->problem, &choice);
  tsl_api_wisdom_release(known);
  *cpu = tsl_devices_of_kind(choice.devices, 0, 0);
  return strategy;
}

static bool takes(const tsl_problem *problem, const tesela_gemm_desc *desc) {
  tsl_reach reach[TSL_OPERANDS];
  tsl_direct direct;
  for (int i = 0; i < TSL_OPERANDS; i++)
    reach[i] = tsl_api_reach(tsl_problem_shape(problem, i), NULL, true);
  tsl_api_direct_reach(reach, &direct);
  return tsl_direct_takes(&direct, desc->a.data, desc->b.data, desc->c.data);
}

bool tsl_api_at_once(tesela_context *context, const tesela_gemm_desc *desc, const tsl_request *request) {
  tsl_call_key key;
  const tsl_device *cpu;
  const tsl_problem *p = &key.problem;
  if (((uint64_t)desc->m | (uint64_t)desc->n | (uint64_t)desc->k) >= 2 * TSL_AT_ONCE_SIDE ||
      tsl_api_request(context, request, &key) != TESELA_OK)
    return false;
  const tsl_strategy *strategy = strategy_for(context, &key, &cpu);
  if (!strategy || !takes(p, desc))
    return false;
  const tsl_fast_product product = tsl_api_fast_product(p, desc->a.data, desc->b.data, desc->c.data);
  return strategy->fast_path.multiply(&product, cpu);
}
