/* A context on the cpu, shared by all tests of a program, with its group setup and teardown. */
#ifndef TSL_TESTS_CONTEXT_H
#define TSL_TESTS_CONTEXT_H

#include "unit/calls.h"

extern tesela_context *context;

int context_set_up(void **state);

int context_tear_down(void **state);

#endif
