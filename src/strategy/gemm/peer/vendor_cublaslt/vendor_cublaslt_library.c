#include "strategy/gemm/peer/vendor_cublaslt/vendor_cublaslt_library.h"

#include <stddef.h>
#include <stdio.h>

tsl_lt_api tsl_lt;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_lt_api, member), 0},
    TSL_LT_LIST(SYMBOL)
#undef SYMBOL
};
static const char *const names[] = {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13",
                                    "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12", NULL};

/* Sets the name; cublasLtGetVersion() returns 130100 for 13.1.0. */
static void cublaslt_library_name(tsl_vendor *found) {
  const unsigned version = (unsigned)tsl_lt.version();
  snprintf(found->name, sizeof found->name, "cuBLASLt %u.%u.%u", version / 10000, version / 100 % 100,
           version % 100);
}

static tsl_vendor_library library = {.what = "cuBLASLt",
                                     .path = TSL_ENV_CUBLASLT,
                                     .names = names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &tsl_lt,
                                     .name = cublaslt_library_name};

const tsl_vendor *tsl_lt_vendor(void) {
  return tsl_vendor_find(&library);
}

tesela_status tsl_lt_check(const tsl_device *device, const char *call, int code) {
  return tsl_vendor_cublas_check(device, call, code, tsl_lt.status_name, &library.found);
}
