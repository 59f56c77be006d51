/* Checksums of dense tiles, compiled for each instruction set. Rows of a tile are `pitch` numbers apart. */
#ifndef TSL_JUDGE_CHECKSUM_KERNELS_H
#define TSL_JUDGE_CHECKSUM_KERNELS_H

#include "core/isa.h"

#include <stdint.h>

/* Tile: rows, and columns of one segment of C or terms of one step of k. */
enum { TSL_CHECKSUM_ROWS = 16, TSL_CHECKSUM_COLUMNS = 256 };

typedef struct tsl_checksum_kernels {
  int lanes; /* partial sums of a row; a tile's sum has TSL_CHECKSUM_COLUMNS / lanes + 4 roundings at most */
  /* convert a row of f32 or bf16 */
  void (*widen_f32)(int count, const void *from, double *numbers);
  void (*widen_bf16)(int count, const void *from, double *numbers);
  /* sum[i] = weighted sum of row i, magnitude[i] = sum of its magnitudes */
  void (*sums)(int rows, int cols, const double *tile, int64_t pitch, const double *weights, double *sum,
               double *magnitude);
  /* adds row i times vector p, `vector_pitch` numbers apart, to sums[i * vectors + p], and magnitudes of row
   * i times `bound` to bounds[i] */
  void (*dots)(int rows, int depth, const double *tile, int64_t pitch, int vectors, const double *vector,
               int64_t vector_pitch, const double *bound, double *sums, double *bounds);
  /* return a row of i8, u8 or i32 times the weights, modulo 2^32 */
  uint32_t (*sum_i8)(int cols, const void *row, const uint32_t *weights);
  uint32_t (*sum_u8)(int cols, const void *row, const uint32_t *weights);
  uint32_t (*sum_i32)(int cols, const void *row, const uint32_t *weights);
} tsl_checksum_kernels;

#define TSL_CHECKSUM_DECLARE(isa, ...) extern const tsl_checksum_kernels tsl_checksum_kernels_##isa;
TSL_ISA_LIST(TSL_CHECKSUM_DECLARE)
#undef TSL_CHECKSUM_DECLARE

#endif
