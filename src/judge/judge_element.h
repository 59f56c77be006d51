/* Comparison of one element of a product with its reference, and the facts that it needs. Thread-safe. */
#ifndef TESELA_PLAN_JUDGE_ELEMENT_H
#define TESELA_PLAN_JUDGE_ELEMENT_H

#include "judge/judge.h"
#include "problem/structure.h"

/* Product being judged. Addresses belong to the judge's caller. */
typedef struct tsl_element_judge {
  const tsl_problem *problem;
  /* a and b may be NULL where sums are known (unusual elements are then unknown); before: C before the run */
  const unsigned char *a, *b, *before, *c;
  double max_a, max_b; /* largest magnitudes of A and B, used where a and b are NULL */
  const tsl_judge *judge;
  const tsl_type_info *type, *sums; /* types of C and of its sums */
  double alpha, beta;               /* rounded to the type of the sums */
  bool reads_factors;               /* A and B are read: alpha and k are not 0 */
  bool sums_in_pairs;               /* double cannot hold the products exactly */
  double allowance;                 /* absolute error from underflow */
  double smallest;                  /* smallest subnormal of C's type */
  double flushes;                   /* smaller magnitudes may be flushed to 0 */
} tsl_element_judge;

typedef struct tsl_comparison {
  double error,     /* absolute */
      ratio,        /* error / bound; wrong above 1 */
      grade, bound; /* grade as in tsl_verdict */
  double expected;  /* rounded, for the message */
  bool ignored;     /* excluded by the caller; not compared */
  bool unknown;     /* the terms are needed, but a and b are NULL */
} tsl_comparison;

/* Fills the members from `type` on; the caller has set those before. */
void tsl_element_judge_prepare(tsl_element_judge *job);
/* Returns the element's value, or its real part. */
double tsl_element_judge_value(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col);
/* Returns true if an element is certainly within its bound, with a grade of at most `grade_max`: a fast test
 * for most elements; false means nothing. `value` and `before` are C's. */
bool tsl_element_judge_is_surely_right(const tsl_element_judge *job, double value, double before, double high,
                                       double low, double magnitude, double grade_max);
/* Compares element (row, col) of C with its sum high + low of products, and of magnitudes. */
void tsl_compare_element(const tsl_element_judge *job, int64_t row, int64_t col, double high, double low,
                         double magnitude, tsl_comparison *out);

#endif
