/* Judge of integer products: equality with alpha A B + beta C0 modulo 2^32, in unsigned arithmetic. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "judge/judge_element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 32 };
static const double default_operations_max = 0x1p31;

typedef struct integer_job {
  const tsl_problem *problem;
  const unsigned char *a, *b, *before, *c;
  uint32_t alpha, beta;
  bool reads_factors;  /* A and B are read */
  int64_t rows, cols;  /* size of the sample */
  uint32_t *workspace; /* for each worker: a row of B, and the sums of ROWS rows of C */
  struct findings {
    int64_t wrong, row, col; /* of the first wrong element */
    uint32_t right;          /* expected value of that element */
    double error;            /* largest difference */
  } * workers;
} integer_job;

/* Returns index `index` of a sample of `count`, spread over `total`, the first and the last included. */
static int64_t integer_spread_index(int64_t index, int64_t count, int64_t total) {
  return count <= 1 ? 0 : (int64_t)((double)index * (double)(total - 1) / (double)(count - 1));
}

/* Loads `count` elements from (row, col) on, converted to 32 bits. */
static void load_as_32_bits(const tsl_shape *shape, const unsigned char *base, int64_t row, int64_t col,
                            int64_t step, uint32_t *out, int64_t count) {
  tsl_type_convert(shape->type, tsl_shape_at(shape, base, row, col), step, TESELA_I32, out, 1, (size_t)count);
}

static uint32_t load_one_as_32_bits(const tsl_shape *shape, const unsigned char *base, int64_t row,
                                    int64_t col) {
  uint32_t bits;
  load_as_32_bits(shape, base, row, col, 1, &bits, 1);
  return bits;
}

static void load_row_of_b(const integer_job *job, int64_t l, uint32_t *out) {
  const tsl_problem *problem = job->problem;
  if (job->cols == problem->n)
    load_as_32_bits(&problem->b, job->b, l, 0, problem->b.col_stride, out, problem->n);
  else
    for (int64_t j = 0; j < job->cols; j++)
      out[j] = load_one_as_32_bits(&problem->b, job->b, l, integer_spread_index(j, job->cols, problem->n));
}

static void compare_row_of_c(const integer_job *job, int64_t row, const uint32_t *sums,
                             struct findings *found) {
  const tsl_problem *problem = job->problem;
  for (int64_t j = 0; j < job->cols; j++) {
    const int64_t col = integer_spread_index(j, job->cols, problem->n);
    uint32_t right = job->alpha * sums[j];
    if (job->beta != 0)
      right += job->beta * load_one_as_32_bits(&problem->c, job->before, row, col);
    const uint32_t value = load_one_as_32_bits(&problem->c, job->c, row, col);
    if (value == right)
      continue;
    found->error = fmax(found->error, fabs((double)(int32_t)value - (double)(int32_t)right));
    if (found->wrong++ > 0 && (row > found->row || (row == found->row && col > found->col)))
      continue;
    found->row = row;
    found->col = col;
    found->right = right;
  }
}

/* Judges ROWS rows, which share the conversion of each row of B. */
static void integer_judge_rows(void *argument, int64_t index, int worker) {
  const integer_job *job = argument;
  const tsl_problem *problem = job->problem;
  const int64_t first = index * ROWS, left = job->rows - first, rows = left < ROWS ? left : ROWS;
  uint32_t *const b = job->workspace + worker * (ROWS + 1) * job->cols, *const sums = b + job->cols;
  memset(sums, 0, (size_t)(rows * job->cols) * sizeof *sums);
  for (int64_t l = 0; job->reads_factors && l < problem->k; l++) {
    load_row_of_b(job, l, b);
    for (int64_t i = 0; i < rows; i++) {
      const uint32_t a =
          load_one_as_32_bits(&problem->a, job->a, integer_spread_index(first + i, job->rows, problem->m), l);
      for (int64_t j = 0; j < job->cols; j++)
        sums[i * job->cols + j] += a * b[j];
    }
  }
  for (int64_t i = 0; i < rows; i++)
    compare_row_of_c(job, integer_spread_index(first + i, job->rows, problem->m), sums + i * job->cols,
                     &job->workers[worker]);
}

static void integer_merge_findings(const integer_job *job, int workers, tsl_verdict *verdict) {
  const struct findings *first = NULL;
  verdict->checked = job->rows * job->cols;
  for (int i = 0; i < workers; i++) {
    const struct findings *found = &job->workers[i];
    verdict->wrong += found->wrong;
    verdict->error = fmax(verdict->error, found->error);
    if (found->wrong > 0 &&
        (!first || found->row < first->row || (found->row == first->row && found->col < first->col)))
      first = found;
  }
  if (!first)
    return;
  verdict->right = false;
  verdict->error_ratio = INFINITY;
  verdict->row = first->row;
  verdict->col = first->col;
  snprintf(verdict->why, sizeof verdict->why,
           "C(%lld, %lld) is %d, but %d is right (modulo 2^32); %lld of %lld elements are wrong",
           (long long)first->row, (long long)first->col,
           (int)(int32_t)load_one_as_32_bits(&job->problem->c, job->c, first->row, first->col),
           (int)(int32_t)first->right, (long long)verdict->wrong, (long long)verdict->checked);
}

static int64_t integer_limit_size(int64_t size, double limit) {
  return (double)size <= limit ? size : limit < 1 ? 1 : (int64_t)limit;
}

size_t tsl_judge_integer_bytes(const tsl_problem *problem, const tsl_judge *judge) {
  const integer_job *job = NULL;
  return (size_t)tsl_team_threads(tsl_judge_team(judge)) *
         (sizeof *job->workers + (ROWS + 1) * (size_t)problem->n * sizeof *job->workspace);
}

tesela_status tsl_judge_integer(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  integer_job job = {.problem = problem, .a = a, .b = b, .before = before, .c = c};
  const tsl_team team = tsl_judge_team(judge);
  const int workers = tsl_team_threads(team);
  const double limit = judge->operations_max > 0 ? (double)judge->operations_max : default_operations_max;
  void *block;
  tesela_status status = TESELA_OK;
  *verdict = (tsl_verdict){.right = true, .row = -1, .col = -1};
  if (problem->m == 0 || problem->n == 0)
    return TESELA_OK;
  job.alpha = (uint32_t)(int64_t)problem->alpha[0];
  job.beta = (uint32_t)(int64_t)problem->beta[0];
  job.reads_factors = tsl_problem_reads(problem, TSL_OPERAND_A);
  job.rows = integer_limit_size(problem->m, limit / ((double)problem->n * (double)(problem->k + 1)));
  job.cols = integer_limit_size(problem->n, limit / ((double)job.rows * (double)(problem->k + 1)));
  TSL_TRY(tsl_alloc_zeroed((size_t)workers * sizeof *job.workers, "the judge's findings", &block));
  job.workers = block;
  TSL_GO(tsl_alloc((size_t)workers * (size_t)((ROWS + 1) * job.cols) * sizeof *job.workspace,
                   "the judge's sums", &block));
  job.workspace = block;
  tsl_team_run(team, (job.rows + ROWS - 1) / ROWS, integer_judge_rows, &job);
  integer_merge_findings(&job, workers, verdict);
out:
  tsl_free(job.workspace);
  tsl_free(job.workers);
  return status;
}
