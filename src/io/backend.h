/* Another way to the bytes of a file than the system's own, for whoever reads or writes its parts by one:
 * MPI's, where ranks share the work. It says how many bytes it did, from the first one on; the rest is done
 * by the system, which knows why it could not be (a file that ends there, a full disk). */
#ifndef TSL_IO_BACKEND_H
#define TSL_IO_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef size_t (*tsl_read_way)(void *by, uint64_t place, void *data, size_t bytes);
typedef size_t (*tsl_write_way)(void *by, uint64_t place, const void *data, size_t bytes);

#endif
