/* Micro-kernels and pack functions: one table row per instruction set and element type. */
#ifndef TSL_STRATEGY_GEMM_HOST_PACKED_HOST_PACKED_KERNELS_H
#define TSL_STRATEGY_GEMM_HOST_PACKED_HOST_PACKED_KERNELS_H

#include "host/host_isa.h"

enum { TSL_PACKED_ROWS_MAX = 14, TSL_PACKED_VECTORS_MAX = 4 }; /* of MR, and of NR in vectors */

enum { TSL_PACKED_PREFETCH_STEPS = 8 }; /* steps of k between two prefetches */

/* Runs of cache lines to prefetch while a tile is computed. */
typedef struct tsl_packed_prefetch {
  const unsigned char *at;
  int64_t left, lines; /* lines left in this run, and lines of a whole run; at least 1 */
  int64_t jump;        /* bytes from the end of a run to the start of the next */
  int64_t count;       /* lines that are prefetched at a time */
} tsl_packed_prefetch;

/* Arguments of a micro-kernel: c = alpha a b + beta c; beta = 0 never reads c. Strides are in elements.
 *   `a`: rows x kc, element (i, l) at a + i * a_row + l * a_step.
 *   `b`: kc rows of whole vectors, row l at b + l * b_step.
 *   `c`: rows x columns, element (i, j) at c + i * c_row + j * c_column; c_column = 1 is fast. */
typedef struct tsl_packed_tile {
  int64_t kc;
  const void *a;
  int64_t a_row, a_step;
  const void *b;
  int64_t b_step;
  void *c;
  int64_t c_row, c_column;
  int64_t c_prefetch_rows; /* rows of C that are prefetched at a time */
  int64_t columns;
  double alpha[2], beta[2];
  /* Real type, contiguous rows of C, and alpha 1 with beta 0, or sums that are added to or subtracted from C.
   * The micro-kernel skips the factors; the bits are equal. */
  bool is_plain;
  double signs[2];              /* 1 or -1: sign of a's imaginary parts; sign of the imaginary parts of a b */
  tsl_packed_prefetch prefetch; /* the micro-kernel advances it */
} tsl_packed_tile;

typedef void (*tsl_packed_tile_function)(tsl_packed_tile *tile);

/* Packs `count` lines of `depth` elements as a micro-panel of A: `width` elements a step. Strides: `across`
 * between lines, `along` k. Elements after the last line are zeros or copies of the first line. */
typedef void (*tsl_packed_copy)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                                int64_t width, void *out);
/* Packs steps `first` to before `end` of `count` lines as micro-panels of B, `width` lines each, of `whole`
 * steps; the last has as many whole vectors as its lines need. `in` and `out` point to step 0. */
typedef void (*tsl_packed_copy_many)(const void *in, int64_t across, int64_t along, int64_t count,
                                     int64_t first, int64_t end, int64_t width, int64_t whole, void *out);

/* Corner on a micro-panel's diagonal: elements (i, l), `first` <= l < `end`, i < `count`, at `at` + i *
 * across + l * along. Missing elements are mirrored from (l, i), or 0. `out` has the layout of pack_micro. */
typedef struct tsl_packed_corner {
  const void *at;
  int64_t across, along, count, first, end, width;
  bool stores_before;         /* elements with l <= i are stored; else elements with l >= i */
  tesela_structure structure; /* any but TESELA_GENERAL */
  void *out;
} tsl_packed_corner;
typedef void (*tsl_packed_copy_corner)(const tsl_packed_corner *corner);

typedef void (*tsl_packed_conjugate)(void *elements, int64_t count);

/* Adds the partial sums of one row of C in order: c = alpha (part 0 + part 1 + ...) + beta c; beta = 0 never
 * reads c. Strides in elements: `stride` between parts, `column` between columns of c. */
typedef void (*tsl_packed_add_split_k)(const void *sums, int64_t parts, int64_t stride, int64_t count,
                                       void *c, int64_t column, const double *alpha, const double *beta);

/* Triangle of C, count x count: c = square + its transpose (hermitian C: conjugate, with a real diagonal) +
 * beta c; beta = 0 never reads c. Element (i, j) of the square lies at i * line + j, in whole vectors. */
typedef struct tsl_packed_fold {
  const void *square;
  int64_t line, count;
  void *c;
  int64_t c_row, c_column;
  bool is_lower, is_hermitian;
  double beta[2];
} tsl_packed_fold;
typedef void (*tsl_packed_fold_rows)(const tsl_packed_fold *fold, int64_t first, int64_t end);

typedef struct tsl_packed_kernels {
  tesela_type type;
  int lanes_log2;
  int rows[TSL_PACKED_VECTORS_MAX]; /* MR of tiles of 1, 2, ... vectors; not increasing */
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
static inline int64_t tsl_packed_vectors(const tsl_packed_kernels *kernels, int64_t elements) {
  return (elements + tsl_packed_lanes(kernels) - 1) >> kernels->lanes_log2;
}

#define TSL_PACKED_DECLARE(isa, header, needs, ...)                                                          \
  extern const tsl_packed_kernels tsl_packed_##isa##_f32, tsl_packed_##isa##_f64, tsl_packed_##isa##_c64,    \
      tsl_packed_##isa##_c128;
TSL_ISA_LIST(TSL_PACKED_DECLARE)
#undef TSL_PACKED_DECLARE

#endif
