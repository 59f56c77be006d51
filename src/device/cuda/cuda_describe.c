#include "core/status.h"
#include "device/cuda/cuda_device.h"

#include <ctype.h>
#include <stdio.h>

/* Single-precision multiply-adds per clock and multiprocessor, by first architecture (CUDA C++ Programming
 * Guide, "Throughput of Native Arithmetic Instructions"). */
static const struct {
  int architecture, lanes;
} f32_lanes[] = {{0, 192}, {50, 128}, {60, 64}, {61, 128}, {70, 64}, {86, 128}};

/* Bytes per second to the host: half of PCIe x16 (3.0, 4.0, 5.0), because pageable copies are staged. */
static const struct {
  int architecture;
  double rate;
} link_rates[] = {{0, 6e9}, {80, 12e9}, {90, 25e9}};

/* Seconds from a launch to its first instruction. */
static const double launch_seconds = 4e-6;
/* Estimates where the driver knows neither clock nor bus. */
static const double clock_guess_hz = 1e9, bandwidth_guess = 200e9;

static int f32_lanes_of(int architecture) {
  int lanes = 0;
  for (size_t i = 0; i < sizeof f32_lanes / sizeof *f32_lanes; i++)
    if (architecture >= f32_lanes[i].architecture)
      lanes = f32_lanes[i].lanes;
  return lanes;
}

static double link_rate_of(int architecture) {
  double rate = 0;
  for (size_t i = 0; i < sizeof link_rates / sizeof *link_rates; i++)
    if (architecture >= link_rates[i].architecture)
      rate = link_rates[i].rate;
  return rate;
}

static void add_predictions(tsl_cu_device ordinal, tsl_device *device) {
  const double clock = device->clock_mhz > 0 ? 1e6 * device->clock_mhz : clock_guess_hz;
  const int ratio = tsl_cuda_attribute(ordinal, TSL_CU_F32_PER_F64);
  device->peak_f32 = 2.0 * f32_lanes_of(device->architecture) * device->compute_units * clock;
  device->peak_f64 = device->peak_f32 / (ratio > 0 ? ratio : 32);
  /* transfers on both clock edges */
  const double memory_clock = 1e3 * tsl_cuda_attribute(ordinal, TSL_CU_MEMORY_CLOCK_KHZ);
  const double bus_bytes = tsl_cuda_attribute(ordinal, TSL_CU_MEMORY_BUS_BITS) / 8.0;
  device->bandwidth = 2 * memory_clock * bus_bytes;
  if (device->bandwidth <= 0)
    device->bandwidth = bandwidth_guess;
  /* An integrated device reads and writes each byte in one memory. */
  device->link_bandwidth = tsl_cuda_attribute(ordinal, TSL_CU_INTEGRATED)
                               ? device->bandwidth / 2
                               : link_rate_of(device->architecture);
  device->launch_seconds = launch_seconds;
}

static void add_limits(tsl_cu_device ordinal, tsl_device *device) {
  device->group_items_max = tsl_cuda_attribute(ordinal, TSL_CU_GROUP_ITEMS_MAX);
  for (int d = 0; d < 3; d++) {
    device->group_size_max[d] = tsl_cuda_attribute(ordinal, TSL_CU_GROUP_SIZE_MAX_X + d);
    device->group_count_max[d] = (uint64_t)tsl_cuda_attribute(ordinal, TSL_CU_GROUP_COUNT_MAX_X + d);
  }
  /* Static limit, 48 KiB; tsl_cuda_kernel_local_bytes() requests more at launch. */
  device->local_bytes = (uint64_t)tsl_cuda_attribute(ordinal, TSL_CU_STATIC_SHARED_MAX);
  const uint64_t asked = (uint64_t)tsl_cuda_attribute(ordinal, TSL_CU_SHARED_MAX);
  device->local_bytes_inside = asked > device->local_bytes ? asked : 0;
  device->warp = tsl_cuda_attribute(ordinal, TSL_CU_WARP_SIZE);
  device->vector_f32 = device->vector_f64 = 1;
}

tesela_status tsl_cuda_describe(tsl_cu_device ordinal, const char *driver, const char *driver_key,
                                tsl_device *device) {
  size_t bytes = 0;
  int code = tsl_cuda.device_name(device->label, (int)sizeof device->label, ordinal);
  if (code != TSL_CU_SUCCESS)
    return tsl_cuda_fail(NULL, "cuDeviceGetName", code, "");
  device->label[sizeof device->label - 1] = 0;
  code = tsl_cuda.device_memory(&bytes, ordinal);
  if (code != TSL_CU_SUCCESS)
    return tsl_cuda_fail(NULL, "cuDeviceTotalMem", code, "");
  device->memory_bytes = device->allocation_max = bytes;
  device->cache_bytes = (uint64_t)tsl_cuda_attribute(ordinal, TSL_CU_L2_CACHE_BYTES);
  if (tsl_cuda.device_pci(device->pci, (int)sizeof device->pci, ordinal) != TSL_CU_SUCCESS)
    device->pci[0] = '\0';
  device->architecture = 10 * tsl_cuda_attribute(ordinal, TSL_CU_CAPABILITY_MAJOR) +
                         tsl_cuda_attribute(ordinal, TSL_CU_CAPABILITY_MINOR);
  device->compute_units = tsl_cuda_attribute(ordinal, TSL_CU_MULTIPROCESSORS);
  device->clock_mhz = tsl_cuda_attribute(ordinal, TSL_CU_CLOCK_KHZ) / 1000;
  device->capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64 | TSL_CAN_IMAGES | TSL_CAN_CUDA;
  device->image_width_max = device->image_height_max = INT32_MAX;
  device->image_offset_alignment = device->image_pitch_alignment = TSL_TEXEL_BYTES;
  device->image_pitch_max = SIZE_MAX;
  if (device->architecture >= 53)
    device->capabilities |= TSL_CAN_F16;
  if (device->architecture >= 80)
    device->capabilities |= TSL_CAN_MMA | TSL_CAN_ASYNC_COPY;
  if (device->architecture == 90)
    device->capabilities |= TSL_CAN_MMA_GROUP | (tsl_cuda.tensor_map ? TSL_CAN_WGMMA : 0);
  add_limits(ordinal, device);
  add_predictions(ordinal, device);
  snprintf(device->platform, sizeof device->platform, "%s", driver);
  snprintf(device->key, sizeof device->key, "%.100s/sm_%d/%s", device->label, device->architecture,
           driver_key);
  for (char *c = device->key; *c; c++)
    if (isspace((unsigned char)*c))
      *c = '-';
  return TESELA_OK;
}
