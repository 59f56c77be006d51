/* One element of a product against its right value: the facts that the judge knows of the whole product, and
 * how an element that it read compares. Inside the judge only; nothing here keeps state, so any number of
 * threads compare elements of one product. */
#ifndef TESELA_PLAN_JUDGE_ELEMENT_H
#define TESELA_PLAN_JUDGE_ELEMENT_H

#include "judge/judge.h"

/* A product being judged. Addresses are borrowed from the judge's caller. */
typedef struct tsl_element_verdict {
  const tsl_problem *problem;
  const unsigned char *a, *b, *before,
      *c;                /* a and b may be NULL where sums are known, and what is unusual may stay unknown */
  double most_a, most_b; /* their largest magnitudes, then */
  const tsl_judge *judge;
  const tsl_type_info *type, *sums; /* of C, and of the sums that end in it */
  double alpha, beta;               /* as the sums' type has them */
  bool products;                    /* A and B are read */
  bool twice;                       /* double alone does not hold their products */
  double allowance;                 /* of underflow */
  double smallest;                  /* the type's smallest subnormal, scaled as the element is */
  double flushes;                   /* the judge's */
} tsl_element_verdict;

/* How one element compares. */
typedef struct tsl_comparison {
  double error, ratio, grade, bound; /* ratio: of the bound, over 1 where the element is wrong */
  double expected;                   /* rounded, for the sentence */
  bool passed;                       /* nobody looks at it */
  bool unknown;                      /* its terms are asked for, and not there */
} tsl_comparison;

/* Fills in what follows from problem, judge and the five addresses, which the caller has set. */
void tsl_element_verdict_prepare(tsl_element_verdict *job);
/* Where element (row, col) of an operand lies. */
const unsigned char *tsl_element_verdict_address(const tsl_shape *shape, const unsigned char *base,
                                                 int64_t row, int64_t col);
/* Its value, or the real part of it. */
double tsl_element_verdict_value(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col);
/* Whether an element's grade is at most `most` for certain, and it is within its bound, seen without
 * tsl_compare_element() and its special cases: of most elements, where `most` is another one's grade. False
 * says nothing. `value` and `before` are C's. */
bool tsl_element_verdict_is_less(const tsl_element_verdict *job, double value, double before, double high,
                                 double low, double magnitude, double most);
/* Element (row, col) of C against its sum of products, high + low, whose magnitudes add up to `magnitude`. */
void tsl_compare_element(const tsl_element_verdict *job, int64_t row, int64_t col, double high, double low,
                         double magnitude, tsl_comparison *out);

#endif
