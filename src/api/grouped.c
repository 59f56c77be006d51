/* Grouped products: each has a plan, and all are checked first. Then the cpu's threads divide the
 * products that run there, while other devices have theirs queued. */
#include "api/grouped.h"

#include "base/clock.h"
#include "base/scratch.h"
#include "base/thread_string.h"
#include "host/int_math.h"

#include <inttypes.h>
#include <string.h>

/* Number of parts a thread gets when plans are prepared in parallel, and the group size from which this
 * is done. */
enum { PARTS_OF_A_THREAD = 4, SHARED_MEMBERS = 4 };

/* --- preparing --- */

/* Prefixes the message of a failed member with the member's number. */
static tesela_status fail_in(const tsl_products *products, tesela_status status) {
  return status == TESELA_OK
             ? status
             : tsl_fail_in(status, "%s %" PRId64, products->is_one ? "product" : "group", products->group);
}

/* Finds a member's plan, unless it has one, and checks its operands. */
static tesela_status make_ready(tsl_grouped *group, int64_t i) {
  tsl_products *of = &group->members[i];
  if (!group->cached[i])
    TSL_TRY(fail_in(of, tsl_grouped_find_plan(group, i)));
  return of->batch->count == 0 ? TESELA_OK : tsl_products_check(of);
}

typedef struct grouped_part {
  tsl_grouped *group;
  int64_t parts;
} grouped_part;

static void make_part_ready(void *argument, int64_t index, int worker) {
  const grouped_part *of = argument;
  const int64_t count = of->group->count, end = tsl_partition_begin(count, of->parts, index + 1);
  (void)worker;
  for (int64_t i = tsl_partition_begin(count, of->parts, index);
       i < end && !atomic_load_explicit(&of->group->fails, memory_order_relaxed); i++)
    if (make_ready(of->group, i) != TESELA_OK)
      atomic_store_explicit(&of->group->fails, true, memory_order_relaxed);
}

/* Returns true if threads may plan in parallel: all plans run on the cpu, and none needs measurements. */
static bool are_plain(const tsl_grouped *group) {
  for (int64_t i = 0; i < group->count; i++) {
    const tesela_gemm_desc *desc = &group->descs[i];
    const char *device = desc->device ? desc->device : group->context->device;
    if (desc->effort != 0 || desc->a.buffer || desc->b.buffer || desc->c.buffer || strcmp(device, "cpu") != 0)
      return false;
  }
  return true;
}

/* Prepares all members, in parallel if this helps. A parallel failure leaves no message; the members
 * are then prepared again in order, so that the message is the first member's. */
static tesela_status make_all_ready(tsl_grouped *group) {
  tsl_devices *devices;
  tsl_device *cpu;
  bool is_done = false;
  if (group->count >= SHARED_MEMBERS && are_plain(group)) {
    TSL_TRY(tsl_api_devices(group->context, &devices));
    TSL_TRY(tsl_devices_find(devices, "cpu", &cpu));
    TSL_TRY(tsl_device_open(cpu));
    const tsl_team team = tsl_device_team(cpu);
    const int64_t most = (int64_t)PARTS_OF_A_THREAD * tsl_team_threads(team);
    grouped_part all = {group, group->count < most ? group->count : most};
    tsl_team_run(team, all.parts, make_part_ready, &all);
    is_done = !atomic_load(&group->fails);
  }
  if (!is_done)
    tsl_grouped_plan_alike(group);
  for (int64_t i = 0; i < group->count && !is_done; i++)
    TSL_TRY(make_ready(group, i));
  return tsl_grouped_check_apart(group);
}

/* --- computing --- */

static tesela_status compute_planned(tsl_grouped *group) {
  tsl_group_queue *lanes;
  tesela_status status = tsl_group_queue_begin(group, &lanes);
  if (status == TESELA_OK)
    status = tsl_grouped_share(group);
  return tsl_group_queue_end(group, lanes, status);
}

/* Computes all products. Products without a plan come last: they cannot fail once begun, while others
 * may. */
static tesela_status grouped_compute(tsl_grouped *group) {
  if (group->count > 0)
    TSL_TRY(compute_planned(group));
  if (group->at_once.count > 0)
    tsl_grouped_at_once(group);
  return tsl_grouped_told(group);
}

/* Fills the record of a group: largest bounds, and the plan of a product with most work. */
static void grouped_tell(const tsl_grouped *group, double seconds, tesela_record *record) {
  const char *text = "";
  double most = -1;
  *record = (tesela_record){.seconds = seconds, .seconds_compute = seconds};
  for (int64_t i = 0; i < group->count; i++) {
    const tsl_products *of = &group->members[i];
    const tsl_plan *plan = of->plan->plan;
    const double bound = tsl_products_error_bound(of), flushed = tsl_plan_underflow(plan),
                 flops = tsl_problem_flops(&plan->work.problem);
    record->error_bound = bound > record->error_bound ? bound : record->error_bound;
    record->flushed_below = flushed > record->flushed_below ? flushed : record->flushed_below;
    if (flops > most) {
      most = flops;
      text = plan->text;
    }
  }
  record->plan = tsl_thread_text_keep(TSL_THREAD_PLAN, text);
}

static bool measures(const tsl_grouped *group) {
  for (int64_t i = 0; i < group->count; i++)
    if (group->seeds[i] != 0)
      return true;
  return false;
}

static tesela_status run_looked_at(tsl_grouped *group, tsl_batch_error_check *looking,
                                   tesela_record *record) {
  const double start = tsl_clock();
  for (int64_t i = 0; i < group->count; i++)
    if (group->seeds[i] != 0 && group->batches[i].count > 0)
      TSL_TRY(tsl_batch_error_check_begin(&group->members[i], group->seeds[i], &looking[i]));
  const double ready = tsl_clock();
  TSL_TRY(grouped_compute(group));
  const double done = tsl_clock();
  if (record)
    grouped_tell(group, done - ready, record);
  for (int64_t i = 0; i < group->count; i++) {
    const tesela_status status = tsl_batch_error_check_end(&group->members[i], &looking[i], record);
    if (status != TESELA_OK)
      return status;
  }
  if (record)
    record->seconds_measure = ready - start + tsl_clock() - done;
  return TESELA_OK;
}

static tesela_status grouped_run_measured(tsl_grouped *group, tesela_record *record) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed((size_t)group->count * sizeof(tsl_batch_error_check),
                           "errors of a group's products", &block));
  tsl_batch_error_check *looking = block;
  const tesela_status status = run_looked_at(group, looking, record);
  for (int64_t i = 0; i < group->count; i++)
    tsl_batch_error_check_free(&looking[i]);
  tsl_free(looking);
  return status;
}

static tesela_status grouped_run(tsl_grouped *group, tesela_record *record) {
  TSL_TRY(make_all_ready(group));
  if (measures(group))
    return grouped_run_measured(group, record);
  const double start = tsl_clock();
  TSL_TRY(grouped_compute(group));
  if (record)
    grouped_tell(group, tsl_clock() - start, record);
  return TESELA_OK;
}

/* --- the call --- */

/* Arrays of one call with `count` elements each, allocated in one block. */
typedef struct arrays {
  tsl_products *members;
  tsl_cached_plan **cached;
  uint64_t *seeds;
  bool *alike;
  tesela_gemm_desc *descs; /* copies of the caller's descriptions if these have another size */
  tesela_batch *batches;   /* copies of the caller's batches if these have another size or are missing */
} arrays;

static tesela_status take_arrays(int64_t count, arrays *out) {
  const size_t one = sizeof *out->members + sizeof(tsl_cached_plan *) + sizeof *out->seeds +
                     sizeof *out->alike + sizeof *out->descs + sizeof *out->batches;
  size_t bytes;
  void *block;
  if (!tsl_size_mul((size_t)count, one, &bytes))
    return tsl_fail(TESELA_BAD_CALL, "count is %" PRId64 ": so many products exceed the address space",
                    count);
  TSL_TRY(tsl_alloc_zeroed(bytes, "a group of products", &block));
  out->members = block;
  out->descs = (tesela_gemm_desc *)(out->members + count);
  out->batches = (tesela_batch *)(out->descs + count);
  out->cached = (tsl_cached_plan **)(out->batches + count);
  out->seeds = (uint64_t *)(out->cached + count);
  out->alike = (bool *)(out->seeds + count);
  return TESELA_OK;
}

static const tesela_gemm_desc *desc_at(const tesela_gemm_desc *descs, int64_t number, size_t size) {
  return (const tesela_gemm_desc *)(const void *)((const char *)descs + (size_t)number * size);
}
static const tesela_batch *batch_at(const tesela_batch *batches, int64_t number, size_t size) {
  return batches ? (const tesela_batch *)(const void *)((const char *)batches + (size_t)number * size) : NULL;
}

/* Returns true if a group of several products has no elements. Any version of the structs starts with
 * sizes and counts. */
static bool have_many_empty(const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                            size_t desc_size, size_t batch_size) {
  bool have = false;
  for (int64_t i = 0; batches && i < count && !have; i++)
    have = tsl_products_are_empty(desc_at(descs, i, desc_size), batch_at(batches, i, batch_size));
  return have;
}

/* Fills descriptions and batches of the members that have plans, in this version's size. Products
 * without a plan (small_gemm_group) are left out. */
static tesela_status take_structs(const tesela_gemm_desc *descs, const tesela_batch *batches,
                                  size_t desc_size, size_t batch_size, const arrays *arrays_in,
                                  tsl_grouped *group) {
  const tsl_small_gemm_group *apart = &group->at_once;
  const bool copies =
      apart->count > 0 || have_many_empty(descs, batches, group->count, desc_size, batch_size);
  int64_t number = 0, passed = 0;
  group->descs = desc_size == sizeof *descs && !copies ? descs : arrays_in->descs;
  group->batches = batches && batch_size == sizeof *batches && !copies ? batches : arrays_in->batches;
  for (int64_t i = 0; i < group->count; i++, number++) {
    for (; passed < apart->count && apart->all[passed].number == number; passed++)
      number++;
    const tesela_gemm_desc *desc = desc_at(descs, number, desc_size);
    const tesela_batch *batch = batch_at(batches, number, batch_size);
    TSL_API_STRUCT_IMPORT(desc, desc_size, arrays_in->descs[i], tesela_gemm_desc, scaling_b);
    TSL_API_STRUCT_IMPORT(batch, batch_size, arrays_in->batches[i], tesela_batch, scale_b_stride);
    if (copies)
      arrays_in->descs[i] = *desc;
    if (copies && batch)
      arrays_in->batches[i] = *batch;
    if (batch && tsl_products_are_empty(desc, batch))
      arrays_in->batches[i].count = 1;
    if (!batch)
      arrays_in->batches[i].count = 1;
    tsl_products *of = &group->members[i];
    of->context = group->context;
    of->desc = &group->descs[i];
    of->batch = &group->batches[i];
    of->group = number;
    of->is_one = group->is_one;
  }
  return TESELA_OK;
}

static tesela_status grouped_multiply(tesela_context *context, const tesela_gemm_desc *descs,
                                      const tesela_batch *batches, int64_t count, size_t desc_size,
                                      size_t batch_size, tesela_record *record) {
  arrays own = {.members = NULL};
  tsl_grouped group = {.context = context, .count = count, .is_one = !batches, .status = TESELA_OK};
  tesela_status status = TESELA_OK;
  if (!record && desc_size == sizeof *descs && (!batches || batch_size == sizeof *batches))
    group.count -= tsl_grouped_find_at_once(context, descs, batches, count, &group.at_once);
  if (group.count > 0) {
    TSL_GO(take_arrays(group.count, &own));
    group.members = own.members;
    group.cached = own.cached;
    group.seeds = own.seeds;
    group.alike = own.alike;
    TSL_GO(take_structs(descs, batches, desc_size, batch_size, &own, &group));
  }
  status = grouped_run(&group, record);
out:
  for (int64_t i = 0; own.members && i < group.count; i++)
    if (own.cached[i])
      tsl_plan_cache_give_back(&context->cache, own.cached[i]);
  tsl_free(own.members);
  tsl_scratch_give(group.at_once.all);
  return status;
}

tesela_status tesela_gemm_grouped_sized(tesela_context *context, const tesela_gemm_desc *descs,
                                        const tesela_batch *batches, int64_t count, tesela_record *record,
                                        size_t desc_size, size_t batch_size, size_t record_size) {
  TSL_NOT_CANCELLED;
  tesela_record full = {.plan = NULL};
  if (!context || (!descs && count > 0))
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "descs");
  if (count < 0)
    return tsl_fail(TESELA_BAD_CALL, "count is %" PRId64 ": a number of products, or of groups, is 0 or more",
                    count);
  tesela_record *filled = tsl_api_record(record, record_size, &full);
  if (count == 0 && filled)
    *filled = (tesela_record){.plan = ""};
  const tesela_status status =
      count == 0 ? TESELA_OK
                 : grouped_multiply(context, descs, batches, count, desc_size, batch_size, filled);
  return tsl_api_recorded(status, record, record_size, &full);
}
