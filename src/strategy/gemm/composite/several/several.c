/* Idea: several devices compute a product together: each computes rows or columns of C by a plan of its own.
 * Each member of the device ("cuda:*", "opencl:0,cpu") gets a child: the best plan for its part, with its own
 * transfers. All run at once, so the link of each device carries only its own operands.
 *
 *           B (all, to each)            cut=1: rows         cut=2: columns, if A is the smaller operand
 *          +-----------+
 *   +---+  +-----------+        part1 and part2 are lines of C, so many that all devices are expected to
 *   |A 1|  | C part 1  | cuda:0 finish together. The rates are measured, copies included, or come from
 *   +---+  +-----------+        models. A device that would only delay the others gets no part.
 *   |A 2|  | C part 2  | cuda:1
 *   +---+  +-----------+        No sum is cut: the bits are those of the plans, in any order of completion.
 *
 * cut=4: terms. If C is much smaller than A and B, each device has a part of k and computes all of C. Each
 * link carries 1/p of both operands. The first part is computed in C; the sums of the other parts come to
 * temporary memory, and the processor adds them in the order of members.
 *
 * If a device fails, another member computes its part again, now and in later runs, and the plan reports it.
 * If beta is not 0, the part of C is saved before the run.
 *
 * Distributed operands (work->sharding): each device computes its shards of C, or its partition of lines if
 * some devices hold no shard of C. The copy engines bring the missing parts from the other devices
 * (several_tiles.c, shard_worker_run.c). A failed device is replaced only if beta is 0 and its shards can
 * still be read and written.
 *
 * Host threads copy all devices' operands through pinned memory. No part is expected to take less time than
 * these copies do together.
 *
 * Limits: one product at a time; eight devices. Measurements: docs/lab/several.md. */
#include "strategy/gemm/composite/several/several.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/warnings.h"
#include "device/staging.h"

#include <math.h>

#define PART(number)                                                                                         \
  {                                                                                                          \
    "part" #number,                                                                                          \
        "lines of C, or terms, that device number " #number " computes; all 0: by the devices' speed", 0, {  \
      0                                                                                                      \
    }                                                                                                        \
  }
static const tsl_param params[] = {
    [SEVERAL_CUT] =
        {"cut",
         "cut: 1 rows of C, 2 columns, 3 each device's own part of C, 4 terms; 0: the fewest bytes moved",
         0,
         {0}},
    [SEVERAL_PART] = PART(1),
    PART(2),
    PART(3),
    PART(4),
    PART(5),
    PART(6),
    PART(7),
    PART(8),
    [SEVERAL_SLAB] = {"slab",
                      "approximate bytes of a slab of distributed operands; 0: chosen, 64 MiB or more",
                      0,
                      {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy several_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_asked_of_parts(problem, tsl_several_partial_sums(problem, config));
}

/* Refuses parts that do not add up to all of C or of k. */
static const char *several_refuse(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  const int64_t cut = config->value[SEVERAL_CUT], size = cut == SEVERAL_ROWS    ? problem->m
                                                         : cut == SEVERAL_TERMS ? problem->k
                                                                                : problem->n;
  int64_t sum = 0;
  int last = 0;
  for (int i = 0; i < TSL_MEMBERS_MAX; i++) {
    const int64_t part = config->value[SEVERAL_PART + i];
    last = part > 0 ? i + 1 : last;
    sum = part > size - sum ? size + 1 : sum + part;
    if (sum > size && last > 0 && cut != 0)
      break;
  }
  if (cut == SEVERAL_HOLDERS && last > 0)
    return "with cut=3 each device computes the part of C that it holds: it has no parts";
  if (cut == SEVERAL_TERMS && !tsl_problem_can_accumulate_in_c(problem))
    return "complex sums, and sums that are rounded to C's type once, are not cut: use cut=1 or cut=2";
  if (cut == SEVERAL_TERMS && problem->k == 0)
    return "k is 0, so there are no terms to distribute: use cut=1 or cut=2";
  if (last == 0)
    return problem->ask.bits == TSL_REPRODUCIBILITY_ANY || cut == SEVERAL_HOLDERS
               ? NULL
               : "the parts depend on measured rates, and reproducible bits are required: set the parts "
                 "(cut=1 "
                 "part1=ROWS ...), or use cut=3 if the devices hold parts of C";
  if (cut == 0)
    return "part1 to part8 need cut=1, cut=2 or cut=4: they are rows or columns of C, or terms";
  if (last > device->member_count)
    return tsl_refusal("part%d has no device: there are %d", last, device->member_count);
  if (sum != size)
    return tsl_refusal("the parts do not make up the %lld %s of C", (long long)size,
                       cut == SEVERAL_ROWS    ? "rows"
                       : cut == SEVERAL_TERMS ? "terms of each sum"
                                              : "columns");
  return NULL;
}

/* Returns the time of the multiply-adds alone; the planner predicts the rest (planner/planner.c). */
static double several_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const bool is_f64 = tsl_type(problem->c.type)->component == TESELA_F64;
  const double peak = is_f64 ? device->peak_f64 : device->peak_f32;
  (void)config;
  return peak > 0 ? tsl_problem_flops(problem) / peak : 1;
}

static void several_release(tsl_work *work) {
  tsl_several *self = work->state;
  for (int i = 0; i < self->count; i++) {
    work->subplans->destroy(self->parts[i].child);
    work->subplans->destroy(atomic_load(&self->parts[i].replacement));
    tsl_pool_destroy(self->parts[i].pool);
  }
  tsl_several_release_workers(work, self);
  pthread_mutex_destroy(&self->lock);
  pthread_mutex_destroy(&self->run_lock);
  tsl_free(self);
  work->state = NULL;
}

/* Makes a pool for a device whose operands threads copy: the shared pool serves one caller at a time. */
static tesela_status make_copy_threads(const tsl_several *self, tsl_several_part *part) {
  enum { MOST = 16 };
  if (self->count < 2 || !tsl_staging_is_offered(part->device))
    return TESELA_OK;
  const int all = tsl_team_threads(tsl_device_host_team(part->device)),
            several_describe_part = all / self->count;
  return tsl_pool_create(several_describe_part < 1      ? 1
                         : several_describe_part > MOST ? MOST
                                                        : several_describe_part,
                         &part->pool);
}

static tesela_status several_add_part(const tsl_work *work, tsl_several *self, int member, int64_t first) {
  const int side = (int)work->config.value[SEVERAL_CUT];
  tsl_several_part *part = &self->parts[self->count];
  part->device = work->device->members[member];
  part->first = first;
  part->count = work->config.value[SEVERAL_PART + member];
  part->problem = tsl_several_problem_of_part(&work->problem, side, first, part->count);
  const tsl_subplan_request request = {
      .problem = &part->problem,
      .device = part->device,
      .workspace_most = UINT64_MAX,
      .most = tsl_accuracy_of_one_part(&work->problem, &part->problem,
                                       tsl_several_partial_sums(&work->problem, &work->config))};
  TSL_TRY(work->subplans->make(work->subplans, &request, &part->child));
  self->count++;
  return TESELA_OK;
}

static void destroy_parts(const tsl_work *work, tsl_several *self) {
  while (self->count > 0) {
    tsl_several_part *part = &self->parts[--self->count];
    work->subplans->destroy(part->child);
    *part = (tsl_several_part){.child = NULL};
  }
}

/* Makes a child plan for each part. On failure *failed is the member without a child plan. */
static tesela_status add_parts(const tsl_work *work, tsl_several *self, int *failed) {
  int64_t first = 0;
  for (*failed = 0; *failed < work->device->member_count; ++*failed) {
    const int64_t lines = work->config.value[SEVERAL_PART + *failed];
    if (lines > 0)
      TSL_TRY(several_add_part(work, self, *failed, first));
    first += lines;
  }
  return TESELA_OK;
}

/* Makes the parts. A member that cannot compute its part is left out, unless the config sets the parts. */
static tesela_status make_parts(tsl_work *work, tsl_several *self) {
  const tsl_config requested = work->config;
  unsigned idle = 0;
  int failed;
  for (;;) {
    work->config = requested;
    TSL_TRY(tsl_several_decide(work, self, idle));
    const tesela_status status = add_parts(work, self, &failed);
    if (status == TESELA_OK)
      break;
    destroy_parts(work, self);
    if (tsl_several_has_parts(&requested))
      return tsl_fail_in(status, "the part of %s", work->device->members[failed]->name);
    tsl_notice(TSL_LOG_PLAN, "%s gets no part of the product: %.200s", work->device->members[failed]->name,
               tesela_last_error());
    idle |= 1u << failed;
    if (idle == (1u << work->device->member_count) - 1)
      return tsl_fail_in(status, "no device of %s can compute a part of the product", work->device->name);
  }
  for (int i = 0; i < self->count; i++)
    TSL_TRY(make_copy_threads(self, &self->parts[i]));
  return TESELA_OK;
}

static bool several_is_empty(const tsl_problem *problem) {
  return problem->m == 0 || problem->n == 0;
}

/* Makes the workers of distributed operands. Unless each member holds shards of C, expected times decide. */
static tesela_status make_workers(tsl_work *work, tsl_several *self) {
  int64_t *cut = &work->config.value[SEVERAL_CUT];
  const bool all_hold = tsl_several_all_hold(work->sharding, work->device->member_count);
  if (*cut == 0 && all_hold)
    *cut = SEVERAL_HOLDERS;
  if (*cut == SEVERAL_TERMS)
    return tsl_fail(TESELA_UNSUPPORTED, "cut=4 is for operands in host memory, and these are on the devices: "
                                        "cut=1, cut=2 or cut=3");
  if (*cut != SEVERAL_HOLDERS)
    TSL_TRY(tsl_several_decide(work, self, 0));
  return tsl_several_build_workers(work, self);
}

static tesela_status make_parts_or_workers(tsl_work *work, tsl_several *self) {
  if (several_is_empty(&work->problem))
    return TESELA_OK;
  if (work->sharding)
    return make_workers(work, self);
  if (work->config.value[SEVERAL_CUT] == SEVERAL_HOLDERS)
    return tsl_fail(TESELA_UNSUPPORTED, "cut=3 is for operands in pieces on the devices, and these are in "
                                        "host memory: cut=1, cut=2 or cut=4");
  return make_parts(work, self);
}

static tesela_status several_build(tsl_work *work) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_several), "parts of a product", &block));
  work->state = block;
  pthread_mutex_init(&((tsl_several *)block)->lock, NULL);
  pthread_mutex_init(&((tsl_several *)block)->run_lock, NULL);
  const tesela_status status = make_parts_or_workers(work, block);
  if (status != TESELA_OK)
    several_release(work);
  return status;
}

static bool several_describe_part(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_several *self = work->state;
  if (work->sharding)
    return tsl_several_describe_block(work, index, out);
  if (index < 0 || index >= self->count)
    return false;
  const tsl_several_part *part = &self->parts[index];
  const int64_t cut = work->config.value[SEVERAL_CUT];
  const bool copies = !(part->device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY));
  *out = (tsl_subplan_info){.device = part->device->name,
                            .plan = work->subplans->text(part->child),
                            .row = cut == SEVERAL_ROWS ? part->first : 0,
                            .rows = part->problem.m,
                            .col = cut == SEVERAL_COLS ? part->first : 0,
                            .cols = part->problem.n,
                            .depth = part->problem.k,
                            .seconds = work->subplans->expected(part->child)};
  if (out->seconds > 0)
    out->seconds = fmax(out->seconds, tsl_several_host_seconds(work));
  for (int i = 0; copies && i < TSL_OPERANDS; i++)
    out->in_bytes += tsl_problem_reads(&part->problem, i) ? tsl_problem_operand_bytes(&part->problem, i) : 0;
  out->out_bytes = copies ? tsl_problem_operand_bytes(&part->problem, TSL_OPERAND_C) : 0;
  return true;
}

static const char *several_note(const tsl_work *work) {
  tsl_several *self = work->state;
  pthread_mutex_lock(&self->lock);
  const char *said = *self->note ? self->note : NULL;
  pthread_mutex_unlock(&self->lock);
  return said;
}

#define ANY                                                                                                  \
  { 0, INT64_MAX }
const tsl_strategy tsl_gemm_several = {
    .name = "several",
    .idea = "several devices compute rows or columns of C each, or terms of its sums, at once, by plans of "
            "their own",
    .lifts = "one device's speed, memory and link",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_SEVERAL,
    .accuracy = several_accuracy,
    .params = params,
    .supports = {.types = tsl_types_every, .conjugates = true},
    .tuning = {.ranges = {[SEVERAL_CUT] = {0, 4}, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY}},
    .refuse = several_refuse,
    .score = several_score,
    .build = several_build,
    .run = tsl_several_run,
    .release = several_release,
    .splits = {.parts = true, .accepts_shards = true, .subplan = several_describe_part, .note = several_note},
};
