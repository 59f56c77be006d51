/* Replacement for the system's reads and writes at byte `place`, such as MPI's. Returns the bytes moved from
 * the first one on; the system moves the rest and reports failures. */
#ifndef TSL_IO_BACKEND_H
#define TSL_IO_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef size_t (*tsl_read_way)(void *state, uint64_t place, void *data, size_t bytes);
typedef size_t (*tsl_write_way)(void *state, uint64_t place, const void *data, size_t bytes);

#endif
