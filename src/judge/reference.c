#include "judge/reference.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/types.h"
#include "host/host_isa.h"
#include "judge/judge_sums.h"
#include "problem/structure.h"

#include <math.h>
#include <string.h>

/* Computes high + low = a * b exactly, barring overflow and underflow. */
static inline void two_product(double a, double b, double *high, double *low) {
  *high = a * b;
  *low = fma(a, b, -*high);
}

/* Returns the kernels of the best instruction set of this processor, independent of the device's limits. */
static const tsl_sums_kernels *best_sums_kernels(void) {
#define SET(isa, ...) &tsl_sums_kernels_##isa,
  static const tsl_sums_kernels *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_host_isa_that_runs()];
}

void tsl_reference_add_products(int rows, int cols, int depth, const double *a, const double *b,
                                const tsl_sums *sums) {
  const tsl_sums_kernels *kernels = best_sums_kernels();
  for (int i = 0; i < rows; i++) {
    const size_t at = (size_t)i * (size_t)cols;
    kernels->row(cols, depth, a + (size_t)i * (size_t)depth, b, sums->high + at,
                 sums->low ? sums->low + at : NULL, sums->magnitude + at);
  }
}

void tsl_reference_add_sums(size_t count, const tsl_sums *from, const tsl_sums *sums) {
  for (size_t i = 0; i < count; i++) {
    double error = 0;
    if (sums->low)
      tsl_two_sum(sums->high[i], from->high[i], &sums->high[i], &error);
    else
      sums->high[i] += from->high[i];
    if (sums->low)
      sums->low[i] += from->low[i] + error;
    sums->magnitude[i] += from->magnitude[i];
  }
}

/* Terms of a task; terms converted at once, which fit the first-level cache. */
enum { PART_TERMS = 1 << 16, STEP = TSL_SUMS_STEP };

typedef struct part_sum {
  double high, low, magnitude;
} part_sum;

typedef struct sum_job {
  const tsl_terms *terms;
  bool in_pairs;
  part_sum *parts;
} sum_job;

static void add_part_sum(bool in_pairs, double high, double low, double magnitude, part_sum *sum) {
  double error = 0;
  if (in_pairs)
    tsl_two_sum(sum->high, high, &sum->high, &error);
  else
    sum->high += high;
  sum->low += low + error;
  sum->magnitude += magnitude;
}

/* Loads terms first to first + STEP of one side, followed by zeros. */
static void load_terms_with_padding(tesela_type type, const void *from, int64_t step, int64_t first,
                                    int64_t count, double *dst) {
  const int64_t left = count - first < STEP ? count - first : STEP;
  tsl_type_convert(type, (const unsigned char *)from + first * step * (int64_t)tsl_type(type)->size, step,
                   TESELA_F64, dst, 1, (size_t)left);
  for (int64_t l = left; l < STEP; l++)
    dst[l] = 0;
}

static void sum_part_task(void *argument, int64_t index, int worker) {
  const sum_job *job = argument;
  const tsl_terms *terms = job->terms;
  const int64_t begin = index * PART_TERMS,
                end = begin + PART_TERMS < terms->count ? begin + PART_TERMS : terms->count;
  double x[STEP], y[STEP];
  tsl_sums_lanes sums = {{0}, {0}, {0}};
  const tsl_sums_kernels *kernels = best_sums_kernels();
  part_sum sum = {0, 0, 0};
  (void)worker;
  for (int64_t first = begin; first < end; first += STEP) {
    load_terms_with_padding(terms->a_type, terms->a, terms->a_step, first, end, x);
    load_terms_with_padding(terms->b_type, terms->b, terms->b_step, first, end, y);
    kernels->lanes(job->in_pairs, x, y, &sums);
  }
  for (int i = 0; i < TSL_SUMS_LANES; i++)
    add_part_sum(job->in_pairs, sums.high[i], sums.low[i], sums.magnitude[i], &sum);
  job->parts[index] = sum;
}

size_t tsl_reference_bytes(int64_t terms) {
  return (size_t)(terms / PART_TERMS + 2) * sizeof(part_sum);
}

tesela_status tsl_reference_sum_terms(tsl_team team, const tsl_terms *terms, const tsl_sums *sums) {
  const int64_t parts = (terms->count + PART_TERMS - 1) / PART_TERMS;
  part_sum all = {0, 0, 0};
  void *block;
  TSL_TRY(tsl_alloc((size_t)(parts + 1) * sizeof(part_sum), "the reference's sums", &block));
  sum_job job = {.terms = terms, .in_pairs = sums->low != NULL, .parts = block};
  tsl_team_run(team, parts, sum_part_task, &job);
  for (int64_t i = 0; i < parts; i++)
    add_part_sum(job.in_pairs, job.parts[i].high, job.parts[i].low, job.parts[i].magnitude, &all);
  tsl_free(block);
  *sums->high = all.high;
  *sums->magnitude = all.magnitude;
  if (sums->low)
    *sums->low = all.low;
  return TESELA_OK;
}

void tsl_reference_scale_and_add(double alpha, double high, double low, double beta, double before,
                                 double *result_high, double *result_low) {
  double scaled = high, scaled_low = low, added = 0, added_low = 0, error;
  if (alpha != 1) {
    two_product(alpha, high, &scaled, &scaled_low);
    scaled_low += alpha * low;
  }
  if (beta != 0)
    two_product(beta, before, &added, &added_low);
  tsl_two_sum(scaled, added, &scaled, &error);
  tsl_two_sum(scaled, error + scaled_low + added_low, result_high, result_low);
}

/* Sums of one element, scaled by 2^-exponent. */
typedef struct scaled_sums {
  int exponent;
  double high, low, positive, negative;
} scaled_sums;

static void add_scaled_product(scaled_sums *sums, double x, double y) {
  int x_exponent, y_exponent;
  double product, error, rounding;
  two_product(frexp(x, &x_exponent), frexp(y, &y_exponent), &product, &error);
  const int shift = x_exponent + y_exponent - sums->exponent;
  product = ldexp(product, shift);
  tsl_two_sum(sums->high, product, &sums->high, &rounding);
  sums->low += rounding + ldexp(error, shift);
  if (product > 0)
    sums->positive += product;
  else
    sums->negative -= product;
}

/* Raises *exponent to the exponent of x y, both finite. Returns false for a zero product. */
static bool raise_exponent(int *exponent, double x, double y) {
  int x_exponent, y_exponent;
  if (x == 0 || y == 0)
    return false;
  frexp(x, &x_exponent);
  frexp(y, &y_exponent);
  if (*exponent < x_exponent + y_exponent)
    *exponent = x_exponent + y_exponent;
  return true;
}

/* Counts x y where a factor is not finite; `sign` is that of the later multiplier. */
static void record_special_product(tsl_reference_number *out, double x, double y, double sign) {
  const double product = x * y * sign;
  out->nan = out->nan || isnan(product);
  out->plus = out->plus || product > 0;
  out->minus = out->minus || product < 0;
}

typedef struct term_addresses {
  tesela_type a_type, b_type;
  const unsigned char *a, *b;
  int64_t a_step, b_step, count; /* bytes from term to term; number of terms */
} term_addresses;

static void load_term_pair(const term_addresses *addresses, int64_t l, double *x, double *y) {
  double value[2];
  tsl_type_load(addresses->a_type, addresses->a + l * addresses->a_step, value);
  *x = value[0];
  tsl_type_load(addresses->b_type, addresses->b + l * addresses->b_step, value);
  *y = value[0];
}

enum { LOWEST_EXPONENT = -900 };

/* Sums the scaled products, and tells which partial sums may exceed `largest`. */
static void sum_scaled_terms(const term_addresses *addresses, double alpha, const tsl_limits *limits,
                             scaled_sums *sums, tsl_reference_number *out) {
  double x, y;
  sums->exponent = 3 * LOWEST_EXPONENT;
  for (int64_t l = 0; l < addresses->count; l++) {
    load_term_pair(addresses, l, &x, &y);
    if (!isfinite(x) || !isfinite(y)) {
      record_special_product(out, x, y, copysign(1, alpha));
      out->unsure |= fabs(x) < limits->flushes || fabs(y) < limits->flushes;
    } else if (raise_exponent(&sums->exponent, x, y)) {
      out->has_nonzero = true;
    }
  }
  for (int64_t l = 0; l < addresses->count; l++) {
    load_term_pair(addresses, l, &x, &y);
    if (isfinite(x) && isfinite(y))
      add_scaled_product(sums, x, y);
  }
  const double limit = ldexp(limits->largest, -sums->exponent);
  out->may_overflow_up = (alpha > 0 ? sums->positive : sums->negative) >= limit;
  out->may_overflow_down = (alpha > 0 ? sums->negative : sums->positive) >= limit;
}

void tsl_reference_element(const tsl_problem *problem, double alpha, double beta, const void *a,
                           const void *b, const void *before, int64_t row, int64_t col,
                           const tsl_limits *limits, tsl_reference_number *out) {
  scaled_sums sums = {.exponent = LOWEST_EXPONENT};
  double start[2] = {0, 0};
  memset(out, 0, sizeof *out);
  if (problem->k > 0 && alpha != 0) {
    const tsl_shape *a_shape = &problem->a, *b_shape = &problem->b;
    const term_addresses addresses = {.a_type = a_shape->type,
                                      .b_type = b_shape->type,
                                      .a = tsl_shape_at(a_shape, a, row, 0),
                                      .b = tsl_shape_at(b_shape, b, 0, col),
                                      .a_step = a_shape->col_stride * (int64_t)tsl_type(a_shape->type)->size,
                                      .b_step = b_shape->row_stride * (int64_t)tsl_type(b_shape->type)->size,
                                      .count = problem->k};
    sum_scaled_terms(&addresses, alpha, limits, &sums, out);
  }
  if (beta != 0)
    tsl_type_load(problem->c.type, tsl_shape_at(&problem->c, before, row, col), start);

  /* alpha's mantissa multiplies the sums, its exponent is added to theirs */
  scaled_sums total = {.exponent = LOWEST_EXPONENT};
  int alpha_exponent = 0;
  const double alpha_mantissa = frexp(alpha, &alpha_exponent);
  if (out->has_nonzero && total.exponent < sums.exponent + alpha_exponent)
    total.exponent = sums.exponent + alpha_exponent;
  if (!isfinite(start[0]))
    record_special_product(out, start[0], beta, 1);
  else if (raise_exponent(&total.exponent, beta, start[0]))
    out->has_nonzero = true;
  const int shift = sums.exponent + alpha_exponent - total.exponent;
  double low = 0, rounding;
  two_product(alpha_mantissa, sums.high, &total.high, &low);
  total.high = ldexp(total.high, shift);
  total.low = ldexp(low + alpha_mantissa * sums.low, shift);
  total.positive = ldexp(fabs(alpha_mantissa) * (alpha > 0 ? sums.positive : sums.negative), shift);
  total.negative = ldexp(fabs(alpha_mantissa) * (alpha > 0 ? sums.negative : sums.positive), shift);
  if (beta != 0 && isfinite(start[0]))
    add_scaled_product(&total, beta, start[0]);
  tsl_two_sum(total.high, total.low, &out->high, &rounding);
  out->low = rounding;
  out->exponent = total.exponent;
  out->magnitude = total.positive + total.negative;
  const double limit = ldexp(limits->largest, -total.exponent);
  out->may_overflow_up = out->may_overflow_up || total.positive >= limit;
  out->may_overflow_down = out->may_overflow_down || total.negative >= limit;
}
