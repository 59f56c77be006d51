/* Predictions by vendor and architecture, from rounded data-sheet figures: OpenCL reports only number and
 * clock of compute units. They rank strategies; they do not predict times. */
#include "device/opencl/opencl.h"

#include "core/processor.h"

#include <stdio.h>

typedef struct unit {
  int f32, f64;     /* fused multiply-adds of a compute unit per clock */
  double bandwidth; /* bytes per second of device memory */
  double link;      /* bytes per second to the host, from pageable memory */
} unit;

/* Last caches in MiB, the largest of each architecture. NVIDIA's OpenCL reports the first-level caches. */
static const struct {
  int architecture, mebibytes;
} nvidia_caches[] = {{120, 128}, {100, 126}, {90, 60}, {89, 96}, {86, 6}, {80, 40}, {75, 6}, {70, 6}, {0, 4}};

/* Local memory of a group for arrays inside of a kernel, measured with driver 580; OpenCL reports 48 KiB. */
static const struct {
  int architecture;
  uint64_t bytes;
} nvidia_locals[] = {{90, 227 << 10}};

/* Rates of a multiprocessor; rows are sorted by architecture (10 * major + minor), newest first. */
static const struct {
  int architecture;
  unit unit;
} nvidia[] = {
    {120, {128, 2, 1000e9, 14e9}}, {100, {128, 64, 7000e9, 14e9}}, {90, {128, 64, 3500e9, 14e9}},
    {89, {128, 2, 700e9, 12e9}},   {86, {128, 2, 600e9, 12e9}},    {80, {64, 32, 1800e9, 12e9}},
    {75, {64, 2, 400e9, 8e9}},     {70, {64, 32, 900e9, 8e9}},     {61, {128, 4, 300e9, 8e9}},
    {60, {64, 32, 700e9, 8e9}},    {0, {128, 4, 200e9, 6e9}},
};

/* cl_amd_device_attribute_query, missing in some headers. */
enum { WAVEFRONT_WIDTH_AMD = 0x4043 };
/* cl_nv_device_attribute_query, missing in some headers. */
enum { PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400A };

/* Returns a GPU's throughput: NVIDIA's by architecture, 64 lanes for AMD, two SIMD4 pipes for Intel. */
static unit gpu_unit(cl_device_id id, bool shared) {
  const uint64_t vendor = tsl_opencl_number(id, CL_DEVICE_VENDOR_ID);
  if (vendor == TSL_OPENCL_NVIDIA) {
    const int architecture = tsl_opencl_architecture(id);
    size_t row = 0;
    while (architecture < nvidia[row].architecture)
      row++;
    return nvidia[row].unit;
  }
  const double bandwidth = shared ? 50e9 : 500e9;
  if (vendor == TSL_OPENCL_AMD)
    return (unit){64, 4, bandwidth, 8e9};
  if (vendor == TSL_OPENCL_INTEL)
    return (unit){8, 2, bandwidth, 8e9};
  return (unit){32, 1, bandwidth, 4e9};
}

/* Assumes two fused multiply-adds of the preferred vector per clock, and two memory channels. */
static unit cpu_unit(const tsl_device *device) {
  return (unit){2 * device->vector_f32, 2 * device->vector_f64, 30e9, 0};
}

static int warp_of(cl_device_id id) {
  const uint64_t nv = tsl_opencl_number(id, CL_DEVICE_WARP_SIZE_NV);
  const uint64_t amd = tsl_opencl_number(id, WAVEFRONT_WIDTH_AMD);
  const uint64_t width = nv != 0 ? nv : amd;
  return width >= 1 && width <= 128 ? (int)width : 1;
}

/* Returns the last cache: the driver's value, replaced for the processor and NVIDIA's GPUs. */
static uint64_t cache_bytes(cl_device_id id, bool is_cpu) {
  const uint64_t told = tsl_opencl_number(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  uint64_t known = is_cpu ? tsl_processor_last_caches_at("") : 0;
  if (tsl_opencl_number(id, CL_DEVICE_VENDOR_ID) == TSL_OPENCL_NVIDIA) {
    size_t row = 0;
    while (tsl_opencl_architecture(id) < nvidia_caches[row].architecture)
      row++;
    known = (uint64_t)nvidia_caches[row].mebibytes << 20;
  }
  return told > known ? told : known;
}

static uint64_t local_bytes_inside(cl_device_id id) {
  const int architecture = tsl_opencl_is_nvidia(id) ? tsl_opencl_architecture(id) : 0;
  for (size_t i = 0; i < sizeof nvidia_locals / sizeof *nvidia_locals; i++)
    if (nvidia_locals[i].architecture == architecture)
      return nvidia_locals[i].bytes;
  return 0;
}

/* Sets the PCI address; only NVIDIA reports it. */
static void set_pci_address(cl_device_id id, tsl_device *device) {
  if (tsl_opencl_number(id, CL_DEVICE_VENDOR_ID) != TSL_OPENCL_NVIDIA)
    return;
  const unsigned domain = (unsigned)tsl_opencl_number(id, PCI_DOMAIN_NV) & 0xffff,
                 bus = (unsigned)tsl_opencl_number(id, PCI_BUS_NV) & 0xff,
                 slot = (unsigned)tsl_opencl_number(id, PCI_SLOT_NV) & 0xff;
  snprintf(device->pci, sizeof device->pci, "%04x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
}

void tsl_opencl_guess(cl_device_id id, tsl_device *device) {
  const bool shared = (device->capabilities & TSL_CAN_SHARED_MEMORY) != 0;
  const unit one = device->is_cpu ? cpu_unit(device) : gpu_unit(id, shared);
  const double clock = 1e6 * (device->clock_mhz > 0 ? device->clock_mhz : 1000);
  const double cycles = clock * device->compute_units;
  device->warp = device->is_cpu ? 1 : warp_of(id);
  device->cache_bytes = cache_bytes(id, device->is_cpu);
  device->local_bytes_inside = local_bytes_inside(id);
  set_pci_address(id, device);
  device->peak_f32 = 2 * one.f32 * cycles;
  device->peak_f64 = (device->capabilities & TSL_CAN_F64) != 0 ? 2 * one.f64 * cycles : 0;
  device->bandwidth = one.bandwidth;
  device->link_bandwidth = shared ? 0 : one.link;
  device->launch_seconds = device->is_cpu ? 20e-6 : 8e-6;
}
