/* The guarantee for tensor cores, compared with an emulation of their sums. An instruction aligns
 * its products and the previous sum to the largest exponent among them, truncates and adds.
 * Subnormal numbers have the exponent of the smallest normal number. */
#include "unit/unit.h"

#include "core/random.h"
#include "strategy/strategy.h"

#include <limits.h>
#include <math.h>

enum { TOGETHER = 8, TERMS = 32, DRAWS = 4000 };

/* Binary places that are kept behind the largest exponent of an instruction. */
enum { PLACES = 23 };

typedef struct format {
  tesela_type type;
  int digits, least; /* of a number; exponent of the smallest normal one */
  int apart;         /* exponents of B: as many as it takes that the largest product has others cut */
} format;

static const format formats[] = {{TESELA_F16, 11, -14, 9}, {TESELA_BF16, 8, -126, 15}};

/* Returns a random number with one of `exponents` exponents, the lowest being `from` above the
 * smallest normal number's. It is positive, so that truncation errors add up. */
static double draw(const format *format_in, int from, int exponents, uint64_t seed, uint64_t index) {
  const uint64_t bits = tsl_random_u64(seed, index);
  const int exponent = format_in->least + from + (int)(bits % (uint64_t)exponents);
  const double digits = ldexp(1 + (double)(bits >> 40) * 0x1p-24, exponent);
  const double step =
      ldexp(1, (exponent < format_in->least ? format_in->least : exponent) - format_in->digits + 1);
  return step * rint(digits / step);
}

static int exponent_of(const format *format_in, double factor) {
  const int own = ilogb(factor);
  return own < format_in->least ? format_in->least : own;
}

static double cut(double value, int exponent) {
  const double step = ldexp(1, exponent - PLACES);
  return step * trunc(value / step);
}

/* Returns the sum of TOGETHER products and of the previous sum. */
static double add(const format *format_in, const double *a, const double *b, double before) {
  int largest = before != 0 ? ilogb(before) : INT_MIN;
  double sum = 0;
  for (int i = 0; i < TOGETHER; i++)
    if (a[i] * b[i] != 0)
      largest = (int)fmax(largest, exponent_of(format_in, a[i]) + exponent_of(format_in, b[i]));
  for (int i = 0; i < TOGETHER && largest != INT_MIN; i++)
    sum += cut(a[i] * b[i], largest);
  sum += largest != INT_MIN ? cut(before, largest) : 0;
  return sum != 0 ? cut(sum, ilogb(sum)) : 0;
}

/* Largest error over the bound, with and without `slips`, where numbers of A are from there on. */
static void try_format(const format *format_in, int from, double *with, double *without) {
  tsl_problem problem = tsl_problem_gemm(1, 1, TERMS, format_in->type);
  problem.c.type = TESELA_F32;
  const tsl_accuracy promised = tsl_accuracy_of_tensor_cores(&problem, NULL);
  *with = *without = 0;
  for (uint64_t at = 0; at < DRAWS; at++) {
    double a[TERMS], b[TERMS], exact = 0, size = 0, factors = 0, sum = 0;
    for (int i = 0; i < TERMS; i++) {
      a[i] = draw(format_in, from, 4, 2 * at, (uint64_t)i);
      b[i] = draw(format_in, 0, format_in->apart, 2 * at + 1, (uint64_t)i);
      exact += a[i] * b[i]; /* few digits: a double has room for all */
      size += fabs(a[i] * b[i]);
      factors += fabs(a[i]) + fabs(b[i]) + ldexp(1, format_in->least);
    }
    for (int i = 0; i < TERMS; i += TOGETHER)
      sum = add(format_in, a + i, b + i, sum);
    const double error = fabs(sum - exact), bound = promised.factor * 0x1p-24 * size;
    *without = fmax(*without, error / bound);
    *with = fmax(*with, error / (bound + promised.subnormal_error * factors));
  }
}

static void small_factors_are_counted(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    double with, without;
    try_format(&formats[i], 1 - formats[i].digits, &with, &without);
    assert_true(without > 1); /* or these are no cases */
    assert_true(with > 0 && with <= 1);
    try_format(&formats[i], 0, &with, &without);
    assert_true(without > 0 && without <= 1);
  }
}

static double slips_of(tesela_type type, int64_t slabs) {
  tsl_problem problem = tsl_problem_gemm(100, 100, 4096, type);
  return slabs ? tsl_accuracy_of_parts(&problem, slabs).subnormal_error
               : tsl_accuracy_of_tensor_cores(&problem, NULL).subnormal_error;
}

/* Strategies of a product's parts may lose as much; integers and f32 lose nothing. */
static void who_slips(void **state) {
  (void)state;
  assert_true(slips_of(TESELA_F16, 0) > 0 && slips_of(TESELA_F16, 1) >= slips_of(TESELA_F16, 0));
  assert_true(slips_of(TESELA_F16, 3) > slips_of(TESELA_F16, 1));
  assert_true(slips_of(TESELA_BF16, 0) > 0 && slips_of(TESELA_BF16, 0) < 0x1p-126);
  assert_true(slips_of(TESELA_I8, 0) == 0 && slips_of(TESELA_F32, 1) == 0 && slips_of(TESELA_I8, 1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_factors_are_counted),
      cmocka_unit_test(who_slips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
