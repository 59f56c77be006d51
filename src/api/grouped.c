/* Grouped products: all are checked first. Then the cpu's threads divide its products; devices run theirs. */
#include "api/grouped.h"

#include "api/api_counted.h"

#include "core/clock.h"
#include "core/scratch.h"
#include "core/thread_string.h"
#include "dispatch/crossovers.h"
#include "host/int_math.h"

#include <inttypes.h>
#include <string.h>

static tesela_status grouped_fail_in(const tsl_products *products, tesela_status status) {
  return status == TESELA_OK
             ? status
             : tsl_fail_in(status, "%s %" PRId64, products->is_one ? "product" : "group", products->group);
}

/* Finds the member's plan, if it has none yet, and checks the operands of all its products. */
static tesela_status prepare_member(tsl_grouped *group, int64_t i) {
  tsl_products *member = &group->members[i];
  if (!group->cached[i])
    TSL_TRY(grouped_fail_in(member, tsl_grouped_find_plan(group, i)));
  return member->batch->count == 0 ? TESELA_OK : tsl_products_check(member);
}

typedef struct grouped_part {
  tsl_grouped *group;
  int64_t parts;
} grouped_part;

static void prepare_part(void *argument, int64_t index, int worker) {
  const grouped_part *part = argument;
  const int64_t count = part->group->count, end = tsl_partition_begin(count, part->parts, index + 1);
  (void)worker;
  for (int64_t i = tsl_partition_begin(count, part->parts, index);
       i < end && !atomic_load_explicit(&part->group->fails, memory_order_relaxed); i++)
    if (prepare_member(part->group, i) != TESELA_OK)
      atomic_store_explicit(&part->group->fails, true, memory_order_relaxed);
}

/* Returns true if threads may plan in parallel: all plans run on the cpu, and none needs measurements. */
static bool can_plan_in_parallel(const tsl_grouped *group) {
  for (int64_t i = 0; i < group->count; i++) {
    const tesela_gemm_desc *desc = &group->descs[i];
    const char *device = desc->options.device ? desc->options.device : group->context->device;
    if (desc->options.tuning_seconds != 0 || desc->a.buffer || desc->b.buffer || desc->c.buffer ||
        strcmp(device, "cpu") != 0)
      return false;
  }
  return true;
}

/* Prepares all members; after a parallel failure in order, so that the message is the first member's. */
static tesela_status prepare_all(tsl_grouped *group) {
  tsl_devices *devices;
  tsl_device *cpu;
  bool is_done = false;
  if (group->count >= tsl_crossovers.plan_members && can_plan_in_parallel(group)) {
    TSL_TRY(tsl_api_devices(group->context, &devices));
    TSL_TRY(tsl_devices_find(devices, "cpu", &cpu));
    TSL_TRY(tsl_device_open(cpu));
    const tsl_team team = tsl_device_team(cpu);
    grouped_part all = {group, tsl_crossovers_parts(group->count, tsl_team_threads(team))};
    tsl_team_run(team, all.parts, prepare_part, &all);
    is_done = !atomic_load(&group->fails);
  }
  if (!is_done)
    tsl_grouped_plan_alike(group);
  for (int64_t i = 0; i < group->count && !is_done; i++)
    TSL_TRY(prepare_member(group, i));
  return tsl_grouped_check_apart(group);
}

static tesela_status compute_planned(tsl_grouped *group) {
  tsl_group_queue *queue;
  tesela_status status = tsl_group_queue_begin(group, &queue);
  if (status == TESELA_OK)
    status = tsl_grouped_share(group);
  return tsl_group_queue_end(group, queue, status);
}

/* Computes all products, last those without a plan: they cannot fail once begun, while others may. */
static tesela_status grouped_compute(tsl_grouped *group) {
  if (group->count > 0)
    TSL_TRY(compute_planned(group));
  if (group->small.count > 0)
    tsl_grouped_run_small(group);
  return tsl_grouped_told(group);
}

/* Fills in the largest bounds, and the plan of a product with most work. */
static void fill_record(const tsl_grouped *group, double seconds, tesela_record *record) {
  const char *text = "";
  double most = -1;
  *record = (tesela_record){.seconds = seconds, .seconds_compute = seconds};
  for (int64_t i = 0; i < group->count; i++) {
    const tsl_products *member = &group->members[i];
    const tsl_plan *plan = member->plan->plan;
    const double bound = tsl_products_error_bound(member), flushed = tsl_plan_underflow(plan),
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

static bool any_measures_error(const tsl_grouped *group) {
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_api_has_checks(group->checks[i]))
      return true;
  return false;
}

static tesela_status run_with_error_checks(tsl_grouped *group, tsl_batch_error_check *error_checks,
                                           tesela_record *record) {
  const double start = tsl_clock();
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_api_has_checks(group->checks[i]) && group->batches[i].count > 0)
      TSL_TRY(tsl_batch_error_check_begin(&group->members[i], group->checks[i], &error_checks[i]));
  const double ready = tsl_clock();
  TSL_TRY(grouped_compute(group));
  const double done = tsl_clock();
  if (record)
    fill_record(group, done - ready, record);
  for (int64_t i = 0; i < group->count; i++) {
    const tesela_status status = tsl_batch_error_check_end(&group->members[i], &error_checks[i], record);
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
  tsl_batch_error_check *error_checks = block;
  const tesela_status status = run_with_error_checks(group, error_checks, record);
  for (int64_t i = 0; i < group->count; i++)
    tsl_batch_error_check_free(&error_checks[i]);
  tsl_free(error_checks);
  return status;
}

static tesela_status grouped_run(tsl_grouped *group, tesela_record *record) {
  TSL_TRY(prepare_all(group));
  if (any_measures_error(group))
    return grouped_run_measured(group, record);
  const double start = tsl_clock();
  TSL_TRY(grouped_compute(group));
  if (record)
    fill_record(group, tsl_clock() - start, record);
  return TESELA_OK;
}

/* Arrays of `count` elements each, in one block. */
typedef struct arrays {
  tsl_products *members;
  tsl_cached_plan **cached;
  tsl_api_checks *checks;
  bool *alike;
  tesela_gemm_desc *descs; /* copies of the caller's descriptions if these have another size */
  tesela_batch *batches;   /* copies of the caller's batches if these have another size or are missing */
} arrays;

static tesela_status allocate_arrays(int64_t count, arrays *out) {
  const size_t one = sizeof *out->members + sizeof(tsl_cached_plan *) + sizeof *out->checks +
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
  out->checks = (tsl_api_checks *)(out->cached + count);
  out->alike = (bool *)(out->checks + count);
  return TESELA_OK;
}

static const tesela_gemm_desc *get_desc(const tesela_gemm_desc *descs, int64_t number, size_t size) {
  return (const tesela_gemm_desc *)(const void *)((const char *)descs + (size_t)number * size);
}
static const tesela_batch *get_batch(const tesela_batch *batches, int64_t number, size_t size) {
  return batches ? (const tesela_batch *)(const void *)((const char *)batches + (size_t)number * size) : NULL;
}

/* Returns true if a group of several products is empty. All struct versions start with sizes and counts. */
static bool have_many_empty(const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                            size_t desc_size, size_t batch_size) {
  bool have = false;
  for (int64_t i = 0; batches && i < count && !have; i++)
    have = tsl_products_are_empty(get_desc(descs, i, desc_size), get_batch(batches, i, batch_size));
  return have;
}

/* Fills descriptions and batches of members with plans in this version's size. */
static tesela_status convert_structs(const tesela_gemm_desc *descs, const tesela_batch *batches,
                                     size_t desc_size, size_t batch_size, const arrays *call_arrays,
                                     tsl_grouped *group) {
  const tsl_small_gemm_group *small_gemms = &group->small;
  const bool copies =
      small_gemms->count > 0 || have_many_empty(descs, batches, group->count, desc_size, batch_size);
  int64_t number = 0, passed = 0;
  group->descs = desc_size == sizeof *descs && !copies ? descs : call_arrays->descs;
  group->batches = batches && batch_size == sizeof *batches && !copies ? batches : call_arrays->batches;
  for (int64_t i = 0; i < group->count; i++, number++) {
    for (; passed < small_gemms->count && small_gemms->all[passed].number == number; passed++)
      number++;
    const tesela_gemm_desc *desc = get_desc(descs, number, desc_size);
    const tesela_batch *batch = get_batch(batches, number, batch_size);
    TSL_API_STRUCT_IMPORT(desc, desc_size, call_arrays->descs[i], tesela_gemm_desc, beta);
    TSL_API_STRUCT_IMPORT(batch, batch_size, call_arrays->batches[i], tesela_batch, scale_b_stride);
    if (copies)
      call_arrays->descs[i] = *desc;
    if (copies && batch)
      call_arrays->batches[i] = *batch;
    if (batch && tsl_products_are_empty(desc, batch))
      call_arrays->batches[i].count = 1;
    if (!batch)
      call_arrays->batches[i].count = 1;
    tsl_products *member = &group->members[i];
    member->context = group->context;
    member->desc = &group->descs[i];
    member->batch = &group->batches[i];
    member->group = number;
    member->is_one = group->is_one;
  }
  return TESELA_OK;
}

static tesela_status grouped_multiply(tesela_context *context, const tesela_gemm_desc *descs,
                                      const tesela_batch *batches, int64_t count, size_t desc_size,
                                      size_t batch_size, tesela_record *record) {
  arrays call_arrays = {.members = NULL};
  tsl_grouped group = {.context = context, .count = count, .is_one = !batches, .status = TESELA_OK};
  tesela_status status = TESELA_OK;
  if (!record && desc_size == sizeof *descs && (!batches || batch_size == sizeof *batches))
    group.count -= tsl_grouped_find_small(context, descs, batches, count, &group.small);
  if (group.count > 0) {
    TSL_GO(allocate_arrays(group.count, &call_arrays));
    group.members = call_arrays.members;
    group.cached = call_arrays.cached;
    group.checks = call_arrays.checks;
    group.alike = call_arrays.alike;
    TSL_GO(convert_structs(descs, batches, desc_size, batch_size, &call_arrays, &group));
  }
  status = grouped_run(&group, record);
out:
  for (int64_t i = 0; call_arrays.members && i < group.count; i++)
    if (call_arrays.cached[i])
      tsl_plan_cache_give_back(&context->cache, call_arrays.cached[i]);
  tsl_free(call_arrays.members);
  tsl_scratch_give(group.small.all);
  return status;
}

static tesela_status grouped_sized(tesela_context *context, const tesela_gemm_desc *descs,
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

tesela_status tesela_gemm_grouped_sized(tesela_context *context, const tesela_gemm_desc *descs,
                                        const tesela_batch *batches, int64_t count, tesela_record *record,
                                        size_t desc_size, size_t batch_size, size_t record_size) {
  tsl_counted counted;
  if (!tsl_calls_are_kept())
    return grouped_sized(context, descs, batches, count, record, desc_size, batch_size, record_size);
  tsl_counted_begin(&counted, record, record_size, false);
  const tesela_status status = grouped_sized(context, descs, batches, count, counted.record, desc_size,
                                             batch_size, counted.record_size);
  tsl_counted_product(&counted, count > 0 ? descs : NULL, desc_size, count);
  return tsl_counted_end(&counted, "tesela_gemm_grouped", status);
}
