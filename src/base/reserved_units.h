/* Units of a device that kernels of this thread leave to others: where work of another library runs beside,
 * which needs some of its own.
 *
 * Why this is the thread's, and no argument: who knows it is a caller of tesela_gemm() (comm/product.c), and
 * who asks are kernels of three strategies, by launch.h. Between them are the public call, the dispatch
 * cache, the plan's cache and its run; and scales, complex_real, halves, structured and streamed, which make
 * operands of their own for the children that they have run. As a field of operands it would pass through all
 * of these, and one that forgot it would give right results and wait for messages, which no test without
 * several GPUs shows. What a thread enqueues for operands in buffers of one device, it enqueues itself,
 * children and all. It is set around one call, by one file. */
#ifndef TSL_BASE_RESERVED_UNITS_H
#define TSL_BASE_RESERVED_UNITS_H

/* For what this thread enqueues from now on; 0: none. Kernels whose blocks stay until all is done ask for it:
 * the others leave units to whoever comes as they go on. */
void tsl_reserve_units(int units);
int tsl_spared_units(void);

#endif
