/* Possible results where values are not finite or may overflow, as sets of kinds, because orders and
 * roundings depend on the strategy. Rules are IEEE 754's, operation by operation. */
#ifndef TSL_JUDGE_NONFINITE_H
#define TSL_JUDGE_NONFINITE_H

#include "core/types.h"

#include <stdbool.h>

enum { TSL_KIND_FINITE = 1, TSL_KIND_PLUS = 2, TSL_KIND_MINUS = 4, TSL_KIND_NAN = 8 };
/* Additional flags of an element: ignored; or only the real part is judged. */
enum { TSL_KIND_IGNORED = 16, TSL_KIND_REAL_ONLY = 32 };

typedef struct tsl_possible_result {
  unsigned kinds;      /* TSL_KIND_FINITE to TSL_KIND_NAN that are possible */
  double value, error; /* with TSL_KIND_FINITE: the value and its error bound */
} tsl_possible_result;

/* Returns the kind of a number: FINITE, PLUS or MINUS (infinities) or NAN. */
unsigned tsl_kind_of(double value);
/* Returns a number of one of the kinds, for messages. */
double tsl_kind_example(unsigned kinds);

tsl_possible_result tsl_possible_exact(double value);
/* Returns the error of a product that underflows. If flushes > 0, subnormal products may become 0. */
double tsl_underflow_error(const tsl_type_info *type, double flushes);
/* Returns scalar x; `largest` is the type's largest number. 0 times infinity is NaN or, left out, 0. */
tsl_possible_result tsl_possible_scaled(double scalar, tsl_possible_result x, double largest);
/* Returns x + y; `largest` is the type's largest number. */
tsl_possible_result tsl_possible_added(tsl_possible_result x, tsl_possible_result y, double largest);

/* Sum of products during accumulation. */
typedef struct tsl_term_extremes {
  bool nan, plus, minus;     /* a term is NaN, or infinite with this sign */
  double positive, negative; /* sums of magnitudes */
} tsl_term_extremes;
/* Adds x y, or -x y if `minus`. Finite factors whose product overflows may be added exactly, as if fused. */
void tsl_terms_add(tsl_term_extremes *seen, double x, double y, bool minus);
/* Returns the possible results of the sum. `slack` is its relative error; `scale` the factor that may
 * multiply partial sums before they are added; `largest` the type's largest number. */
tsl_possible_result tsl_possible_sum(const tsl_term_extremes *seen, double slack, double scale,
                                     double largest);

#endif
