/* Replacement for the system's reads and writes: MPI's, if ranks share the work. Returns the bytes moved from
 * the first one on; the system moves the rest and reports failures. */
#ifndef TSL_IO_BACKEND_H
#define TSL_IO_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef size_t (*tsl_read_way)(void *by, uint64_t place, void *data, size_t bytes);
typedef size_t (*tsl_write_way)(void *by, uint64_t place, const void *data, size_t bytes);

#endif
