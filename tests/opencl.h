/* Tests on OpenCL, in programs of which the other tests need none. PoCL is on every machine, but not on one
 * that an emulator plays: there, and nowhere else, its absence is no failure. */
#ifndef TSL_TESTS_OPENCL_H
#define TSL_TESTS_OPENCL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <tesela/tesela.h>

enum { OPENCL_SKIPPED = 77 };

/* Prints why, if so. */
static bool opencl_is_missing(void) {
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

#endif
