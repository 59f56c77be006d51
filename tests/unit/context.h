/* A context on the cpu, shared by all tests of a program, with its group setup and teardown. */
#ifndef TSL_TESTS_CONTEXT_H
#define TSL_TESTS_CONTEXT_H

#include "unit/calls.h"

static tesela_context *context;

static int set_up(void **state) {
  const tesela_context_desc desc = {.device = "cpu"};
  (void)state;
  return tesela_context_create(&desc, &context) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

#endif
