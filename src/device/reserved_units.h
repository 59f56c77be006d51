/* Compute units of a device that this thread's kernels leave free for a concurrent library. Thread-local,
 * because many layers lie between the setter (comm/product.c) and the launches; a thread enqueues all work
 * for buffers of one device itself, sub-plans included. */
#ifndef TSL_DEVICE_RESERVED_UNITS_H
#define TSL_DEVICE_RESERVED_UNITS_H

/* Sets the units that this thread's persistent kernels leave free from now on; 0: none. */
void tsl_reserve_units(int units);
/* Returns the units that this thread's kernels must leave free. */
int tsl_reserved_units(void);

#endif
