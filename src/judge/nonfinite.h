/* What a result may be where something on its way is not finite, or may overflow: sets of kinds, since the
 * order of sums and of roundings is the strategy's. Rules are IEEE 754's, operation by operation. */
#ifndef TSL_JUDGE_NONFINITE_H
#define TSL_JUDGE_NONFINITE_H

#include <stdbool.h>

enum { TSL_KIND_FINITE = 1, TSL_KIND_PLUS = 2, TSL_KIND_MINUS = 4, TSL_KIND_NAN = 8 };
/* Said of elements beside these: nobody looks at it; or at its real part alone. */
enum { TSL_KIND_PASSED = 16, TSL_KIND_REAL = 32 };

/* Kinds that a number may be of, and where FINITE is among them its value and what that may be off. */
typedef struct tsl_guess {
  unsigned kinds;
  double value, error;
} tsl_guess;

/* The kind of a number. */
unsigned tsl_kind_of(double value);
/* One of the kinds, as a number for sentences. */
double tsl_kind_shown(unsigned kinds);

/* An exact number; scalar x; x + y. `largest` is what the type holds. A scalar of 0 may be multiplied or left
 * out, so 0 times infinity is NaN or nothing. */
tsl_guess tsl_guess_of(double value);
tsl_guess tsl_guess_scaled(double scalar, tsl_guess x, double largest);
tsl_guess tsl_guess_added(tsl_guess x, tsl_guess y, double largest);

/* A sum of products while it grows, and what it may come to: `slack` is its relative error. */
typedef struct tsl_terms_seen {
  bool nan, plus, minus;
  double positive, negative; /* sums of magnitudes */
} tsl_terms_seen;
/* x y, or -x y. Finite factors whose product overflows may be added exactly, as a fused multiply-add does. */
void tsl_terms_add(tsl_terms_seen *seen, double x, double y, bool minus);
/* `scale` is what parts of the sum may be multiplied by before they are added. */
tsl_guess tsl_guess_of_terms(const tsl_terms_seen *seen, double slack, double scale, double largest);

#endif
