/* slices on the processor: shared by slices_host.c and its kernels, compiled once per instruction set. */
#ifndef TSL_STRATEGY_GEMM_SLICES_SLICES_HOST_H
#define TSL_STRATEGY_GEMM_SLICES_SLICES_HOST_H

#include "host/host_isa.h"
#include "strategy/gemm/emulated/slices/slices.h"

#define TSL_FUNCTION static inline
static inline int TSL_AS_INT(float x) {
  const union {
    float x;
    int bits;
  } same = {x};
  return same.bits;
}
static inline float TSL_AS_FLOAT(int bits) {
  const union {
    int bits;
    float x;
  } same = {bits};
  return same.x;
}
#include "strategy/gemm/emulated/slices/slices_shared.h"

enum {
  TSL_SLICES_BLOCK = 16,
  TSL_SLICES_CHUNK = 64 /* numbers of each line that are read together */
};

/* Lines of an operand with strides `across` between lines and `along` a line, in elements; their scales;
 * their slices, each a plane of lines of `depth` numbers, `plane` numbers apart. */
typedef struct tsl_slices_lines {
  const float *at;
  int64_t count, across, along;
  int *scales;
  uint16_t *planes;
  int64_t plane;
} tsl_slices_lines;

typedef struct tsl_slices_job {
  tsl_slices_lines operands[2]; /* rows of A, columns of B */
  int64_t m, n, k, depth;
  int slices;
  float *sums, *c; /* sums: dense rows */
  int64_t c_row, c_col;
  float alpha, beta;
} tsl_slices_job;

/* Kernels of an instruction set. measure() computes scales and cut() slices of lines `first` on, at most
 * TSL_SLICES_BLOCK; join() computes a row of C from its sums. */
typedef struct tsl_slices_kernel {
  void (*measure)(const tsl_slices_job *job, int operand, int64_t first);
  void (*cut)(const tsl_slices_job *job, int operand, int64_t first);
  void (*join)(const tsl_slices_job *job, int64_t row);
} tsl_slices_kernel;

#define TSL_SLICES_DECLARE(isa, header, needs, ...) extern const tsl_slices_kernel tsl_slices_kernel_##isa;
TSL_ISA_LIST(TSL_SLICES_DECLARE)
#undef TSL_SLICES_DECLARE

#endif
