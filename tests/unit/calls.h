/* Helpers that compare the results of calls with expected results. */
#ifndef TSL_TESTS_CALLS_H
#define TSL_TESTS_CALLS_H

#include "unit/unit.h"

#include <tesela/tesela.h>

/* Fails the test, with the error and the log, unless the call succeeded. */
void must(tesela_status status);

/* Fails the test unless the call returned `expected` with an error message that contains `names`. */
void expect(tesela_status status, tesela_status expected, const char *names);

/* Returns a buffer on the device with a copy of the bytes. The caller destroys it. */
tesela_buffer *filled(tesela_context *context, const char *device, const void *from, size_t bytes);

#endif
