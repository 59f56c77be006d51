#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <tesela/tesela.h>

bool opencl_is_missing(void) {
  const char *emulator = getenv("TESELA_EMULATOR");
  tesela_context *context;
  tesela_buffer *buffer = NULL;
  if (!emulator || !*emulator || tesela_context_create(NULL, &context) != TESELA_OK)
    return false;
  const bool missing = tesela_buffer_create(context, "opencl:0", 64, &buffer) == TESELA_NO_DEVICE;
  if (missing)
    printf("skipped: what needs OpenCL, by %s: %s\n", emulator, tesela_last_error());
  tesela_buffer_destroy(buffer);
  tesela_context_destroy(context);
  return missing;
}
