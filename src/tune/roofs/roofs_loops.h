/* The loops with which the processor's roofs are measured, once per instruction set. */
#ifndef TSL_TUNE_ROOFS_ROOFS_LOOPS_H
#define TSL_TUNE_ROOFS_ROOFS_LOOPS_H

#include "host/host_isa.h"

#include <stddef.h>
#include <stdint.h>

/* Independent chains of multiply-adds: two units times a latency of four or five clocks need ten, and with
 * the two constants twelve fit the sixteen registers of SSE2 and AVX2. */
enum { TSL_ROOFS_CHAINS = 12 };
/* Multiply-adds of a chain in one round. */
enum { TSL_ROOFS_ROUND = 16 };
/* `count` of copy() and read() is a multiple of this. */
enum { TSL_ROOFS_BLOCK = 1024 };

/* count floats; addresses are aligned to a cache line. */
typedef struct tsl_roofs_loops {
  void (*copy)(const float *from, float *dst, size_t count);
  double (*read)(const float *from, size_t count); /* the sum */
  /* x = factor x + summand, TSL_ROOFS_ROUND times a round, on the chains at `x`: TSL_ROOFS_CHAINS vectors. */
  void (*fma_f32)(int64_t rounds, float factor, float summand, float *x);
  void (*fma_f64)(int64_t rounds, double factor, double summand, double *x);
  int vector_bytes;
} tsl_roofs_loops;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_roofs_loops tsl_roofs_loops_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
