/* What vectors and matrices times vectors are computed by: for each type a table of each instruction set's
 * kernels. A kernel runs on the caller's thread and takes no memory. Vectors are the address of element 0 and
 * a step between elements, which may be negative or 0; matrices lie column by column, `ld` elements apart.
 * Sizes are not negative. */
#ifndef TSL_VECTOR_VECTOR_KERNELS_H
#define TSL_VECTOR_VECTOR_KERNELS_H

#include "host/host_isa.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* A scalar of any type; of real ones im is 0. */
typedef struct tsl_vector_number {
  double re, im;
} tsl_vector_number;

/* Of one or two vectors. */
typedef struct tsl_line_kernels {
  /* y += a x, or a conj(x); z += a x + b y, all steps 1; x = a x; x = a x of real a, component by component
   */
  void (*add)(int64_t n, tsl_vector_number a, const void *x, int64_t x_step, bool conjugate, void *y,
              int64_t y_step);
  void (*add_two)(int64_t n, tsl_vector_number a, const void *x, tsl_vector_number b, const void *y, void *z);
  void (*scale)(int64_t n, tsl_vector_number a, void *x, int64_t step);
  void (*stretch)(int64_t n, double a, void *x, int64_t step);
  /* y = x, or conj(x); both exchanged */
  void (*copy)(int64_t n, const void *x, int64_t x_step, bool conjugate, void *y, int64_t y_step);
  void (*swap)(int64_t n, void *x, int64_t x_step, void *y, int64_t y_step);
  /* (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y) */
  void (*turn)(int64_t n, void *x, int64_t x_step, void *y, int64_t y_step, const double h[4]);
  /* the sum of x[i] y[i], or conj(x[i]) y[i]; of squares and of absolute values of the components */
  tsl_vector_number (*dot)(int64_t n, const void *x, int64_t x_step, bool conjugate, const void *y,
                           int64_t y_step);
  double (*squares)(int64_t n, const void *x, int64_t step);
  double (*absolutes)(int64_t n, const void *x, int64_t step);
  /* the first element whose components' absolute values have the largest sum, and that sum; elements that are
   * no number are passed over, and -1 tells that there is no other */
  int64_t (*largest)(int64_t n, const void *x, int64_t step, double *value);
} tsl_line_kernels;

/* What is done to a diagonal block. */
typedef struct tsl_diagonal {
  bool upper, transposed, unit, solves;
} tsl_diagonal;

/* Of matrices; x, y, t and s are dense. */
typedef struct tsl_column_kernels {
  /* y += sum of t[j] A[:, j]; columns of which t[j] is 0 may be left alone where `skips` */
  void (*add)(int64_t rows, int64_t columns, const void *a, int64_t ld, const void *t, void *y, bool skips);
  /* s[j] += the sum of A[i, j] x[i] */
  void (*dot)(int64_t rows, int64_t columns, const void *a, int64_t ld, const void *x, void *s);
  /* A[:, j] += t[j] x, but for columns of which t[j] is 0; `far`: they are part of a matrix that the first
   * cache does not hold */
  void (*update)(int64_t rows, int64_t columns, const void *x, const void *t, void *a, int64_t ld, bool far);
  /* Of a triangle of n rows, columns `first` to below `end`, with t[j - first]:
   * A[:, j] += t x, whose diagonal elements become real where `hermitian`; and
   * y += alpha A x of a symmetric or hermitian A, as far as these columns tell
   * it, t being alpha x */
  void (*update_triangle)(int64_t n, int64_t first, int64_t end, const void *x, const void *t, void *a,
                          int64_t ld, bool upper, bool hermitian);
  void (*symmetric)(int64_t n, int64_t first, int64_t end, const void *a, int64_t ld, tsl_vector_number alpha,
                    const void *t, const void *x, void *y, bool upper, bool hermitian);
  /* x = op(triangle) x, or the x that gives this one */
  void (*diagonal)(int64_t n, const void *a, int64_t ld, tsl_diagonal way, void *x);
} tsl_column_kernels;

typedef struct tsl_vector_kernels {
  tesela_type type;
  int size; /* bytes of an element */
  bool is_complex;
  const tsl_line_kernels *line;
  const tsl_column_kernels *column;
} tsl_vector_kernels;

/* Those of a type (f32, f64, c64, c128) for this processor. They are looked for once; any number of threads
 * may at once, and find the same. */
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
