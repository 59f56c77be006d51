/* Judge of products with structures: completed operands (densify.h) are judged as a general product. Elements
 * of C outside of its triangle are checked by guards only. */
#include "judge/densify.h"
#include "judge/judge_element.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct judge_structured_job {
  const tsl_problem *problem;
  const tsl_dense_sample *dense_sample;
  const unsigned char *c; /* dense, row by row */
  const tsl_judge *judge;
} judge_structured_job;

static void load_result(const judge_structured_job *job, int64_t row, int64_t col, double value[2]) {
  const tsl_shape *shape = &job->dense_sample->problem.c;
  value[0] = value[1] = 0;
  tsl_type_load(shape->type, tsl_shape_at(shape, job->c, row, col), value);
}

static void merge_element_verdict(tsl_verdict *all, const tsl_verdict *part, int64_t row, int64_t col) {
  const bool is_worse = part->error_ratio > all->error_ratio;
  all->checked += part->checked;
  all->wrong += part->wrong;
  all->error = fmax(all->error, part->error);
  all->grade = fmax(all->grade, part->grade);
  if (all->right && !part->right)
    memcpy(all->why, part->why, sizeof all->why);
  all->right = all->right && part->right;
  if (is_worse) {
    all->error_ratio = part->error_ratio;
    all->row = row;
    all->col = col;
  }
}

/* Judges an element whose left-out terms meet non-finite values: NaN or the sum of the others is right. */
static tesela_status judge_element_by_terms(const judge_structured_job *job, int64_t row, int64_t col,
                                            int64_t first, int64_t count, tsl_verdict *verdict) {
  const tsl_dense_sample *sample = job->dense_sample;
  tsl_problem one = sample->problem;
  tsl_judge own = *job->judge;
  tsl_verdict seen;
  double value[2];
  load_result(job, row, col, value);
  if (isnan(value[0]) && (isnan(value[1]) || !tsl_type(one.c.type)->is_complex))
    return TESELA_OK;
  one.m = one.n = one.a.rows = one.b.cols = one.c.rows = one.c.cols = 1;
  one.k = one.a.cols = one.b.rows = count;
  own.kinds = NULL;
  TSL_TRY(tsl_judge_gemm(&one, tsl_shape_at(&one.a, sample->a, row, first),
                         tsl_shape_at(&one.b, sample->b, first, col),
                         sample->before ? tsl_shape_at(&one.c, sample->before, row, col) : NULL,
                         tsl_shape_at(&one.c, job->c, row, col), &own, &seen));
  if (!seen.right) {
    char why[sizeof seen.why];
    snprintf(why, sizeof why, "%.*s (its place is %lld, %lld)", (int)sizeof why - 64, seen.why,
             (long long)row, (long long)col);
    memcpy(seen.why, why, sizeof why);
  }
  merge_element_verdict(verdict, &seen, row, col);
  return TESELA_OK;
}

/* Judges, one by one, the elements that the general product ignored because of zeros outside a triangle. */
static tesela_status judge_ignored_elements(const judge_structured_job *job, tsl_verdict *verdict) {
  for (int64_t i = 0; i < job->problem->m; i++)
    for (int64_t j = 0; j < job->problem->n; j++) {
      int64_t first, count;
      if (tsl_dense_sample_needed_terms(job->problem, job->dense_sample, i, j, &first, &count))
        TSL_TRY(judge_element_by_terms(job, i, j, first, count, verdict));
    }
  return TESELA_OK;
}

/* Checks that a hermitian diagonal is real, if all elements are right otherwise. */
static void check_real_diagonal(const judge_structured_job *job, tsl_verdict *verdict) {
  for (int64_t i = 0; i < job->problem->m; i++) {
    double value[2];
    load_result(job, i, i, value);
    if (value[1] == 0)
      continue;
    if (verdict->wrong++ > 0)
      continue;
    *verdict = (tsl_verdict){.error = INFINITY,
                             .error_ratio = INFINITY,
                             .row = i,
                             .col = i,
                             .checked = verdict->checked,
                             .wrong = 1};
    snprintf(verdict->why, sizeof verdict->why,
             "C(%lld, %lld) has the imaginary part %.3g on the diagonal of a hermitian matrix", (long long)i,
             (long long)i, value[1]);
  }
}

/* Copies the computed C into dense memory, which the caller frees. */
static tesela_status copy_result_dense(const tsl_shape *shape, const unsigned char *c, void **out) {
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  TSL_TRY(tsl_alloc((size_t)(shape->rows * shape->cols * size) + 1, "a result for the judge", out));
  for (int64_t i = 0; i < shape->rows; i++)
    tsl_type_convert(shape->type, tsl_shape_at(shape, c, i, 0), shape->col_stride, shape->type,
                     (unsigned char *)*out + i * shape->cols * size, 1, (size_t)shape->cols);
  return TESELA_OK;
}

tesela_status tsl_judge_structured(const tsl_problem *problem, const void *a, const void *b,
                                   const void *before, const void *c, const tsl_judge *judge,
                                   tsl_verdict *verdict) {
  const tsl_indices rows = {NULL, problem->m}, cols = {NULL, problem->n};
  tsl_dense_sample sample = {.memory = NULL};
  tsl_judge own = *judge;
  void *dense = NULL;
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_dense_sample_create(problem, a, b, before, &rows, &cols, &sample));
  own.kinds = sample.kinds;
  TSL_GO(copy_result_dense(&problem->c, c, &dense));
  const judge_structured_job job = {.problem = problem, .dense_sample = &sample, .c = dense, .judge = judge};
  TSL_GO(tsl_judge_gemm(&sample.problem, sample.a, sample.b, sample.before, dense, &own, verdict));
  TSL_GO(judge_ignored_elements(&job, verdict));
  if (verdict->right && tsl_is_hermitian(problem->c.structure))
    check_real_diagonal(&job, verdict);
out:
  tsl_free(dense);
  tsl_dense_sample_free(&sample);
  return status;
}
