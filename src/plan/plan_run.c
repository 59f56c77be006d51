#include "core/clock.h"
#include "core/floats.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "plan/pipeline.h"
#include "plan/plan.h"
#include "plan/run_slot.h"
#include "strategy/epilogue/strategy_epilogue.h"
#include "strategy/host_jobs/exceptions.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

/* Runs of products whose scales are not fused: first the sums, then C from the sums. */
/* Bytes of a sum (f32 or i32); side of a tile of C. */
enum { SIZE = 4, TILE = 32 };

/* Returns the operand of separate sums: dense, batch after batch. */
static tsl_operand separate_sums_operand(const tsl_problem *sums, void *host, tsl_buffer *buffer,
                                         int64_t offset) {
  return (tsl_operand){.host = host,
                       .buffer = buffer,
                       .offset = offset,
                       .row_stride = sums->c.row_stride,
                       .col_stride = sums->c.col_stride,
                       .batch_step = sums->m * sums->n};
}

static tesela_status run_on_device(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *whole = &plan->work, *sums = &plan->sums;
  tsl_operands product = *used, last = *used;
  last.sums = used->c;
  if (tsl_problem_needs_separate_sums(&whole->problem))
    last.sums = separate_sums_operand(
        &sums->problem, NULL, used->scratch,
        (int64_t)(tsl_strategy_sums_at(whole->strategy, &whole->problem, &whole->config, whole->device) /
                  SIZE));
  product.c = last.sums;
  TSL_TRY(sums->strategy->run(sums, &product, stream));
  return tsl_finish_on_device(whole, plan->finish, &last, stream);
}

static tesela_status scaled_epilogue_run_on_host(const tsl_plan *plan, const tsl_operands *used) {
  const tsl_problem *whole = &plan->work.problem, *sums = &plan->sums.problem;
  tsl_operands product = *used, last = *used;
  void *separate_sums = NULL;
  last.sums = used->c;
  if (tsl_problem_needs_separate_sums(whole)) {
    const uint64_t bytes = tsl_problem_sums_bytes(whole);
    if (bytes > SIZE_MAX)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "the unscaled sums exceed the address space");
    TSL_TRY(tsl_scratch_take((size_t)bytes, "sums that are to be scaled", &separate_sums));
    last.sums = separate_sums_operand(sums, separate_sums, NULL, 0);
  }
  product.c = last.sums;
  const tesela_status status = plan->sums.strategy->run(&plan->sums, &product, NULL);
  if (last.team.threads == 0)
    last.team = tsl_device_host_team(plan->work.device);
  if (status == TESELA_OK)
    tsl_finish_on_host(whole, &last);
  tsl_scratch_give(separate_sums);
  return status;
}

typedef struct scaled_epilogue_tile {
  int64_t product, row, col; /* index in the batch; first row and column in C */
} scaled_epilogue_tile;

/* Returns an operand moved to the tile along rows, columns or both. */
static tsl_operand scaled_epilogue_operand_at(const tsl_operand *operand, tesela_type type,
                                              const scaled_epilogue_tile *tile, bool rows, bool cols) {
  const tsl_type_info *info = tsl_type(type); /* NULL: the problem lacks the operand */
  tsl_operand moved = *operand;
  const int64_t elements = tile->product * operand->batch_step +
                           (rows ? tile->row * operand->row_stride : 0) +
                           (cols ? tile->col * operand->col_stride : 0);
  if (info && moved.host)
    moved.host = (unsigned char *)moved.host + elements * (int64_t)info->size;
  return moved;
}

/* Computes the sums of at most TILE x TILE elements of C on the stack, then the elements. */
static tesela_status scaled_epilogue_run_tile(const tsl_work *whole, const tsl_operands *used,
                                              const scaled_epilogue_tile *tile) {
  const tsl_problem *problem = &whole->problem;
  float sums[TILE * TILE]; /* f32 or i32 */
  tsl_problem part = *problem;
  part.batch = 0;
  part.m = part.a.rows = part.c.rows = tsl_min(problem->m - tile->row, TILE);
  part.n = part.b.cols = part.c.cols = tsl_min(problem->n - tile->col, TILE);
  tsl_work tile_work = *whole;
  tile_work.problem = tsl_problem_drop_epilogue(&part);
  tsl_operands last = {.a = scaled_epilogue_operand_at(&used->a, problem->a.type, tile, true, false),
                       .b = scaled_epilogue_operand_at(&used->b, problem->b.type, tile, false, true),
                       .c = scaled_epilogue_operand_at(&used->c, problem->c.type, tile, true, true),
                       .bias = scaled_epilogue_operand_at(&used->bias, problem->bias.type, tile, true, true),
                       .scale_a = scaled_epilogue_operand_at(&used->scale_a, TESELA_F32, tile, true, true),
                       .scale_b = scaled_epilogue_operand_at(&used->scale_b, TESELA_F32, tile, true, true),
                       .sums = {.host = sums, .row_stride = TILE, .col_stride = 1}};
  tsl_operands product = last;
  product.c = last.sums;
  TSL_TRY(tile_work.strategy->run(&tile_work, &product, NULL));
  tsl_finish_on_host(&part, &last);
  return TESELA_OK;
}

static tesela_status run_by_tiles(const tsl_work *whole, const tsl_operands *used) {
  const tsl_problem *problem = &whole->problem;
  scaled_epilogue_tile tile;
  for (tile.product = 0; tile.product < tsl_problem_batch(problem); tile.product++)
    for (tile.row = 0; tile.row < problem->m; tile.row += TILE)
      for (tile.col = 0; tile.col < problem->n; tile.col += TILE)
        TSL_TRY(scaled_epilogue_run_tile(whole, used, &tile));
  return TESELA_OK;
}

/* Enqueues the product and its epilogue, which on the cpu, and for strategies that split, are done at return.
 * The operands have strides. Separate sums are in the operands' scratch memory on a device, else in host
 * memory of tsl_problem_sums_bytes(). TESELA_OUT_OF_MEMORY leaves C unchanged. */
static tesela_status scaled_run(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *whole = &plan->work;
  return plan->finish ? run_on_device(plan, used, stream)
         : whole->strategy == tsl_strategy_specification(whole->problem.op)
             ? run_by_tiles(whole, used)
             : scaled_epilogue_run_on_host(plan, used);
}

typedef struct plan_run_state {
  const tsl_plan *plan;
  tsl_run_slot *slot;
  const tsl_operands *caller_operands;
  tsl_operands used;
  const tsl_concurrent_hook *beside;     /* callbacks for operands on the device; or NULL */
  tsl_buffer *wrapped[TSL_ALL_OPERANDS]; /* buffers over the caller's memory; NULL: not wrapped */
  bool timed;
  double allocated; /* seconds for allocating device memory, if timed */
} plan_run_state;

static void set_operand_strides(const tsl_shape *shape, tsl_operand *operand) {
  operand->row_stride = shape->row_stride;
  operand->col_stride = shape->col_stride;
}

/* Has no loop, which would take a tenth of the smallest plans' time. */
static void set_strides(const tsl_problem *problem, tsl_operands *operands) {
  set_operand_strides(&problem->a, &operands->a);
  set_operand_strides(&problem->b, &operands->b);
  set_operand_strides(&problem->c, &operands->c);
  set_operand_strides(&problem->bias, &operands->bias);
  set_operand_strides(&problem->scale_a, &operands->scale_a);
  set_operand_strides(&problem->scale_b, &operands->scale_b);
}

/* Returns the batch's products of an operand; step 0 is one product that the batch shares. */
static tsl_operand_series series_of(const tsl_problem *problem, const tsl_operand *operand) {
  const int64_t count = operand->batch_step != 0 ? tsl_problem_batch(problem) : 1;
  return (tsl_operand_series){count, operand->batch_step};
}

/* Returns the elements from a series' lowest to its first product. */
static int64_t below_first(tsl_operand_series series) {
  return series.step < 0 ? -series.step * (series.count - 1) : 0;
}

/* Memory of a host operand, over all products of a batch. */
typedef struct plan_span {
  unsigned char *start;
  size_t bytes;
} plan_span;

static plan_span plan_span_of(const plan_run_state *run, int operand) {
  const tsl_shape *shape = tsl_problem_shape(&run->plan->work.problem, operand);
  const tsl_operand *caller_operands = &run->caller_operands->at[operand];
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  const tsl_operand_series series = series_of(&run->plan->work.problem, caller_operands);
  const int64_t apart = (series.step < 0 ? -series.step : series.step) * (series.count - 1);
  return (plan_span){(unsigned char *)caller_operands->host -
                         (tsl_shape_below(shape) + below_first(series)) * size,
                     (size_t)((tsl_shape_extent(shape) + apart) * size)};
}

static bool disjoint(plan_span a, plan_span b) {
  return (uintptr_t)a.start + a.bytes <= (uintptr_t)b.start ||
         (uintptr_t)b.start + b.bytes <= (uintptr_t)a.start;
}

/* Returns true if the device can work on the caller's memory: shared, aligned, and no operands overlap. */
static bool can_wrap(const plan_run_state *run, int operand) {
  const tsl_device *device = run->plan->work.device;
  if (!(device->capabilities & TSL_CAN_SHARED_MEMORY) || device->host_alignment == 0)
    return false;
  const plan_span span = plan_span_of(run, operand);
  if ((uintptr_t)span.start % device->host_alignment != 0 || span.bytes > device->allocation_max)
    return false;
  for (int other = 0; other < TSL_ALL_OPERANDS; other++)
    if (other != operand && tsl_problem_uses(&run->plan->work.problem, other) &&
        !disjoint(span, plan_span_of(run, other)))
      return false;
  return true;
}

/* Makes a buffer over the caller's memory and uses it as the operand. */
static tesela_status plan_wrap(plan_run_state *run, int operand) {
  tsl_device *device = run->plan->work.device;
  const plan_span span = plan_span_of(run, operand);
  const tsl_problem *problem = &run->plan->work.problem;
  tsl_operand *used = &run->used.at[operand];
  TSL_TRY(device->ops->buffer_wrap(device, span.start, span.bytes, &run->wrapped[operand]));
  used->host = NULL;
  used->buffer = run->wrapped[operand];
  used->offset = tsl_shape_below(tsl_problem_shape(problem, operand)) + below_first(series_of(problem, used));
  return TESELA_OK;
}

/* Allocates an operand's memory: on the device, and on the host if it is gathered. */
static tesela_status take_staged(plan_run_state *run, int operand, const tsl_transfer *transfer,
                                 size_t bytes) {
  const double start = run->timed ? tsl_clock() : 0;
  TSL_TRY(tsl_run_slot_staged(run->slot, operand, bytes));
  if (tsl_transfer_needs_block(transfer, run->slot->device))
    TSL_TRY(tsl_run_slot_block(run->slot, transfer->bytes));
  run->allocated += run->timed ? tsl_clock() - start : 0;
  return TESELA_OK;
}

/* Copies an operand to the slot's device memory, if the problem reads it. */
static tesela_status plan_stage(plan_run_state *run, int operand) {
  const tsl_problem *problem = &run->plan->work.problem;
  const tsl_transfer *transfer = &run->plan->slots->transfers[operand];
  const bool is_vector = operand >= TSL_OPERAND_BIAS; /* stride 0 repeats its row or column */
  tsl_operand *used = &run->used.at[operand];
  const void *host = used->host;
  const tsl_operand_series series = series_of(problem, used);
  size_t bytes;
  if (!tsl_size_mul(transfer->bytes, (size_t)series.count, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "a batch's operands exceed the address space");
  TSL_TRY(take_staged(run, operand, transfer, bytes));
  *used = (tsl_operand){.buffer = run->slot->staged[operand],
                        .row_stride = is_vector && used->row_stride == 0 ? 0 : transfer->packed.row_stride,
                        .col_stride = is_vector && used->col_stride == 0 ? 0 : transfer->packed.col_stride,
                        .batch_step = series.count > 1 ? transfer->packed.rows * transfer->packed.cols : 0};
  if (!tsl_problem_reads(problem, operand))
    return TESELA_OK;
  return tsl_transfer_in(tsl_problem_shape(problem, operand), transfer, series, host, used->buffer,
                         run->slot->stream, run->slot->block);
}

/* Makes all operands available on the device: wrapped or staged. */
static tesela_status bring_in(plan_run_state *run) {
  const tsl_problem *problem = &run->plan->work.problem;
  if (run->beside)
    run->beside->before(run->beside->argument, run->slot->stream);
  if (run->plan->place == TSL_PLACE_DEVICE)
    return TESELA_OK;
  for (int operand = 0; operand < TSL_ALL_OPERANDS; operand++) {
    if (!tsl_problem_uses(problem, operand)) {
      run->used.at[operand].host = NULL;
      continue;
    }
    TSL_TRY(can_wrap(run, operand) ? plan_wrap(run, operand) : plan_stage(run, operand));
  }
  return TESELA_OK;
}

/* Returns TESELA_DEVICE_FAILED for a failure after which host memory may hold a part of C. */
static tesela_status as_half_written(tesela_status status) {
  return status == TESELA_OK ? status : TESELA_DEVICE_FAILED;
}

static tesela_status run_product(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *work = &plan->work;
  if (tsl_problem_has_scales(&work->problem) && !work->fuses_epilogue)
    return scaled_run(plan, used, stream);
  TSL_TRY(work->strategy->run(work, used, stream));
  if (!tsl_problem_has_epilogue(&work->problem) || work->fuses_epilogue)
    return TESELA_OK;
  if (plan->finish)
    return tsl_finish_on_device(work, plan->finish, used, stream);
  tsl_operands span = *used;
  if (span.team.threads == 0)
    span.team = tsl_device_host_team(work->device);
  tsl_finish_on_host(&work->problem, &span);
  return TESELA_OK;
}

/* Runs the product and its epilogue. The cpu uses the caller's floating-point mode without traps, and raises
 * flags that C justifies. Other devices, and strategies that need it, use the default mode and no flags. */
static tesela_status run_whole(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *work = &plan->work;
  if (!tsl_device_is_host(work->device) || work->strategy->needs_nearest) {
    TSL_DEFAULT_FLOATS;
    return run_product(plan, used, stream);
  }
  const tsl_floats before = tsl_exceptions_begin();
  const tesela_status status = run_product(plan, used, stream);
  tsl_exceptions_end(before, &work->problem, used);
  return status;
}

/* Computes C on the device. A failure with a wrapped C may have written a part of it. */
static tesela_status plan_compute(plan_run_state *run) {
  const tesela_status status = run_whole(run->plan, &run->used, run->slot->stream);
  return run->wrapped[TSL_OPERAND_C] ? as_half_written(status) : status;
}

/* Copies a staged C to the host, or waits for the stream. */
static tesela_status bring_out(plan_run_state *run) {
  tsl_run_slot *slot = run->slot;
  if (run->plan->place == TSL_PLACE_DEVICE || run->wrapped[TSL_OPERAND_C])
    return as_half_written(slot->device->ops->finish(slot->stream));
  const tsl_problem *problem = &run->plan->work.problem;
  return as_half_written(tsl_transfer_out(
      &problem->c, &run->plan->slots->transfers[TSL_OPERAND_C], series_of(problem, &run->caller_operands->c),
      run->caller_operands->c.host, slot->staged[TSL_OPERAND_C], slot->stream, slot->block));
}

static tesela_status bring_scratch(plan_run_state *run) {
  const tsl_work *work = &run->plan->work;
  TSL_TRY(tsl_run_slot_scratch(run->slot, (size_t)tsl_work_workspace(work)));
  run->used.scratch = run->slot->scratch;
  return TESELA_OK;
}

static void call_after_hook(const plan_run_state *run) {
  if (run->beside)
    run->beside->after(run->beside->argument, run->slot->stream);
}

static tesela_status run_untimed(plan_run_state *run) {
  TSL_TRY(bring_scratch(run));
  TSL_TRY(bring_in(run));
  TSL_TRY(plan_compute(run));
  call_after_hook(run);
  return bring_out(run);
}

/* Waits between the phases, to time each. */
static tesela_status plan_run_timed(plan_run_state *run, tsl_phases *phases) {
  tsl_run_slot *slot = run->slot;
  const tsl_device_ops *ops = slot->device->ops;
  const double first = tsl_clock();
  TSL_TRY(tsl_run_slot_events(slot));
  TSL_TRY(bring_scratch(run));
  const double start = tsl_clock();
  run->timed = true;
  TSL_TRY(bring_in(run));
  TSL_TRY(ops->finish(slot->stream));
  const double ready = tsl_clock();
  TSL_TRY(ops->event_record(slot->stream, slot->begin));
  TSL_TRY(plan_compute(run));
  TSL_TRY(ops->event_record(slot->stream, slot->end));
  call_after_hook(run);
  TSL_TRY(ops->finish(slot->stream));
  TSL_TRY(ops->event_seconds(slot->begin, slot->end, &phases->compute));
  const double computed = tsl_clock();
  TSL_TRY(bring_out(run));
  const double end = tsl_clock();
  const bool copies = run->plan->place == TSL_PLACE_HOST;
  phases->allocate = start - first + run->allocated;
  phases->copy_in = copies ? ready - start - run->allocated : 0;
  phases->copy_out = copies ? end - computed : 0;
  phases->total = end - start;
  return TESELA_OK;
}

/* Gives the slot back; returns the run's status. */
static tesela_status leave_slot(plan_run_state *run, tesela_status status) {
  const tsl_device_ops *ops = run->plan->work.device->ops;
  tsl_status_saved saved;
  if (status != TESELA_OK) {
    /* work may be pending on freed buffers; keeps the message */
    tsl_status_save(&saved);
    (void)ops->finish(run->slot->stream);
  }
  for (int operand = 0; operand < TSL_ALL_OPERANDS; operand++)
    if (run->wrapped[operand])
      ops->buffer_destroy(run->wrapped[operand]);
  tsl_run_slot_give(run->plan->slots, run->slot, status == TESELA_OK);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return status;
}

/* Returns false if the run is not overlapped, or pinned memory is not available. */
static bool plan_take_staging(const plan_run_state *run, tsl_staging **staging) {
  const tsl_plan *plan = run->plan;
  tsl_status_saved saved;
  char bytes[32];
  if (!tsl_overlap_suits(plan))
    return false;
  tsl_status_save(&saved);
  const bool has = tsl_staging_take(plan->work.device, plan->cut->sizes.slot, staging) == TESELA_OK;
  if (!has)
    tsl_log(TSL_LOG_PLAN, "%s: copies do not overlap, since %s of pinned memory are not available: %s",
            plan->work.device->name,
            tsl_format_bytes(TSL_STAGING_SLOTS * plan->cut->sizes.slot, bytes, sizeof bytes),
            tesela_last_error());
  tsl_status_restore(&saved);
  return has;
}

static tesela_status run_overlapped(plan_run_state *run, tsl_staging *staging, tsl_phases *phases) {
  const tsl_team caller_operands = run->caller_operands->team;
  const bool has_bias = tsl_problem_uses(&run->plan->work.problem, TSL_OPERAND_BIAS);
  const tesela_status staged = has_bias ? plan_stage(run, TSL_OPERAND_BIAS) : TESELA_OK;
  if (staged != TESELA_OK) {
    tsl_staging_give(staging, true);
    return staged;
  }
  const tsl_overlap overlap = {
      .plan = run->plan,
      .slot = run->slot,
      .caller_operands = run->caller_operands,
      .bias = run->used.bias,
      .staging = staging,
      .team = caller_operands.threads > 0 ? caller_operands : tsl_device_host_team(run->plan->work.device)};
  const tesela_status status = tsl_overlap_run(&overlap, phases);
  tsl_staging_give(staging, status == TESELA_OK);
  return status;
}

static tesela_status run_in_slot(const tsl_plan *plan, const tsl_operands *operands, const tsl_operands *used,
                                 const tsl_concurrent_hook *beside, tsl_phases *phases) {
  TSL_DEFAULT_FLOATS;
  plan_run_state run = {.plan = plan,
                        .caller_operands = operands,
                        .used = *used,
                        .beside = plan->place == TSL_PLACE_DEVICE ? beside : NULL};
  run.used.hints = run.beside ? run.beside->hints : NULL;
  tsl_staging *staging;
  TSL_TRY(tsl_run_slot_take(plan->slots, &run.slot));
  if (plan_take_staging(&run, &staging))
    return leave_slot(&run, run_overlapped(&run, staging, phases));
  return leave_slot(&run, phases ? plan_run_timed(&run, phases) : run_untimed(&run));
}

/* Sets host addresses for buffers of the cpu. */
static void set_buffer_addresses(const tsl_problem *problem, tsl_operands *operands) {
  for (int operand = 0; operand < TSL_ALL_OPERANDS; operand++) {
    tsl_operand *used = &operands->at[operand];
    if (used->buffer)
      used->host = (unsigned char *)used->buffer->host +
                   used->offset * (int64_t)tsl_type(tsl_problem_shape(problem, operand)->type)->size;
  }
}

/* Completes operands on the cpu: host addresses and team. */
static void prepare_on_host(const tsl_plan *plan, tsl_operands *operands) {
  if (plan->place == TSL_PLACE_DEVICE)
    set_buffer_addresses(&plan->work.problem, operands);
  if (operands->team.threads == 0)
    operands->team = tsl_device_team(plan->work.device);
}

tesela_status tsl_plan_run(tsl_plan *plan, const tsl_operands *operands, tsl_phases *phases) {
  return tsl_plan_run_beside(plan, operands, NULL, phases);
}

tesela_status tsl_plan_run_beside(tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_concurrent_hook *beside, tsl_phases *phases) {
  const tsl_work *work = &plan->work;
  if (phases)
    *phases = (tsl_phases){0};
  if (work->problem.m == 0 || work->problem.n == 0)
    return TESELA_OK;
  tsl_operands used = *operands;
  used.hints = NULL; /* they refer to the caller's workspace, but this run uses the slot's */
  set_strides(&work->problem, &used);
  if (!tsl_device_is_host(work->device) && !work->strategy->splits.parts)
    return run_in_slot(plan, operands, &used, beside, phases);
  if (!work->strategy->splits.parts)
    prepare_on_host(plan, &used);
  if (!phases)
    return run_whole(plan, &used, NULL);
  const double start = tsl_clock();
  const tesela_status status = run_whole(plan, &used, NULL);
  phases->compute = phases->total = tsl_clock() - start;
  return status;
}

uint64_t tsl_plan_workspace(const tsl_plan *plan) {
  return tsl_work_workspace(&plan->work);
}

tesela_status tsl_plan_enqueue(const tsl_plan *plan, const tsl_operands *operands, tsl_stream *stream,
                               tsl_buffer *workspace) {
  tsl_operands used = *operands;
  set_strides(&plan->work.problem, &used);
  return tsl_plan_enqueue_as_given(plan, &used, stream, workspace);
}

tesela_status tsl_plan_enqueue_as_given(const tsl_plan *plan, const tsl_operands *operands,
                                        tsl_stream *stream, tsl_buffer *workspace) {
  const tsl_work *work = &plan->work;
  tsl_operands used = *operands;
  if (work->problem.m == 0 || work->problem.n == 0)
    return TESELA_OK;
  used.scratch = workspace;
  if (tsl_device_is_host(work->device))
    prepare_on_host(plan, &used);
  return run_whole(plan, &used, stream);
}

tesela_status tsl_plan_build_joined(const tsl_plan *plan) {
  const tsl_strategy *strategy = plan->work.strategy;
  return strategy->fused && tsl_problem_batch(&plan->work.problem) > 1
             ? strategy->fused->build(&plan->work)
             : tsl_fail(TESELA_UNSUPPORTED, "%s does not support different products in one launch",
                        strategy->name);
}

bool tsl_plan_can_fuse(const tsl_plan *plan, const tsl_plan *member_plan, tsl_operands *operands) {
  const tsl_work *work = &plan->work;
  const tsl_strategy *strategy = work->strategy;
  tsl_problem problem = member_plan->work.problem;
  if (!strategy->fused || member_plan->work.strategy != strategy ||
      member_plan->work.device != work->device || member_plan->place != TSL_PLACE_DEVICE ||
      plan->place != TSL_PLACE_DEVICE || member_plan->spread || plan->spread || problem.m == 0 ||
      problem.n == 0 || tsl_problem_batch(&problem) > 1)
    return false;
  problem.batch = work->problem.batch;
  const tsl_fused_product joined = {&member_plan->work.problem, operands};
  set_strides(&member_plan->work.problem, operands);
  return !tsl_strategy_refuse(strategy, &problem, &work->config, work->device) &&
         tsl_strategy_error_bound(strategy, &problem, &work->config) <=
             tsl_strategy_error_bound(strategy, &member_plan->work.problem, &member_plan->work.config) &&
         strategy->fused->takes(work, &joined);
}

void tsl_plan_set_strides(const tsl_plan *plan, tsl_operands *operands) {
  set_strides(&plan->work.problem, operands);
}

uint64_t tsl_plan_joined_workspace(const tsl_plan *plan, int64_t count) {
  return plan->work.strategy->fused->scratch(count);
}

tesela_status tsl_plan_enqueue_fused(const tsl_plan *plan, const tsl_fused_product *products, int64_t count,
                                     tsl_stream *stream, tsl_buffer *workspace) {
  TSL_DEFAULT_FLOATS;
  return plan->work.strategy->fused->run(&plan->work, products, count, workspace, stream);
}

static tesela_status enqueue_batch(plan_run_state *run, const tsl_batch *batch) {
  const tsl_work *work = &run->plan->work;
  for (int i = 0; i < batch->runs; i++) {
    run->used = batch->sets[(batch->first + i) % batch->set_count];
    run->used.scratch = run->slot->scratch;
    set_strides(&work->problem, &run->used);
    TSL_TRY(run_whole(run->plan, &run->used, run->slot->stream));
  }
  return TESELA_OK;
}

static tesela_status time_batch(plan_run_state *run, const tsl_batch *batch, tsl_phases *phases) {
  tsl_run_slot *slot = run->slot;
  const tsl_device_ops *ops = slot->device->ops;
  TSL_TRY(tsl_run_slot_events(slot));
  TSL_TRY(bring_scratch(run));
  const double start = tsl_clock();
  TSL_TRY(ops->event_record(slot->stream, slot->begin));
  TSL_TRY(enqueue_batch(run, batch));
  TSL_TRY(ops->event_record(slot->stream, slot->end));
  TSL_TRY(ops->finish(slot->stream));
  phases->total = tsl_clock() - start;
  return ops->event_seconds(slot->begin, slot->end, &phases->compute);
}

static tesela_status time_batch_on_host(const tsl_plan *plan, const tsl_batch *batch, tsl_phases *phases) {
  const tsl_work *work = &plan->work;
  const double start = tsl_clock();
  for (int i = 0; i < batch->runs; i++) {
    tsl_operands used = batch->sets[(batch->first + i) % batch->set_count];
    set_strides(&work->problem, &used);
    prepare_on_host(plan, &used);
    TSL_TRY(run_whole(plan, &used, NULL));
  }
  phases->compute = phases->total = tsl_clock() - start;
  return TESELA_OK;
}

tesela_status tsl_plan_run_batch(tsl_plan *plan, const tsl_batch *batch, tsl_phases *phases) {
  const tsl_work *work = &plan->work;
  *phases = (tsl_phases){0};
  if (work->problem.m == 0 || work->problem.n == 0)
    return TESELA_OK;
  if (tsl_device_is_host(work->device))
    return time_batch_on_host(plan, batch, phases);
  plan_run_state run = {.plan = plan};
  TSL_TRY(tsl_run_slot_take(plan->slots, &run.slot));
  return leave_slot(&run, time_batch(&run, batch, phases));
}
