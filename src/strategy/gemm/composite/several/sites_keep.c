#include "core/status.h"
#include "device/memory_pool.h"
#include "strategy/gemm/composite/several/shard_worker.h"

static void drop_buffer(tsl_site_buffer *site_buffer) {
  tsl_pooled_buffer_give(site_buffer->buffer);
  site_buffer->buffer = NULL;
  site_buffer->is_recorded = false;
}

void tsl_site_release_memory(tsl_site *site) {
  drop_buffer(&site->stay);
  for (int i = 0; i < SITE_RING; i++) {
    drop_buffer(&site->slabs[i]);
    drop_buffer(&site->results[i]);
  }
  tsl_pooled_buffer_give(site->scratch);
  site->scratch = NULL;
  site->is_ready = false;
}

static void end_event(const tsl_site *site, tsl_event **event) {
  if (*event)
    site->device->ops->event_destroy(*event);
  *event = NULL;
}

void tsl_site_release(tsl_site *site) {
  const tsl_device_ops *ops = site->device->ops;
  tsl_site_release_memory(site);
  end_event(site, &site->stay.done);
  for (int i = 0; i < SITE_RING; i++) {
    end_event(site, &site->slabs[i].done);
    end_event(site, &site->results[i].done);
  }
  end_event(site, &site->arrived);
  if (site->in && site->in != site->compute)
    ops->stream_destroy(site->in);
  if (site->out && site->out != site->compute)
    ops->stream_destroy(site->out);
  if (site->compute)
    ops->stream_destroy(site->compute);
  tsl_device_copier_end(&site->carrier);
  site->in = site->out = site->compute = NULL;
}

static tesela_status allocate_site_buffer(tsl_site *site, tsl_site_buffer *site_buffer, size_t bytes) {
  if (bytes == 0)
    return TESELA_OK;
  TSL_TRY(tsl_pooled_buffer_get(site->device, bytes, &site_buffer->buffer));
  return site->arrived && !site_buffer->done
             ? site->device->ops->event_create(site->device, &site_buffer->done)
             : TESELA_OK;
}

static tesela_status create_streams(tsl_site *site) {
  const tsl_device_ops *ops = site->device->ops;
  if (site->compute)
    return TESELA_OK;
  TSL_TRY(ops->stream_create(site->device, &site->compute));
  if (!ops->stream_wait) {
    site->in = site->out = site->compute;
    return TESELA_OK;
  }
  TSL_TRY(ops->stream_create(site->device, &site->in));
  TSL_TRY(ops->stream_create(site->device, &site->out));
  return ops->event_create(site->device, &site->arrived);
}

static tesela_status allocate_site(tsl_site *site) {
  TSL_TRY(create_streams(site));
  TSL_TRY(allocate_site_buffer(site, &site->stay, site->stay_bytes));
  for (int i = 0; i < SITE_RING; i++) {
    TSL_TRY(allocate_site_buffer(site, &site->slabs[i], site->slabs_used >> i & 1 ? site->slab_bytes : 0));
    TSL_TRY(
        allocate_site_buffer(site, &site->results[i], site->results_used >> i & 1 ? site->tile_bytes : 0));
  }
  return site->workspace > 0 ? tsl_pooled_buffer_get(site->device, (size_t)site->workspace, &site->scratch)
                             : TESELA_OK;
}

tesela_status tsl_site_ready(tsl_site *site) {
  tesela_status status = TESELA_OK;
  if (!site->is_ready)
    status = allocate_site(site);
  site->is_ready = status == TESELA_OK;
  if (status != TESELA_OK)
    tsl_site_release(site);
  return status;
}
