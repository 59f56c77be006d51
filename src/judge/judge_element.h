/* Comparison of one element of a product with its reference, and the facts that it needs. Thread-safe. */
#ifndef TESELA_PLAN_JUDGE_ELEMENT_H
#define TESELA_PLAN_JUDGE_ELEMENT_H

#include "judge/judge.h"

/* Product being judged. Addresses belong to the judge's caller. */
typedef struct tsl_element_verdict {
  const tsl_problem *problem;
  /* a and b may be NULL where sums are known (unusual elements are then unknown); before: C before the run */
  const unsigned char *a, *b, *before, *c;
  double most_a, most_b; /* largest magnitudes of A and B, used where a and b are NULL */
  const tsl_judge *judge;
  const tsl_type_info *type, *sums; /* types of C and of its sums */
  double alpha, beta;               /* rounded to the type of the sums */
  bool products;                    /* A and B are read: alpha and k are not 0 */
  bool twice;                       /* double cannot hold the products exactly */
  double allowance;                 /* absolute error from underflow */
  double smallest;                  /* smallest subnormal of C's type */
  double flushes;                   /* from the judge */
} tsl_element_verdict;

typedef struct tsl_comparison {
  double error, ratio, grade, bound; /* ratio: error / bound, wrong above 1; grade as in tsl_verdict */
  double expected;                   /* rounded, for the message */
  bool passed;                       /* the element is ignored */
  bool unknown;                      /* the terms are needed and not available */
} tsl_comparison;

/* Fills the members that follow from problem, judge and the five addresses, which the caller has set. */
void tsl_element_verdict_prepare(tsl_element_verdict *job);
const unsigned char *tsl_element_verdict_address(const tsl_shape *shape, const unsigned char *base,
                                                 int64_t row, int64_t col);
/* Returns the element's value, or its real part. */
double tsl_element_verdict_value(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col);
/* Returns true if an element is certainly within its bound, with a grade of at most `most`: a fast test for
 * most elements; false means nothing. `value` and `before` are C's. */
bool tsl_element_verdict_is_less(const tsl_element_verdict *job, double value, double before, double high,
                                 double low, double magnitude, double most);
/* Compares element (row, col) of C with its sum high + low of products, and of magnitudes. */
void tsl_compare_element(const tsl_element_verdict *job, int64_t row, int64_t col, double high, double low,
                         double magnitude, tsl_comparison *out);

#endif
