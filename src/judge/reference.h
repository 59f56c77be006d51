/* The judge's arithmetic: sums of products in higher precision than the judged type, and sums of magnitudes.
 * There are two methods:
 *
 *  - Blocks (fast): plain double for types whose products are exact in double (f32 and narrower), else
 *    compensated sums (Ogita, Rump, Oishi 2005: TwoSum by Knuth, TwoProduct by Dekker 1971) with twice
 *    double's precision. Infinities, NaN, overflow and underflow invalidate these sums detectably.
 *  - One element (slow): with its own scale, so nothing overflows or underflows. Non-finite terms are counted
 *    by IEEE 754's rules instead of added.
 *
 * These files must be compiled without contraction of a * b + c: the methods depend on each rounding. */
#ifndef TSL_JUDGE_REFERENCE_H
#define TSL_JUDGE_REFERENCE_H

#include "core/pool.h"
#include "problem/problem.h"

/* Sums of a block of `rows` x `cols` elements, dense, row by row. A sum is high + low. */
typedef struct tsl_sums {
  double *high, *low; /* low is NULL for plain sums */
  double *magnitude;  /* sums of the products' magnitudes */
} tsl_sums;

/* Adds the products of A's panel (rows x depth, dense) and B's (depth x cols, dense) to the sums. */
void tsl_reference_add_products(int rows, int cols, int depth, const double *a, const double *b,
                                const tsl_sums *sums);

/* Adds `count` sums of `from` to `sums`, compensated where sums->low is not NULL. */
void tsl_reference_add_sums(size_t count, const tsl_sums *from, const tsl_sums *sums);

typedef struct tsl_terms {
  tesela_type a_type, b_type;
  const void *a, *b;
  int64_t a_step, b_step, count; /* elements from term to term; number of terms */
} tsl_terms;

/* Sums one element with many terms, as of a dot, plain where sums->low is NULL. Parts of constant length go
 * to the team's threads and are joined in order: bits do not depend on the threads. Must not be called from a
 * task of the pool. Fails only for lack of memory. */
tesela_status tsl_reference_sum_terms(tsl_team team, const tsl_terms *terms, const tsl_sums *sums);
/* Returns the bytes of host memory of tsl_reference_sum_terms() for `terms` terms. */
size_t tsl_reference_bytes(int64_t terms);

/* Computes alpha (high + low) + beta before as a pair in twice double's precision. */
void tsl_reference_scale_and_add(double alpha, double high, double low, double beta, double before,
                                 double *result_high, double *result_low);

/* One element of alpha A B + beta C. The finite part is scaled: its value is (high + low) 2^exponent. */
typedef struct tsl_reference_number {
  bool nan, plus, minus; /* a term is NaN, or infinite with this sign */
  bool has_nonzero;      /* at least one finite term is not zero */
  int exponent;          /* at least -900, so that a type's range can be scaled by it */
  double high, low;      /* sum of the finite terms */
  double magnitude;      /* sum of their magnitudes */
  /* some order of summation may have a partial sum above `largest`, or below -largest */
  bool may_overflow_up, may_overflow_down;
  bool unsure; /* an element that may be flushed to 0 meets an infinity */
} tsl_reference_number;

typedef struct tsl_limits {
  double largest; /* largest safe magnitude of the judged type's sums */
  double flushes; /* elements below it may be flushed to 0; 0: no flush */
} tsl_limits;

/* Computes element (row, col) from the operands' elements (0, 0). alpha and beta are finite. `before` is NULL
 * when beta = 0; a and b are not read when k = 0 or alpha = 0. */
void tsl_reference_element(const tsl_problem *problem, double alpha, double beta, const void *a,
                           const void *b, const void *before, int64_t row, int64_t col,
                           const tsl_limits *limits, tsl_reference_number *out);

#endif
