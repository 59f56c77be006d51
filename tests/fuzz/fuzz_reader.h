/* The entry that libFuzzer calls, and feed.c. */
#ifndef TESTS_FUZZ_FUZZ_READER_H
#define TESTS_FUZZ_FUZZ_READER_H

#include <stddef.h>
#include <stdint.h>

/* Ending of the files' names: the format ("csv"). */
extern const char *fuzz_format;

/* Returns 0; anything wrong aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
