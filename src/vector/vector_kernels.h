/* Kernels for vectors and for matrices times vectors, for each instruction set and type. A kernel runs on the
 * caller's thread without memory. A vector is the address of element 0 and a step, which may be negative or
 * 0. Matrices are column-major, `ld` elements from column to column. Sizes are not negative. */
#ifndef TSL_VECTOR_VECTOR_KERNELS_H
#define TSL_VECTOR_VECTOR_KERNELS_H

#include "host/host_isa.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Scalar of any type; im is 0 for real types. */
typedef struct tsl_vector_number {
  double re, im;
} tsl_vector_number;

typedef struct tsl_line_kernels {
  /* y += a x, or a conj(x) */
  void (*add)(int64_t n, tsl_vector_number a, const void *x, int64_t x_step, bool conjugate, void *y,
              int64_t y_step);
  /* z += a x + b y, all steps 1 */
  void (*add_two)(int64_t n, tsl_vector_number a, const void *x, tsl_vector_number b, const void *y, void *z);
  void (*scale)(int64_t n, tsl_vector_number a, void *x, int64_t step);
  /* x = a x with real a, for both components */
  void (*scale_by_real)(int64_t n, double a, void *x, int64_t step);
  /* y = x, or conj(x) */
  void (*copy)(int64_t n, const void *x, int64_t x_step, bool conjugate, void *y, int64_t y_step);
  /* exchanges x and y */
  void (*swap)(int64_t n, void *x, int64_t x_step, void *y, int64_t y_step);
  /* (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y) */
  void (*rotate)(int64_t n, void *x, int64_t x_step, void *y, int64_t y_step, const double h[4]);
  /* sum of x[i] y[i], or of conj(x[i]) y[i] */
  tsl_vector_number (*dot)(int64_t n, const void *x, int64_t x_step, bool conjugate, const void *y,
                           int64_t y_step);
  /* sum of the squares of all components */
  double (*squares)(int64_t n, const void *x, int64_t step);
  /* sum of the absolute values of all components */
  double (*absolutes)(int64_t n, const void *x, int64_t step);
  /* index of the first element whose components' absolute values have the largest sum, *value. NaN elements
   * are skipped; -1: all are NaN. */
  int64_t (*largest)(int64_t n, const void *x, int64_t step, double *value);
} tsl_line_kernels;

/* unit: the diagonal is 1 and not read; solves: the solution z of op(triangle) z = x, else the product */
typedef struct tsl_diagonal {
  bool upper, transposed, unit, solves;
} tsl_diagonal;

/* Kernels for matrices; x, y, t and s are dense. */
typedef struct tsl_column_kernels {
  /* y += sum of t[j] A[:, j]; `skips` allows to skip columns with t[j] = 0 */
  void (*add)(int64_t rows, int64_t columns, const void *a, int64_t ld, const void *t, void *y, bool skips);
  /* s[j] += sum of A[i, j] x[i] */
  void (*dot)(int64_t rows, int64_t columns, const void *a, int64_t ld, const void *x, void *s);
  /* A[:, j] += t[j] x; columns with t[j] = 0 are skipped. `far`: the matrix exceeds the L1 cache. */
  void (*update)(int64_t rows, int64_t columns, const void *x, const void *t, void *a, int64_t ld, bool far);
  /* A[:, j] += t[j - first] x for columns `first` to `end` - 1 of an n x n triangle; `hermitian`: real */
  void (*update_triangle)(int64_t n, int64_t first, int64_t end, const void *x, const void *t, void *a,
                          int64_t ld, bool upper, bool hermitian);
  /* y += alpha A x for columns `first` to `end` - 1 of a symmetric or hermitian A; t[0] is alpha x[first] */
  void (*symmetric)(int64_t n, int64_t first, int64_t end, const void *a, int64_t ld, tsl_vector_number alpha,
                    const void *t, const void *x, void *y, bool upper, bool hermitian);
  /* x = op(triangle) x, or the solution */
  void (*diagonal)(int64_t n, const void *a, int64_t ld, tsl_diagonal form, void *x);
} tsl_column_kernels;

typedef struct tsl_vector_kernels {
  tesela_type type;
  int size; /* bytes of an element */
  bool is_complex;
  const tsl_line_kernels *line;
  const tsl_column_kernels *column;
} tsl_vector_kernels;

/* Table for this processor by type (f32, f64, c64, c128), set on first use; threads set equal values. */
extern _Atomic(const tsl_vector_kernels *) tsl_vector_chosen;
const tsl_vector_kernels *tsl_vector_choose(void);
static inline const tsl_vector_kernels *tsl_vector_kernels_of(tesela_type type) {
  const tsl_vector_kernels *set = atomic_load_explicit(&tsl_vector_chosen, memory_order_relaxed);
  return (set ? set : tsl_vector_choose()) + type;
}

#define TSL_DECLARE(isa, header, needs, ...)                                                                 \
  extern const tsl_line_kernels tsl_lines_##isa##_f32, tsl_lines_##isa##_f64, tsl_lines_##isa##_c64,         \
      tsl_lines_##isa##_c128;                                                                                \
  extern const tsl_column_kernels tsl_columns_##isa##_f32, tsl_columns_##isa##_f64, tsl_columns_##isa##_c64, \
      tsl_columns_##isa##_c128;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
