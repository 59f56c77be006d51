/* What the BLAS drop-in asks beside the public calls: for small products, which may take less time than
 * finding a plan, a way without one; and where a call would run. */
#ifndef TSL_API_FAST_PATH_H
#define TSL_API_FAST_PATH_H

#include "strategy/strategy.h"

/* Ways to multiply, and to solve with triangles, without plans on a context's device; lives as long as the
 * context. */
typedef struct tsl_fast_path {
  const tsl_strategy *strategy;
  const tsl_device *device;
  const tsl_strategy *solver; /* NULL: there is none */
  const tsl_strategy *packer; /* of products with structures, and of all that are not small; or NULL */
} tsl_fast_path;

/* Finds it. path->strategy is NULL where the context's device is neither the cpu, whose name it was given,
 * nor "auto", or where no strategy offers a way.
 *  @return TESELA_OUT_OF_MEMORY where a later call may find more. */
tesela_status tsl_api_fast_path(tesela_context *context, tsl_fast_path *path);
/* Whether tesela_gemm() would run this on another device than the processor; false where it would fail. The
 * plan is remembered, so that the call finds it. */
bool tsl_api_goes_elsewhere(tesela_context *context, const tesela_gemm_desc *desc);
/* Plans the product for another device by the strategy whose kernels compile soonest, and remembers the plan.
 * False: the processor is expected to be the fastest, or there is no plan. */
bool tsl_api_goes_elsewhere_soon(tesela_context *context, const tesela_gemm_desc *desc);
/* Plans the product by the fastest strategy and replaces the remembered plan. True: another device runs it. */
bool tsl_api_goes_elsewhere_at_best(tesela_context *context, const tesela_gemm_desc *desc);
/* The same of a product whose plan is remembered; false where none is. */
bool tsl_api_knows_elsewhere(tesela_context *context, const tesela_gemm_desc *desc, bool *elsewhere);
/* Whether another device is expected to be the faster one: looks for those that may be, and loads their
 * drivers, but opens and compiles nothing. */
bool tsl_api_considers_devices(tesela_context *context, const tesela_gemm_desc *desc);

/* Numbers that the drop-in measured once on this machine, kept in the file `blas` of the folder of compiled
 * kernels, by a name without blanks and the device's key. False where nothing is known; what cannot be kept
 * is a line in the log (cache). */
bool tsl_api_measurement_get(const tsl_device *device, const char *name, double *value);
void tsl_api_keep(const tsl_device *device, const char *name, double value);

#endif
