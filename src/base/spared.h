/* Units of a device that kernels of this thread leave to others: where work of another library runs beside, which needs some of its own. */
#ifndef TSL_BASE_SPARED_H
#define TSL_BASE_SPARED_H

/* For what this thread enqueues from now on; 0: none. Kernels whose blocks stay until all is done ask for it: the others leave units
 * to whoever comes as they go on. */
void tsl_spare_units(int units);
int tsl_spared_units(void);

#endif
