/* Measurement of devices with kernels, for roofs_kernels.c, kernel_memory.c and kernel_fma.c. */
#ifndef TSL_TUNE_ROOFS_KERNEL_BENCH_H
#define TSL_TUNE_ROOFS_KERNEL_BENCH_H

#include "device/device.h"
#include "strategy/kernel_launch/launch.h"
#include "tune/roofs/bench.h"

/* Shape of kernels and grids. CPU: a group is one item with full vectors, and walks through one chunk. GPU:
 * adjacent items with vectors of 16 bytes; groups are persistent, one, two or four times groups_per_unit per
 * unit. Copies also try one vector per item. The best counts (docs/lab/roofs.md). */
typedef struct tsl_kernel_shape {
  /* Items of a group; f32 of a vector; vectors that an item loads in a step; chains; multiply-adds in a
   * round. */
  int items, lanes_f32, flight, chains, round;
  int launches;       /* launches per sample, which share the cost of events and launch */
  size_t chunk_bytes; /* bytes of a chunk; 0: one step */
  int groups_per_unit;
} tsl_kernel_shape;

/* bytes read back, to check the device's own comparison */
enum { TSL_KERNEL_BENCH_SAMPLE = 1 << 16 };

/* Arguments of kernels; roofs_memory.cl has an equal struct. */
typedef struct tsl_roofs_arguments {
  int64_t chunks, steps, mask; /* chunks of an array; steps of a chunk; mask of tsl_roofs_number() */
} tsl_roofs_arguments;

typedef struct tsl_kernel_bench {
  tsl_device *device;
  const tsl_device_ops *ops;
  tsl_kernel_shape shape;
  tsl_stream *stream;
  tsl_event *begin, *end;
  tsl_buffer *from, *to, *results;
  void *block; /* results in host memory */
  size_t results_bytes;
  tsl_kernel *kernel;
  tsl_grid grid;
  tsl_argument arguments[4];
  int argument_count;
  size_t bytes; /* bytes of each array */
  tsl_roofs_arguments memory;
  double sum; /* sum of all numbers */
  tesela_type type;
  int lanes;
  const tsl_roofs_chain *chain;
  int64_t rounds;
} tsl_kernel_bench;

/* Compiles a file of this folder with the shape's parameters. The kernel cache owns the module. */
tesela_status tsl_kernel_bench_build(tsl_kernel_bench *b, const char *path, const char *name,
                                     tesela_type type, int lanes, tsl_module **module);
/* Selects the next launches' kernel, grid and arguments. */
tesela_status tsl_kernel_bench_choose(tsl_kernel_bench *b, tsl_module *module, const char *kernel,
                                      uint64_t groups, const tsl_argument *arguments, int count);
tesela_status tsl_kernel_bench_launch(tsl_kernel_bench *b);
/* Times a sample and returns the seconds per launch; `bench` is a tsl_kernel_bench. */
tesela_status tsl_kernel_bench_run(void *bench, double *seconds);
/* Times a sample of `enqueue` and returns the seconds per call. */
tesela_status tsl_kernel_bench_time(tsl_kernel_bench *b, tesela_status (*enqueue)(tsl_kernel_bench *b),
                                    double *seconds);
/* Reads `each` bytes per item of the last grid to b->block; *count: items. */
tesela_status tsl_kernel_bench_results(tsl_kernel_bench *b, size_t each, size_t *count);
/* Allocates results of up to `groups` groups, `each` bytes per item. */
tesela_status tsl_kernel_bench_allocate_results(tsl_kernel_bench *b, uint64_t groups, size_t each);
/* Frees all buffers. */
void tsl_kernel_bench_free(tsl_kernel_bench *b);

/* Measures the roofs of memory, of copies and reads. */
tesela_status tsl_kernel_bench_memory(tsl_kernel_bench *b, double seconds, tsl_roofs *roofs);
tesela_status tsl_kernel_bench_fma(tsl_kernel_bench *b, tesela_type type, double seconds, tsl_roof *roof);

#endif
