/* Judge of complex results: each part of C is judged as a real product.
 *
 *   Re alpha A B = sum over l of (p Re B - q Im B);  Im alpha A B = sum of (p Im B + q Re B);
 *   p = ar Re A - ai Im A,  q = ar Im A + ai Re A
 *
 * alpha is divided by a power of 2, or is 1 where one of its parts is 0; the divided factor multiplies the
 * sums. Each product in p and q is the exact sum of two doubles (Dekker 1971), each a column of its own. So a
 * part has 2 to 8 columns for each column of A, and as many rows for B:
 *
 *        A, expanded: rows x (terms k)               B, expanded: (terms k) x cols
 *        [ ar Re a, its tail, -ai Im a, ... ]        [ Re b, Re b, Re b, ..., Im b, ... ]'
 *
 * Only sampled rows and columns are expanded. Elements that may not be finite get their kinds. */
#include "core/memory.h"
#include "core/status.h"
#include "judge/judge.h"
#include "judge/nonfinite.h"
#include "problem/structure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERMS_MAX = 8, DOUBLES_MAX = 1 << 24 };

/* Factor of an expanded column: sign times parts of alpha, A and B. */
typedef struct term {
  int alpha_part, a_part, b_part, sign; /* parts: 0 real, 1 imaginary */
  bool tail;                            /* error of the rounded product */
} term;

typedef struct complex_expansion {
  const tsl_problem *problem;
  const unsigned char *a, *b, *before, *bias, *c;
  double alpha[2], beta[2]; /* rounded to C's type */
  double unit[2], scale;    /* alpha = scale * unit */
  int64_t rows, cols;       /* size of the sample */
  term terms[TERMS_MAX];
  int term_count;
  double *a_expanded, *b_expanded, *before_expanded, *added, *c_part;
  /* largest |re| + |im| of each row of A or column of B; infinite where an element is not finite */
  double *row_max, *col_max;
  unsigned char *kinds[2];        /* of the parts */
  unsigned char *counted;         /* 1: a part of the element is wrong */
  const unsigned char *given;     /* kinds from the caller */
  double largest, slack, flushes; /* of C's type; factor u; from the judge */
} complex_expansion;

/* Returns index `index` of a sample of `count`, spread over `total`, the first and the last included. */
static int64_t complex_spread_index(int64_t index, int64_t count, int64_t total) {
  return count <= 1 ? 0 : (int64_t)((double)index * (double)(total - 1) / (double)(count - 1));
}

static void load_complex(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col,
                         double value[2]) {
  tsl_type_load(shape->type, tsl_shape_at(shape, base, row, col), value);
}

static void load_complex_factor(const tsl_shape *shape, bool conjugate, const unsigned char *base,
                                int64_t row, int64_t col, double value[2]) {
  load_complex(shape, base, row, col, value);
  if (conjugate)
    value[1] = -value[1];
}

/* Sets scale and unit so that a unit part is 1, or both are below 2 in magnitude. */
static void split_alpha(complex_expansion *job) {
  const double *alpha = job->alpha, most = fmax(fabs(alpha[0]), fabs(alpha[1]));
  const int one = alpha[0] == 0 ? 1 : 0;
  job->scale = !isfinite(alpha[0]) || !isfinite(alpha[1]) || most == 0 ? 1
               : alpha[0] == 0 || alpha[1] == 0                        ? alpha[one]
                                                                       : ldexp(1, ilogb(most));
  for (int part = 0; part < 2; part++)
    job->unit[part] = alpha[part] / job->scale;
}

/* Chooses the terms of a part. Parts differ in the factors that meet, and in the sign of their product. */
static void choose_terms(complex_expansion *job, int part) {
  job->term_count = 0;
  for (int alpha_part = 0; alpha_part < 2; alpha_part++)
    for (int a_part = 0; a_part < 2; a_part++)
      for (int tail = 0; tail < 2; tail++) {
        const int imaginary = alpha_part + a_part, b_part = (part + imaginary) % 2;
        /* power of i, by the number of imaginary factors: 1, i, -1, -i */
        const int power = imaginary + b_part, sign = power == 2 || power == 3 ? -1 : 1;
        const double alpha = job->unit[alpha_part];
        if (alpha != 0 && !(tail && fabs(alpha) == 1))
          job->terms[job->term_count++] = (term){alpha_part, a_part, b_part, sign, tail};
      }
}

static double product_or_its_tail(double x, double y, bool tail) {
  const double product = x * y;
  return !tail ? product : isfinite(product) ? fma(x, y, -product) : 0;
}

/* Returns the product; a zero part of beta may be left out. */
static double beta_product(double beta, double before) {
  return beta == 0 ? 0 : beta * before;
}

static void write_expanded_a(const complex_expansion *job) {
  const tsl_problem *problem = job->problem;
  double *out = job->a_expanded;
  for (int64_t i = 0; i < job->rows; i++)
    for (int64_t l = 0; l < problem->k; l++) {
      double value[2];
      load_complex_factor(&problem->a, problem->conjugate_a, job->a,
                          complex_spread_index(i, job->rows, problem->m), l, value);
      for (int t = 0; t < job->term_count; t++) {
        const term *from = &job->terms[t];
        *out++ =
            from->sign * product_or_its_tail(job->unit[from->alpha_part], value[from->a_part], from->tail);
      }
    }
}

static void write_expanded_b(const complex_expansion *job) {
  const tsl_problem *problem = job->problem;
  for (int64_t l = 0; l < problem->k; l++)
    for (int64_t j = 0; j < job->cols; j++) {
      double value[2];
      load_complex_factor(&problem->b, problem->conjugate_b, job->b, l,
                          complex_spread_index(j, job->cols, problem->n), value);
      for (int t = 0; t < job->term_count; t++)
        job->b_expanded[(l * job->term_count + t) * job->cols + j] = value[job->terms[t].b_part];
    }
}

static bool has_addend(const complex_expansion *job) {
  return job->before || job->bias;
}

/* Writes one part of beta C0 plus bias, which are added with factor 1, and of C. */
static void write_part_of_c(const complex_expansion *job, int part) {
  const tsl_problem *problem = job->problem;
  for (int64_t i = 0; i < job->rows; i++)
    for (int64_t j = 0; j < job->cols; j++) {
      const int64_t row = complex_spread_index(i, job->rows, problem->m),
                    col = complex_spread_index(j, job->cols, problem->n);
      double value[2], before[2] = {0, 0}, bias[2] = {0, 0};
      load_complex(&problem->c, job->c, row, col, value);
      if (job->before)
        load_complex(&problem->c, job->before, row, col, before);
      if (job->bias)
        load_complex(&problem->bias, job->bias, row, col, bias);
      job->c_part[i * job->cols + j] = value[part];
      const double own = beta_product(job->beta[0], before[part]),
                   other = beta_product(job->beta[1], before[1 - part]);
      job->before_expanded[i * job->cols + j] = (part == 0 ? own - other : own + other) + bias[part];
      job->added[i * job->cols + j] = fabs(own) + fabs(other) + fabs(bias[part]);
    }
}

static void set_max_magnitudes_of_rows_and_cols(const complex_expansion *job) {
  const tsl_problem *problem = job->problem;
  const bool reads = tsl_problem_reads(problem, TSL_OPERAND_A);
  double value[2];
  for (int64_t i = 0; i < job->rows; i++) {
    job->row_max[i] = 0;
    for (int64_t l = 0; reads && l < problem->k; l++) {
      load_complex(&problem->a, job->a, complex_spread_index(i, job->rows, problem->m), l, value);
      const double most = fabs(value[0]) + fabs(value[1]);
      job->row_max[i] = isfinite(most) ? fmax(job->row_max[i], most) : INFINITY;
    }
  }
  for (int64_t j = 0; j < job->cols; j++) {
    job->col_max[j] = 0;
    for (int64_t l = 0; reads && l < problem->k; l++) {
      load_complex(&problem->b, job->b, l, complex_spread_index(j, job->cols, problem->n), value);
      const double most = fabs(value[0]) + fabs(value[1]);
      job->col_max[j] = isfinite(most) ? fmax(job->col_max[j], most) : INFINITY;
    }
  }
}

/* Returns true if an infinity of one factor meets a number of the other that may be flushed to 0. */
static bool meets_flushed(const complex_expansion *job, const double x[2], const double u[2]) {
  bool meets = false;
  for (int part = 0; part < 4; part++)
    meets |= (isinf(x[part / 2]) && fabs(u[part % 2]) < job->flushes) ||
             (isinf(u[part % 2]) && fabs(x[part / 2]) < job->flushes);
  return meets;
}

static void set_possible_products_sum(const complex_expansion *job, int64_t row, int64_t col,
                                      tsl_possible_result sum[2]) {
  const tsl_problem *problem = job->problem;
  tsl_term_extremes seen[2] = {{.nan = false}, {.nan = false}};
  const double underflow = tsl_underflow_error(tsl_type(problem->c.type), job->flushes);
  double x[2], u[2];
  bool may_be_nan = false;
  for (int64_t l = 0; l < problem->k; l++) {
    load_complex_factor(&problem->a, problem->conjugate_a, job->a, row, l, x);
    load_complex_factor(&problem->b, problem->conjugate_b, job->b, l, col, u);
    may_be_nan |= job->flushes > 0 && meets_flushed(job, x, u);
    tsl_terms_add(&seen[0], x[0], u[0], false);
    tsl_terms_add(&seen[0], x[1], u[1], true);
    tsl_terms_add(&seen[1], x[0], u[1], false);
    tsl_terms_add(&seen[1], x[1], u[0], false);
  }
  for (int part = 0; part < 2; part++) {
    sum[part] =
        tsl_possible_sum(&seen[part], job->slack, fabs(job->alpha[0]) + fabs(job->alpha[1]), job->largest);
    sum[part].kinds |= may_be_nan ? TSL_KIND_NAN : 0;
    sum[part].error += 2 * (double)problem->k * underflow;
  }
}

static void scale_possible_complex(const complex_expansion *job, const double scalar[2],
                                   const tsl_possible_result x[2], tsl_possible_result out[2]) {
  for (int part = 0; part < 2; part++)
    out[part] = tsl_possible_added(
        tsl_possible_scaled(scalar[0], x[part], job->largest),
        tsl_possible_scaled(part == 0 ? -scalar[1] : scalar[1], x[1 - part], job->largest), job->largest);
}

/* Sets the kinds of both parts of element (i, j); 0 where all is finite and far from the largest number. */
static void set_element_kinds(const complex_expansion *job, int64_t i, int64_t j) {
  const tsl_problem *problem = job->problem;
  const int64_t row = complex_spread_index(i, job->rows, problem->m),
                col = complex_spread_index(j, job->cols, problem->n);
  const double far = job->largest / 16;
  double value[2] = {0, 0}, bias[2] = {0, 0};
  tsl_possible_result sum[2] = {{.kinds = TSL_KIND_FINITE}, {.kinds = TSL_KIND_FINITE}}, before[2];
  if (job->before)
    load_complex(&problem->c, job->before, row, col, value);
  if (job->bias)
    load_complex(&problem->bias, job->bias, row, col, bias);
  const bool any = (job->alpha[0] != 0 || job->alpha[1] != 0) && tsl_problem_reads(problem, TSL_OPERAND_A);
  const double alpha = any ? fabs(job->alpha[0]) + fabs(job->alpha[1]) + 1 : 0,
               beta = fabs(job->beta[0]) + fabs(job->beta[1]);
  const double products = any ? alpha * (double)problem->k * job->row_max[i] * job->col_max[j] : 0,
               added = (job->before ? beta * (fabs(value[0]) + fabs(value[1])) : 0) + fabs(bias[0]) +
                       fabs(bias[1]);
  const int64_t at = i * job->cols + j;
  job->kinds[0][at] = job->kinds[1][at] = 0;
  if (products < far && added < far) /* neither is NaN */
    return;
  if (any) {
    set_possible_products_sum(job, row, col, before);
    scale_possible_complex(job, job->alpha, before, sum);
  }
  if (job->before) {
    const tsl_possible_result parts[2] = {tsl_possible_exact(value[0]), tsl_possible_exact(value[1])};
    scale_possible_complex(job, job->beta, parts, before);
  }
  for (int part = 0; part < 2; part++) {
    if (job->before)
      sum[part] = tsl_possible_added(sum[part], before[part], job->largest);
    if (job->bias)
      sum[part] = tsl_possible_added(sum[part], tsl_possible_exact(bias[part]), job->largest);
    job->kinds[part][at] = (unsigned char)sum[part].kinds;
  }
}

static void ignore_parts_by_given_kinds(const complex_expansion *job, int64_t i, int64_t j) {
  const tsl_problem *problem = job->problem;
  const unsigned given = job->given[complex_spread_index(i, job->rows, problem->m) * problem->n +
                                    complex_spread_index(j, job->cols, problem->n)];
  for (int part = 0; part < 2; part++)
    if (given & TSL_KIND_IGNORED || (part == 1 && given & TSL_KIND_REAL_ONLY))
      job->kinds[part][i * job->cols + j] = TSL_KIND_IGNORED;
}

static void set_all_kinds(const complex_expansion *job) {
  set_max_magnitudes_of_rows_and_cols(job);
  for (int64_t i = 0; i < job->rows; i++)
    for (int64_t j = 0; j < job->cols; j++) {
      set_element_kinds(job, i, j);
      if (job->given)
        ignore_parts_by_given_kinds(job, i, j);
    }
}

/* Judges one part of the sample as a real product; *verdict gets row and column of the whole result. */
static tesela_status judge_part(complex_expansion *job, int part, const tsl_judge *judge,
                                tsl_verdict *verdict) {
  const tsl_type_info *type = tsl_type(job->problem->c.type);
  choose_terms(job, part);
  tsl_problem real = tsl_problem_gemm(job->rows, job->cols, job->problem->k * job->term_count, TESELA_F64);
  if (tsl_problem_reads(job->problem, TSL_OPERAND_A)) {
    write_expanded_a(job);
    write_expanded_b(job);
    real.alpha[0] = job->scale;
  } else {
    real.alpha[0] = 0;
  }
  write_part_of_c(job, part);
  real.beta[0] = has_addend(job) ? 1 : 0;
  /* parts are doubles, but have C's precision; beta C0 costs two roundings of a double C, a bias a third */
  const double scale = type->component == TESELA_F32 ? 0x1p29 : 1;
  const double terms = fmax(1, fabs(job->alpha[0]) + fabs(job->alpha[1])) * 2 * (double)job->problem->k + 4;
  const tsl_judge own = {.factor = (judge->factor + 2 + (job->bias != NULL)) * scale,
                         .exact = judge->exact,
                         .flushes = job->flushes,
                         .added = job->added,
                         .kinds = job->kinds[part],
                         .counted = job->counted,
                         .allowance = terms * type->smallest,
                         .seed = judge->seed,
                         .threads = judge->threads,
                         .operations_max = INT64_MAX};
  TSL_TRY(tsl_judge_real(&real, job->a_expanded, job->b_expanded, job->before_expanded, job->c_part, &own,
                         verdict));
  verdict->grade /= scale;
  verdict->row = verdict->row < 0 ? -1 : complex_spread_index(verdict->row, job->rows, job->problem->m);
  verdict->col = verdict->col < 0 ? -1 : complex_spread_index(verdict->col, job->cols, job->problem->n);
  if (!verdict->right) {
    char text[sizeof verdict->why];
    snprintf(text, sizeof text, "%s part: %.*s", part == 0 ? "real" : "imaginary", (int)sizeof text - 32,
             verdict->why);
    snprintf(verdict->why, sizeof verdict->why, "%s", text);
  }
  return TESELA_OK;
}

static void merge_verdict_of_part(tsl_verdict *all, const tsl_verdict *part) {
  const double error = fmax(all->error, part->error), grade = fmax(all->grade, part->grade);
  const int64_t checked = part->checked, wrong = all->wrong + part->wrong;
  if (!all->right ? false : !part->right || part->error_ratio > all->error_ratio)
    *all = *part;
  all->error = error;
  all->grade = grade;
  all->checked = checked;
  all->wrong = wrong;
}

static void round_scalar_to_type(tesela_type type, const double value[2], double out[2]) {
  unsigned char stored[16];
  tsl_type_store(type, stored, value);
  tsl_type_load(type, stored, out);
}

static int64_t complex_limit_size(int64_t size, double limit) {
  return (double)size <= limit ? size : limit < 1 ? 1 : (int64_t)limit;
}

/* Returns the number of rows within `operations`, but at least a few; all for 0. */
static double rows_within_operations(const tsl_problem *problem, int64_t operations) {
  enum { FEW = 8 };
  const double row = (double)problem->n * (double)problem->k * TERMS_MAX + 1;
  return operations == 0 ? INFINITY : fmax((double)operations / row, FEW);
}

static void choose_complex_sample(complex_expansion *job, const tsl_judge *judge) {
  const tsl_problem *problem = job->problem;
  const double limit = (double)DOUBLES_MAX / ((double)(problem->k * TERMS_MAX) + 1);
  job->rows = complex_limit_size(
      problem->m, fmin(fmin(limit, 4096), rows_within_operations(problem, judge->operations_max)));
  job->cols = complex_limit_size(problem->n, fmin(limit, 4096));
}

static size_t complex_workspace_bytes(const complex_expansion *job) {
  const size_t depth = (size_t)(job->problem->k * TERMS_MAX), rows = (size_t)job->rows,
               cols = (size_t)job->cols;
  return ((rows + cols) * (depth + 1) + 4 * rows * cols + 1) * sizeof(double);
}

size_t tsl_judge_complex_bytes(const tsl_problem *problem, const tsl_judge *judge) {
  complex_expansion job = {.problem = problem};
  choose_complex_sample(&job, judge);
  return complex_workspace_bytes(&job) +
         tsl_judge_real_bytes(job.rows, job.cols, problem->k * TERMS_MAX, judge);
}

static tesela_status allocate_complex_workspace(const complex_expansion *job, double **out) {
  void *block;
  TSL_TRY(tsl_alloc(complex_workspace_bytes(job), "the judge's real products", &block));
  *out = block;
  return TESELA_OK;
}

tesela_status tsl_judge_complex(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  complex_expansion job = {.problem = problem,
                           .a = a,
                           .b = b,
                           .before = before,
                           .bias = judge->bias,
                           .c = c,
                           .given = judge->kinds};
  double *block;
  *verdict = (tsl_verdict){.right = true, .row = -1, .col = -1};
  if (problem->m == 0 || problem->n == 0)
    return TESELA_OK;
  round_scalar_to_type(problem->c.type, problem->alpha, job.alpha);
  round_scalar_to_type(problem->c.type, problem->beta, job.beta);
  split_alpha(&job);
  choose_complex_sample(&job, judge);
  TSL_TRY(allocate_complex_workspace(&job, &block));
  job.a_expanded = block;
  job.b_expanded = job.a_expanded + job.rows * problem->k * TERMS_MAX;
  job.before_expanded = job.b_expanded + job.cols * problem->k * TERMS_MAX;
  job.added = job.before_expanded + job.rows * job.cols;
  job.c_part = job.added + job.rows * job.cols;
  job.row_max = job.c_part + job.rows * job.cols;
  job.col_max = job.row_max + job.rows;
  /* three bytes an element, in the memory of a double */
  unsigned char *bytes = (unsigned char *)(job.col_max + job.cols);
  for (int part = 0; part < 2; part++)
    job.kinds[part] = bytes + part * job.rows * job.cols;
  job.counted = bytes + 2 * job.rows * job.cols;
  memset(job.counted, 0, (size_t)(job.rows * job.cols));
  job.largest = tsl_type(problem->c.type)->largest;
  job.slack = judge->factor * tsl_type(problem->c.type)->unit_roundoff;
  job.flushes = judge->flushes;
  set_all_kinds(&job);
  tesela_status status = TESELA_OK;
  for (int part = 0; part < 2 && status == TESELA_OK; part++) {
    tsl_verdict seen;
    status = judge_part(&job, part, judge, &seen);
    if (status == TESELA_OK)
      merge_verdict_of_part(verdict, &seen);
  }
  tsl_free(block);
  return status;
}
