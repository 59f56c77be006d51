/* A product of matrices with structures as one of general matrices: what its sampled rows and columns need of
 * the operands, copied and completed before the run, so that the judge and measurements compare with the
 * definition of a structure and no other code. */
#ifndef TSL_JUDGE_DENSIFY_H
#define TSL_JUDGE_DENSIFY_H

#include "judge/sample.h"
#include "strategy/problem.h"

typedef struct tsl_plain {
  tsl_problem problem;  /* general, of the sampled rows and columns; its C is dense, row after row */
  void *a, *b, *before; /* as it has them; NULL where they are not read */
  /* m x n of the sample, of TSL_KIND_...: elements beside C's triangle are passed over, as are those that
   * meet an infinity or a NaN where a zero may be multiplied or left out; of a hermitian diagonal imaginary
   * parts are. */
  unsigned char *kinds;
  int64_t *first, *last; /* places of what is not finite in each of the general factor's sampled lines: its
                            columns beside A, its rows beside B; none: first > last */
  void *memory;
} tsl_plain;

/* Operands in host memory; `before` is C before the run, NULL where it is not read. The rows and columns are
 * borrowed for the call. */
tesela_status tsl_plain_create(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const tsl_indices *rows, const tsl_indices *cols, tsl_plain *out);
void tsl_plain_free(tsl_plain *plain);

/* Of an element that was passed over for what it may meet beside a triangle: the terms that are not left out,
 * of `problem`. False: it is not one of those. `row` and `col` are of the sample and of the matrix alike: all
 * rows and columns are in it. */
bool tsl_plain_terms(const tsl_problem *problem, const tsl_plain *plain, int64_t row, int64_t col,
                     int64_t *first, int64_t *count);

#endif
