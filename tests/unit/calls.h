/* Helpers that compare the results of calls with expected results. */
#ifndef TSL_TESTS_CALLS_H
#define TSL_TESTS_CALLS_H

#include "unit/unit.h"

#include <tesela/tesela.h>

/* The call succeeds. */
void must(tesela_status status);

/* The call returns `expected`, and its sentence has `names` in it. */
void expect(tesela_status status, tesela_status expected, const char *names);

/* A buffer of so many bytes on the device, which has them. */
tesela_buffer *filled(tesela_context *context, const char *device, const void *from, size_t bytes);

#endif
