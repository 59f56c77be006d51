/* NVIDIA's OpenCL compiler refuses instructions of sm_90a, so kernels contain them as PTX comments
 * (kernel/ptx_group.h). The program binary is PTX; the driver compiles it with the comments enabled. */
#include "device/opencl/opencl.h"

#include "core/status.h"

#include <string.h>

static const char mark[] = "//sm_90a ", target[] = ".target sm_90";

bool tsl_opencl_has_sm90a(const char *source) {
  return strstr(source, mark) != NULL;
}

tesela_status tsl_opencl_enable_sm90a(const char *name, const char *binary, tsl_text *text) {
  const char *at = strstr(binary, target);
  const char *after = at != NULL ? at + sizeof target - 1 : NULL;
  if (after == NULL || strstr(after, mark) == NULL)
    return tsl_fail(TESELA_BUILD_FAILED,
                    "%s has code for sm_90a, but the compiler did not produce PTX for sm_90", name);
  tsl_text_add_bytes(text, binary, (size_t)(after - binary));
  if (*after != 'a')
    tsl_text_add_bytes(text, "a", 1);
  for (const char *next; (next = strstr(after, mark)) != NULL; after = next + sizeof mark - 1)
    tsl_text_add_bytes(text, after, (size_t)(next - after));
  tsl_text_add_bytes(text, after, strlen(after));
  return tsl_text_status(text);
}
