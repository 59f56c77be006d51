/* Exact sums of products on the host, one for each thread. Vectors sum blocks of terms in a window of levels;
 * other blocks move the window and go to the superaccumulator (exact_shared.h; picture in dot_exact.cl). */
#ifndef TSL_STRATEGY_EXACT_SUM_H
#define TSL_STRATEGY_EXACT_SUM_H

#include "problem/problem.h"
#include "strategy/exact_sums/exact_blocks.h"
#include "strategy/exact_sums/words.h"

/* Type of the terms in blocks: f64, or f32 for all narrower types. */
typedef struct tsl_exact_terms {
  bool is_f64;
  const tsl_exact_window *window;
} tsl_exact_terms;
/* Returns the terms for a C of type `result`, with the best instruction set in `capabilities`. */
tsl_exact_terms tsl_exact_terms_of(tesela_type result, unsigned capabilities);

typedef struct tsl_exact_sum {
  int flags, top; /* flags TSL_EXACT_NAN ...; top of the window */
  int blocks;     /* blocks since the last carry propagation */
  bool uses_digits;
  int64_t levels[TSL_EXACT_LEVELS];
  int64_t digits[TSL_EXACT_DIGITS];
} tsl_exact_sum;

/* Starts an empty sum with the window of an earlier sum. `sum` may be uninitialized. */
void tsl_exact_sum_begin(tsl_exact_sum *sum, int top);
/* Adds TSL_EXACT_BLOCK products of contiguous numbers; terms after the first `count` are 0. */
void tsl_exact_sum_add(const tsl_exact_terms *terms, tsl_exact_sum *sum, const void *x, const void *y,
                       int count);
/* Moves the whole sum into its digits and propagates carries. */
void tsl_exact_sum_settle(tsl_exact_sum *sum);

/* Conversion of a sum to an element of C. A scalar is 0 where its operand is not used. */
typedef struct tsl_exact_store {
  const tsl_type_info *type;
  /* precision of C in bits, and the exponent of its smallest number; 0 for integers */
  int precision, least;
  double alpha, beta;
} tsl_exact_store;
tsl_exact_store tsl_exact_store_of(const tsl_problem *problem);
/* Stores round(alpha * sum + beta * *c) in *c, which is read if beta is not 0. Destroys the digits, which
 * must be settled. `flags` are the non-finite products. */
void tsl_exact_sum_store(const tsl_exact_store *store, int64_t *digits, int flags, void *c);
/* Stores a sum whose C is not an integer, unsettled: most sums have few digits, in their window. */
void tsl_exact_sum_finish(const tsl_exact_store *store, tsl_exact_sum *sum, void *c);

#endif
