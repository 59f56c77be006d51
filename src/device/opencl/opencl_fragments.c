/* Intel reports matrix instructions as an extension, AMD does not. So candidates come from a table, and a
 * small kernel, compiled at each start for a device with a candidate, confirms one. */
#include "device/opencl/opencl.h"

#include "core/log.h"
#include "core/status.h"
#include "device/source.h"

#include <stdlib.h>

/* cl_intel_required_subgroup_size, missing in some headers. */
enum { SUB_GROUP_SIZES_INTEL = 0x4108, SIZES_MAX = 16 };

/* Returns the smallest sub-group size; 0: no answer. */
static int smallest_sub_group(cl_device_id id) {
  size_t sizes[SIZES_MAX], bytes = 0, least = 0;
  if (tsl_opencl.clGetDeviceInfo(id, SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) != CL_SUCCESS)
    return 0;
  for (size_t i = 0; i < bytes / sizeof *sizes; i++)
    if (least == 0 || sizes[i] < least)
      least = sizes[i];
  return (int)least;
}

/* Returns the row for the device's extension or name, not yet tested by a compilation; NULL: none. */
static const tsl_fragments *fragments_by_device(cl_device_id id) {
  char name[128];
  if (tsl_opencl_has(id, "cl_intel_subgroup_matrix_multiply_accumulate")) {
    const int sub_group = smallest_sub_group(id);
    return sub_group > 0 ? tsl_fragments_of(sub_group, "") : NULL;
  }
  if (tsl_opencl_number(id, CL_DEVICE_VENDOR_ID) != TSL_OPENCL_AMD)
    return NULL;
  tsl_opencl_text(id, CL_DEVICE_NAME, name, sizeof name);
  return tsl_fragments_of(0, name);
}

bool tsl_opencl_compiles(cl_platform_id platform, cl_device_id id, const char *text) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  cl_int code = CL_SUCCESS;
  cl_context context = tsl_opencl.clCreateContext(properties, 1, &id, NULL, NULL, &code);
  if (code != CL_SUCCESS)
    return false;
  cl_program program = tsl_opencl.clCreateProgramWithSource(context, 1, &text, NULL, &code);
  if (code == CL_SUCCESS) {
    code = tsl_opencl.clBuildProgram(program, 1, &id, TSL_OPENCL_LANGUAGE, NULL, NULL);
    tsl_opencl.clReleaseProgram(program);
  }
  tsl_opencl.clReleaseContext(context);
  return code == CL_SUCCESS;
}

tesela_status tsl_opencl_fragments_text(const tsl_fragments *fragments, bool whole, tsl_text *text) {
  static const char *const folders[] = {"kernel", "device/opencl/include", NULL};
  tsl_text_add(text, "#define %s\n#define TSL_REAL %s\n#define TSL_TYPE_AB %d\n#define TSL_TYPE_C 0\n",
               fragments->define, whole ? "int" : "float", whole ? 3 : 1);
  if (whole)
    tsl_text_add(text, "#define TSL_REAL_IS_INTEGER 1\n");
  return tsl_source_flatten("kernel/fragments_probe.cl", folders, text);
}

const tsl_fragments *tsl_opencl_fragments(cl_platform_id platform, cl_device_id id) {
  const tsl_fragments *fragments = fragments_by_device(id);
  bool compiles = fragments != NULL;
  for (int whole = 0; compiles && whole < 2; whole++) {
    tsl_text text = {0};
    compiles = tsl_opencl_fragments_text(fragments, whole, &text) == TESELA_OK && !text.failed &&
               tsl_opencl_compiles(platform, id, tsl_text_get(&text));
    tsl_text_free(&text);
  }
  if (fragments != NULL && !compiles)
    tsl_log(TSL_LOG_DEVICE, "its compiler does not take matrix instructions (%s)", fragments->name);
  return compiles ? fragments : NULL;
}
