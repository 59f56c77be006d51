/* Micro-kernels and copies, one table row per instruction set and element type: all that knows how wide a
 * vector is. The loops above them (blocking.h) know tiles and micro-panels only. */
#ifndef TSL_STRATEGY_GEMM_HOST_PACKED_HOST_PACKED_KERNELS_H
#define TSL_STRATEGY_GEMM_HOST_PACKED_HOST_PACKED_KERNELS_H

#include "host/host_isa.h"

/* Most rows of a tile, and most vectors across it, of any row of the table. */
enum { TSL_PACKED_ROWS_MAX = 14, TSL_PACKED_VECTORS_MAX = 4 };

/* A tile prefetches after each so many steps along the panel. */
enum { TSL_PACKED_PREFETCH_STEPS = 8 };

/* What is wanted after a tile, and is prefetched while it multiplies: runs of cache lines, `jump` bytes from
 * the end of one to the start of the next. Each time `count` lines are prefetched. */
typedef struct tsl_packed_prefetch {
  const unsigned char *at;
  int64_t left, lines; /* of this run, and of a whole one; at least 1 */
  int64_t jump;
  int64_t count;
} tsl_packed_prefetch;

/* One tile of C: c = alpha a b + beta c, where beta = 0 never reads c. Strides and steps are in elements; a
 * and b are where they lie, copied or not.
 *
 *   a: rows x depth, element (i, l) at a + i * a_row + l * a_step
 *   b: depth rows of whole vectors, row l at b + l * b_step
 *   c: rows x columns, element (i, j) at c + i * c_row + j * c_column; c_column = 1 is fast */
typedef struct tsl_packed_tile {
  int64_t depth;
  const void *a;
  int64_t a_row, a_step;
  const void *b;
  int64_t b_step;
  void *c;
  int64_t c_row, c_column;
  int64_t c_rows; /* that are prefetched at a time */
  int64_t columns;
  double alpha[2], beta[2]; /* real, imaginary */
  bool is_plain; /* real sums that are only stored (alpha 1, beta 0), or only added to C or taken from it, in
                  * rows of C that lie side by side: without factors, with the bits that they would give */
  double signs[2];              /* 1 or -1: of a's imaginary parts; of the imaginary parts of a b */
  tsl_packed_prefetch prefetch; /* moves on */
} tsl_packed_tile;

/* Computes a tile of as many rows and vectors as its place in the table says. */
typedef void (*tsl_packed_tile_function)(tsl_packed_tile *tile);

/* Copies `count` neighbours of `depth` numbers each. `across` is the stride from neighbour to neighbour,
 * `along` the stride along the panel.
 *  - As a micro-panel of A: for each step along the panel `width` numbers lie side by side, at least `count`,
 * with zeros or numbers of the first neighbour behind the last one.
 *  - As micro-panels of B of `width` neighbours, one after the other; the last one has as many whole vectors
 * as it needs. Steps `first` to before `end` of micro-panels of B that have `whole` steps; `in` and `out` are
 * those of step 0. */
typedef void (*tsl_packed_copy)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                                int64_t width, void *out);
typedef void (*tsl_packed_copy_many)(const void *in, int64_t across, int64_t along, int64_t count,
                                     int64_t first, int64_t end, int64_t width, int64_t whole, void *out);

/* The corner on the diagonal of a factor's micro-panel, of which one triangle is stored: elements (i, l) for
 * l from `first` to before `end` and all i below `count`, as pack_micro lays them down from `out` on, with
 * zeros behind the last one. Element (i, l) lies at `at` + i * across + l * along; where it is not stored,
 * (l, i) stands for it, or 0. */
typedef struct tsl_packed_corner {
  const void *at;
  int64_t across, along, count, first, end, width;
  bool stores_before;         /* where l <= i; else where l >= i */
  tesela_structure structure; /* not general */
  void *out;
} tsl_packed_corner;
typedef void (*tsl_packed_copy_corner)(const tsl_packed_corner *corner);

/* Takes `count` elements to their conjugates. */
typedef void (*tsl_packed_conjugate)(void *elements, int64_t count);

/* One row of C from the sums of parts of k, which lie `stride` elements apart: c = alpha (part 0 + part 1 +
 * ...) + beta c, added in this order; beta = 0 never reads c. `column` is the stride of c. */
typedef void (*tsl_packed_add_split_k)(const void *sums, int64_t parts, int64_t stride, int64_t count,
                                       void *c, int64_t column, const double *alpha, const double *beta);

/* Rows `first` to before `end` of a triangle of C, count x count: c = square + its transpose (conjugated,
 * with a real diagonal, where it is hermitian) + beta c, where beta = 0 never reads c. Element (i, j) of the
 * square lies at i * line + j, with whole vectors in each line; that of C at i * c_row + j * c_column. */
typedef struct tsl_packed_fold {
  const void *square;
  int64_t line, count;
  void *c;
  int64_t c_row, c_column;
  bool is_lower, is_hermitian;
  double beta[2];
} tsl_packed_fold;
typedef void (*tsl_packed_fold_rows)(const tsl_packed_fold *fold, int64_t first, int64_t end);

/* One row of the table. */
typedef struct tsl_packed_kernels {
  tesela_type type;
  int lanes_log2;                   /* elements of a vector: 2 to this power */
  int rows[TSL_PACKED_VECTORS_MAX]; /* of the largest tile of 1, 2, ... vectors; never rising */
  tsl_packed_copy pack_micro;
  tsl_packed_copy_many pack_micros;
  tsl_packed_copy_corner pack_corner;
  tsl_packed_conjugate conjugate;
  tsl_packed_add_split_k add_split_k;
  tsl_packed_fold_rows fold;
  tsl_packed_tile_function multiply[TSL_PACKED_VECTORS_MAX]
                                   [TSL_PACKED_ROWS_MAX]; /* [vectors - 1][rows - 1] */
} tsl_packed_kernels;

static inline int64_t tsl_packed_lanes(const tsl_packed_kernels *kernels) {
  return (int64_t)1 << kernels->lanes_log2;
}
/* Vectors that hold so many elements. */
static inline int64_t tsl_packed_vectors(const tsl_packed_kernels *kernels, int64_t elements) {
  return (elements + tsl_packed_lanes(kernels) - 1) >> kernels->lanes_log2;
}

#define TSL_PACKED_DECLARE(isa, header, needs, ...)                                                          \
  extern const tsl_packed_kernels tsl_packed_##isa##_f32, tsl_packed_##isa##_f64, tsl_packed_##isa##_c64,    \
      tsl_packed_##isa##_c128;
TSL_ISA_LIST(TSL_PACKED_DECLARE)
#undef TSL_PACKED_DECLARE

#endif
