/* The judge's arithmetic: sums of products in higher precision than the type that is judged, and the sums of
 * their magnitudes. Two ways to the same number:
 *
 *  - blocks, fast: plain double for types whose products double holds exactly (f32 and narrower), else
 *    compensated sums of double (Ogita, Rump, Oishi 2005: TwoSum by Knuth, TwoProduct by Dekker 1971), as
 * good as twice double's precision. Infinities, NaN, overflow and underflow make these sums useless, and
 * show.
 *  - one element, slow, with a scale of its own, so that nothing overflows or underflows, and with non-finite
 *    terms counted by IEEE 754's rules instead of added.
 *
 * These files are compiled without contraction of a * b + c: the order and rounding of each operation is the
 * method. */
#ifndef TSL_JUDGE_REFERENCE_H
#define TSL_JUDGE_REFERENCE_H

#include "base/pool.h"
#include "strategy/problem.h"

/* Sums of a block of elements, `rows` x `cols`, row after row without gaps. The sum is high + low. */
typedef struct tsl_sums {
  double *high, *low; /* low is NULL for plain sums */
  double *magnitude;
} tsl_sums;

/* Adds the products of A's piece (rows x depth, dense) and B's (depth x cols, dense) to the sums. */
void tsl_reference_add(int rows, int cols, int depth, const double *a, const double *b, const tsl_sums *sums);

/* Adds `count` sums to others of the same kind. */
void tsl_reference_join(size_t count, const tsl_sums *from, const tsl_sums *sums);

/* The products of one element as they lie; steps in elements. */
typedef struct tsl_terms {
  tesela_type a_type, b_type;
  const void *a, *b;
  int64_t a_step, b_step, count;
} tsl_terms;

/* One element's sums, each a single number, over as many terms as a dot has: parts of constant length on the
 * team's threads, lanes within a part, both joined in order, so that the bits are the same for any number of
 * threads. Plain sums where sums->low is NULL, as above. Not from within a task of the pool. */
tesela_status tsl_reference_sum(tsl_team team, const tsl_terms *terms, const tsl_sums *sums);
/* Returns the bytes of host memory that this takes for a sum of so many terms. */
size_t tsl_reference_bytes(int64_t terms);

/* alpha (high + low) + beta before, to the same precision; *low is what *high leaves out. */
void tsl_reference_finish(double alpha, double high, double low, double beta, double before,
                          double *result_high, double *result_low);

/* One element of alpha A B + beta C. What is finite is scaled: the value is (high + low) 2^exponent. */
typedef struct tsl_reference_number {
  bool nan, plus, minus; /* terms that are NaN, or infinite with this sign */
  bool any;              /* at least one finite term is not zero */
  int exponent;          /* at least -900, so that a type's range can be scaled by it */
  double high, low;      /* the finite terms' sum */
  double magnitude;      /* the sum of their magnitudes */
  bool up, down;         /* in some order of summation a partial sum may pass `largest`, or -largest */
  bool unsure;           /* an element that may be taken as 0 meets an infinity */
} tsl_reference_number;

typedef struct tsl_limits {
  double largest; /* the largest magnitude that the judged type's sums may safely have */
  double flushes; /* elements below it may be taken as 0; 0: none are */
} tsl_limits;

/* Element (row, col), from the operands' elements (0, 0). alpha and beta are finite. `before` is NULL when
 * beta = 0; a and b are not read when k = 0 or alpha = 0. */
void tsl_reference_element(const tsl_problem *problem, double alpha, double beta, const void *a,
                           const void *b, const void *before, int64_t row, int64_t col,
                           const tsl_limits *limits, tsl_reference_number *out);

#endif
