#include "core/log.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/nvrtc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tesela_status cuda_kind_open_device(tsl_device *device) {
  tsl_cuda_device *own = device->impl;
  const int code = tsl_cuda.context_retain(&own->context, own->ordinal);
  if (code == TSL_CU_SUCCESS)
    return TESELA_OK;
  own->context = NULL;
  return tsl_cuda_fail(device, "cuDevicePrimaryCtxRetain", code, "");
}

static void cuda_kind_close_device(tsl_device *device) {
  tsl_cuda_device *own = device->impl;
  if (own->context)
    tsl_cuda.context_release(own->ordinal);
  own->context = NULL;
  atomic_store(&own->peers, 0);
}

static void *cuda_kind_native_stream(tsl_stream *stream) {
  return stream->handle;
}

static void *cuda_kind_native_buffer(tsl_buffer *buffer) {
  return (void *)(uintptr_t)((tsl_cuda_buffer *)buffer)->address;
}

static void cuda_kind_leave(tsl_device *device) {
  (void)device;
  tsl_cuda_leave_quietly();
}

static const tsl_device_ops ops = {.dialect_folder = "device/cuda/include",
                                   .source_extension = "cu",
                                   .relaxed_option = "--use_fast_math",
                                   .open = cuda_kind_open_device,
                                   .close = cuda_kind_close_device,
                                   .event_done = tsl_cuda_event_done,
                                   .kernel_local_bytes = tsl_cuda_kernel_local_bytes,
                                   .kernel_early = tsl_cuda_kernel_early,
                                   .tensor_map = tsl_cuda_tensor_map,
                                   .native_stream = cuda_kind_native_stream,
                                   .native_buffer = cuda_kind_native_buffer,
                                   .enter = tsl_cuda_enter,
                                   .leave = cuda_kind_leave,
                                   TSL_KERNEL_OPERATIONS(TSL_SET_OPERATION, cuda)};

/* Gets the kernel driver's version, "580.65.06", or "". */
static void read_kernel_driver_version(char *out, size_t size) {
  char line[512] = "", *rest = NULL;
  out[0] = 0;
  FILE *file = fopen("/proc/driver/nvidia/version", "r");
  if (!file)
    return;
  if (fgets(line, sizeof line, file))
    for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
      if (isdigit((unsigned char)word[0]) && strchr(word, '.')) {
        snprintf(out, size, "%s", word);
        break;
      }
  fclose(file);
}

/* Starts the driver; checks that a compiler is available. */
static tesela_status cuda_kind_start(int *version, int *count) {
  TSL_TRY(tsl_cuda_load());
  const char *call = "cuInit";
  int code = tsl_cuda.init(0);
  if (code == TSL_CU_SUCCESS) {
    call = "cuDriverGetVersion";
    code = tsl_cuda.driver_version(version);
  }
  if (code == TSL_CU_SUCCESS) {
    call = "cuDeviceGetCount";
    code = tsl_cuda.device_count(count);
  }
  if (code != TSL_CU_SUCCESS) {
    tsl_cuda_fail(NULL, call, code, "");
    return TESELA_NO_DEVICE;
  }
  if (*count == 0)
    return tsl_fail(TESELA_NO_DEVICE, "the CUDA driver sees no device");
  if (tsl_nvrtc_load(*version) != TESELA_OK)
    return tsl_fail_in(TESELA_NO_DEVICE,
                       "the CUDA driver sees %d device%s, but there is no compiler for kernels (NVRTC, which "
                       "comes with the CUDA toolkit; TESELA_NVRTC names one)",
                       *count, *count == 1 ? "" : "s");
  return TESELA_OK;
}

/* Describes a device, with its `impl`. Fails if NVRTC cannot compile for it. */
static tesela_status describe_device(int ordinal, const char *driver, const char *driver_key,
                                     tsl_device *device) {
  tsl_cu_device handle;
  tsl_nvrtc_target target;
  *device = (tsl_device){.ops = &ops};
  const int code = tsl_cuda.device_get(&handle, ordinal);
  if (code != TSL_CU_SUCCESS)
    return tsl_cuda_fail(NULL, "cuDeviceGet", code, "");
  TSL_TRY(tsl_cuda_describe(handle, driver, driver_key, device));
  if (tsl_nvrtc_target_for(device->architecture, &target) != TESELA_OK)
    return tsl_fail_in(TESELA_NO_DEVICE, "%s", device->label);
  tsl_cuda_device *own = calloc(1, sizeof *own);
  if (!own)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "cuda: no host memory for the description of %s", device->label);
  own->ordinal = handle;
  own->pitch_max = (size_t)tsl_cuda_attribute(handle, TSL_CU_PITCH_MAX);
  device->impl = own;
  return TESELA_OK;
}

/* Lists usable devices. Reasons are logged; without a device the last reason is the kind's. */
static tesela_status cuda_kind_list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  int version = 0, count = 0, good = 0;
  char module[32], driver[96], driver_key[64];
  tesela_status status = TESELA_NO_DEVICE;
  TSL_TRY(cuda_kind_start(&version, &count));
  read_kernel_driver_version(module, sizeof module);
  snprintf(driver, sizeof driver, "CUDA %d.%d%s%s", version / 1000, version % 1000 / 10,
           module[0] ? ", driver " : "", module);
  snprintf(driver_key, sizeof driver_key, "cuda%d.%d%s%s", version / 1000, version % 1000 / 10,
           module[0] ? "/" : "", module);
  for (int ordinal = 0; ordinal < count; ordinal++) {
    tsl_device device;
    status = describe_device(ordinal, driver, driver_key, &device);
    if (status == TESELA_OK) {
      good++;
      found(argument, &device);
    } else {
      tsl_log(TSL_LOG_DEVICE, "CUDA device %d is left out: %s", ordinal, tesela_last_error());
    }
  }
  if (good > 0)
    return TESELA_OK;
  return status == TESELA_OUT_OF_MEMORY ? status : TESELA_NO_DEVICE;
}

static void cuda_kind_forget(tsl_device *device) {
  free(device->impl);
  device->impl = NULL;
}

const tsl_device_kind tsl_device_kind_cuda = {
    .kind = "cuda",
    .what = "CUDA devices, through NVIDIA's driver and NVRTC",
    .list = cuda_kind_list,
    .owns = tsl_cuda_owns,
    .forget = cuda_kind_forget,
    .start_least = 0.05,
};
