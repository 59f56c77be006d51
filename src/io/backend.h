/* Replacement for the system's reads and writes of parts of a file: MPI's, if ranks share the work.
 * A function returns the number of bytes moved, from the first one on. The system moves the rest
 * and reports the reason of a failure, such as the end of the file or a full disk. */
#ifndef TSL_IO_BACKEND_H
#define TSL_IO_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef size_t (*tsl_read_way)(void *by, uint64_t place, void *data, size_t bytes);
typedef size_t (*tsl_write_way)(void *by, uint64_t place, const void *data, size_t bytes);

#endif
