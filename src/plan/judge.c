#include "plan/check.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "plan/reference.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A worker's block: its pieces of A and B and the sums fit a second-level cache. */
enum { BLOCK_ROWS = 32, BLOCK_COLS = 64, BLOCK_DEPTH = 256, BLOCK_ELEMENTS = BLOCK_ROWS * BLOCK_COLS };
enum { BLOCK_DOUBLES = BLOCK_DEPTH * (BLOCK_ROWS + BLOCK_COLS) + 3 * BLOCK_ELEMENTS };
/* What judging an element costs besides its products, in products. */
enum { ELEMENT_OPERATIONS = 16 };
static const int64_t default_operations_max = (int64_t)1 << 31;
/* Below this magnitude the errors of double's products underflow, and a sum of zero may hide lost terms. */
#define TINY 0x1p-900

/* What one worker has seen. */
typedef struct findings {
  tsl_verdict worst;
  int64_t wrong;
  double *a, *b;
  tsl_sums sums;
} findings;

typedef struct judging {
  const tsl_problem *problem;
  const unsigned char *a, *b, *before, *c;
  const tsl_judge *judge;
  const tsl_type_info *type, *sums; /* of C, and of the sums that end in it */
  double alpha, beta;               /* as the sums' type has them */
  bool products;                    /* A and B are read */
  bool twice;                       /* double alone does not hold their products */
  double allowance;                 /* of underflow */
  double smallest;                  /* the type's smallest subnormal, scaled as the element is */
  double flushes;                   /* as tsl_accuracy has it */
  int64_t *rows, *cols, row_count, col_count, col_blocks;
  double *workspace;
  findings *workers;
} judging;

/* How one element compares. */
typedef struct comparison {
  double error, ratio, grade, bound;
  double expected; /* rounded, for the sentence */
} comparison;

static const unsigned char *element_at(const tsl_shape *shape, const unsigned char *base, int64_t row,
                                       int64_t col) {
  return base + (row * shape->row_stride + col * shape->col_stride) * (int64_t)tsl_type(shape->type)->size;
}

static double load(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col) {
  double value[2];
  tsl_type_load(shape->type, element_at(shape, base, row, col), value);
  return value[0];
}

/* A result that was rounded once is off by u |R|, or by half of the smallest subnormal; twice double's precision, in
 * which the reference sums k terms, leaves an error of (k 2^-53)^2 of their magnitudes (Ogita, Rump, Oishi 2005), doubled
 * here for what the last steps add. */
static double allowed_error(const judging *job, double right, double magnitude, bool any) {
  const double unit = job->type->unit_roundoff, terms = (double)job->problem->k + 2;
  if (job->judge->rounded)
    return fmax(unit * fabs(right), job->smallest / 2) + 2 * terms * terms * 0x1p-106 * magnitude;
  return job->judge->factor * unit * magnitude + (any ? job->allowance : 0);
}

static void compare_finite(const judging *job, double error, double right, double magnitude, bool any,
                           comparison *out) {
  const double unit = job->type->unit_roundoff;
  out->error = error;
  out->bound = job->judge->exact ? 0 : allowed_error(job, right, magnitude, any);
  if (error == 0)
    out->ratio = 0;
  else
    out->ratio = out->bound > 0 ? error / out->bound : INFINITY;
  /* What underflow may cost is taken off: among subnormals it is all there is, and says nothing of the sum. */
  const double rounding = fmax(0, error - (any ? job->allowance : 0));
  out->grade = magnitude > 0 && unit > 0 ? rounding / (unit * magnitude) : 0;
}

/* With infinities or NaN among the terms, or with sums that may overflow on the way. */
static void compare_special(const tsl_element *right, double value, comparison *out) {
  bool good;
  if (right->unsure && isnan(value))
    good = true;
  else if (right->nan || (right->plus && right->minus))
    good = isnan(value);
  else if (right->plus)
    good = (isinf(value) && value > 0) || (isnan(value) && right->down);
  else if (right->minus)
    good = (isinf(value) && value < 0) || (isnan(value) && right->up);
  else /* finite terms, and an infinity or NaN from an overflow */
    good = isnan(value) ? right->up && right->down : value > 0 ? right->up : right->down;
  out->error = 0;
  out->grade = 0;
  out->ratio = good ? 0 : INFINITY;
}

static double expected_value(const tsl_element *right) {
  if (right->nan || (right->plus && right->minus))
    return NAN;
  if (right->plus || right->minus)
    return right->plus ? INFINITY : -INFINITY;
  return ldexp(right->high, right->exponent);
}

/* Sums of a wider type overflow where they are rounded to C, or not at all. */
static void end_in_range(const judging *job, double slack, tsl_element *right) {
  const double limit = ldexp(job->type->largest * (1 - slack), -right->exponent);
  right->up |= right->high >= limit;
  right->down |= right->high <= -limit;
}

static void compare_slowly(const judging *job, int64_t row, int64_t col, double value, comparison *out) {
  const double slack = fmin(0.5, job->judge->factor * job->type->unit_roundoff);
  const tsl_limits limits = {.largest = job->sums->largest * (1 - slack), .flushes = job->flushes};
  tsl_element right;
  tsl_reference_element(job->problem, job->alpha, job->beta, job->a, job->b, job->before, row, col, &limits,
                        &right);
  if (job->sums != job->type)
    end_in_range(job, slack, &right);
  out->expected = expected_value(&right);
  out->bound = 0;
  if (right.nan || right.plus || right.minus || !isfinite(value)) {
    compare_special(&right, value, out);
    return;
  }
  const double scaled = ldexp(value, -right.exponent);
  judging scaled_job = *job;
  scaled_job.allowance = ldexp(job->allowance, -right.exponent);
  if (job->judge->added)
    right.magnitude += ldexp(job->judge->added[row * job->problem->n + col], -right.exponent);
  scaled_job.smallest = ldexp(job->smallest, -right.exponent);
  compare_finite(&scaled_job, fabs((scaled - right.high) - right.low), right.high, right.magnitude, right.any,
                 out);
  out->error = ldexp(out->error, right.exponent);
  out->bound = ldexp(out->bound, right.exponent);
}

/* Whether both are NaN, or the same infinity: what IEEE 754 makes of the terms in one order is right. */
static bool is_same_special(double plain, double value) {
  return isnan(plain) ? isnan(value) : isinf(plain) && plain == value;
}

/* Integer data whose sums are exact, in a wider type than C's: all that is left is one rounding. */
static void compare_rounded(const judging *job, double right, double value, double magnitude,
                            comparison *out) {
  unsigned char stored[16];
  double rounded[2] = {right, 0};
  tsl_type_store(job->type->type, stored, rounded);
  tsl_type_load(job->type->type, stored, rounded);
  *out = (comparison){.expected = rounded[0]};
  if (rounded[0] != value)
    compare_finite(job, fabs(value - rounded[0]), right, magnitude, true, out);
}

/* From an element's sums of products to the comparison. */
static void compare(const judging *job, int64_t row, int64_t col, double high, double low, double magnitude,
                    comparison *out) {
  const double value = load(&job->problem->c, job->c, row, col);
  if (!isfinite(job->alpha) || !isfinite(job->beta)) { /* every term may be anything but finite */
    *out = (comparison){.ratio = isfinite(value) ? INFINITY : 0, .expected = NAN};
    return;
  }
  const double before = job->beta != 0 ? load(&job->problem->c, job->before, row, col) : 0;
  const double *added = job->judge->added;
  const double gauge =
      fabs(job->alpha) * magnitude + (added ? added[row * job->problem->n + col] : fabs(job->beta * before));
  const double safe = job->sums->largest / 4;
  double right = 0, rest = 0;
  tsl_reference_finish(job->alpha, high, low, job->beta, before, &right, &rest);
  if (job->judge->exact && job->sums != job->type) {
    compare_rounded(job, right, value, gauge, out);
    return;
  }
  const double plain = job->beta != 0 ? job->alpha * high + job->beta * before : job->alpha * high;
  if (is_same_special(plain, value)) {
    *out = (comparison){.expected = plain};
    return;
  }
  const bool in_range =
      magnitude < safe && gauge < safe && fabs(right) < job->type->largest / 4 && isfinite(rest);
  const bool tiny = job->twice && (gauge < TINY || (job->products && magnitude < TINY));
  if (!in_range || tiny || !isfinite(value)) {
    compare_slowly(job, row, col, value, out);
    return;
  }
  out->expected = right;
  compare_finite(job, fabs((value - right) - rest), right, gauge, gauge != 0, out);
}

static bool is_worse(double ratio, int64_t row, int64_t col, const tsl_verdict *than) {
  if (than->row < 0 || ratio != than->error_ratio)
    return than->row < 0 || ratio > than->error_ratio;
  return row != than->row ? row < than->row : col < than->col;
}

static void note(findings *found, int64_t row, int64_t col, const comparison *seen) {
  tsl_verdict *worst = &found->worst;
  worst->checked++;
  found->wrong += seen->ratio > 1;
  if (seen->error > worst->error)
    worst->error = seen->error;
  if (seen->grade > worst->grade)
    worst->grade = seen->grade;
  if (!is_worse(seen->ratio, row, col, worst))
    return;
  worst->error_ratio = seen->ratio;
  worst->row = row;
  worst->col = col;
}

/* One step of `depth` products for a block. */
static void add_products(const judging *job, findings *found, const int64_t *rows, int row_count,
                         const int64_t *cols, int col_count, int64_t first, int depth) {
  const tsl_shape *a = &job->problem->a, *b = &job->problem->b;
  for (int i = 0; i < row_count; i++)
    tsl_type_convert(a->type, element_at(a, job->a, rows[i], first), a->col_stride, TESELA_F64,
                     found->a + (size_t)i * (size_t)depth, 1, (size_t)depth);
  for (int j = 0; j < col_count; j++)
    tsl_type_convert(b->type, element_at(b, job->b, first, cols[j]), b->row_stride, TESELA_F64, found->b + j,
                     col_count, (size_t)depth);
  tsl_reference_add(row_count, col_count, depth, found->a, found->b, &found->sums);
}

static void judge_block(void *argument, int64_t index, int worker) {
  const judging *job = argument;
  findings *found = &job->workers[worker];
  const int64_t row_first = index / job->col_blocks * BLOCK_ROWS,
                col_first = index % job->col_blocks * BLOCK_COLS;
  const int64_t *rows = job->rows + row_first, *cols = job->cols + col_first;
  const int row_count =
      (int)(job->row_count - row_first < BLOCK_ROWS ? job->row_count - row_first : BLOCK_ROWS);
  const int col_count =
      (int)(job->col_count - col_first < BLOCK_COLS ? job->col_count - col_first : BLOCK_COLS);
  const tsl_sums *sums = &found->sums;
  memset(sums->high, 0, BLOCK_ELEMENTS * sizeof *sums->high);
  memset(sums->magnitude, 0, BLOCK_ELEMENTS * sizeof *sums->magnitude);
  if (sums->low)
    memset(sums->low, 0, BLOCK_ELEMENTS * sizeof *sums->low);
  for (int64_t first = 0; job->products && first < job->problem->k; first += BLOCK_DEPTH) {
    const int64_t left = job->problem->k - first;
    add_products(job, found, rows, row_count, cols, col_count, first,
                 (int)(left < BLOCK_DEPTH ? left : BLOCK_DEPTH));
  }
  for (int i = 0; i < row_count; i++)
    for (int j = 0; j < col_count; j++) {
      const int at = i * col_count + j;
      comparison seen;
      compare(job, rows[i], cols[j], sums->high[at], sums->low ? sums->low[at] : 0, sums->magnitude[at],
              &seen);
      note(found, rows[i], cols[j], &seen);
    }
}

/* Few elements with many products each, as a dot has: the threads share an element's products. */
enum { FEW_ELEMENTS = 64, MANY_PRODUCTS = 1 << 17 };

static bool is_deep(const judging *job) {
  return job->products && job->row_count * job->col_count <= FEW_ELEMENTS && job->problem->k >= MANY_PRODUCTS;
}

/* The sums of one element, in the worker's block. */
static tesela_status sum_element(const judging *job, int64_t row, int64_t col, const findings *found) {
  const tsl_shape *a = &job->problem->a, *b = &job->problem->b;
  const tsl_terms terms = {.a_type = a->type,
                           .b_type = b->type,
                           .a = element_at(a, job->a, row, 0),
                           .b = element_at(b, job->b, 0, col),
                           .a_step = a->col_stride,
                           .b_step = b->row_stride,
                           .count = job->products ? job->problem->k : 0};
  return tsl_reference_sum(tsl_pool_shared(), &terms, &found->sums);
}

static tesela_status judge_deep(const judging *job) {
  findings *found = &job->workers[0];
  const tsl_sums *sums = &found->sums;
  for (int64_t i = 0; i < job->row_count; i++)
    for (int64_t j = 0; j < job->col_count; j++) {
      comparison seen;
      TSL_TRY(sum_element(job, job->rows[i], job->cols[j], found));
      compare(job, job->rows[i], job->cols[j], *sums->high, sums->low ? *sums->low : 0, *sums->magnitude,
              &seen);
      note(found, job->rows[i], job->cols[j], &seen);
    }
  return TESELA_OK;
}

/* `count` of `total` indices, in order, spread evenly with a random place in each part, the first and the last
 * among them. */
static void sample(int64_t *out, int64_t count, int64_t total, uint64_t seed) {
  for (int64_t i = 0; i < count; i++) {
    if (count == total) {
      out[i] = i;
      continue;
    }
    const double start = (double)i * (double)total / (double)count, width = (double)total / (double)count;
    const double place = (double)(tsl_random_u64(seed, (uint64_t)i) >> 11) * 0x1p-53;
    out[i] = (int64_t)(start + place * width);
    if (out[i] > total - 1)
      out[i] = total - 1;
  }
  if (count > 1) {
    out[0] = 0;
    out[count - 1] = total - 1;
  }
}

static int64_t clamp(double value, int64_t most) {
  return value < 1 ? 1 : value >= (double)most ? most : (int64_t)value;
}

static tesela_status choose_sample(judging *job) {
  const tsl_problem *problem = job->problem;
  const double limit =
      (double)(job->judge->operations_max > 0 ? job->judge->operations_max : default_operations_max);
  const double depth = (double)(job->products ? problem->k : 0) + ELEMENT_OPERATIONS;
  void *block;
  job->row_count = clamp(limit / ((double)problem->n * depth), problem->m);
  job->col_count = clamp(limit / ((double)job->row_count * depth), problem->n);
  TSL_TRY(
      tsl_alloc((size_t)(job->row_count + job->col_count) * sizeof *job->rows, "the judge's sample", &block));
  job->rows = block;
  job->cols = job->rows + job->row_count;
  sample(job->rows, job->row_count, problem->m, job->judge->seed);
  sample(job->cols, job->col_count, problem->n, ~job->judge->seed);
  job->col_blocks = (job->col_count + BLOCK_COLS - 1) / BLOCK_COLS;
  return TESELA_OK;
}

static tesela_status make_workers(judging *job, int count) {
  void *block;
  TSL_TRY(tsl_alloc((size_t)count * BLOCK_DOUBLES * sizeof(double), "the judge's blocks", &block));
  job->workspace = block;
  TSL_TRY(tsl_alloc_zeroed((size_t)count * sizeof *job->workers, "the judge's findings", &block));
  job->workers = block;
  for (int i = 0; i < count; i++) {
    findings *found = &job->workers[i];
    found->worst.row = -1;
    found->a = job->workspace + (size_t)i * BLOCK_DOUBLES;
    found->b = found->a + BLOCK_ROWS * BLOCK_DEPTH;
    found->sums.high = found->b + BLOCK_COLS * BLOCK_DEPTH;
    found->sums.magnitude = found->sums.high + BLOCK_ELEMENTS;
    found->sums.low = job->twice ? found->sums.magnitude + BLOCK_ELEMENTS : NULL;
  }
  return TESELA_OK;
}

static int64_t merge(const judging *job, int count, tsl_verdict *verdict) {
  int64_t wrong = 0;
  verdict->row = -1;
  for (int i = 0; i < count; i++) {
    const tsl_verdict *worst = &job->workers[i].worst;
    wrong += job->workers[i].wrong;
    verdict->checked += worst->checked;
    verdict->error = fmax(verdict->error, worst->error);
    verdict->grade = fmax(verdict->grade, worst->grade);
    if (worst->row >= 0 && is_worse(worst->error_ratio, worst->row, worst->col, verdict)) {
      verdict->error_ratio = worst->error_ratio;
      verdict->row = worst->row;
      verdict->col = worst->col;
    }
  }
  verdict->right = wrong == 0;
  return wrong;
}

/* The sentence about the worst element, whose sums are made once more. */
static tesela_status explain(const judging *job, int64_t wrong, tsl_verdict *verdict) {
  const int64_t one_row = verdict->row, one_col = verdict->col;
  findings *found = &job->workers[0];
  comparison seen;
  TSL_TRY(sum_element(job, one_row, one_col, found));
  compare(job, one_row, one_col, *found->sums.high, found->sums.low ? *found->sums.low : 0,
          *found->sums.magnitude, &seen);
  tsl_text text = {0};
  tsl_text_add(&text, "C(%lld, %lld) is ", (long long)one_row, (long long)one_col);
  tsl_text_add_double(&text, load(&job->problem->c, job->c, one_row, one_col));
  tsl_text_add(&text, " where ");
  tsl_text_add_double(&text, seen.expected);
  if (isfinite(seen.expected) && seen.bound > 0)
    tsl_text_add(&text, " is right within %.2g", seen.bound);
  else
    tsl_text_add(&text, " is right");
  tsl_text_add(&text, "; wrong are %lld of %lld elements", (long long)wrong, (long long)verdict->checked);
  snprintf(verdict->why, sizeof verdict->why, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  return TESELA_OK;
}

/* Digits of the type in base 2. */
static int digits(const tsl_type_info *type) {
  return type->is_integer ? (int)(type->size * CHAR_BIT) : -ilogb(type->unit_roundoff);
}

static double largest_element(const tsl_shape *shape, const unsigned char *base) {
  double most = 0;
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      const double size = fabs(load(shape, base, i, j));
      if (isfinite(size) && size > most)
        most = size;
    }
  return most;
}

/* An element that is taken as 0 costs a term of at most `flushes` times the other factor; a product or a sum, so much
 * itself. */
static double allowance_of_flushing(const judging *job) {
  const double a = largest_element(&job->problem->a, job->a), b = largest_element(&job->problem->b, job->b);
  return job->flushes * (fabs(job->alpha) * (double)job->problem->k * (a + b + 2) + 2);
}

static tesela_status prepare(judging *job) {
  const tsl_problem *problem = job->problem;
  const tsl_type_info *a = tsl_type(problem->a.type), *b = tsl_type(problem->b.type);
  job->type = tsl_type(problem->c.type);
  job->sums = tsl_type(job->type->sums);
  /* Strategies take the scalars in the type of the sums, so the judge does. */
  unsigned char stored[16];
  double alpha[2] = {problem->alpha[0], 0}, beta[2] = {problem->beta[0], 0};
  tsl_type_store(job->sums->type, stored, alpha);
  tsl_type_load(job->sums->type, stored, alpha);
  tsl_type_store(job->sums->type, stored, beta);
  tsl_type_load(job->sums->type, stored, beta);
  job->alpha = alpha[0];
  job->beta = beta[0];
  job->products = problem->k > 0 && job->alpha != 0;
  job->twice =
      job->judge->rounded || digits(a) + digits(b) > DBL_MANT_DIG || digits(job->type) > FLT_MANT_DIG;
  job->smallest = job->type->smallest;
  job->flushes = job->judge->flushes;
  job->allowance = (fmax(1, fabs(job->alpha)) * (double)problem->k + 2) * job->sums->smallest +
                   job->type->smallest + job->judge->allowance;
  if (job->flushes > 0 && job->products)
    job->allowance += allowance_of_flushing(job);
  return TESELA_OK;
}

static bool is_complex(const tsl_problem *problem) {
  return tsl_type(problem->a.type)->is_complex || tsl_type(problem->b.type)->is_complex ||
         tsl_type(problem->c.type)->is_complex;
}

tesela_status tsl_judge_gemm(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  if (is_complex(problem))
    return tsl_judge_complex(problem, a, b, before, c, judge, verdict);
  if (tsl_type(problem->c.type)->is_integer)
    return tsl_judge_integer(problem, a, b, before, c, judge, verdict);
  judging job = {.problem = problem, .a = a, .b = b, .before = before, .c = c, .judge = judge};
  tsl_pool *pool = tsl_pool_shared();
  const int workers = tsl_pool_threads(pool);
  tesela_status status = TESELA_OK;
  *verdict = (tsl_verdict){.right = true};
  TSL_GO(prepare(&job));
  if (problem->m == 0 || problem->n == 0)
    goto out;
  TSL_GO(choose_sample(&job));
  TSL_GO(make_workers(&job, workers));
  const int64_t row_blocks = (job.row_count + BLOCK_ROWS - 1) / BLOCK_ROWS;
  if (is_deep(&job))
    TSL_GO(judge_deep(&job));
  else
    tsl_pool_run(pool, row_blocks * job.col_blocks, judge_block, &job);
  const int64_t wrong = merge(&job, workers, verdict);
  if (wrong > 0)
    TSL_GO(explain(&job, wrong, verdict));
out:
  tsl_free(job.workers);
  tsl_free(job.workspace);
  tsl_free(job.rows);
  return status;
}

typedef tesela_status (*judge_function)(const tsl_problem *problem, const void *a, const void *b,
                                        const void *before, const void *c, const tsl_judge *judge,
                                        tsl_verdict *verdict);
static const judge_function judges[TSL_OP_COUNT] = {
    [TSL_OP_GEMM] = tsl_judge_gemm, [TSL_OP_DOT] = tsl_judge_gemm, [TSL_OP_TRANSPOSE] = tsl_judge_transpose};

tesela_status tsl_judge_result(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  return judges[problem->op](problem, a, b, before, c, judge, verdict);
}
