/* Plans of members, and shared plans for new members that may be fused, since planning each new size takes
 * longer than the group. All take the strategy and parameters of the fused launch's plan. */
#include "api/grouped.h"
#include "dispatch/crossovers.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <string.h>

tesela_status tsl_grouped_find_plan(tsl_grouped *group, int64_t i) {
  const tesela_gemm_desc *desc = &group->descs[i];
  const tesela_batch *batch = &group->batches[i];
  tsl_request request;
  tsl_call_key key;
  TSL_TRY(tsl_api_gemm_request(group->context, desc, &request));
  TSL_TRY(tsl_products_check_batch(desc, batch));
  TSL_TRY(tsl_products_request(group->context, &request, &key));
  TSL_TRY(tsl_api_checks_of(group->context, &request, &group->checks[i]));
  TSL_TRY(tsl_products_plan(group->context, desc, batch, &key, &group->cached[i]));
  group->members[i].plan = tsl_plan_cache_plan(group->cached[i]);
  return TESELA_OK;
}

bool tsl_grouped_on_host(const tsl_grouped *group, int64_t member) {
  const tsl_plan *plan = group->members[member].plan->plan;
  return tsl_device_is_host(plan->work.device);
}

void tsl_grouped_note(tsl_grouped *group, tesela_status status) {
  int none = TESELA_OK;
  if (status != TESELA_OK && atomic_compare_exchange_strong(&group->status, &none, (int)status))
    tsl_status_save(&group->saved);
}

tesela_status tsl_grouped_told(tsl_grouped *group) {
  const tesela_status status = (tesela_status)atomic_load(&group->status);
  if (status != TESELA_OK)
    tsl_status_restore(&group->saved);
  return status;
}

enum { TEXT = 256 }; /* bytes of a strategy's text */

/* Returns true for a single plain product in buffers without own strategy, effort or bits. */
static bool may_be_joined(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(desc);
  return desc->a.buffer && desc->b.buffer && desc->c.buffer && desc->options.tuning_seconds == 0 &&
         !desc->options.strategy && !desc->options.reproducibility &&
         epilogue->activation == TESELA_NO_ACTIVATION && epilogue->bias_axis == TESELA_NO_BIAS &&
         epilogue->scaling_a == TESELA_NO_SCALE && epilogue->scaling_b == TESELA_NO_SCALE &&
         batch->count == 1 && !batch->a && !batch->b && !batch->c && desc->m > 0 && desc->n > 0 &&
         desc->k > 0;
}

static void grouped_plan_shared_take(tsl_grouped *group, int64_t i, tsl_cached_plan *cached) {
  group->cached[i] = cached;
  group->members[i].plan = cached ? tsl_plan_cache_plan(cached) : NULL;
}

/* Looks up the member's plan in the cache; TESELA_UNSUPPORTED if the member's result is to be checked. */
static tesela_status grouped_plan_shared_recall(tsl_grouped *group, int64_t i) {
  tsl_request request;
  tsl_api_checks checks;
  tsl_call_key key;
  TSL_TRY(tsl_api_gemm_request(group->context, &group->descs[i], &request));
  TSL_TRY(tsl_products_request(group->context, &request, &key));
  TSL_TRY(tsl_api_checks_of(group->context, &request, &checks));
  if (tsl_api_has_checks(checks))
    return tsl_fail(TESELA_UNSUPPORTED, "results of members are checked one by one");
  grouped_plan_shared_take(group, i, tsl_plan_cache_find(&group->context->cache, &key));
  return TESELA_OK;
}

/* Plans a member by the text of the leader's strategy and marks the member as `alike`. */
static tesela_status plan_as_leader(tsl_grouped *group, int64_t i, const char *strategy) {
  tesela_gemm_desc desc = group->descs[i];
  tsl_cached_plan *cached;
  tsl_call_key key;
  desc.options.strategy = strategy;
  TSL_TRY(tsl_products_key(group->context, &desc, &key));
  TSL_TRY(tsl_products_plan(group->context, &desc, &group->batches[i], &key, &cached));
  grouped_plan_shared_take(group, i, cached);
  group->alike[i] = true;
  return TESELA_OK;
}

static double grouped_plan_shared_work_of(const tesela_gemm_desc *desc) {
  return (double)desc->m * (double)desc->n * (double)desc->k;
}

/* Returns true if a strategy of the member's device can fuse products of its types. */
static bool has_joining(const tsl_grouped *group, const tesela_gemm_desc *desc) {
  tsl_call_key key;
  tsl_device *device;
  if (tsl_products_key(group->context, desc, &key) != TESELA_OK ||
      tsl_devices_find(group->context->devices, key.device, &device) != TESELA_OK)
    return false;
  for (int i = 0; tsl_strategy_at(i); i++) {
    const tsl_strategy *strategy = tsl_strategy_at(i);
    const tsl_config config = tsl_strategy_defaults(strategy);
    if (strategy->fused && !tsl_capability_missing(strategy->needs, device->capabilities) &&
        !tsl_strategy_refuse_anywhere(strategy, &key.problem, &config))
      return true;
  }
  return false;
}

/* leader: index of the member with most work (-1: none); able: number of members that may be fused; missing:
 * number of these without a plan. */
typedef struct grouped_plan_shared_found {
  int64_t leader, able, missing;
} grouped_plan_shared_found;

static tesela_status grouped_plan_shared_find(tsl_grouped *group, grouped_plan_shared_found *out) {
  *out = (grouped_plan_shared_found){.leader = -1};
  for (int64_t i = 0; i < group->count; i++) {
    if (!may_be_joined(&group->descs[i], &group->batches[i]))
      continue;
    TSL_TRY(grouped_plan_shared_recall(group, i));
    out->able++;
    out->missing += !group->cached[i];
    if (out->leader < 0 || grouped_plan_shared_work_of(&group->descs[i]) >
                               grouped_plan_shared_work_of(&group->descs[out->leader]))
      out->leader = i;
  }
  return TESELA_OK;
}

/* Writes the plan's strategy and parameters as text; "" if the plan does not fuse. */
static tesela_status grouped_plan_shared_text_of(const tsl_plan *joint, char text[TEXT]) {
  tsl_text config = {0};
  text[0] = 0;
  if (!joint->work.strategy->fused || tsl_problem_batch(&joint->work.problem) == 1)
    return TESELA_OK;
  tsl_config_print(joint->work.strategy, &joint->work.config, &config);
  const tesela_status status = tsl_text_status(&config);
  if (status == TESELA_OK && config.length < TEXT)
    memcpy(text, config.data, config.length + 1);
  tsl_text_free(&config);
  return status;
}

/* Plans the members without a plan by the strategy of the leader's fused plan; does nothing if few miss. */
static tesela_status plan_all(tsl_grouped *group) {
  grouped_plan_shared_found found;
  char text[TEXT];
  tsl_cached_plan *joint;
  TSL_TRY(grouped_plan_shared_find(group, &found));
  if (found.missing < tsl_crossovers.joined_members || !has_joining(group, &group->descs[found.leader]))
    return TESELA_OK;
  TSL_TRY(tsl_grouped_plan_joint(group, &group->descs[found.leader], found.able, &joint));
  const tesela_status status = grouped_plan_shared_text_of(tsl_plan_cache_plan(joint)->plan, text);
  tsl_plan_cache_give_back(&group->context->cache, joint);
  for (int64_t i = 0; i < group->count && status == TESELA_OK && text[0]; i++)
    if (!group->cached[i] && may_be_joined(&group->descs[i], &group->batches[i]))
      TSL_TRY(plan_as_leader(group, i, text));
  return status;
}

/* Ignores failures: preparing the members one by one finds them again and reports the first one. */
void tsl_grouped_plan_alike(tsl_grouped *group) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  (void)plan_all(group);
  tsl_status_restore(&saved);
}

tesela_status tsl_grouped_plan_apart(tsl_grouped *group, int64_t member) {
  if (!group->alike[member])
    return TESELA_OK;
  tsl_plan_cache_give_back(&group->context->cache, group->cached[member]);
  grouped_plan_shared_take(group, member, NULL);
  group->alike[member] = false;
  return tsl_grouped_find_plan(group, member);
}
