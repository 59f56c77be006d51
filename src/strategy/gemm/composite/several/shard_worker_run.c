/* Run of a product of distributed operands, in a thread for each worker:
 *
 *   in       A          B0 B1    B2    B3            two buffers for slabs, two for tiles of C that another
 *   compute             C0    C1    C2    C3         member holds
 *   out                          C0    C1    C2
 *
 * Copy engines copy if one device reaches the other (device/cross_copy.h); otherwise this thread copies after
 * it has enqueued the tile. Each element of C is written by one member, so members need not wait. */
#include "core/log.h"
#include "core/status.h"
#include "core/warnings.h"
#include "device/memory_pool.h"
#include "strategy/gemm/composite/several/shard_worker.h"

#include <stdio.h>

typedef struct shard_worker_launch {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_shard_worker *planned; /* the plan's worker */
  tsl_shard_worker *worker;  /* `planned`, or its replacement */
  const tsl_device_ops *ops;
  int member;
  int block;               /* block whose operand is resident; -1: none yet */
  tsl_operand_reuse stays; /* reuse of the resident operand, for child plans that prepare it */
  tesela_status status;
  tsl_status_saved failure;
} shard_worker_launch;

/* Makes later work of the stream wait for the buffer's last use. */
static tesela_status shard_worker_wait_for(const shard_worker_launch *job, tsl_stream *stream,
                                           const tsl_shard_worker_buffer *buffer) {
  return buffer->is_recorded ? job->ops->stream_wait(stream, buffer->done) : TESELA_OK;
}

/* Waits on the host: a copy that waits in a copy engine's queue would block later copies of other devices. */
static tesela_status wait_on_host(const shard_worker_launch *job, const tsl_shard_worker_buffer *buffer) {
  return buffer->is_recorded ? job->ops->event_wait(buffer->done) : TESELA_OK;
}

static tesela_status record_done_if_used(const shard_worker_launch *job, tsl_stream *stream,
                                         tsl_shard_worker_buffer *buffer, bool is_used) {
  if (!buffer->done || !is_used)
    return TESELA_OK;
  TSL_TRY(job->ops->event_record(stream, buffer->done));
  buffer->is_recorded = true;
  return TESELA_OK;
}

/* Returns the copy of the common part of a shard and a rectangle from the shard to the rectangle's buffer. */
static tsl_copy_rect shard_worker_rows_of(const shard_worker_launch *job, int operand, int shard,
                                          const tsl_rect *common, const tsl_rect *rect,
                                          const tsl_buffer_layout *layout) {
  const tsl_shard *hold = &job->work->sharding->holds[operand][shard];
  const tsl_shard_buffer *held = &job->operands->at[operand].shards[shard];
  const int64_t size = (int64_t)tsl_type(tsl_problem_shape(&job->work->problem, operand)->type)->size;
  const bool by_rows = tsl_sharding_by_rows(job->work->sharding, operand);
  const int64_t in_piece = held->offset + (common->row - hold->at.row) * hold->row_stride +
                           (common->col - hold->at.col) * hold->col_stride,
                in_buffer = (common->row - rect->row) * layout->row_stride +
                            (common->col - rect->col) * layout->col_stride;
  return (tsl_copy_rect){.from = held->buffer,
                         .from_offset = (size_t)(in_piece * size),
                         .from_pitch = (size_t)((by_rows ? hold->row_stride : hold->col_stride) * size),
                         .to_offset = (size_t)(in_buffer * size),
                         .to_pitch = (size_t)((by_rows ? layout->row_stride : layout->col_stride) * size),
                         .rows = (size_t)(by_rows ? common->rows : common->cols),
                         .row_bytes = (size_t)((by_rows ? common->cols : common->rows) * size)};
}

static tsl_copy_rect swap_source_and_target(const tsl_copy_rect *rows) {
  return (tsl_copy_rect){.from = rows->to,
                         .from_offset = rows->to_offset,
                         .from_pitch = rows->to_pitch,
                         .to = rows->from,
                         .to_offset = rows->from_offset,
                         .to_pitch = rows->from_pitch,
                         .rows = rows->rows,
                         .row_bytes = rows->row_bytes};
}

/* Copies a rectangle from its shards to a buffer, or back: own shards first, then the next member's. */
static tesela_status copy_rectangle(const shard_worker_launch *job, tsl_stream *stream, int operand,
                                    const tsl_rect *rect, tsl_buffer *buffer, bool back) {
  const tsl_sharding *spread = job->work->sharding;
  const int members = job->work->device->member_count;
  tsl_buffer_layout layout;
  TSL_TRY(tsl_several_layout(job->work, operand, rect, &layout));
  for (int step = 0; step < members; step++)
    for (int i = 0; i < spread->counts[operand]; i++) {
      tsl_rect common;
      if (spread->holds[operand][i].member != (job->worker->member + step) % members ||
          !tsl_rect_intersect(&spread->holds[operand][i].at, rect, &common))
        continue;
      tsl_copy_rect rows = shard_worker_rows_of(job, operand, i, &common, rect, &layout);
      rows.to = buffer;
      if (back)
        rows = swap_source_and_target(&rows);
      TSL_TRY(tsl_device_copy(&job->worker->copier, stream, &rows));
    }
  return TESELA_OK;
}

/* Sets `out` to a tile's part of an operand: in its shard, or in a buffer (copied unless `is_copied`). */
static tesela_status locate_or_copy_in(const shard_worker_launch *job, const tsl_several_tile *tile,
                                       int operand, tsl_shard_worker_buffer *buffer_use, bool is_copied,
                                       tsl_operand *out) {
  const int shard = tile->shard[operand];
  const tsl_rect rect = tsl_several_rect(&job->work->problem, operand, &tile->c);
  if (shard >= 0) {
    const tsl_shard *hold = &job->work->sharding->holds[operand][shard];
    const tsl_shard_buffer *held = &job->operands->at[operand].shards[shard];
    *out = (tsl_operand){.buffer = held->buffer,
                         .offset = held->offset + (rect.row - hold->at.row) * hold->row_stride +
                                   (rect.col - hold->at.col) * hold->col_stride};
    return TESELA_OK;
  }
  *out = (tsl_operand){.buffer = buffer_use->buffer};
  if (is_copied || !tsl_problem_reads(&job->work->problem, operand))
    return TESELA_OK;
  TSL_TRY(wait_on_host(job, buffer_use));
  return copy_rectangle(job, job->worker->in, operand, &rect, buffer_use->buffer, false);
}

/* Makes the compute stream wait for all copies in; nothing to do with a single stream. */
static tesela_status wait_for_copies(const shard_worker_launch *job) {
  const tsl_shard_worker *worker = job->worker;
  if (!worker->arrived)
    return TESELA_OK;
  TSL_TRY(job->ops->event_record(worker->in, worker->arrived));
  return job->ops->stream_wait(worker->compute, worker->arrived);
}

/* Enqueues a tile's copies and its product; the resident operand is copied only for a new block. */
static tesela_status enqueue_tile(shard_worker_launch *job, int index) {
  tsl_shard_worker *worker = job->worker;
  const tsl_several_tile *tile = &worker->tiles[index];
  const tsl_several_block *block = &worker->blocks[tile->block];
  tsl_shard_worker_buffer *slab = &worker->slabs[index % RING_BUFFERS],
                          *result = &worker->results[index % RING_BUFFERS];
  const bool a_is_resident = block->stays == TSL_OPERAND_A, is_copied = job->block == tile->block;
  const tsl_run_hints hints = {.reuse = &job->stays};
  tsl_operands used = {.team = job->operands->team, .hints = &hints};
  TSL_TRY(locate_or_copy_in(job, tile, TSL_OPERAND_A, a_is_resident ? &worker->resident : slab,
                            a_is_resident && is_copied, &used.a));
  TSL_TRY(locate_or_copy_in(job, tile, TSL_OPERAND_B, a_is_resident ? slab : &worker->resident,
                            !a_is_resident && is_copied, &used.b));
  TSL_TRY(locate_or_copy_in(job, tile, TSL_OPERAND_C, result, false, &used.c));
  if (!is_copied)
    tsl_operand_reuse_start(&job->stays, block->stays);
  tsl_operand_reuse_turn(&job->stays);
  job->block = tile->block;
  TSL_TRY(wait_for_copies(job));
  if (tile->shard[TSL_OPERAND_C] < 0 && !tsl_problem_reads(&job->work->problem, TSL_OPERAND_C))
    /* C was not copied, so no copy has waited for the buffer */
    TSL_TRY(shard_worker_wait_for(job, worker->compute, result));
  TSL_TRY(
      job->work->subplans->enqueue(worker->kinds[tile->kind].child, &used, worker->compute, worker->scratch));
  const int passes = a_is_resident ? TSL_OPERAND_B : TSL_OPERAND_A;
  TSL_TRY(record_done_if_used(job, worker->compute, slab, tile->shard[passes] < 0));
  TSL_TRY(record_done_if_used(job, worker->compute, &worker->resident, tile->shard[block->stays] < 0));
  return record_done_if_used(job, worker->compute, result, tile->shard[TSL_OPERAND_C] < 0);
}

/* Sends a tile of C to the members that hold it. */
static tesela_status send_tile(shard_worker_launch *job, int index) {
  tsl_shard_worker *worker = job->worker;
  const tsl_several_tile *tile = &worker->tiles[index];
  tsl_shard_worker_buffer *result = &worker->results[index % RING_BUFFERS];
  if (tile->shard[TSL_OPERAND_C] >= 0)
    return TESELA_OK;
  TSL_TRY(wait_on_host(job, result));
  TSL_TRY(copy_rectangle(job, worker->out, TSL_OPERAND_C, &tile->c, result->buffer, true));
  return record_done_if_used(job, worker->out, result, true);
}

static tesela_status compute_all_tiles(shard_worker_launch *job) {
  tsl_shard_worker *worker = job->worker;
  for (int i = 0; i < worker->tile_count; i++) {
    TSL_TRY(enqueue_tile(job, i));
    if (i > 0)
      TSL_TRY(send_tile(job, i - 1));
  }
  TSL_TRY(send_tile(job, worker->tile_count - 1));
  TSL_TRY(job->ops->finish(worker->in));
  TSL_TRY(job->ops->finish(worker->compute));
  TSL_TRY(job->ops->finish(worker->out));
  return tsl_device_copier_finish(&worker->copier);
}

static void log_reuse(const shard_worker_launch *job) {
  if (job->stays.kept > 0)
    tsl_log(TSL_LOG_CALLS, "several: %s computed %d tiles, %d with %s as prepared for the previous tile",
            job->worker->device->name, job->worker->tile_count, job->stays.kept,
            job->stays.operand == TSL_OPERAND_A ? "A" : "B");
}

/* Computes all tiles and waits. After a failure the worker's resources and the device's pool are freed. */
static void *run_worker(void *argument) {
  shard_worker_launch *job = argument;
  tsl_shard_worker *worker = job->worker;
  job->status = compute_all_tiles(job);
  if (job->status == TESELA_OK) {
    log_reuse(job);
    tsl_shard_worker_release_memory(worker);
    return NULL;
  }
  /* Work may be pending on the resources that are released now; later failures are not reported. */
  tsl_status_save(&job->failure);
  (void)job->ops->finish(worker->in);
  (void)job->ops->finish(worker->compute);
  (void)job->ops->finish(worker->out);
  (void)tsl_device_copier_finish(&worker->copier);
  tsl_shard_worker_release(worker);
  (void)tsl_pooled_buffers_destroy(worker->device); /* memory in use has an unknown state */
  return NULL;
}

void tsl_several_run_each(void *jobs, size_t size, int count, int caller_job, void *(*run)(void *job)) {
  pthread_t threads[TSL_MEMBERS_MAX];
  bool has_thread[TSL_MEMBERS_MAX] = {false};
  unsigned char *job = jobs;
  for (int i = 0; i < count; i++)
    has_thread[i] = i != caller_job && pthread_create(&threads[i], NULL, run, job + (size_t)i * size) == 0;
  run(job + (size_t)caller_job * size);
  for (int i = 0; i < count; i++)
    if (has_thread[i])
      pthread_join(threads[i], NULL);
    else if (i != caller_job)
      run(job + (size_t)i * size);
}

static shard_worker_launch shard_worker_job_of(const tsl_work *work, const tsl_operands *operands,
                                               tsl_shard_worker *planned, tsl_shard_worker *worker) {
  return (shard_worker_launch){.work = work,
                               .operands = operands,
                               .planned = planned,
                               .worker = worker,
                               .ops = worker->device->ops,
                               .member = worker->member,
                               .block = -1};
}

static bool has_failed(const shard_worker_launch *jobs, int count, int member) {
  for (int i = 0; i < count; i++)
    if (jobs[i].status != TESELA_OK && jobs[i].member == member)
      return true;
  return false;
}

void tsl_several_report_failure(const tsl_work *work, const char *failed, const char *by,
                                const char *sentence) {
  tsl_several *self = work->state;
  char note[sizeof self->note];
  snprintf(note, sizeof note, "%s failed, and %s computed its part of the product again: %.200s", failed, by,
           sentence);
  pthread_mutex_lock(&self->lock);
  if (!*self->note)
    snprintf(self->note, sizeof self->note, "%s", note);
  pthread_mutex_unlock(&self->lock);
  tsl_notice(TSL_LOG_PLAN, "%s", note);
}

/* Repeats a failed worker on another member from the failed device's A and B; false: a step failed. */
static bool shard_worker_repeat_on(const shard_worker_launch *failed, int member) {
  const tsl_work *work = failed->work;
  tsl_several *self = work->state;
  const tsl_shard_worker *own_site = self->workers[member];
  tsl_shard_worker *worker;
  if (tsl_several_build_replacement(work, failed->worker, member, own_site ? own_site->kinds[0].child : NULL,
                                    &worker) != TESELA_OK)
    return false;
  shard_worker_launch again = shard_worker_job_of(work, failed->operands, failed->planned, worker);
  again.status = tsl_shard_worker_allocate(worker);
  if (again.status == TESELA_OK)
    run_worker(&again);
  if (again.status != TESELA_OK) {
    tsl_several_free_worker(work, worker);
    return false;
  }
  tsl_several_report_failure(work, failed->worker->device->name, worker->device->name,
                             failed->failure.sentence);
  tsl_several_free_worker(work, failed->planned->replacement);
  failed->planned->replacement = worker;
  return true;
}

/* Repeats a failed worker's part; false: all members fail, or beta is not 0, as C may be spoilt. */
static bool shard_worker_repair(const shard_worker_launch *jobs, int count, int failed) {
  const tsl_work *work = jobs[failed].work;
  if (tsl_problem_reads(&work->problem, TSL_OPERAND_C))
    return false;
  for (int member = 0; member < work->device->member_count; member++)
    if (!has_failed(jobs, count, member) && shard_worker_repeat_on(&jobs[failed], member))
      return true;
  return false;
}

static tesela_status repair_failures(const shard_worker_launch *jobs, int count) {
  for (int i = 0; i < count; i++)
    if (jobs[i].status != TESELA_OK && !shard_worker_repair(jobs, count, i)) {
      tsl_status_restore(&jobs[i].failure);
      return tsl_fail_in(TESELA_DEVICE_FAILED, "the part of %s, without which C is lost",
                         jobs[i].worker->device->name);
    }
  return TESELA_OK;
}

static tesela_status run_all_workers(const tsl_work *work, const tsl_operands *operands) {
  const tsl_several *self = work->state;
  shard_worker_launch jobs[TSL_MEMBERS_MAX] = {{0}};
  int count = 0;
  for (int i = 0; i < work->device->member_count; i++) {
    tsl_shard_worker *planned = self->workers[i];
    if (planned)
      jobs[count++] =
          shard_worker_job_of(work, operands, planned, planned->replacement ? planned->replacement : planned);
  }
  for (int i = 0; i < count; i++)
    TSL_TRY(tsl_shard_worker_allocate(jobs[i].worker));
  tsl_several_run_each(jobs, sizeof *jobs, count, 0, run_worker);
  return repair_failures(jobs, count);
}

tesela_status tsl_several_run_workers(const tsl_work *work, const tsl_operands *operands) {
  tsl_several *self = work->state;
  pthread_mutex_lock(&self->run_lock);
  const tesela_status status = run_all_workers(work, operands);
  pthread_mutex_unlock(&self->run_lock);
  return status;
}
