#ifndef TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_LIBRARY_H
#define TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_LIBRARY_H

#include "strategy/gemm/peer/vendor_cublaslt/cublaslt_api.h"
#include "strategy/vendor.h"

extern tsl_lt_api tsl_lt; /* function table, filled by tsl_lt_vendor() */

/* Loads the library: the strategy's vendor.load(). */
const tsl_vendor *tsl_lt_vendor(void);

/* Returns the status of a code and sets the message; TESELA_OK for success. */
tesela_status tsl_lt_check(const tsl_device *device, const char *call, int code);

#endif
