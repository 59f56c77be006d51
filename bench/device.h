/* The device of a benchmark program, and cuBLAS's Level 3 as peers of its products. */
#ifndef TSL_BENCH_DEVICE_H
#define TSL_BENCH_DEVICE_H

#include "harness.h"
#include "planner/planner.h"

extern struct bench_gpu {
  tsl_devices *devices;
  tsl_device *device;
  tsl_wisdom *wisdom;
  tsl_stream *stream;
} bench_gpu;

void bench_gpu_open(const char *name);
void bench_gpu_close(void);

/* cuBLAS's syrk of a row-major lower triangle, and its trsm of column-major operands with a lower triangle on
 * the left. TESELA_CUBLAS names another library; TESELA_VENDORS is ignored. */
extern const tsl_strategy bench_cublas_syrk, bench_cublas_trsm;

#endif
