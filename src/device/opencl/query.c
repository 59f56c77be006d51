#include "device/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t tsl_opencl_number(cl_device_id id, cl_device_info what) {
  union {
    cl_uint u32;
    cl_ulong u64;
  } value = {.u64 = 0};
  size_t bytes = 0;
  if (tsl_opencl.clGetDeviceInfo(id, what, sizeof value, &value, &bytes) != CL_SUCCESS)
    return 0;
  return bytes == sizeof value.u32 ? value.u32 : bytes == sizeof value.u64 ? value.u64 : 0;
}

static void trim_into(const char *from, char *out, size_t size) {
  from += strspn(from, " \t");
  snprintf(out, size, "%s", from);
  for (size_t length = strlen(out); length > 0 && strchr(" \t\n", out[length - 1]) != NULL; length--)
    out[length - 1] = '\0';
}

/* Returns the whole answer, which the caller frees; NULL: none. */
static char *device_text(cl_device_id id, cl_device_info what) {
  size_t bytes = 0;
  if (tsl_opencl.clGetDeviceInfo(id, what, 0, NULL, &bytes) != CL_SUCCESS)
    return NULL;
  char *text = calloc(bytes + 1, 1);
  if (text != NULL && tsl_opencl.clGetDeviceInfo(id, what, bytes, text, NULL) == CL_SUCCESS)
    return text;
  free(text);
  return NULL;
}

void tsl_opencl_text(cl_device_id id, cl_device_info what, char *out, size_t size) {
  char *text = device_text(id, what);
  trim_into(text != NULL ? text : "", out, size);
  free(text);
}

void tsl_opencl_platform_text(cl_platform_id platform, cl_platform_info what, char *out, size_t size) {
  char text[1024] = "";
  if (tsl_opencl.clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
    text[0] = '\0';
  trim_into(text, out, size);
}

bool tsl_opencl_has(cl_device_id id, const char *extension) {
  char *all = device_text(id, CL_DEVICE_EXTENSIONS);
  const size_t length = strlen(extension);
  bool has = false;
  for (const char *at = all; at != NULL && !has && (at = strstr(at, extension)) != NULL; at += length)
    has = (at == all || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ');
  free(all);
  return has;
}

bool tsl_opencl_is_nvidia(cl_device_id id) {
  return tsl_opencl_number(id, CL_DEVICE_VENDOR_ID) == TSL_OPENCL_NVIDIA &&
         tsl_opencl_has(id, "cl_nv_device_attribute_query");
}

int tsl_opencl_architecture(cl_device_id id) {
  return (int)(10 * tsl_opencl_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) +
               tsl_opencl_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
}
