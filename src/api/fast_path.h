/* Functions for the BLAS drop-in: products without a plan, and the device on which a call would run. */
#ifndef TSL_API_FAST_PATH_H
#define TSL_API_FAST_PATH_H

#include "strategy/strategy.h"

/* Returns the cpu, valid as long as the context; *cpu is NULL if the context's device is neither "cpu" nor
 * "auto", or if its calls have requirements. TESELA_OUT_OF_MEMORY: a later call may find it. */
tesela_status tsl_api_cpu(tesela_context *context, const tsl_device **cpu);
/* Returns true if another device than the cpu would run this product; false on errors. Caches the plan. */
bool tsl_api_goes_elsewhere(tesela_context *context, const tesela_gemm_desc *desc);
/* Finds a cached plan; false: none. The flag becomes true if the plan runs on another device than the cpu. */
bool tsl_api_knows_elsewhere(tesela_context *context, const tesela_gemm_desc *desc, bool *elsewhere);
/* Plans for the device that is expected to be the fastest. If its best kernels compile slowly, plans with
 * other kernels first. Calls drivers_loaded() before it compiles. */
void tsl_api_prepare_elsewhere(tesela_context *context, const tesela_gemm_desc *desc,
                               void (*drivers_loaded)(void));

/* Reads a number that the drop-in measured on this machine; false: unknown. The name has no blanks. */
bool tsl_api_measurement_get(const tsl_device *device, const char *name, double *value);
/* Stores a measured number under a name and the device's key; only logs a failure (topic cache). */
void tsl_api_keep(const tsl_device *device, const char *name, double value);

#endif
