/* A product or a triangular system in host memory that is computed without a plan. */
#ifndef TSL_STRATEGY_CALL_H
#define TSL_STRATEGY_CALL_H

#include "core/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Matrix; strides in elements. */
typedef struct tsl_call_matrix {
  const void *data;
  int64_t row, col;
  bool conjugate;
} tsl_call_matrix;

/* C (m x n) = alpha A (m x k) B (k x n) + beta C, or C = alpha inverse(A) C. A may have a structure. With a
 * triangular A, B is C, and beta is 0. A triangle of C may be requested; the diagonal of a hermitian C is
 * real. Callers set only the members that the strategy reads: see `bind` of strategy.h. */
typedef struct tsl_call {
  tesela_type type; /* of A, B and C */
  bool solves;      /* C = alpha inverse(A) C, in place; k = m */
  bool streams;     /* one of many consecutive products with operands in no cache */
  bool on_cpu;      /* plans, too, are for the cpu */
  int64_t m, n, k;
  tsl_call_matrix a, b, c; /* c's data is written */
  tesela_structure a_is, c_is;
  tesela_triangle a_triangle, c_triangle;
  double alpha[2], beta[2]; /* real and imaginary parts */
  /* flags of alpha and beta, because comparing the numbers would wait for preceding multiply-adds */
  bool alpha_is_0, alpha_is_1, beta_is_0;
  tsl_team team;
} tsl_call;

/* Sets the scalars, with their flags. */
static inline void tsl_call_scale(tsl_call *call, const double alpha[2], const double beta[2]) {
  for (int part = 0; part < 2; part++) {
    call->alpha[part] = alpha[part];
    call->beta[part] = beta[part];
  }
  call->alpha_is_0 = alpha[0] == 0 && alpha[1] == 0;
  call->alpha_is_1 = alpha[0] == 1 && alpha[1] == 0;
  call->beta_is_0 = beta[0] == 0 && beta[1] == 0;
}

/* Computes a product whose sizes, strides and scalars are in `state`. */
typedef tesela_status tsl_fast_kernel(const void *state, const void *a, const void *b, void *c);

/* Kernel for a call that is repeated with other addresses. */
typedef struct tsl_binding {
  tsl_fast_kernel *kernel; /* NULL: none */
  void *state;             /* freed with tsl_free() */
  bool may_fail;           /* the kernel allocates memory */
} tsl_binding;

#endif
