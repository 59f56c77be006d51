#include "tune/roofs.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/devices.h"
#include "tune/roofs/bench.h"

#include <math.h>

/* Sizes of an array: CACHES (at least CACHES_MIN) times the last cache, within limits and free memory. */
enum { CACHES = 8, CACHES_MIN = 3 };
static const uint64_t cache_bytes_guess = (uint64_t)64 << 20;
static const uint64_t host_bytes = (uint64_t)64 << 20, device_bytes = (uint64_t)1 << 30,
                      bytes_max = (uint64_t)2 << 30;
/* Divisor of all arrays, which every chunk divides. */
static const size_t grain = (size_t)1 << 20;

const char *tsl_roof_name_of(tsl_roof_name roof) {
  static const char *const names[] = {"copy",   "read",  "level1",  "level2",
                                      "level3", "local", "fma_f32", "fma_f64"};
  return names[roof];
}

/* Returns the bytes of an array; 0 with a noted reason if memory is too short for one beyond the caches. */
static size_t choose_bytes(const tsl_device *device, tsl_roofs *roofs) {
  const bool on_host = device->is_cpu || tsl_device_is_host(device);
  const uint64_t cache = device->cache_bytes > 0 ? device->cache_bytes : cache_bytes_guess;
  const uint64_t floor = on_host ? host_bytes : device_bytes, least = CACHES_MIN * cache;
  uint64_t wanted = CACHES * cache > floor ? CACHES * cache : floor;
  uint64_t most = on_host ? tsl_memory_available() / 4 : device->memory_bytes / 8;
  wanted = wanted < bytes_max ? wanted : bytes_max;
  most = most < device->allocation_max ? most : device->allocation_max;
  const size_t bytes = (size_t)(wanted < most ? wanted : most) / grain * grain;
  if (bytes >= least)
    return bytes;
  char one[32], two[32];
  tsl_roofs_set_missing(
      roofs,
      "%s: memory was not measured: it needs arrays of %s, larger than the last cache, but only %s "
      "can be allocated",
      device->name, tsl_format_bytes(least, one, sizeof one), tsl_format_bytes(bytes, two, sizeof two));
  return 0;
}

tesela_status tsl_roofs_measure(tsl_device *device, const tsl_roofs_options *options, tsl_roofs *roofs) {
  const double start = tsl_clock();
  const double seconds = options && options->seconds > 0 ? options->seconds : 1;
  tsl_roofs found = {.bytes = options ? options->bytes / grain * grain : 0};
  for (int i = 0; i < TSL_ROOF_COUNT; i++)
    found.roof[i] = (tsl_roof){.rate = NAN, .spread = NAN};
  if (!(device->capabilities & (TSL_CAN_HOST | TSL_CAN_KERNELS)))
    return tsl_fail(TESELA_UNSUPPORTED, "%s runs neither C code nor kernels: its roofs cannot be measured",
                    device->name);
  TSL_TRY(tsl_device_open(device));
  if (found.bytes == 0)
    found.bytes = choose_bytes(device, &found);
  if (!(device->capabilities & TSL_CAN_F64))
    tsl_roofs_set_missing(&found, "%s: no double precision", device->name);
  TSL_TRY(tsl_device_is_host(device) ? tsl_roofs_on_host(device, seconds, &found)
                                     : tsl_roofs_on_kernels(device, seconds, &found));
  found.seconds = tsl_clock() - start;
  *roofs = found;
  return TESELA_OK;
}

double tsl_roofs_lowest(const tsl_roofs *roofs, tesela_type type, double flops, double bytes) {
  const double peak = roofs->roof[type == TESELA_F64 ? TSL_ROOF_FMA_F64 : TSL_ROOF_FMA_F32].rate;
  const double slope = flops / bytes * roofs->roof[TSL_ROOF_COPY].rate;
  return isnan(peak) || isnan(slope) ? NAN : fmin(peak, slope);
}
