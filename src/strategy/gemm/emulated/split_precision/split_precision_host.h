/* split_precision on the processor: shared by split_precision_host.c and its kernels, compiled once per
 * instruction set. */
#ifndef TSL_STRATEGY_GEMM_SPLIT_PRECISION_HOST_H
#define TSL_STRATEGY_GEMM_SPLIT_PRECISION_HOST_H

#include "host/host_isa.h"
#include "strategy/gemm/emulated/split_precision/split_precision.h"

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
#include "strategy/gemm/emulated/split_precision/split_precision_shared.h"

enum {
  TSL_SPLIT_BLOCK = 16,
  TSL_SPLIT_HOST_CHUNK = 64 /* numbers of each line that are read together */
};

/* Lines of an operand with strides `across` between lines and `along` a line, in elements; their scales;
 * their parts, each a plane of lines of `depth` numbers, `plane` numbers apart. */
typedef struct tsl_split_lines {
  const float *at;
  int64_t count, across, along;
  int *scales;
  uint16_t *planes;
  int64_t plane;
} tsl_split_lines;

typedef struct tsl_split_kernel tsl_split_kernel;
typedef struct tsl_split_job {
  const tsl_split_kernel *kernel;
  tsl_split_lines operands[2]; /* rows of A, columns of B */
  int64_t m, n, k, depth;
  int parts;
  float *sums, *c; /* sums: dense rows */
  int64_t c_row, c_col;
  float alpha, beta;
} tsl_split_job;

/* Kernels of an instruction set. measure() computes scales and cut() parts of lines `first` on, at most
 * TSL_SPLIT_BLOCK; join() computes a row of C from its sums. */
struct tsl_split_kernel {
  void (*measure)(const tsl_split_job *job, int operand, int64_t first);
  void (*cut)(const tsl_split_job *job, int operand, int64_t first);
  void (*join)(const tsl_split_job *job, int64_t row);
};

#define TSL_SPLIT_DECLARE(isa, header, needs, ...) extern const tsl_split_kernel tsl_split_kernel_##isa;
TSL_ISA_LIST(TSL_SPLIT_DECLARE)
#undef TSL_SPLIT_DECLARE

#endif
