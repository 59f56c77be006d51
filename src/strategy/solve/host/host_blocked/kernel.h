#ifndef TSL_SOLVE_HOST_BLOCKED_KERNEL_H
#define TSL_SOLVE_HOST_BLOCKED_KERNEL_H

#include "host/host_isa.h"
#include "host/host_view.h"
#include "strategy/strategy.h"

/* Common multiple of all tile heights; blocks are multiples of it. */
enum { TSL_SOLVE_ROWS_UNIT = 12 };

/* Maximum rows of a triangle that is multiplied in place; maximum bytes of a row of a kernel's columns. */
enum { TSL_SOLVE_MULTIPLIED_ROWS_MAX = 64, TSL_SOLVE_ROW_BYTES_MAX = 2 * 64 };

/* Solve with a lower triangle. An upper one is described from its last row on, with negative strides. */
typedef struct tsl_solve_blocks {
  int64_t m, n; /* rows of the triangle, right-hand sides */
  tsl_view a, b, x;
  double alpha[2]; /* not 0 */
  bool is_unit, conjugates;
  int64_t depth; /* rows of a diagonal block: a multiple of TSL_SOLVE_ROWS_UNIT */
  int64_t chunk; /* rows below a block that are copied at a time: a multiple of TSL_SOLVE_ROWS_UNIT */
} tsl_solve_blocks;

typedef struct tsl_solve_kernel {
  /* Solves for columns `first` to `first + count` of B. The copies hold these columns and a block of A. */
  void (*solve)(const tsl_solve_blocks *blocks, int64_t first, int64_t count, void *x_copy, void *a_copy);
  /* Solves everything without copies of A if rows and right-hand sides are few; else returns false. */
  bool (*solve_few)(const tsl_solve_blocks *blocks);
  /* Computes X = alpha A X in place for triangles of few rows. `x_copy` has memory for
   * TSL_SOLVE_MULTIPLIED_ROWS_MAX rows of the kernel's columns. */
  void (*multiply)(const tsl_solve_blocks *blocks, void *x_copy);
  int rows, columns; /* rows and columns of X in registers */
  int a_row_extra;   /* additional elements of each row of A's copy besides `depth` */
} tsl_solve_kernel;

/* Computes a product of at most TSL_SOLVE_SMALL_PRODUCT_MAX rows, columns and terms; alpha is not 0. Returns
 * false, C unchanged, where C has no stride of 1, or for unsupported triangles. */
enum { TSL_SOLVE_SMALL_PRODUCT_MAX = 32 };
typedef bool tsl_solve_small_product(const tsl_call *product);

#define TSL_SOLVE_DECLARE(isa, header, needs, ...)                                                           \
  extern tsl_solve_small_product tsl_solve_small_product_##isa##_f32, tsl_solve_small_product_##isa##_f64,   \
      tsl_solve_small_product_##isa##_c64, tsl_solve_small_product_##isa##_c128;                             \
  extern const tsl_solve_kernel tsl_solve_##isa##_f32, tsl_solve_##isa##_f64, tsl_solve_##isa##_c64,         \
      tsl_solve_##isa##_c128;
TSL_ISA_LIST(TSL_SOLVE_DECLARE)
#undef TSL_SOLVE_DECLARE

#endif
