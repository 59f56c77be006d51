/* Grouped products in buffers are queued on a stream of their device. Several sizes are one launch if a
 * strategy supports it; one shape at equal distances is a batch. */
#include "api/grouped.h"

#include <stdlib.h>
#include <string.h>

/* Stream of a device, with a workspace that its runs share. */
typedef struct lane {
  tsl_run_slots *slots;
  tsl_run_slot *slot;
  size_t workspace; /* bytes: the largest workspace of its runs */
} lane;

typedef struct queued_run {
  tsl_products products;
  tesela_gemm_desc desc;
  tesela_batch batch;
  tsl_cached_plan *cached; /* plan of several members, to be given back; NULL: member's own */
  int64_t lane;            /* index of the run's stream in `lanes` */
} queued_run;

/* Maximum number of fused launches; other products are queued one by one. */
enum { JOINTS_MAX = 4 };

struct tsl_group_queue {
  const tsl_products **order;                      /* queued members; equal plans are adjacent */
  int64_t members, count, lane_count, joint_count; /* lengths of order, runs, lanes and joints */
  tsl_fused_members joints[JOINTS_MAX];
  int64_t joint_lanes[JOINTS_MAX]; /* index in `lanes` of each fused launch's stream */
  queued_run *runs;
  lane *lanes;
};

/* Returns true if the member's plan can only be enqueued on one device: no host, no parts, no images. */
static bool is_queued(const tsl_grouped *group, int64_t member) {
  const tsl_plan *plan = group->members[member].plan->plan;
  const tsl_strategy *strategy = plan->work.strategy;
  return !tsl_grouped_on_host(group, member) && group->batches[member].count > 0 &&
         plan->place == TSL_PLACE_DEVICE && plan->slots && !strategy->splits.parts &&
         !(strategy->needs & TSL_CAN_IMAGES);
}

/* Compares members by plan, buffer of C, offset in the buffer, and the caller's number. */
static int grouped_device_compare(const void *x, const void *y) {
  const tsl_products *a = *(const tsl_products *const *)x, *b = *(const tsl_products *const *)y;
  if (a->plan != b->plan)
    return (uintptr_t)a->plan < (uintptr_t)b->plan ? -1 : 1;
  if (a->desc->c.buffer != b->desc->c.buffer)
    return (uintptr_t)a->desc->c.buffer < (uintptr_t)b->desc->c.buffer ? -1 : 1;
  if (a->desc->c.offset != b->desc->c.offset)
    return a->desc->c.offset < b->desc->c.offset ? -1 : 1;
  return a->group < b->group ? -1 : 1;
}

enum { OPERANDS = TSL_ALL_OPERANDS };
typedef struct operand_offsets {
  const tesela_buffer *buffer[OPERANDS];
  int64_t offset[OPERANDS];
} operand_offsets;

static operand_offsets get_operand_offsets(const tesela_gemm_desc *desc) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(desc);
  return (operand_offsets){{desc->a.buffer, desc->b.buffer, desc->c.buffer, epilogue->bias.buffer,
                            epilogue->scale_a.buffer, epilogue->scale_b.buffer},
                           {desc->a.offset, desc->b.offset, desc->c.offset, epilogue->bias.offset,
                            epilogue->scale_a.offset, epilogue->scale_b.offset}};
}

/* Returns true if `last`, product `index`, is `index` times the distance of the first two products away. */
static bool continues_distances(const operand_offsets *first, const operand_offsets *second,
                                const operand_offsets *last, int64_t index) {
  for (int i = 0; i < OPERANDS; i++)
    if (last->buffer[i] != first->buffer[i] || second->buffer[i] != first->buffer[i] ||
        last->offset[i] - first->offset[i] != index * (second->offset[i] - first->offset[i]))
      return false;
  return true;
}

/* Counts the sorted members from `index` on that form one batch; fills *batch with their distances. */
static int64_t count_batch_members(const tsl_grouped *group, const tsl_group_queue *queue, int64_t index,
                                   tesela_batch *batch) {
  const tsl_products *first = queue->order[index];
  int64_t count = 1;
  operand_offsets first_layout = get_operand_offsets(first->desc), second_layout = first_layout;
  if (first->batch->count != 1 || tsl_api_has_checks(group->checks[tsl_grouped_index(group, first)]))
    return 1;
  for (; index + count < queue->members; count++) {
    const tsl_products *next = queue->order[index + count];
    const operand_offsets next_layout = get_operand_offsets(next->desc);
    second_layout = count == 1 ? next_layout : second_layout;
    if (next->plan != first->plan || next->batch->count != 1 ||
        tsl_api_has_checks(group->checks[tsl_grouped_index(group, next)]) ||
        !continues_distances(&first_layout, &second_layout, &next_layout, count))
      break;
  }
  second_layout = count == 1 ? first_layout : get_operand_offsets(queue->order[index + 1]->desc);
  *batch = (tesela_batch){
      .count = count,
      .a_stride = second_layout.offset[TSL_OPERAND_A] - first_layout.offset[TSL_OPERAND_A],
      .b_stride = second_layout.offset[TSL_OPERAND_B] - first_layout.offset[TSL_OPERAND_B],
      .c_stride = second_layout.offset[TSL_OPERAND_C] - first_layout.offset[TSL_OPERAND_C],
      .bias_stride = second_layout.offset[TSL_OPERAND_BIAS] - first_layout.offset[TSL_OPERAND_BIAS],
      .scale_a_stride = second_layout.offset[TSL_OPERAND_SCALE_A] - first_layout.offset[TSL_OPERAND_SCALE_A],
      .scale_b_stride = second_layout.offset[TSL_OPERAND_SCALE_B] - first_layout.offset[TSL_OPERAND_SCALE_B]};
  return count;
}

/* Adds a run of the members from `index` on that form one batch; *taken is their number, at least 1. */
static tesela_status grouped_device_add_run(tsl_grouped *group, tsl_group_queue *queue, int64_t index,
                                            int64_t *taken) {
  queued_run *run = &queue->runs[queue->count];
  const tsl_products *first = queue->order[index];
  *taken = count_batch_members(group, queue, index, &run->batch);
  if (*taken > 1) {
    tsl_call_key key;
    TSL_TRY(tsl_products_key(group->context, first->desc, &key));
    run->desc = *first->desc;
    TSL_TRY(tsl_products_plan(group->context, &run->desc, &run->batch, &key, &run->cached));
    run->products = (tsl_products){.context = group->context,
                                   .plan = tsl_plan_cache_plan(run->cached),
                                   .desc = &run->desc,
                                   .batch = &run->batch,
                                   .group = first->group,
                                   .is_one = true};
  } else {
    run->products = (tsl_products){.context = group->context,
                                   .plan = first->plan,
                                   .desc = first->desc,
                                   .batch = first->batch,
                                   .group = first->group,
                                   .is_one = first->is_one};
  }
  queue->count++;
  return TESELA_OK;
}

/* Returns the index of the lane of the plan's device; adds a new lane if there is none. */
static int64_t get_lane(tsl_group_queue *queue, const tsl_plan *plan) {
  int64_t i = 0;
  while (i < queue->lane_count && queue->lanes[i].slots->device != plan->slots->device)
    i++;
  if (i == queue->lane_count) {
    queue->lanes[i].slots = plan->slots;
    queue->lane_count++;
  }
  return i;
}

/* Takes a stream for each device, with the largest workspace of its runs. */
static tesela_status take_slots(tsl_group_queue *queue) {
  for (int64_t i = 0; i < queue->count; i++) {
    queued_run *run = &queue->runs[i];
    run->lane = get_lane(queue, run->products.plan->plan);
    lane *device_lane = &queue->lanes[run->lane];
    device_lane->workspace = run->products.plan->workspace > device_lane->workspace
                                 ? run->products.plan->workspace
                                 : device_lane->workspace;
  }
  for (int64_t i = 0; i < queue->joint_count; i++) {
    queue->joint_lanes[i] = get_lane(queue, queue->joints[i].plan);
    lane *device_lane = &queue->lanes[queue->joint_lanes[i]];
    device_lane->workspace = queue->joints[i].workspace > device_lane->workspace ? queue->joints[i].workspace
                                                                                 : device_lane->workspace;
  }
  for (int64_t i = 0; i < queue->lane_count; i++) {
    TSL_TRY(tsl_run_slot_take(queue->lanes[i].slots, &queue->lanes[i].slot));
    TSL_TRY(tsl_run_slot_scratch(queue->lanes[i].slot, queue->lanes[i].workspace));
  }
  return TESELA_OK;
}

static tesela_status enqueue_run(tsl_grouped *group, const tsl_group_queue *queue, queued_run *run) {
  const tsl_run_slot *slot = queue->lanes[run->lane].slot;
  const tsl_plan *plan = run->products.plan->plan;
  const bool together = tsl_products_run_together(&run->products);
  const int64_t runs = together ? 1 : run->products.batch->count;
  for (int64_t i = 0; i < runs; i++) {
    tsl_operands operands;
    const bool is_first = !group->begun;
    TSL_TRY(together ? tsl_products_gather_all(&run->products, &operands)
                     : tsl_products_gather(&run->products, i, &operands));
    group->begun = true;
    const tesela_status status = tsl_plan_enqueue(plan, &operands, slot->stream, slot->scratch);
    if (status != TESELA_OK)
      return is_first ? status : TESELA_DEVICE_FAILED;
  }
  return TESELA_OK;
}

static tesela_status grouped_device_run_alone(tsl_grouped *group, int64_t member) {
  tsl_products *products = &group->members[member];
  if (tsl_products_run_together(products)) {
    const bool is_first = !group->begun;
    group->begun = true;
    const tesela_status status = tsl_products_together(products);
    return status == TESELA_OK || is_first ? status : TESELA_DEVICE_FAILED;
  }
  for (int64_t i = 0; i < products->batch->count; i++) {
    const bool is_first = !group->begun;
    group->begun = true;
    TSL_TRY(tsl_products_multiply(products, i, is_first));
  }
  return TESELA_OK;
}

static tesela_status fuse_members(tsl_grouped *group, tsl_group_queue *queue) {
  while (queue->joint_count < JOINTS_MAX) {
    tsl_fused_members *joint = &queue->joints[queue->joint_count];
    TSL_TRY(tsl_grouped_join(group, queue->order, &queue->members, joint));
    if (!joint->cached)
      return TESELA_OK;
    queue->joint_count++;
  }
  return TESELA_OK;
}

/* Gives unfused members their own plans and removes members whose plans cannot be queued from the order. */
static tesela_status plan_unfused(tsl_grouped *group, tsl_group_queue *queue) {
  int64_t remaining = 0;
  for (int64_t i = 0; i < queue->members; i++) {
    const tsl_products *products = queue->order[i];
    TSL_TRY(tsl_grouped_plan_apart(group, tsl_grouped_index(group, products)));
    if (is_queued(group, tsl_grouped_index(group, products)))
      queue->order[remaining++] = products;
  }
  queue->members = remaining;
  return TESELA_OK;
}

static tesela_status grouped_device_begin(tsl_grouped *group, tsl_group_queue *queue) {
  for (int64_t i = 0; i < group->count; i++)
    if (is_queued(group, i))
      queue->order[queue->members++] = &group->members[i];
  TSL_TRY(fuse_members(group, queue));
  TSL_TRY(plan_unfused(group, queue));
  qsort(queue->order, (size_t)queue->members, sizeof *queue->order, grouped_device_compare);
  for (int64_t at = 0, taken = 0; at < queue->members; at += taken)
    TSL_TRY(grouped_device_add_run(group, queue, at, &taken));
  TSL_TRY(take_slots(queue));
  for (int64_t i = 0; i < queue->joint_count; i++) {
    const lane *device_lane = &queue->lanes[queue->joint_lanes[i]];
    TSL_TRY(tsl_grouped_enqueue_joint(group, &queue->joints[i], device_lane->slot->stream,
                                      device_lane->slot->scratch));
  }
  for (int64_t i = 0; i < queue->count; i++)
    TSL_TRY(enqueue_run(group, queue, &queue->runs[i]));
  for (int64_t i = 0; i < group->count; i++)
    if (!tsl_grouped_on_host(group, i) && !is_queued(group, i))
      TSL_TRY(grouped_device_run_alone(group, i));
  return TESELA_OK;
}

tesela_status tsl_group_queue_begin(tsl_grouped *group, tsl_group_queue **queue) {
  int64_t count = 0;
  void *block;
  *queue = NULL;
  for (int64_t i = 0; i < group->count; i++)
    count += !tsl_grouped_on_host(group, i);
  if (count == 0)
    return TESELA_OK;
  TSL_TRY(tsl_alloc_zeroed(sizeof **queue +
                               (size_t)count * (sizeof(queued_run) + sizeof(lane) + sizeof *(*queue)->order),
                           "a group's products on a device", &block));
  *queue = block;
  (*queue)->runs = (queued_run *)(*queue + 1);
  (*queue)->lanes = (lane *)((*queue)->runs + count);
  (*queue)->order = (const tsl_products **)((*queue)->lanes + count);
  return grouped_device_begin(group, *queue);
}

/* Waits after a failure too, since work may be pending on the caller's buffers. */
tesela_status tsl_group_queue_end(tsl_grouped *group, tsl_group_queue *queue, tesela_status status) {
  tsl_status_saved saved;
  if (!queue)
    return status;
  if (status != TESELA_OK)
    tsl_status_save(&saved);
  for (int64_t i = 0; i < queue->lane_count && queue->lanes[i].slot; i++) {
    lane *device_lane = &queue->lanes[i];
    const tesela_status finished = device_lane->slot->device->ops->finish(device_lane->slot->stream);
    tsl_run_slot_give(device_lane->slots, device_lane->slot, finished == TESELA_OK);
    if (finished != TESELA_OK && status == TESELA_OK) {
      status = TESELA_DEVICE_FAILED; /* some C may be written */
      tsl_status_save(&saved);
    }
  }
  for (int64_t i = 0; i < queue->joint_count; i++)
    tsl_plan_cache_give_back(&group->context->cache, queue->joints[i].cached);
  for (int64_t i = 0; i < queue->count; i++)
    if (queue->runs[i].cached)
      tsl_plan_cache_give_back(&group->context->cache, queue->runs[i].cached);
  tsl_free(queue);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return status;
}
