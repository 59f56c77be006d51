#include "core/status.h"
#include "device/memory_pool.h"
#include "strategy/gemm/composite/several/shard_worker.h"

static void give_back_buffer(tsl_shard_worker_buffer *buffer_use) {
  tsl_pooled_buffer_give(buffer_use->buffer);
  buffer_use->buffer = NULL;
  buffer_use->is_recorded = false;
}

void tsl_shard_worker_release_memory(tsl_shard_worker *worker) {
  give_back_buffer(&worker->resident);
  for (int i = 0; i < RING_BUFFERS; i++) {
    give_back_buffer(&worker->slabs[i]);
    give_back_buffer(&worker->results[i]);
  }
  tsl_pooled_buffer_give(worker->scratch);
  worker->scratch = NULL;
  worker->is_ready = false;
}

static void destroy_event(const tsl_shard_worker *worker, tsl_event **event) {
  if (*event)
    worker->device->ops->event_destroy(*event);
  *event = NULL;
}

void tsl_shard_worker_release(tsl_shard_worker *worker) {
  const tsl_device_ops *ops = worker->device->ops;
  tsl_shard_worker_release_memory(worker);
  destroy_event(worker, &worker->resident.done);
  for (int i = 0; i < RING_BUFFERS; i++) {
    destroy_event(worker, &worker->slabs[i].done);
    destroy_event(worker, &worker->results[i].done);
  }
  destroy_event(worker, &worker->arrived);
  if (worker->in && worker->in != worker->compute)
    ops->stream_destroy(worker->in);
  if (worker->out && worker->out != worker->compute)
    ops->stream_destroy(worker->out);
  if (worker->compute)
    ops->stream_destroy(worker->compute);
  tsl_device_copier_end(&worker->copier);
  worker->in = worker->out = worker->compute = NULL;
}

static tesela_status allocate_worker_buffer(tsl_shard_worker *worker, tsl_shard_worker_buffer *buffer_use,
                                            size_t bytes) {
  if (bytes == 0)
    return TESELA_OK;
  TSL_TRY(tsl_pooled_buffer_get(worker->device, bytes, &buffer_use->buffer));
  return worker->arrived && !buffer_use->done
             ? worker->device->ops->event_create(worker->device, &buffer_use->done)
             : TESELA_OK;
}

static tesela_status create_streams(tsl_shard_worker *worker) {
  const tsl_device_ops *ops = worker->device->ops;
  if (worker->compute)
    return TESELA_OK;
  TSL_TRY(ops->stream_create(worker->device, &worker->compute));
  if (!ops->stream_wait) {
    worker->in = worker->out = worker->compute;
    return TESELA_OK;
  }
  TSL_TRY(ops->stream_create(worker->device, &worker->in));
  TSL_TRY(ops->stream_create(worker->device, &worker->out));
  return ops->event_create(worker->device, &worker->arrived);
}

static tesela_status allocate_worker(tsl_shard_worker *worker) {
  TSL_TRY(create_streams(worker));
  TSL_TRY(allocate_worker_buffer(worker, &worker->resident, worker->resident_bytes));
  for (int i = 0; i < RING_BUFFERS; i++) {
    TSL_TRY(allocate_worker_buffer(worker, &worker->slabs[i],
                                   worker->slabs_used >> i & 1 ? worker->slab_bytes : 0));
    TSL_TRY(allocate_worker_buffer(worker, &worker->results[i],
                                   worker->results_used >> i & 1 ? worker->tile_bytes : 0));
  }
  return worker->workspace > 0
             ? tsl_pooled_buffer_get(worker->device, (size_t)worker->workspace, &worker->scratch)
             : TESELA_OK;
}

tesela_status tsl_shard_worker_allocate(tsl_shard_worker *worker) {
  tesela_status status = TESELA_OK;
  if (!worker->is_ready)
    status = allocate_worker(worker);
  worker->is_ready = status == TESELA_OK;
  if (status != TESELA_OK)
    tsl_shard_worker_release(worker);
  return status;
}
