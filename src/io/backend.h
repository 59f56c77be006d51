/* Replacement for the system's reads and writes at byte `offset`, such as MPI's. Returns the bytes moved from
 * the first one on; the system moves the rest and reports failures. */
#ifndef TSL_IO_BACKEND_H
#define TSL_IO_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef size_t (*tsl_read_function)(void *state, uint64_t offset, void *data, size_t bytes);
typedef size_t (*tsl_write_function)(void *state, uint64_t offset, const void *data, size_t bytes);

#endif
