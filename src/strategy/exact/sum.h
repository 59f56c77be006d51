/* Exact sums of products on the host, one thread's each: a superaccumulator in front of which vectors add up
 * blocks of terms in a window of levels (exact_shared.h has the numbers, strategy/dot/exact/dot_exact.cl the
 * idea and a picture). A block that does not fit the window is added term by term, and tells where the window
 * should be. */
#ifndef TSL_STRATEGY_EXACT_SUM_H
#define TSL_STRATEGY_EXACT_SUM_H

#include "strategy/exact/exact_blocks.h"
#include "strategy/exact/words.h"
#include "strategy/problem.h"

/* What a sum is of: numbers as the blocks take them, f64, or f32 for all narrower types. */
typedef struct tsl_exact_terms {
  bool twice; /* f64 */
  const tsl_exact_window *window;
} tsl_exact_terms;
/* Of a problem whose C is of this type, by the best instruction set that a device offers. */
tsl_exact_terms tsl_exact_terms_of(tesela_type result, unsigned capabilities);

/* One sum. */
typedef struct tsl_exact_sum {
  int flags, top; /* TSL_EXACT_NAN ...; the window */
  int blocks;     /* since the levels were settled */
  bool slow;      /* digits hold something */
  int64_t levels[TSL_EXACT_LEVELS];
  int64_t digits[TSL_EXACT_DIGITS];
} tsl_exact_sum;

/* An empty sum, whose window stays where one before it was best: it need not have been started before. */
void tsl_exact_sum_begin(tsl_exact_sum *sum, int top);
/* Adds TSL_EXACT_BLOCK products of neighbouring numbers, the first `count` of which may be other than 0. */
void tsl_exact_sum_add(const tsl_exact_terms *terms, tsl_exact_sum *sum, const void *x, const void *y,
                       int count);
/* Puts all of a sum into its digits, which are settled then. */
void tsl_exact_sum_settle(tsl_exact_sum *sum);

/* How a sum becomes an element of C. alpha and beta are 0 where what they multiply is not there. */
typedef struct tsl_exact_store {
  const tsl_type_info *type; /* of C */
  int precision, least;      /* the bits that it keeps, and the exponent of the least one; of integers 0 */
  double alpha, beta;
} tsl_exact_store;
tsl_exact_store tsl_exact_store_of(const tsl_problem *problem);
/* round(alpha * sum + beta * *c) to *c; what is read of *c is nothing where beta is 0. Settled digits, which
 * are used up, and what was not finite among the products. */
void tsl_exact_sum_store(const tsl_exact_store *how, int64_t *digits, int flags, void *c);
/* The same of one sum as it is, where C is no integer: most are in their windows, and have few digits. */
void tsl_exact_sum_finish(const tsl_exact_store *how, tsl_exact_sum *sum, void *c);

#endif
