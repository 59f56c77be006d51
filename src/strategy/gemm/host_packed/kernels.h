/* Micro-kernels and copies, one table row per instruction set and element type: all that knows how wide a vector
 * is. The loops above them (loops.c) know tiles, slivers and strips only. */
#ifndef TSL_GEMM_HOST_PACKED_KERNELS_H
#define TSL_GEMM_HOST_PACKED_KERNELS_H

#include "strategy/strategy.h"

/* Most rows of a tile, and most vectors across it, of any row of the table. */
enum { TSL_PACKED_ROWS_MAX = 14, TSL_PACKED_VECTORS_MAX = 2 };

/* One tile of C: c = alpha a b + beta c, where beta = 0 never reads c. Strides and steps are in elements; a and b
 * are where they lie, copied or not.
 *
 *   a: rows x depth, element (i, l) at a + i * a_row + l * a_step
 *   b: depth rows of whole vectors, `columns` numbers of the last row being there at least, row l at b + l * b_step
 *   c: rows x columns, element (i, j) at c + i * c_row + j * c_column; c_column = 1 is fast */
typedef struct tsl_packed_tile {
  int64_t depth;
  const void *a;
  int64_t a_row, a_step;
  const void *b;
  int64_t b_step;
  void *c;
  int64_t c_row, c_column;
  int64_t columns;
  const void *next;         /* what is wanted next: a cache line of it is asked for every eight steps */
  double alpha[2], beta[2]; /* real, imaginary */
} tsl_packed_tile;

/* Computes a tile of as many rows and vectors as its place in the table says. */
typedef void (*tsl_packed_tile_function)(const tsl_packed_tile *tile);

/* Copies `count` neighbours of `depth` numbers each, so that for each step along the panel `width` numbers lie side
 * by side, with zeros or numbers of the first neighbour behind the last one. `across` is the stride from neighbour to neighbour,
 * `along` the stride along the panel. */
typedef void (*tsl_packed_copy)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                                int64_t width, void *out);

/* One row of the table. A complex type has the same: its slivers keep pairs, its strips keep real and imaginary
 * parts in vectors of their own, so that its strips are always copies. */
typedef struct tsl_packed_kernels {
  tesela_type type;
  int rows, vectors, lanes; /* the largest tile: rows x (vectors * lanes) elements */
  bool takes_strips;        /* whether multiply() can read B where it lies */
  tsl_packed_copy copy_sliver, copy_strip;
  tsl_packed_tile_function multiply[TSL_PACKED_ROWS_MAX]
                                   [TSL_PACKED_VECTORS_MAX]; /* [rows - 1][vectors - 1] */
} tsl_packed_kernels;

extern const tsl_packed_kernels tsl_packed_kernels_generic_f32, tsl_packed_kernels_generic_f64;
extern const tsl_packed_kernels tsl_packed_kernels_avx2_f32, tsl_packed_kernels_avx2_f64;
extern const tsl_packed_kernels tsl_packed_kernels_avx512_f32, tsl_packed_kernels_avx512_f64;

/* The best row for a type among what a device offers; NULL: there is none for this type. */
const tsl_packed_kernels *tsl_packed_kernels_for(tesela_type type, unsigned offers);

#endif
