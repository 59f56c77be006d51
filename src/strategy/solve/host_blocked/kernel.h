/* Substitution on some right-hand sides, once per instruction set and type. */
#ifndef TSL_SOLVE_HOST_BLOCKED_KERNEL_H
#define TSL_SOLVE_HOST_BLOCKED_KERNEL_H

#include "host/host_isa.h"
#include "host/host_view.h"
#include "strategy/strategy.h"

/* Rows of X that every tile's height divides: blocks are multiples of it. */
enum { TSL_SOLVE_ROWS_UNIT = 12 };

/* Rows of a triangle that is read where it lies when it multiplies, and bytes of a row of the kernels'
 * columns at most. */
enum { TSL_SOLVE_MULTIPLIED_MOST = 64, TSL_SOLVE_ROW_BYTES_MOST = 2 * 64 };

/* A solve with a lower triangle: an upper one is seen from its last row, which strides say. */
typedef struct tsl_solve_blocks {
  int64_t m, n;
  tsl_view a, b, x;
  double alpha[2]; /* not 0 */
  bool is_unit, conjugates;
  int64_t depth; /* rows of a diagonal block: a multiple of the unit */
  int64_t chunk; /* rows below one that are copied at a time: likewise */
} tsl_solve_blocks;

typedef struct tsl_solve_kernel {
  /* Solves for columns `first` to `first + count` of B. `copies` hold the columns, and a block of A. */
  void (*solve)(const tsl_solve_blocks *blocks, int64_t first, int64_t count, void *x_copy, void *a_copy);
  /* All of it, where rows and right-hand sides are so few that copies would take longer: whether they are. */
  bool (*solve_few)(const tsl_solve_blocks *blocks);
  /* X = alpha A X in place, for triangles of few rows: `x_copy` holds TSL_SOLVE_MULTIPLIED_MOST rows of the
   * kernel's columns. */
  void (*multiply)(const tsl_solve_blocks *blocks, void *x_copy);
  int rows, columns; /* of X in registers */
  int a_row_extra;   /* elements of A's copy beside `depth` for each row */
} tsl_solve_kernel;

/* Rows, columns and terms at most of a product that is done at once (kernels/little.c); false, and C as it
 * was, where C has no stride of 1, or where a triangle is not one that it takes. alpha is not 0. */
enum { TSL_SOLVE_LITTLE_MOST = 32 };
typedef bool tsl_solve_little(const tsl_fast_structured *product);

#define TSL_SOLVE_DECLARE(isa, header, needs, ...)                                                           \
  extern tsl_solve_little tsl_solve_little_##isa##_f32, tsl_solve_little_##isa##_f64,                        \
      tsl_solve_little_##isa##_c64, tsl_solve_little_##isa##_c128;                                           \
  extern const tsl_solve_kernel tsl_solve_##isa##_f32, tsl_solve_##isa##_f64, tsl_solve_##isa##_c64,         \
      tsl_solve_##isa##_c128;
TSL_ISA_LIST(TSL_SOLVE_DECLARE)
#undef TSL_SOLVE_DECLARE

#endif
