#include "device/device.h"

#include "core/memory.h"

/* The sum of all bits differs from their union if two capabilities share a bit. */
#define SUM(name, bit, text) +(UINT64_C(1) << (bit))
#define SET(name, bit, text) | (UINT64_C(1) << (bit))
_Static_assert((0 TSL_CAPABILITY_LIST(SUM)) == (0 TSL_CAPABILITY_LIST(SET)),
               "a bit stands for two capabilities");
#undef SUM
#undef SET

const char *tsl_capability_missing(unsigned needs, unsigned offers) {
  static const struct {
    unsigned capability;
    const char *text;
  } texts[] = {
#define TSL_CAPABILITY_ROW(name, bit, text) {TSL_CAN_##name, text},
      TSL_CAPABILITY_LIST(TSL_CAPABILITY_ROW)
#undef TSL_CAPABILITY_ROW
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if ((needs & ~offers & texts[i].capability) != 0)
      return texts[i].text;
  return NULL;
}

tsl_team tsl_device_team(const tsl_device *device) {
  return device->threads > 1 ? tsl_pool_team(tsl_pool_shared(), device->threads) : (tsl_team){0};
}

tsl_team tsl_device_host_team(const tsl_device *device) {
  return tsl_pool_team(tsl_pool_shared(), device->host_threads);
}

double tsl_device_bandwidth_of(int threads) {
  return 10e9 * (threads < 10 ? threads : 10);
}

void tsl_device_limit(tsl_device *device, int threads) {
  if (threads >= device->threads) /* also true for devices that are not processors */
    return;
  const double share = (double)threads / device->threads;
  device->peak_f32 *= share;
  device->peak_f64 *= share;
  device->bandwidth *= tsl_device_bandwidth_of(threads) / tsl_device_bandwidth_of(device->threads);
  device->threads = threads;
}

static tsl_copy describe_one_row_copy(tsl_buffer *buffer, size_t offset, void *host, size_t bytes) {
  return (tsl_copy){.buffer = buffer,
                    .offset = offset,
                    .device_pitch = bytes,
                    .host = host,
                    .host_pitch = bytes,
                    .rows = 1,
                    .row_bytes = bytes};
}

tesela_status tsl_device_write(tsl_stream *stream, tsl_buffer *buffer, size_t offset, const void *host,
                               size_t bytes) {
  /* write() only reads the memory */
  const tsl_copy copy = describe_one_row_copy(buffer, offset, tsl_writable(host), bytes);
  return buffer->device->ops->write(stream, &copy);
}

tesela_status tsl_device_read(tsl_stream *stream, tsl_buffer *buffer, size_t offset, void *host,
                              size_t bytes) {
  const tsl_copy copy = describe_one_row_copy(buffer, offset, host, bytes);
  return buffer->device->ops->read(stream, &copy);
}
