/* A device with kernels, measured: what roofs_memory.cl's and roofs_fma.cl's measurements share. For
 * roofs_kernels.c, kernel_memory.c and kernel_fma.c. */
#ifndef TSL_TUNE_ROOFS_KERNEL_BENCH_H
#define TSL_TUNE_ROOFS_KERNEL_BENCH_H

#include "device/device.h"
#include "strategy/launch.h"
#include "tune/roofs/bench.h"

/* Kernels and grids for the two kinds of devices. A processor's group is one item, which uses the vectors of
 * its registers and walks through memory; each takes one chunk, so that units that are held up take fewer. A
 * GPU's items stand side by side, each with vectors of sixteen bytes. Its groups stay, `groups_per_unit` a
 * unit, or twice, or four times as many; for copying, items with one vector each are tried as well. The best
 * counts. docs/lab/roofs.md has what a GPU does with other shapes. */
typedef struct tsl_kernel_shape {
  int items, lanes_f32, flight, chains, round;
  int launches;       /* of one sample: what events and a launch cost is shared by so many */
  size_t chunk_bytes; /* 0: one step */
  int groups_per_unit;
} tsl_kernel_shape;

/* What is read back as it is, to see that the device's own comparison can be believed. */
enum { TSL_KERNEL_BENCH_SAMPLE = 1 << 16 };

/* roofs_memory.cl has the same struct. */
typedef struct tsl_roofs_arguments {
  int64_t chunks, steps, mask;
} tsl_roofs_arguments;

typedef struct tsl_kernel_bench {
  tsl_device *device;
  const tsl_device_ops *ops;
  tsl_kernel_shape shape;
  tsl_stream *stream;
  tsl_event *begin, *end;
  tsl_buffer *from, *to, *results;
  void *block; /* of the host, for results */
  size_t results_bytes;
  tsl_kernel *kernel;
  tsl_grid grid;
  tsl_argument arguments[4];
  int argument_count;
  /* memory */
  size_t bytes;
  tsl_roofs_arguments memory;
  double sum; /* of all numbers */
  /* multiply-adds */
  tesela_type type;
  int lanes;
  const tsl_roofs_chain *chain;
  int64_t rounds;
} tsl_kernel_bench;

/* A file of this folder, with the shape's parameters. The module is the cache's. */
tesela_status tsl_kernel_bench_build(tsl_kernel_bench *b, const char *path, const char *name,
                                     tesela_type type, int lanes, tsl_module **module);
/* Chooses what is launched, once or for tsl_kernel_bench_run(). */
tesela_status tsl_kernel_bench_choose(tsl_kernel_bench *b, tsl_module *module, const char *kernel,
                                      uint64_t groups, const tsl_argument *arguments, int count);
tesela_status tsl_kernel_bench_launch(tsl_kernel_bench *b);
/* Seconds of one of a sample's launches; `bench` is one of these. The second: of whatever is enqueued. */
tesela_status tsl_kernel_bench_run(void *bench, double *seconds);
tesela_status tsl_kernel_bench_time(tsl_kernel_bench *b, tesela_status (*enqueue)(tsl_kernel_bench *b),
                                    double *seconds);
/* What `each` bytes of every item of the last grid are, on the host. */
tesela_status tsl_kernel_bench_results(tsl_kernel_bench *b, size_t each, size_t *count);
/* Space for the largest results of any grid; and all buffers given back. */
tesela_status tsl_kernel_bench_take(tsl_kernel_bench *b, uint64_t groups, size_t each);
void tsl_kernel_bench_give(tsl_kernel_bench *b);

/* The roofs of memory, and of multiply-adds in a type. */
tesela_status tsl_kernel_bench_memory(tsl_kernel_bench *b, double seconds, tsl_roofs *roofs);
tesela_status tsl_kernel_bench_fma(tsl_kernel_bench *b, tesela_type type, double seconds, tsl_roof *roof);

#endif
