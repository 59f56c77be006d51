#include "exact/reference.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Bits from 2^-2148 times 2^-1074 to 2^2110 times 2^1024, and some. */
enum { SUM_BITS = 4400, RESULT_BITS = 6600, PRODUCT_BITS = 106 };

/* A reference that rounds is none. */
static void exactly(int ternary) {
  if (ternary != 0) {
    fputs("the reference was rounded: it needs more bits\n", stderr);
    abort();
  }
}

void reference_start(reference *reference_in) {
  mpfr_init2(reference_in->sum, SUM_BITS);
  mpfr_init2(reference_in->term, PRODUCT_BITS);
  mpfr_set_zero(reference_in->sum, 1);
}

void reference_end(reference *reference_in) {
  mpfr_clears(reference_in->sum, reference_in->term, (mpfr_ptr)0);
}

static bool is_single(double value) {
  return fabs(value) <= FLT_MAX && (double)(float)value == value;
}

/* A product of two numbers of f32 is a number of f64, and adding it is a third of the work. */
void reference_add(reference *reference_in, double x, double y) {
  if (is_single(x) && is_single(y)) {
    exactly(mpfr_add_d(reference_in->sum, reference_in->sum, x * y, MPFR_RNDN));
    return;
  }
  exactly(mpfr_set_d(reference_in->term, x, MPFR_RNDN));
  exactly(mpfr_mul_d(reference_in->term, reference_in->term, y, MPFR_RNDN));
  exactly(mpfr_add(reference_in->sum, reference_in->sum, reference_in->term, MPFR_RNDN));
}

double reference_value(const reference *reference_in) {
  return mpfr_get_d(reference_in->sum, MPFR_RNDN);
}

double reference_result(const reference *reference_in, double alpha, double beta, double c,
                        tesela_type type) {
  mpfr_t result, added;
  mpfr_init2(result, RESULT_BITS);
  mpfr_init2(added, PRODUCT_BITS);
  mpfr_set_zero(result, 1);
  if (alpha != 0)
    exactly(mpfr_mul_d(result, reference_in->sum, alpha, MPFR_RNDN));
  if (beta != 0) {
    exactly(mpfr_set_d(added, beta, MPFR_RNDN));
    exactly(mpfr_mul_d(added, added, c, MPFR_RNDN));
    exactly(mpfr_add(result, result, added, MPFR_RNDN));
  }
  double value = type == TESELA_F32 ? (double)mpfr_get_flt(result, MPFR_RNDN) : mpfr_get_d(result, MPFR_RNDN);
  if (mpfr_zero_p(result))
    value = 0;
  mpfr_clears(result, added, (mpfr_ptr)0);
  return value;
}
