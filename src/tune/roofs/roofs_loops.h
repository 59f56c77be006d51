/* Loops for the cpu's roofs, once per instruction set. */
#ifndef TSL_TUNE_ROOFS_ROOFS_LOOPS_H
#define TSL_TUNE_ROOFS_ROOFS_LOOPS_H

#include "host/host_isa.h"

#include <stddef.h>
#include <stdint.h>

/* Two units with a latency of five clocks need ten chains; twelve and two constants fit into 16 registers. */
enum { TSL_ROOFS_CHAINS = 12 };
/* multiply-adds of a chain per round */
enum { TSL_ROOFS_ROUND = 16 };
/* divisor of `count` in copy() and read() */
enum { TSL_ROOFS_BLOCK = 1024 };

/* Counts are in floats; addresses are aligned to a cache line. */
typedef struct tsl_roofs_loops {
  void (*copy)(const float *from, float *dst, size_t count);
  double (*read)(const float *from, size_t count, int times);
  /* x = factor x + summand, TSL_ROOFS_ROUND times per round, for TSL_ROOFS_CHAINS vectors at `x`. */
  void (*fma_f32)(int64_t rounds, float factor, float summand, float *x);
  void (*fma_f64)(int64_t rounds, double factor, double summand, double *x);
  int vector_bytes;
} tsl_roofs_loops;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_roofs_loops tsl_roofs_loops_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
