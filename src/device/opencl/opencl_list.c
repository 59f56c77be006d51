/* Lists all available devices with OpenCL 1.2 of all platforms. */
#include "device/opencl/opencl.h"

#include "core/env.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/processor.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further platforms and devices are ignored. */
enum { PLATFORMS_MAX = 64, DEVICES_MAX = 64 };

static tesela_status opencl_list_open_device(tsl_device *device) {
  tsl_opencl_device *self = device->impl;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)self->platform, 0};
  cl_int code = CL_SUCCESS;
  if (self->given != NULL) {
    self->context = self->given;
    TSL_TRY(TSL_CL(device, clRetainContext, self->context));
  } else {
    self->context = tsl_opencl.clCreateContext(properties, 1, &self->id, NULL, NULL, &code);
    TSL_TRY(tsl_opencl_check(device, "clCreateContext", code));
  }
  self->queue = tsl_opencl.clCreateCommandQueue(self->context, self->id, 0, &code);
  if (code != CL_SUCCESS)
    tsl_opencl.clReleaseContext(self->context);
  return tsl_opencl_check(device, "clCreateCommandQueue", code);
}

static void opencl_list_close_device(tsl_device *device) {
  tsl_opencl_device *self = device->impl;
  tsl_opencl.clReleaseCommandQueue(self->queue);
  tsl_opencl.clReleaseContext(self->context);
}

static void opencl_list_forget(tsl_device *device) {
  free(device->impl);
  device->impl = NULL;
}

static void *opencl_list_native_stream(tsl_stream *stream) {
  return stream->queue;
}

static void *opencl_list_native_buffer(tsl_buffer *buffer) {
  return ((tsl_opencl_buffer *)buffer)->memory;
}

static const tsl_device_ops ops = {.dialect_folder = "device/opencl/include",
                                   .source_extension = "cl",
                                   .relaxed_option = "-cl-fast-relaxed-math",
                                   .open = opencl_list_open_device,
                                   .close = opencl_list_close_device,
                                   .native_stream = opencl_list_native_stream,
                                   .native_buffer = opencl_list_native_buffer,
                                   TSL_KERNEL_OPERATIONS(TSL_SET_OPERATION, opencl)
                                       TSL_SHARED_OPERATIONS(TSL_SET_OPERATION, opencl)};

static bool is_pocl(cl_platform_id platform) {
  char name[128];
  tsl_opencl_platform_text(platform, CL_PLATFORM_NAME, name, sizeof name);
  return strcmp(name, "Portable Computing Language") == 0;
}

/* Returns the alignment of host memory for use without a copy; 0: none. PoCL accepts 4 bytes; 16 is
 * malloc()'s. Other devices guarantee no view without a map, even with shared memory. */
static size_t host_alignment(const tsl_opencl_device *self) {
  if ((tsl_opencl_number(self->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) == 0)
    return 0;
  const uint64_t own = tsl_opencl_number(self->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  return is_pocl(self->platform) ? 16 : own > 64 ? (size_t)own : 64;
}

/* Returns true with fused multiply-adds in double precision, which OpenCL 1.2 requires of doubles. */
static bool has_f64(cl_device_id id) {
  return (tsl_opencl_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) & CL_FP_FMA) != 0;
}

static unsigned opencl_list_capabilities(cl_device_id id) {
  const bool copies = strcmp(tsl_env_get(TSL_ENV_COPIES), "explicit") == 0;
  const struct {
    bool there;
    unsigned capability;
  } answers[] = {
      {tsl_opencl_number(id, CL_DEVICE_COMPILER_AVAILABLE) != 0, TSL_CAN_KERNELS},
      {tsl_opencl_number(id, CL_DEVICE_LOCAL_MEM_SIZE) != 0, TSL_CAN_LOCAL},
      {has_f64(id), TSL_CAN_F64},
      {tsl_opencl_has(id, "cl_khr_fp16"), TSL_CAN_F16},
      {tsl_opencl_number(id, CL_DEVICE_IMAGE_SUPPORT) != 0, TSL_CAN_IMAGES},
      {tsl_opencl_number(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0 && !copies, TSL_CAN_SHARED_MEMORY},
      {tsl_opencl_is_nvidia(id) && tsl_opencl_architecture(id) >= 80, TSL_CAN_MMA | TSL_CAN_ASYNC_COPY},
      {tsl_opencl_is_nvidia(id) && tsl_opencl_architecture(id) == 90, TSL_CAN_MMA_GROUP},
  };
  unsigned set = TSL_CAN_OPENCL;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
    set |= answers[i].there ? answers[i].capability : 0;
  return set;
}

/* Makes the key "platform/device/driver" and the processor's model, without blanks. A hash ends long keys. */
static void opencl_list_make_key(const char *platform, const char *driver, const tsl_device *device,
                                 char *key, size_t size) {
  char all[512], hash[33], model[32] = "";
  if (device->is_cpu)
    tsl_processor_model_at("", model, sizeof model);
  snprintf(all, sizeof all, "%s/%s/%s%s%s", platform, device->label, driver, model[0] ? "/" : "", model);
  for (char *at = all; *at != '\0'; at++)
    if ((unsigned char)*at <= ' ')
      *at = '_';
  const size_t length = strlen(all);
  if (length < size) {
    memcpy(key, all, length + 1);
    return;
  }
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), all, length), hash);
  memcpy(key, all, size - sizeof hash);
  memcpy(key + size - sizeof hash, hash, sizeof hash);
}

static int clamp_to_int(uint64_t value) {
  return value > INT32_MAX ? INT32_MAX : (int)value;
}
static int opencl_list_at_least_1(uint64_t value) {
  return value < 1 ? 1 : clamp_to_int(value);
}

static void opencl_list_describe(tsl_opencl_device *self, tsl_device *out) {
  const cl_device_id id = self->id;
  char platform[128], driver[128];
  size_t sizes[16] = {0};
  tsl_opencl_platform_text(self->platform, CL_PLATFORM_NAME, platform, sizeof platform);
  tsl_opencl_text(id, CL_DRIVER_VERSION, driver, sizeof driver);
  *out = (tsl_device){.ops = &ops, .impl = self};
  tsl_opencl_text(id, CL_DEVICE_NAME, out->label, sizeof out->label);
  snprintf(out->platform, sizeof out->platform, "%.80s, driver %.38s", platform, driver);
  out->capabilities = opencl_list_capabilities(id);
  out->is_cpu = (tsl_opencl_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  opencl_list_make_key(platform, driver, out, out->key, sizeof out->key);
  out->compute_units = opencl_list_at_least_1(tsl_opencl_number(id, CL_DEVICE_MAX_COMPUTE_UNITS));
  out->clock_mhz = clamp_to_int(tsl_opencl_number(id, CL_DEVICE_MAX_CLOCK_FREQUENCY));
  out->memory_bytes = tsl_opencl_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  out->allocation_max = tsl_opencl_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out->local_bytes = tsl_opencl_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
  out->group_items_max = opencl_list_at_least_1(tsl_opencl_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  tsl_opencl.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
  for (int d = 0; d < 3; d++) {
    out->group_size_max[d] = opencl_list_at_least_1(sizes[d]);
    out->group_count_max[d] = INT32_MAX; /* no limit in OpenCL; the dialect counts in an int */
  }
  out->vector_f32 = opencl_list_at_least_1(tsl_opencl_number(id, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
  out->vector_f64 = opencl_list_at_least_1(tsl_opencl_number(id, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE));
  out->host_alignment = (out->capabilities & TSL_CAN_SHARED_MEMORY) != 0 ? host_alignment(self) : 0;
  out->fragments = tsl_opencl_fragments(self->platform, id);
  out->capabilities |= out->fragments != NULL ? TSL_CAN_FRAGMENTS : 0;
  tsl_opencl_image_limits(id, out);
  tsl_opencl_guess(id, out);
}

/* Returns why a device is unusable, or NULL. */
static const char *find_refusal(cl_device_id id) {
  char version[128];
  int major = 0, minor = 0;
  tsl_opencl_text(id, CL_DEVICE_VERSION, version, sizeof version);
  if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12)
    return "it is older than OpenCL 1.2";
  return tsl_opencl_number(id, CL_DEVICE_AVAILABLE) != 0 ? NULL : "it says that it is not available";
}

/* Passes a usable device to found() and counts it; logs why another device is left out. */
static tesela_status list_device(cl_platform_id platform, cl_device_id id,
                                 void (*found)(void *argument, const tsl_device *device), void *argument,
                                 int *count) {
  char label[128];
  const char *no = find_refusal(id);
  if (no != NULL) {
    tsl_opencl_text(id, CL_DEVICE_NAME, label, sizeof label);
    tsl_log(TSL_LOG_DEVICE, "OpenCL device %s is left out: %s", label, no);
    return TESELA_OK;
  }
  tsl_opencl_device *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of OpenCL devices");
  *self = (tsl_opencl_device){.platform = platform, .id = id, .keeps_source = is_pocl(platform)};
  tsl_device device;
  opencl_list_describe(self, &device);
  found(argument, &device);
  ++*count;
  return TESELA_OK;
}

static tesela_status opencl_list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  cl_platform_id platforms[PLATFORMS_MAX];
  cl_uint platform_count = 0;
  int count = 0;
  TSL_TRY(tsl_opencl_load());
  const cl_int code = tsl_opencl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count);
  if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && platform_count == 0))
    return tsl_fail(TESELA_NO_DEVICE,
                    "the OpenCL library is there, but no platform is registered with it; install the "
                    "vendor's driver, or pocl-opencl-icd to use the processor");
  if (code != CL_SUCCESS)
    return tsl_fail(TESELA_NO_DEVICE, "the OpenCL library is there, but clGetPlatformIDs: %s",
                    tsl_opencl_error_name(code));
  for (cl_uint p = 0; p < platform_count && p < PLATFORMS_MAX; p++) {
    cl_device_id ids[DEVICES_MAX];
    cl_uint id_count = 0;
    const cl_int failed =
        tsl_opencl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &id_count);
    if (failed != CL_SUCCESS) {
      tsl_log(TSL_LOG_DEVICE, "OpenCL platform %u has no devices: %s", p, tsl_opencl_error_name(failed));
      continue;
    }
    for (cl_uint i = 0; i < id_count && i < DEVICES_MAX; i++)
      TSL_TRY(list_device(platforms[p], ids[i], found, argument, &count));
  }
  if (count == 0)
    return tsl_fail(
        TESELA_NO_DEVICE,
        "OpenCL has %u platform%s, but none has a device that is available and speaks OpenCL 1.2 (PoCL "
        "has none where it cannot write to its cache, a folder that POCL_CACHE_DIR can name)",
        platform_count, platform_count == 1 ? "" : "s");
  return TESELA_OK;
}

const tsl_device_kind tsl_device_kind_opencl = {.kind = "opencl",
                                                .what = "OpenCL platforms",
                                                .list = opencl_list,
                                                .adopt = tsl_opencl_adopt,
                                                .forget = opencl_list_forget,
                                                .start_least = 0.01,
                                                .is_processor = tsl_opencl_lists_only_processors};
