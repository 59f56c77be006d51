/* Sums of products without any rounding, by MPFR. */
#ifndef TSL_TESTS_EXACT_REFERENCE_H
#define TSL_TESTS_EXACT_REFERENCE_H

#include "core/types.h"

#include <mpfr.h>

typedef struct reference {
  mpfr_t sum, term;
} reference;

void reference_start(reference *reference_in);
void reference_end(reference *reference_in);
/* Adds x y. NaN and infinities as IEEE 754 has them. */
void reference_add(reference *reference_in, double x, double y);
/* The sum as a double. */
double reference_value(const reference *reference_in);
/* Returns alpha sum + beta c, rounded once to the type. A zero scalar omits its term. An exact zero
 * is +0. */
double reference_result(const reference *reference_in, double alpha, double beta, double c, tesela_type type);

#endif
