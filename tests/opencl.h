/* Tests on OpenCL, in programs of which the other tests need none. PoCL is on every machine, but not on one
 * that an emulator plays: there, and nowhere else, its absence is no failure. */
#ifndef TSL_TESTS_OPENCL_H
#define TSL_TESTS_OPENCL_H

#include <stdbool.h>

enum { OPENCL_SKIPPED = 77 };

/* Prints why, if so. */
bool opencl_is_missing(void);

#endif
