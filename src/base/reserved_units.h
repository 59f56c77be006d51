/* Compute units of a device that this thread's kernels leave free, for a concurrent library that needs some.
 *
 * This is a thread-local value, not an argument, because many layers lie between setter and reader. The
 * setter is a caller of tesela_gemm() (comm/product.c). The readers are the launches of three strategies
 * (launch.h). Between them are the public call, both caches, the plan's run, and strategies that create
 * operands for sub-plans: scales, complex_real, halves, structured and streamed. If a strategy forgot to pass
 * a member on, results would be right but wait for messages. Only a test with several GPUs would show that. A
 * thread enqueues all work for operands in buffers of one device itself, sub-plans included. One file sets
 * the value, around one call. */
#ifndef TSL_BASE_RESERVED_UNITS_H
#define TSL_BASE_RESERVED_UNITS_H

/* Sets the number of units for kernels that this thread enqueues from now on; 0: none. Only kernels
 * whose blocks run until all work is done read it; other kernels free units as their blocks finish. */
void tsl_reserve_units(int units);
/* Returns the number of units that this thread's kernels must leave free. */
int tsl_spared_units(void);

#endif
