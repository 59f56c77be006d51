#include "api/grouped.h"

#include <stdlib.h>
#include <string.h>

/* Rounds up to a power of two, so that groups with a few more products find the same plan. */
static int64_t grouped_fused_rounded(int64_t count) {
  int64_t rounded = 2;
  while (rounded < count && rounded < (int64_t)1 << 20)
    rounded *= 2;
  return rounded;
}

/* Refuses products with strategy parameters, `bits`, measure_error or verify: others would change the result.
 */
static bool can_be_fused(const tsl_grouped *group, const tsl_products *products) {
  const tsl_plan *plan = products->plan->plan;
  const tesela_batch *batch = products->batch;
  return plan->work.strategy->fused && batch->count == 1 && !batch->a && !batch->b && !batch->c &&
         !tsl_api_has_checks(group->checks[tsl_grouped_index(group, products)]) &&
         plan->work.problem.ask.bits == TSL_REPRODUCIBILITY_ANY &&
         !(products->desc->options.strategy && strchr(products->desc->options.strategy, '='));
}

static double grouped_fused_work_of(const tsl_products *products) {
  return tsl_problem_flops(&products->plan->plan->work.problem);
}

/* Returns the member with most work; NULL: all have one size, a batch. *able: members that may join. */
static const tsl_products *find_leader(const tsl_grouped *group, const tsl_products *const *members,
                                       int64_t count, int64_t *able) {
  const tsl_products *leader = NULL;
  bool differ = false;
  *able = 0;
  for (int64_t i = 0; i < count; i++)
    if (can_be_fused(group, members[i])) {
      differ = differ || (leader && members[i]->plan != leader->plan);
      leader =
          leader && grouped_fused_work_of(leader) >= grouped_fused_work_of(members[i]) ? leader : members[i];
      ++*able;
    }
  return differ ? leader : NULL;
}

/* Rounds rows up to one of eight numbers between two powers of two, if no stride depends on the rows. So
 * groups whose largest member varies find a known plan. */
static void round_rows(tsl_problem *problem) {
  int64_t step = 1;
  while (problem->m > 16 * step)
    step *= 2;
  if (problem->a.col_stride != 1 || problem->c.col_stride != 1 || problem->m > (int64_t)1 << 40)
    return;
  problem->m = (problem->m + step - 1) / step * step;
  problem->a.rows = problem->c.rows = problem->m;
}

tesela_status tsl_grouped_plan_joint(const tsl_grouped *group, const tesela_gemm_desc *leader, int64_t able,
                                     tsl_cached_plan **cached) {
  const tesela_batch batch = {
      .count = grouped_fused_rounded(able), .a_stride = 1, .b_stride = 1, .c_stride = 1};
  tsl_call_key key;
  TSL_TRY(tsl_products_key(group->context, leader, &key));
  round_rows(&key.problem);
  return tsl_products_plan(group->context, leader, &batch, &key, cached);
}

/* Moves fusible members to the end of the array; *count becomes the number of the others. */
static tesela_status move_fusible_members(const tsl_grouped *group, const tsl_products **members,
                                          int64_t *count, tsl_fused_members *joint) {
  int64_t left = 0, end = *count;
  while (left < end) {
    const tsl_products *member = members[left];
    tsl_operands operands = {.a = {.host = NULL}};
    if (can_be_fused(group, member))
      TSL_TRY(tsl_products_gather(member, 0, &operands));
    if (can_be_fused(group, member) && tsl_plan_can_fuse(joint->plan, member->plan->plan, &operands)) {
      members[left] = members[--end];
      members[end] = member;
    } else {
      left++;
    }
  }
  joint->members = members + end;
  joint->count = *count - end;
  *count = end;
  return TESELA_OK;
}

static bool have_one_size(const tsl_fused_members *joint) {
  for (int64_t i = 1; i < joint->count; i++)
    if (joint->members[i]->plan != joint->members[0]->plan)
      return false;
  return true;
}

tesela_status tsl_grouped_join(tsl_grouped *group, const tsl_products **members, int64_t *count,
                               tsl_fused_members *joint) {
  const int64_t all = *count;
  int64_t able;
  const tsl_products *leader = find_leader(group, members, all, &able);
  *joint = (tsl_fused_members){.cached = NULL};
  if (!leader)
    return TESELA_OK;
  tesela_status status = tsl_grouped_plan_joint(group, leader->desc, able, &joint->cached);
  joint->plan = status == TESELA_OK ? tsl_plan_cache_plan(joint->cached)->plan : NULL;
  /* If no kernel can be compiled, the products are queued one by one. */
  if (status == TESELA_OK && tsl_plan_build_joined(joint->plan) == TESELA_OK)
    status = move_fusible_members(group, members, count, joint);
  if (status == TESELA_OK && !have_one_size(joint)) {
    joint->workspace = tsl_plan_joined_workspace(joint->plan, joint->count);
    return TESELA_OK;
  }
  *count = all;
  if (joint->cached)
    tsl_plan_cache_give_back(&group->context->cache, joint->cached);
  *joint = (tsl_fused_members){.cached = NULL};
  return status;
}

tesela_status tsl_grouped_enqueue_joint(tsl_grouped *group, const tsl_fused_members *joint,
                                        tsl_stream *stream, tsl_buffer *workspace) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed((size_t)joint->count * (sizeof(tsl_fused_product) + sizeof(tsl_operands)),
                           "where a group's products lie", &block));
  tsl_fused_product *products = block;
  tsl_operands *operands = (tsl_operands *)(products + joint->count);
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < joint->count && status == TESELA_OK; i++) {
    const tsl_products *member = joint->members[i];
    products[i] = (tsl_fused_product){&member->plan->plan->work.problem, &operands[i]};
    status = tsl_products_gather(member, 0, &operands[i]);
    tsl_plan_set_strides(member->plan->plan, &operands[i]);
  }
  if (status == TESELA_OK) {
    const bool is_first = !group->begun;
    group->begun = true;
    status = tsl_plan_enqueue_fused(joint->plan, products, joint->count, stream, workspace);
    status = status == TESELA_OK || is_first ? status : TESELA_DEVICE_FAILED;
  }
  tsl_free(block);
  return status;
}
