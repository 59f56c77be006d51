/* Code for sm_90a in kernels that NVIDIA's compiler of OpenCL C makes for sm_90. It refuses instructions that
 * sm_90a alone has, so kernels hold them as comments of PTX (kernel/ptx_group.h). What the driver gives as a
 * program's binary is PTX, and what it takes back it compiles for whatever that text says. */
#include "device/opencl/opencl.h"

#include "base/status.h"

#include <string.h>

static const char mark[] = "//sm_90a ", target[] = ".target sm_90";

bool tsl_opencl_ptx_wanted(const char *source) {
  return strstr(source, mark) != NULL;
}

tesela_status tsl_opencl_ptx_open(const char *name, const char *binary, tsl_text *text) {
  const char *at = strstr(binary, target);
  const char *after = at != NULL ? at + sizeof target - 1 : NULL;
  if (after == NULL || strstr(after, mark) == NULL)
    return tsl_fail(TESELA_BUILD_FAILED,
                    "%s has code for sm_90a, and the compiler did not make PTX for sm_90 of it", name);
  tsl_text_add_bytes(text, binary, (size_t)(after - binary));
  if (*after != 'a')
    tsl_text_add_bytes(text, "a", 1);
  for (const char *next; (next = strstr(after, mark)) != NULL; after = next + sizeof mark - 1)
    tsl_text_add_bytes(text, after, (size_t)(next - after));
  tsl_text_add_bytes(text, after, strlen(after));
  return tsl_text_status(text);
}
