/* A context on the processor, shared by a group of tests. */
#ifndef TSL_TESTS_CONTEXT_H
#define TSL_TESTS_CONTEXT_H

#include "unit/calls.h"

/* Context from context_set_up() to context_tear_down(). */
extern tesela_context *context;

/* Setup and teardown of a group of tests. */
int context_set_up(void **state);

int context_tear_down(void **state);

#endif
