/* Conversion of a product with structures to one of general matrices. Sampled rows and columns of the
 * operands are copied and completed before the run, by the definition of a structure only. */
#ifndef TSL_JUDGE_DENSIFY_H
#define TSL_JUDGE_DENSIFY_H

#include "judge/sample.h"
#include "problem/problem.h"

typedef struct tsl_dense_sample {
  tsl_problem problem;  /* general problem of the sampled rows and columns; its C is dense, row by row */
  void *a, *b, *before; /* operands of `problem`; NULL where they are not read */
  /* TSL_KIND_... of each element of the m x n sample. Ignored: elements outside of C's triangle, elements
   * whose infinity or NaN meets a zero that may be left out, imaginary parts of a hermitian diagonal. */
  unsigned char *kinds;
  /* range in each line of the factor without structure; none: first > last */
  int64_t *first_nonfinite, *last_nonfinite;
  void *memory; /* owns all arrays above */
} tsl_dense_sample;

/* Copies the general product from operands in host memory. `before` is C before the run, NULL where it is not
 * read. `out` keeps no pointer to rows and columns. Free with tsl_dense_sample_free(). */
tesela_status tsl_dense_sample_create(const tsl_problem *problem, const void *a, const void *b,
                                      const void *before, const tsl_indices *rows, const tsl_indices *cols,
                                      tsl_dense_sample *out);
void tsl_dense_sample_free(tsl_dense_sample *made_sample);

/* Gets the range of terms of `problem` of an element that was ignored because of a possible zero outside of a
 * triangle. False: it was not ignored. All rows and columns must be in the sample. */
bool tsl_dense_sample_needed_terms(const tsl_problem *problem, const tsl_dense_sample *made_sample,
                                   int64_t row, int64_t col, int64_t *first, int64_t *count);

#endif
