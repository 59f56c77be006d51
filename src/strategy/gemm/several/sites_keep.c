/* What a member's place in a product of operands in pieces works with: streams, events and buffers. */
#include "base/status.h"
#include "strategy/gemm/several/sites.h"

static void drop(tsl_site *site, tsl_site_buffer *of) {
  if (of->buffer)
    site->device->ops->buffer_destroy(of->buffer);
  if (of->done)
    site->device->ops->event_destroy(of->done);
  *of = (tsl_site_buffer){.buffer = NULL};
}

void tsl_site_end(tsl_site *site) {
  const tsl_device_ops *ops = site->device->ops;
  drop(site, &site->stay);
  for (int i = 0; i < SITE_RING; i++) {
    drop(site, &site->slabs[i]);
    drop(site, &site->results[i]);
  }
  if (site->scratch)
    ops->buffer_destroy(site->scratch);
  if (site->arrived)
    ops->event_destroy(site->arrived);
  if (site->in && site->in != site->compute)
    ops->stream_destroy(site->in);
  if (site->out && site->out != site->compute)
    ops->stream_destroy(site->out);
  if (site->compute)
    ops->stream_destroy(site->compute);
  tsl_carrier_end(&site->carrier);
  site->scratch = NULL;
  site->arrived = NULL;
  site->in = site->out = site->compute = NULL;
  site->is_ready = false;
}

static tesela_status take(tsl_site *site, tsl_site_buffer *of, size_t bytes) {
  if (bytes == 0)
    return TESELA_OK;
  TSL_TRY(site->device->ops->buffer_create(site->device, bytes, &of->buffer));
  return site->arrived ? site->device->ops->event_create(site->device, &of->done) : TESELA_OK;
}

static tesela_status take_streams(tsl_site *site) {
  const tsl_device_ops *ops = site->device->ops;
  TSL_TRY(ops->stream_create(site->device, &site->compute));
  if (!ops->stream_wait) {
    site->in = site->out = site->compute;
    return TESELA_OK;
  }
  TSL_TRY(ops->stream_create(site->device, &site->in));
  TSL_TRY(ops->stream_create(site->device, &site->out));
  return ops->event_create(site->device, &site->arrived);
}

static tesela_status take_all(tsl_site *site) {
  TSL_TRY(take_streams(site));
  TSL_TRY(take(site, &site->stay, site->stay_bytes));
  for (int i = 0; i < SITE_RING; i++) {
    TSL_TRY(take(site, &site->slabs[i], site->slab_bytes));
    TSL_TRY(take(site, &site->results[i], site->tile_bytes));
  }
  if (site->workspace > 0)
    TSL_TRY(site->device->ops->buffer_create(site->device, (size_t)site->workspace, &site->scratch));
  return TESELA_OK;
}

tesela_status tsl_site_ready(tsl_site *site) {
  tesela_status status = TESELA_OK;
  if (!site->is_ready)
    status = take_all(site);
  site->is_ready = status == TESELA_OK;
  if (status != TESELA_OK)
    tsl_site_end(site);
  return status;
}
