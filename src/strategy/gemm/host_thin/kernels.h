/* Kernels of thin products, one table row per instruction set and element type: all that knows how wide a vector is. */
#ifndef TSL_GEMM_HOST_THIN_KERNELS_H
#define TSL_GEMM_HOST_THIN_KERNELS_H

#include "strategy/strategy.h"

enum {
  TSL_THIN_MOST = 8,    /* rows or columns that are few */
  TSL_THIN_STEPS = 4,   /* steps of an outer product */
  TSL_THIN_GROUP = 8,   /* rows of the large operand that are read together */
  TSL_THIN_TOGETHER = 8 /* most columns of it that are read together */
};

/* `rows` rows of the large operand, `width` numbers each and `along` apart, times numbers y[l * q + i], are added to q
 * sums of `pitch` numbers: sums[i][j] += y[l][i] x[l][j], in the order of l. */
typedef void (*tsl_thin_add)(const void *x, int64_t along, int64_t rows, const void *y, int64_t width,
                             void *sums, int64_t pitch);

/* out[j * q + i] = the sum over l of x[j][l] y[i][l], for the columns that columns() says, `across` apart. */
typedef void (*tsl_thin_reduce)(const void *x, int64_t across, int64_t depth, const void *y, int64_t pitch,
                                void *out);

/* c[j] = alpha (y[0] b[0][j] + ...) + beta c[j] for a row of C; beta = 0 never reads it. Past the caches where
 * `streams` says so; tsl_thin_kernels.fence() then comes before anybody is told. */
typedef struct tsl_thin_row {
  const void *b;
  int64_t pitch; /* of b, elements */
  int64_t width;
  double alpha, beta;
  bool streams;
} tsl_thin_row;
typedef void (*tsl_thin_outer)(const tsl_thin_row *row, const void *y, void *c);

/* Element (i, j) of rows x columns at in + i * row + j * column goes to out[i * pitch + j]. */
typedef void (*tsl_thin_pack)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                              void *out, int64_t pitch);

/* c[j * column] = alpha sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
typedef void (*tsl_thin_finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta,
                                void *c, int64_t column);

typedef struct tsl_thin_kernels {
  tesela_type type;
  int64_t lanes;
  int columns[TSL_THIN_MOST]; /* that reduce[q - 1] takes together */
  tsl_thin_add add[TSL_THIN_MOST];
  tsl_thin_reduce reduce[TSL_THIN_MOST], reduce_one[TSL_THIN_MOST];
  tsl_thin_outer outer[TSL_THIN_STEPS]; /* by the number of steps */
  tsl_thin_pack pack;
  tsl_thin_finish finish;
  void (*fence)(void);
} tsl_thin_kernels;

extern const tsl_thin_kernels tsl_thin_kernels_generic_f32, tsl_thin_kernels_generic_f64;
extern const tsl_thin_kernels tsl_thin_kernels_avx2_f32, tsl_thin_kernels_avx2_f64;
extern const tsl_thin_kernels tsl_thin_kernels_avx512_f32, tsl_thin_kernels_avx512_f64;

/* The best row for f32 or f64 among what a device offers. */
const tsl_thin_kernels *tsl_thin_kernels_for(tesela_type type, unsigned offers);

#endif
