/* Judge of solves, by the residual. For the computed X, row i of A X must be row i of alpha B:
 *
 *   |alpha B - A X| <= factor u |A||X| + 4 u |alpha B| + underflow,  for each element.
 *
 * Substitution meets this bound for any condition of A. Sums are made in double for f32 and c64, else in
 * twice that (TwoSum: Knuth, TwoProduct by fused multiply-add). Magnitudes of complex numbers are moduli.
 * Non-finite values are judged by IEEE 754 from X itself. X must be the result of the division where a row's
 * terms give an infinity or NaN, or the diagonal is zero or not finite. Complex division has no such rule.
 * Where a term is not finite, or the diagonal zero or NaN, a part of the quotient must not be finite; over an
 * infinite diagonal any quotient is accepted. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "judge/judge_element.h"

#include <math.h>
#include <stdio.h>

static const double default_operations_max = 0x1p28;

typedef struct judge_solve_findings {
  tsl_verdict worst;
  int64_t wrong;
} judge_solve_findings;

typedef struct judge_solve_job {
  const tsl_problem *problem;
  const tsl_judge *judge;
  const tsl_type_info *type;
  const unsigned char *matrix, *b, *x; /* elements (0, 0) of A, B and the computed X in host memory */
  const tsl_shape *b_shape;
  struct judge_solve_number *a;       /* m x m, row by row, conjugated, with an explicit unit diagonal */
  struct judge_solve_number *columns; /* for each worker, a column of X */
  int64_t cols;                       /* number of judged columns */
  judge_solve_findings *workers;
  bool is_upper, alpha_is_zero;
  bool in_pairs; /* sums in twice double's precision */
} judge_solve_job;

typedef struct judge_solve_number {
  double re, im, modulus; /* every term needs the modulus */
} judge_solve_number;

typedef struct judge_solve_total {
  double high, low; /* high + low; low is unused in sums of double's precision */
} judge_solve_total;

static void add_compensated_value(judge_solve_total *sum, double value) {
  const double next = sum->high + value, back = next - sum->high;
  sum->low += (sum->high - (next - back)) + (value - back);
  sum->high = next;
}

static inline void add_product(judge_solve_total *sum, bool in_pairs, double x, double y) {
  const double product = x * y;
  if (!in_pairs) {
    sum->high += product;
    return;
  }
  add_compensated_value(sum, product);
  sum->low += fma(x, y, -product);
}

static judge_solve_number make_number_with_modulus(const tsl_type_info *type, double re, double im) {
  return (judge_solve_number){re, im, type->is_complex ? hypot(re, im) : fabs(re)};
}

static judge_solve_number load_number(const tsl_shape *shape, const unsigned char *src, int64_t row,
                                      int64_t col) {
  const tsl_type_info *type = tsl_type(shape->type);
  double value[2];
  tsl_type_load(shape->type, tsl_shape_at(shape, src, row, col), value);
  return make_number_with_modulus(type, value[0], value[1]);
}

static bool is_finite_number(judge_solve_number value) {
  return isfinite(value.re) && isfinite(value.im);
}

/* Sum of the terms of a row without the diagonal's. */
typedef struct row_sums {
  judge_solve_total re, im;
  double magnitude;                         /* sum of magnitudes without alpha b */
  double addend;                            /* |alpha b| */
  bool nan, plus, minus, complex_nonfinite; /* a term is not finite; if real, of this kind */
} row_sums;

/* Counts a product, or alpha b, that may not be finite. */
static void record_nonfinite_term(row_sums *seen, bool is_complex, judge_solve_number x, judge_solve_number y,
                                  bool minus) {
  const double value = minus ? -(x.re * y.re) : x.re * y.re;
  if (is_complex)
    seen->complex_nonfinite = true;
  else if (isnan(value))
    seen->nan = true;
  else
    *(value > 0 ? &seen->plus : &seen->minus) = true;
}

static void add_product_to_row(const judge_solve_job *job, row_sums *seen, judge_solve_number x,
                               judge_solve_number y, bool minus) {
  const bool in_pairs = job->in_pairs;
  const double sign = minus ? -1 : 1;
  if (!is_finite_number(x) || !is_finite_number(y)) {
    record_nonfinite_term(seen, job->type->is_complex, x, y, minus);
    return;
  }
  *(minus ? &seen->magnitude : &seen->addend) += x.modulus * y.modulus;
  add_product(&seen->re, in_pairs, sign * x.re, y.re);
  if (!job->type->is_complex)
    return;
  add_product(&seen->re, in_pairs, -sign * x.im, y.im);
  add_product(&seen->im, in_pairs, sign * x.re, y.im);
  add_product(&seen->im, in_pairs, sign * x.im, y.re);
}

typedef struct judge_solve_comparison {
  double error, ratio, grade;
} judge_solve_comparison;

static const judge_solve_comparison wrong = {.error = INFINITY, .ratio = INFINITY}, right = {0, 0, 0};

/* Compares real numbers where a value is not finite: x must be the IEEE 754 quotient s / d. */
static judge_solve_comparison compare_nonfinite(const row_sums *seen, double d, double x, double sum_error) {
  const double s = seen->nan || (seen->plus && seen->minus) ? NAN
                   : seen->plus                             ? INFINITY
                   : seen->minus                            ? -INFINITY
                                                            : seen->re.high + seen->re.low;
  const double quotient = s / d;
  if (isfinite(s) && fabs(s) <= sum_error && s != 0 && d == 0)
    return isfinite(x) ? wrong : right; /* the rounded sum may be 0 */
  if (isfinite(s) && d == 0 && s == 0 && seen->magnitude > 0)
    return isfinite(x) ? wrong : right; /* the rounded sum may differ from 0 */
  return isnan(quotient) ? (isnan(x) ? right : wrong) : x == quotient ? right : wrong;
}

static judge_solve_comparison compare_row(const judge_solve_job *job, const row_sums *seen,
                                          judge_solve_number d, judge_solve_number x) {
  const double u = job->type->unit_roundoff, weight = d.modulus, largest = job->type->largest;
  const bool is_complex = job->type->is_complex,
             is_unit = job->problem->a.structure == TESELA_UNIT_TRIANGULAR;
  const bool is_special = seen->nan || seen->plus || seen->minus || seen->complex_nonfinite ||
                          !is_finite_number(d) || weight == 0;
  const double doubt = job->judge->factor * u * seen->magnitude + 4 * u * seen->addend;
  if (seen->magnitude + seen->addend > largest / 4)
    return right; /* finite terms may overflow */
  if (is_special && !is_complex)
    return compare_nonfinite(seen, d.re, x.re, doubt);
  if (is_special)
    return (isinf(d.re) || isinf(d.im)) && !isnan(d.re) && !isnan(d.im) ? right
           : is_finite_number(x)                                        ? wrong
                                                                        : right;
  if (!is_finite_number(x)) {
    const double s = hypot(seen->re.high, seen->im.high) + doubt;
    return !is_unit && s > largest / (is_complex ? 8 : 1.001) * weight ? right : wrong;
  }
  row_sums left = *seen;
  add_product_to_row(job, &left, d, x, true);
  const double re = left.re.high + left.re.low, im = left.im.high + left.im.low,
               error = fmax(fabs(re), fabs(im));
  const double smallest = job->type->smallest,
               under = smallest * (4 * (double)job->problem->k + 8 + 8 * weight);
  const double bound = job->judge->factor * u * left.magnitude + 4 * u * left.addend + under;
  if (job->judge->exact)
    return error == 0 ? right : (judge_solve_comparison){.error = error, .ratio = INFINITY};
  return (judge_solve_comparison){.error = error,
                                  .ratio = error / bound,
                                  .grade =
                                      left.magnitude > 0 ? fmax(0, error - under) / (u * left.magnitude) : 0};
}

static void record_row(judge_solve_findings *found, const judge_solve_comparison *seen, int64_t row,
                       int64_t col) {
  found->wrong += !(seen->ratio <= 1);
  found->worst.error = fmax(found->worst.error, seen->error);
  found->worst.grade = fmax(found->worst.grade, seen->grade);
  if (!tsl_verdict_is_exceeded(&found->worst, seen->ratio, row, col))
    return;
  found->worst.error_ratio = seen->ratio;
  found->worst.row = row;
  found->worst.col = col;
}

static judge_solve_comparison judge_element_of_column(const judge_solve_job *job, const judge_solve_number *x,
                                                      int64_t row, int64_t col) {
  const tsl_problem *problem = job->problem;
  const judge_solve_number *a = job->a + row * problem->m;
  const judge_solve_number alpha = make_number_with_modulus(job->type, problem->alpha[0], problem->alpha[1]);
  row_sums seen = {.nan = false};
  if (job->alpha_is_zero)
    return x[row].re == 0 && x[row].im == 0 ? right : wrong;
  add_product_to_row(job, &seen, alpha, load_number(job->b_shape, job->b, row, col), false);
  const int64_t end = job->is_upper ? problem->m : row;
  for (int64_t l = job->is_upper ? row + 1 : 0; l < end; l++)
    add_product_to_row(job, &seen, a[l], x[l], true);
  return compare_row(job, &seen, a[row], x[row]);
}

static void judge_column(void *argument, int64_t index, int worker) {
  const judge_solve_job *job = argument;
  const int64_t m = job->problem->m, n = job->problem->n;
  const int64_t col = (int64_t)((double)index * ((double)n / (double)job->cols));
  judge_solve_number *x = job->columns + m * worker;
  for (int64_t i = 0; i < m; i++)
    x[i] = load_number(&job->problem->c, job->x, i, col);
  for (int64_t i = 0; i < m; i++) {
    const judge_solve_comparison seen = judge_element_of_column(job, x, i, col);
    record_row(&job->workers[worker], &seen, i, col);
  }
}

static void load_row_of_a(void *argument, int64_t row, int worker) {
  const judge_solve_job *job = argument;
  const tsl_problem *problem = job->problem;
  judge_solve_number *to = job->a + row * problem->m;
  (void)worker;
  const int64_t end = job->is_upper ? problem->m : row + 1;
  for (int64_t l = job->is_upper ? row : 0; l < end; l++) {
    if (l == row && problem->a.structure == TESELA_UNIT_TRIANGULAR) {
      to[l] = (judge_solve_number){1, 0, 1};
      continue;
    }
    to[l] = load_number(&problem->a, job->matrix, row, l);
    to[l].im = problem->conjugate_a ? -to[l].im : to[l].im;
  }
}

static void merge_and_explain(const judge_solve_job *job, int workers, tsl_verdict *verdict) {
  for (int i = 0; i < workers; i++) {
    const tsl_verdict *worst = &job->workers[i].worst;
    verdict->wrong += job->workers[i].wrong;
    verdict->error = fmax(verdict->error, worst->error);
    verdict->grade = fmax(verdict->grade, worst->grade);
    if (worst->row < 0 || !tsl_verdict_is_exceeded(verdict, worst->error_ratio, worst->row, worst->col))
      continue;
    verdict->error_ratio = worst->error_ratio;
    verdict->row = worst->row;
    verdict->col = worst->col;
  }
  verdict->checked = job->problem->m * job->cols;
  verdict->right = verdict->wrong == 0;
  if (verdict->right)
    return;
  const judge_solve_number x = load_number(&job->problem->c, job->x, verdict->row, verdict->col);
  snprintf(verdict->why, sizeof verdict->why,
           "X(%lld, %lld) is %.17g%+.17gi, and its row of alpha B - A X is %.3g times the bound; %lld of "
           "%lld elements are wrong",
           (long long)verdict->row, (long long)verdict->col, x.re, x.im, verdict->error_ratio,
           (long long)verdict->wrong, (long long)verdict->checked);
}

static tesela_status allocate_solve_workspace(judge_solve_job *job, int workers) {
  const int64_t m = job->problem->m;
  size_t elements;
  void *block;
  if (!tsl_size_mul((size_t)m, (size_t)m, &elements) ||
      !tsl_size_mul(elements, sizeof(judge_solve_number), &elements))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "a triangle of %lld rows is too large to be judged", (long long)m);
  TSL_TRY(tsl_alloc_zeroed((size_t)workers * sizeof(judge_solve_findings), "the judge's notes", &block));
  job->workers = block;
  for (int i = 0; i < workers; i++)
    job->workers[i].worst = (tsl_verdict){.row = -1, .col = -1};
  TSL_TRY(tsl_alloc((size_t)workers * (size_t)m * sizeof(judge_solve_number), "the judge's columns", &block));
  job->columns = block;
  if (job->alpha_is_zero)
    return TESELA_OK;
  TSL_TRY(tsl_alloc_zeroed(elements, "the judge's triangle", &block));
  job->a = block;
  return TESELA_OK;
}

tesela_status tsl_judge_solve(const tsl_problem *problem, const void *a, const void *b, const void *before,
                              const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  const tsl_team team = tsl_judge_team(judge);
  const int workers = tsl_team_threads(team);
  const double limit = judge->operations_max > 0 ? (double)judge->operations_max : default_operations_max;
  const double cols = limit / ((double)problem->m * (double)(problem->m + 1));
  tesela_status status = TESELA_OK;
  *verdict = (tsl_verdict){.right = true, .row = -1, .col = -1};
  if (problem->m == 0 || problem->n == 0)
    return TESELA_OK;
  judge_solve_job job = {.problem = problem,
                         .judge = judge,
                         .type = tsl_type(problem->c.type),
                         .matrix = a,
                         .b = problem->in_place ? before : b,
                         .x = c,
                         .b_shape = problem->in_place ? &problem->c : &problem->b,
                         .cols = (double)problem->n <= cols ? problem->n
                                 : cols < 1                 ? 1
                                                            : (int64_t)cols,
                         .is_upper = problem->a.triangle == TESELA_UPPER,
                         .alpha_is_zero = problem->alpha[0] == 0 && problem->alpha[1] == 0,
                         .in_pairs = tsl_type(problem->c.type)->unit_roundoff < 0x1p-30};
  TSL_GO(allocate_solve_workspace(&job, workers));
  if (!job.alpha_is_zero)
    tsl_team_run(team, problem->m, load_row_of_a, &job);
  tsl_team_run(team, job.cols, judge_column, &job);
  merge_and_explain(&job, workers, verdict);
out:
  tsl_free(job.a);
  tsl_free(job.columns);
  tsl_free(job.workers);
  return status;
}
