#include "judge/judge_element.h"

#include "host/int_math.h"
#include "judge/nonfinite.h"
#include "judge/reference.h"

#include <float.h>
#include <limits.h>
#include <math.h>

/* Magnitude below which errors of products in double underflow, and a zero sum may hide lost terms. */
#define UNDERFLOW_LIMIT 0x1p-900

double tsl_element_judge_value(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col) {
  double value[2];
  tsl_type_load(shape->type, tsl_shape_at(shape, base, row, col), value);
  return value[0];
}

/* Returns the allowed error. A result rounded once is off by u |R|, or by half of the smallest subnormal. A
 * reference in pairs of doubles is off by (k 2^-53)^2 of the magnitudes (Ogita, Rump, Oishi 2005). */
static double allowed_error_of_element(const tsl_element_judge *job, double right, double magnitude,
                                       bool any) {
  const double unit = job->type->unit_roundoff, terms = (double)job->problem->k + 2;
  if (job->judge->rounded)
    return fmax(unit * fabs(right), job->smallest / 2) + 2 * terms * terms * 0x1p-106 * magnitude;
  return job->judge->factor * unit * magnitude + (any ? job->allowance : 0);
}

static void compare_with_bound(const tsl_element_judge *job, double error, double right, double magnitude,
                               bool any, tsl_comparison *out) {
  const double unit = job->type->unit_roundoff;
  out->error = error;
  out->bound = job->judge->exact ? 0 : allowed_error_of_element(job, right, magnitude, any);
  if (error == 0)
    out->ratio = 0;
  else
    out->ratio = out->bound > 0 ? error / out->bound : INFINITY;
  /* without the allowance for underflow, which among subnormals is the whole error */
  const double rounding = fmax(0, error - (any ? job->allowance : 0));
  out->grade = magnitude > 0 && unit > 0 ? rounding / (unit * magnitude) : 0;
}

/* Compares where terms are infinite or NaN, or where sums may overflow. */
static void compare_special(const tsl_reference_number *right, double value, tsl_comparison *out) {
  bool good;
  if (right->unsure && isnan(value))
    good = true;
  else if (right->nan || (right->plus && right->minus))
    good = isnan(value);
  else if (right->plus)
    good = (isinf(value) && value > 0) || (isnan(value) && right->may_overflow_down);
  else if (right->minus)
    good = (isinf(value) && value < 0) || (isnan(value) && right->may_overflow_up);
  else /* finite terms, and an infinity or NaN from an overflow */
    good = isnan(value) ? right->may_overflow_up && right->may_overflow_down
           : value > 0  ? right->may_overflow_up
                        : right->may_overflow_down;
  out->error = 0;
  out->grade = 0;
  out->ratio = good ? 0 : INFINITY;
}

static double expected_value(const tsl_reference_number *right) {
  if (right->nan || (right->plus && right->minus))
    return NAN;
  if (right->plus || right->minus)
    return right->plus ? INFINITY : -INFINITY;
  return ldexp(right->high, right->exponent);
}

/* Adds the possible overflow of a wider sum when it is rounded to C. */
static void add_overflow_of_c(const tsl_element_judge *job, tsl_reference_number *right) {
  const double limit = ldexp(job->type->largest, -right->exponent),
               off = job->judge->factor * job->type->unit_roundoff * right->magnitude;
  right->may_overflow_up |= right->high + off >= limit;
  right->may_overflow_down |= right->high - off <= -limit;
}

static bool lacks_operands(const tsl_element_judge *job) {
  return job->reads_factors && !job->a;
}

/* Compares with the sum of the element's own terms, scaled so that it neither overflows nor underflows. */
static void compare_from_terms(const tsl_element_judge *job, int64_t row, int64_t col, double value,
                               tsl_comparison *out) {
  if (lacks_operands(job)) {
    *out = (tsl_comparison){.unknown = true};
    return;
  }
  const double slack = fmin(0.5, job->judge->factor * job->type->unit_roundoff);
  const tsl_limits limits = {.largest = job->sums->largest * (1 - slack), .flushes = job->flushes};
  tsl_reference_number right;
  tsl_reference_element(job->problem, job->alpha, job->beta, job->a, job->b, job->before, row, col, &limits,
                        &right);
  if (job->sums != job->type)
    add_overflow_of_c(job, &right);
  out->expected = expected_value(&right);
  out->bound = 0;
  if (right.nan || right.plus || right.minus || !isfinite(value)) {
    compare_special(&right, value, out);
    return;
  }
  const double scaled = ldexp(value, -right.exponent);
  tsl_element_judge scaled_job = *job;
  scaled_job.allowance = ldexp(job->allowance, -right.exponent);
  if (job->judge->added)
    right.magnitude += ldexp(job->judge->added[row * job->problem->n + col], -right.exponent);
  scaled_job.smallest = ldexp(job->smallest, -right.exponent);
  compare_with_bound(&scaled_job, fabs((scaled - right.high) - right.low), right.high, right.magnitude,
                     right.has_nonzero, out);
  out->error = ldexp(out->error, right.exponent);
  out->bound = ldexp(out->bound, right.exponent);
}

/* Returns true if both are NaN, or equal infinities: the result of one order of the terms is right. */
static bool is_same_special(double plain, double value) {
  return isnan(plain) ? isnan(value) : isinf(plain) && plain == value;
}

/* Compares integer data with exact sums in a wider type than C's, where only one rounding remains. */
static void compare_rounded(const tsl_element_judge *job, double right, double value, double magnitude,
                            tsl_comparison *out) {
  unsigned char stored[16];
  double rounded[2] = {right, 0};
  tsl_type_store(job->type->type, stored, rounded);
  tsl_type_load(job->type->type, stored, rounded);
  *out = (tsl_comparison){.expected = rounded[0]};
  if (rounded[0] != value)
    compare_with_bound(job, fabs(value - rounded[0]), right, magnitude, true, out);
}

typedef struct element_scales {
  double a, b;
} element_scales;

static element_scales get_element_scales(const tsl_element_judge *job, int64_t row, int64_t col) {
  const tsl_problem *problem = job->problem;
  element_scales found = {1, 1};
  if (job->reads_factors && problem->scaling_a != TESELA_NO_SCALE)
    found.a = tsl_element_judge_value(&problem->scale_a, job->judge->scale_a, row, col);
  if (job->reads_factors && problem->scaling_b != TESELA_NO_SCALE)
    found.b = tsl_element_judge_value(&problem->scale_b, job->judge->scale_b, row, col);
  return found;
}

/* Returns the error of a product that underflows: a later infinite scale or alpha may meet a 0. */
static double underflow_error(const tsl_element_judge *job) {
  return tsl_underflow_error(job->sums->is_integer ? tsl_type(TESELA_F32) : job->sums, job->flushes);
}

static tsl_possible_result scale_possible_result(const tsl_element_judge *job, double scale,
                                                 tsl_possible_result sum, double largest) {
  tsl_possible_result made = tsl_possible_scaled(scale, sum, largest);
  made.error += underflow_error(job);
  return made;
}

/* Returns the possible values of alpha (A B) + beta C0 for non-finite scalars or a later epilogue. */
static tsl_possible_result possible_product(const tsl_element_judge *job, int64_t row, int64_t col,
                                            double slack, double largest) {
  const tsl_limits limits = {.largest = largest * (1 - slack), .flushes = job->flushes};
  tsl_possible_result sum = {.kinds = TSL_KIND_FINITE}, before = {.kinds = TSL_KIND_FINITE};
  const element_scales scales = get_element_scales(job, row, col);
  const double most = tsl_problem_has_scales(job->problem) ? job->sums->largest : largest;
  if (job->reads_factors) {
    tsl_reference_number seen;
    tsl_reference_element(job->problem, 1, 0, job->a, job->b, NULL, row, col, &limits, &seen);
    sum = (tsl_possible_result){.kinds = seen.nan || (seen.plus && seen.minus) ? TSL_KIND_NAN
                                         : seen.plus                           ? TSL_KIND_PLUS
                                         : seen.minus                          ? TSL_KIND_MINUS
                                                                               : TSL_KIND_FINITE,
                                .value = ldexp(seen.high, seen.exponent),
                                .error = ldexp(seen.magnitude, seen.exponent) * slack +
                                         (double)job->problem->k * underflow_error(job)};
    if (sum.kinds == TSL_KIND_FINITE)
      sum.kinds |= (seen.may_overflow_up ? TSL_KIND_PLUS : 0) |
                   (seen.may_overflow_down ? TSL_KIND_MINUS : 0) |
                   (seen.may_overflow_up && seen.may_overflow_down ? TSL_KIND_NAN : 0);
    sum.kinds |= seen.unsure || (seen.plus && seen.may_overflow_down) || (seen.minus && seen.may_overflow_up)
                     ? TSL_KIND_NAN
                     : 0;
    sum = job->problem->scaling_a != TESELA_NO_SCALE ? scale_possible_result(job, scales.a, sum, most) : sum;
    sum = job->problem->scaling_b != TESELA_NO_SCALE ? scale_possible_result(job, scales.b, sum, most) : sum;
    sum = tsl_possible_scaled(job->alpha, sum, most);
  }
  if (job->beta != 0)
    before = tsl_possible_scaled(
        job->beta, tsl_possible_exact(tsl_element_judge_value(&job->problem->c, job->before, row, col)),
        largest);
  return tsl_possible_added(sum, before, largest);
}

static unsigned kinds_of_nonfinite_scalars(const tsl_element_judge *job, int64_t row, int64_t col) {
  const double slack = fmin(0.5, job->judge->factor * job->sums->unit_roundoff);
  return possible_product(job, row, col, slack, job->sums->largest).kinds;
}

static unsigned kinds_from_caller(const tsl_element_judge *job, int64_t row, int64_t col) {
  const unsigned char *given = job->judge->kinds;
  return given ? given[row * job->problem->n + col] & ~(unsigned)TSL_KIND_REAL_ONLY : 0;
}

/* Returns the allowed kinds where they alone decide; 0: compare with the sum. */
static unsigned kinds_that_decide(const tsl_element_judge *job, int64_t row, int64_t col, double value) {
  const unsigned given = kinds_from_caller(job, row, col);
  const unsigned kinds = given != 0 ? given
                         : !isfinite(job->alpha) || !isfinite(job->beta)
                             ? kinds_of_nonfinite_scalars(job, row, col)
                             : 0;
  return isfinite(value) && (kinds & TSL_KIND_FINITE) ? 0 : kinds;
}

static void compare_without_epilogue(const tsl_element_judge *job, int64_t row, int64_t col, double high,
                                     double low, double magnitude, tsl_comparison *out) {
  *out = (tsl_comparison){.ignored = (kinds_from_caller(job, row, col) & TSL_KIND_IGNORED) != 0};
  if (out->ignored)
    return;
  if (lacks_operands(job) && !(isfinite(job->alpha) && isfinite(job->beta))) {
    out->unknown = true;
    return;
  }
  const double value = tsl_element_judge_value(&job->problem->c, job->c, row, col);
  const unsigned kinds = kinds_that_decide(job, row, col, value);
  if (kinds != 0) {
    *out = (tsl_comparison){.ratio = kinds & tsl_kind_of(value) ? 0 : INFINITY,
                            .expected = tsl_kind_example(kinds)};
    return;
  }
  const double before = job->beta != 0 ? tsl_element_judge_value(&job->problem->c, job->before, row, col) : 0;
  const double *added = job->judge->added;
  const double gauge =
      fabs(job->alpha) * magnitude + (added ? added[row * job->problem->n + col] : fabs(job->beta * before));
  const double safe = job->sums->largest / 4;
  double right = 0, tail = 0;
  tsl_reference_scale_and_add(job->alpha, high, low, job->beta, before, &right, &tail);
  if (job->judge->exact && job->sums != job->type) {
    compare_rounded(job, right, value, gauge, out);
    return;
  }
  const double plain = job->beta != 0 ? job->alpha * high + job->beta * before : job->alpha * high;
  if (is_same_special(plain, value)) {
    *out = (tsl_comparison){.expected = plain};
    return;
  }
  const bool in_range =
      magnitude < safe && gauge < safe && fabs(right) < job->type->largest / 4 && isfinite(tail);
  const bool tiny =
      job->sums_in_pairs && (gauge < UNDERFLOW_LIMIT || (job->reads_factors && magnitude < UNDERFLOW_LIMIT));
  if (!in_range || tiny || !isfinite(value)) {
    compare_from_terms(job, row, col, value, out);
    return;
  }
  out->expected = right;
  compare_with_bound(job, fabs((value - right) - tail), right, gauge, gauge != 0, out);
}

/* Returns the activation in long double, which has more digits than double on some machines. */
static long double apply_activation(tesela_activation activation, long double x) {
  static const long double root_half = 0.707106781186547524400844362104849039L,
                           root_two_over_pi = 0.797884560802865355879892119868763737L;
  if (activation == TESELA_NO_ACTIVATION || isnan(x))
    return x;
  if (activation == TESELA_RELU || x < -1000)
    return x > 0 ? x : 0;
  const long double share = activation == TESELA_GELU
                                ? erfcl(-x * root_half)
                                : 1 + tanhl(root_two_over_pi * (x + 0.044715L * x * x * x));
  return share == 0 ? 0 : x * share / 2;
}

/* Compares by kinds where a term is not finite, or sums may overflow. An activation of -infinity is 0. */
static void compare_epilogue_by_kinds(const tsl_element_judge *job, int64_t row, int64_t col, double bias,
                                      double value, double bound, tsl_comparison *out) {
  const tesela_activation activation = job->problem->activation;
  const double slack = fmin(0.5, job->judge->factor * job->type->unit_roundoff), largest = job->type->largest;
  const tsl_possible_result right =
      tsl_possible_added(possible_product(job, row, col, slack, largest), tsl_possible_exact(bias), largest);
  const unsigned minus =
      right.kinds & TSL_KIND_MINUS && activation != TESELA_NO_ACTIVATION ? TSL_KIND_MINUS : 0;
  const unsigned kinds = (right.kinds & ~minus) | (minus ? TSL_KIND_FINITE : 0);
  const double expected = (double)apply_activation(activation, right.value), error = fabs(value - expected);
  const bool is_near = right.kinds & TSL_KIND_FINITE &&
                       error <= bound + job->judge->factor * job->type->unit_roundoff *
                                            (fabs(right.value) + right.error),
             is_zero = minus && value == 0;
  out->expected =
      kinds & TSL_KIND_FINITE ? (right.kinds & TSL_KIND_FINITE ? expected : 0) : tsl_kind_example(kinds);
  out->bound = bound;
  out->ratio = isfinite(value)              ? (is_near || is_zero ? 0 : INFINITY)
               : kinds & tsl_kind_of(value) ? 0
                                            : INFINITY;
}

/* Compares an element after bias and activation. The caller has given no kinds or magnitudes. */
static void compare_after_epilogue(const tsl_element_judge *job, int64_t row, int64_t col, double high,
                                   double low, double magnitude, tsl_comparison *out) {
  const tsl_problem *problem = job->problem;
  const double value = tsl_element_judge_value(&problem->c, job->c, row, col),
               before = job->beta != 0 ? tsl_element_judge_value(&problem->c, job->before, row, col) : 0,
               bias =
                   job->judge->bias ? tsl_element_judge_value(&problem->bias, job->judge->bias, row, col) : 0;
  const element_scales scales = get_element_scales(job, row, col);
  const double alpha = job->alpha * scales.a * scales.b, own = fabs(job->alpha) < 1 ? 1 : fabs(job->alpha),
               reach = own * (1 + fabs(scales.b) * (1 + fabs(scales.a)));
  const double gauge = fabs(alpha) * magnitude + fabs(job->beta * before) + fabs(bias),
               safe = job->type->largest / 4;
  /* underflow before and in the activation, of the reference, and of each scaling times the later factors */
  const bool is_scaled = tsl_problem_has_scales(problem);
  const double allowance = 4 * (job->allowance * (is_scaled ? reach : 1) + job->type->smallest);
  const double bound = job->judge->factor * job->type->unit_roundoff * gauge + allowance;
  double right = 0, tail = 0;
  *out = (tsl_comparison){.bound = bound};
  tsl_reference_scale_and_add(alpha, high, low, job->beta, before, &right, &tail);
  const bool sums_pass =
      is_scaled && !(magnitude * fmax(1, fabs(scales.a)) * fmax(1, fabs(scales.b)) < job->sums->largest / 4);
  if (!isfinite(alpha) || !isfinite(job->beta) || !(gauge < safe) || sums_pass || !isfinite(value) ||
      !isfinite(tail)) {
    if (lacks_operands(job))
      *out = (tsl_comparison){.unknown = true};
    else
      compare_epilogue_by_kinds(job, row, col, bias, value, isfinite(bound) ? bound : 0, out);
    return;
  }
  const long double expected = apply_activation(problem->activation, (long double)right + tail + bias);
  const bool is_exact = job->judge->exact && job->sums == job->type && problem->activation <= TESELA_RELU;
  const double error = (double)fabsl((long double)value - expected), unit = job->type->unit_roundoff;
  out->expected = (double)expected;
  out->error = error;
  out->bound = is_exact ? 0 : bound;
  out->ratio = error == 0 ? 0 : is_exact ? INFINITY : error / bound;
  out->grade = gauge > 0 ? fmax(0, error - allowance) / (unit * gauge) : 0;
}

void tsl_compare_element(const tsl_element_judge *job, int64_t row, int64_t col, double high, double low,
                         double magnitude, tsl_comparison *out) {
  (tsl_problem_has_epilogue(job->problem) ? compare_after_epilogue : compare_without_epilogue)(
      job, row, col, high, low, magnitude, out);
  if (job->judge->finite && !isfinite(out->expected))
    *out = (tsl_comparison){.expected = out->expected};
}

/* Rounds numbers of up to twice the gauge. OFF covers all differences to compare_without_epilogue(). */
bool tsl_element_judge_is_surely_right(const tsl_element_judge *job, double value, double before, double high,
                                       double low, double magnitude, double grade_max) {
  static const double off = 0x1p-49;
  const tsl_judge *judge = job->judge;
  if (judge->exact || judge->rounded || judge->finite || judge->added || judge->kinds ||
      tsl_problem_has_epilogue(job->problem))
    return false;
  const double size = fabs(job->alpha) * magnitude, old = job->beta != 0 ? job->beta * before : 0,
               gauge = size + fabs(old), unit = job->type->unit_roundoff,
               limit = fmin(job->type->largest, job->sums->largest) / 4;
  const double error = fabs((value - (job->alpha * high + old)) - job->alpha * low);
  /* comparisons with NaN are false */
  return magnitude > UNDERFLOW_LIMIT && size > UNDERFLOW_LIMIT && magnitude < limit && gauge < limit &&
         fabs(value) < limit &&
         error * (1 + off) + off * gauge <= fmin(grade_max, judge->factor) * unit * gauge;
}

static int significant_bits(const tsl_type_info *type) {
  return type->is_integer ? (int)(type->size * CHAR_BIT) : -ilogb(type->unit_roundoff);
}

/* Numbers copied at once. */
enum { AT_ONCE = 256 };

/* Returns the bits of the largest finite magnitude, which are ordered like numbers; the loop vectorizes. */
static int16_t max_finite_half_bits(const int16_t *bits, int64_t count, int16_t infinity,
                                    int16_t max_so_far) {
  for (int64_t i = 0; i < count; i++) {
    int16_t size = (int16_t)(bits[i] & 0x7fff);
    size = size < infinity ? size : 0;
    max_so_far = size > max_so_far ? size : max_so_far;
  }
  return max_so_far;
}
static int32_t max_finite_single_bits(const int32_t *bits, int64_t count, int32_t max_so_far) {
  for (int64_t i = 0; i < count; i++) {
    int32_t size = bits[i] & 0x7fffffff;
    size = size < 0x7f800000 ? size : 0;
    max_so_far = size > max_so_far ? size : max_so_far;
  }
  return max_so_far;
}

static double max_finite_narrow_magnitude(const tsl_shape *shape, const unsigned char *base) {
  const bool along_rows = tsl_abs(shape->col_stride) <= tsl_abs(shape->row_stride);
  const int64_t lines = along_rows ? shape->rows : shape->cols,
                length = along_rows ? shape->cols : shape->rows,
                step = along_rows ? shape->col_stride : shape->row_stride;
  union {
    int16_t halves[AT_ONCE];
    int32_t singles[AT_ONCE];
  } some, most = {.singles = {0}};
  for (int64_t i = 0; i < lines; i++)
    for (int64_t at = 0; at < length; at += AT_ONCE) {
      const int64_t count = length - at < AT_ONCE ? length - at : AT_ONCE;
      const unsigned char *from = tsl_shape_at(shape, base, along_rows ? i : at, along_rows ? at : i);
      tsl_type_convert(shape->type, from, step, shape->type, &some, 1, (size_t)count);
      if (shape->type == TESELA_F32)
        most.singles[0] = max_finite_single_bits(some.singles, count, most.singles[0]);
      else
        most.halves[0] = max_finite_half_bits(some.halves, count, shape->type == TESELA_F16 ? 0x7c00 : 0x7f80,
                                              most.halves[0]);
    }
  double value[2];
  tsl_type_load(shape->type, &most, value);
  return value[0];
}

static double max_finite_magnitude(const tsl_shape *shape, const unsigned char *base) {
  double most = 0;
  if (shape->type == TESELA_F32 || shape->type == TESELA_F16 || shape->type == TESELA_BF16)
    return max_finite_narrow_magnitude(shape, base);
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      const double size = fabs(tsl_element_judge_value(shape, base, i, j));
      if (isfinite(size) && size > most)
        most = size;
    }
  return most;
}

/* Returns the error from flushed elements: each costs a term of at most `flushes` times the other factor; a
 * flushed product or sum costs its own magnitude. */
static double error_of_flushing(const tsl_element_judge *job) {
  double terms = fabs(job->beta) + 2;
  if (job->reads_factors) {
    const double a = job->a ? max_finite_magnitude(&job->problem->a, job->a) : job->max_a,
                 b = job->b ? max_finite_magnitude(&job->problem->b, job->b) : job->max_b;
    terms += fabs(job->alpha) * (double)job->problem->k * (a + b + 2);
  }
  return job->flushes * terms;
}

void tsl_element_judge_prepare(tsl_element_judge *job) {
  const tsl_problem *problem = job->problem;
  const tsl_type_info *a = tsl_type(problem->a.type), *b = tsl_type(problem->b.type);
  job->type = tsl_type(problem->c.type);
  job->sums = tsl_type(job->type->sums);
  /* strategies round the scalars to the type of the sums, too */
  unsigned char stored[16];
  double alpha[2] = {problem->alpha[0], 0}, beta[2] = {problem->beta[0], 0};
  tsl_type_store(job->sums->type, stored, alpha);
  tsl_type_load(job->sums->type, stored, alpha);
  tsl_type_store(job->sums->type, stored, beta);
  tsl_type_load(job->sums->type, stored, beta);
  job->alpha = problem->k == 0 ? 0 : alpha[0]; /* an empty sum is not scaled */
  job->beta = beta[0];
  job->reads_factors = problem->k > 0 && job->alpha != 0;
  job->sums_in_pairs = job->judge->rounded || significant_bits(a) + significant_bits(b) > DBL_MANT_DIG ||
                       significant_bits(job->type) > FLT_MANT_DIG;
  job->smallest = job->type->smallest;
  job->flushes = job->judge->flushes;
  job->allowance = (fmax(1, fabs(job->alpha)) * (double)problem->k + 2) * job->sums->smallest +
                   job->type->smallest + job->judge->allowance;
  /* matrix units flush their inputs; relaxed arithmetic may flush everything */
  if (job->flushes > 0 && (job->reads_factors || job->judge->finite))
    job->allowance += error_of_flushing(job);
}
