/* What the BLAS drop-in asks beside the public calls: for small products, which may take less time than finding a plan, a
 * way without one; and where a call would run. */
#ifndef TSL_API_FAST_PATH_H
#define TSL_API_FAST_PATH_H

#include "strategy/strategy.h"

/* A way to multiply without plans on a context's device; lives as long as the context. */
typedef struct tsl_fast_path {
  const tsl_strategy *strategy;
  const tsl_device *device;
} tsl_fast_path;

/* Finds it; false where the context's device is neither the cpu, whose name it was given, nor "auto", or nobody offers
 * one. */
bool tsl_api_fast_path(tesela_context *context, tsl_fast_path *path);
/* Whether tesela_gemm() would run this on another device than the processor; false where it would fail. The plan is
 * remembered, so that the call finds it. */
bool tsl_api_goes_elsewhere(tesela_context *context, const tesela_gemm_desc *desc);
/* The same of a product whose plan is remembered; false where none is. */
bool tsl_api_knows_elsewhere(tesela_context *context, const tesela_gemm_desc *desc, bool *elsewhere);
/* Whether another device is expected to be the faster one: looks for those that may be, and loads their drivers, but opens and
 * compiles nothing. */
bool tsl_api_looks_elsewhere(tesela_context *context, const tesela_gemm_desc *desc);

#endif
