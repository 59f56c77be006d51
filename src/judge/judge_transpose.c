#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "judge/judge_element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Edge of the compared tiles, whose rows on both sides fit a cache. */
enum { TILE = 64 };

typedef struct judge_transpose_findings {
  tsl_verdict worst;
  int64_t wrong;
} judge_transpose_findings;

typedef struct judge_transpose_job {
  const tsl_problem *problem;
  const unsigned char *from; /* element (0, 0) of the operand */
  tsl_shape operand_shape;   /* shape of the operand, n x m */
  const unsigned char *c;
  const tsl_judge *judge;
  const tsl_type_info *type;
  judge_transpose_findings *worker_findings;
} judge_transpose_job;

/* Computes alpha times an element, with alpha rounded to C's type. Parts are sums of two products. */
static void scale_element(const judge_transpose_job *job, const double value[2], double out[2],
                          double magnitude[2]) {
  unsigned char stored[16];
  double alpha[2];
  tsl_type_store(job->type->type, stored, job->problem->alpha);
  tsl_type_load(job->type->type, stored, alpha);
  out[0] = alpha[0] * value[0] - alpha[1] * value[1];
  out[1] = alpha[0] * value[1] + alpha[1] * value[0];
  magnitude[0] = fabs(alpha[0] * value[0]) + fabs(alpha[1] * value[1]);
  magnitude[1] = fabs(alpha[0] * value[1]) + fabs(alpha[1] * value[0]);
}

/* Returns |error| / bound; 0 for equal special values. Raises error and grade in *seen. */
static double error_to_bound_ratio(const judge_transpose_job *job, double right, double value,
                                   double magnitude, tsl_verdict *seen) {
  if (isnan(right) || isnan(value))
    return isnan(right) && isnan(value) ? 0 : INFINITY;
  if (isinf(value) && fabs(right) > job->type->largest * (1 - job->type->unit_roundoff))
    return (right > 0) == (value > 0) ? 0 : INFINITY;
  if (isinf(value) || isinf(right))
    return value == right ? 0 : INFINITY;
  const double error = fabs(value - right), unit = job->type->unit_roundoff;
  const double bound = (job->judge->factor + 1) * unit * magnitude + 2 * job->type->smallest;
  seen->error = fmax(seen->error, error);
  if (magnitude > 0)
    seen->grade = fmax(seen->grade, fmax(0, error - 2 * job->type->smallest) / (unit * magnitude));
  return error == 0 ? 0 : error / bound;
}

static double judge_transposed_element(const judge_transpose_job *job, int64_t row, int64_t col,
                                       tsl_verdict *seen) {
  const unsigned char *source = tsl_shape_at(&job->operand_shape, job->from, col, row);
  const unsigned char *result = tsl_shape_at(&job->problem->c, job->c, row, col);
  const double *alpha = job->problem->alpha;
  if (alpha[0] == 1 && alpha[1] == 0)
    return memcmp(source, result, job->type->size) == 0 ? 0 : INFINITY;
  const bool zero = alpha[0] == 0 && alpha[1] == 0;
  double from[2] = {0, 0}, value[2], right[2], magnitude[2], worst = 0;
  if (!zero)
    tsl_type_load(job->type->type, source, from);
  tsl_type_load(job->type->type, result, value);
  scale_element(job, from, right, magnitude);
  for (int part = 0; part < (job->type->is_complex ? 2 : 1); part++)
    worst = fmax(worst, error_to_bound_ratio(job, right[part], value[part], magnitude[part], seen));
  return worst;
}

typedef struct judge_transpose_tile {
  int64_t first_row, end_row, first_col, end_col;
} judge_transpose_tile;

static void judge_tile_elements(const judge_transpose_job *job, const judge_transpose_tile *part,
                                judge_transpose_findings *found) {
  for (int64_t row = part->first_row; row < part->end_row; row++)
    for (int64_t col = part->first_col; col < part->end_col; col++) {
      const double ratio = judge_transposed_element(job, row, col, &found->worst);
      found->wrong += ratio > 1;
      if (!tsl_verdict_is_exceeded(&found->worst, ratio, row, col))
        continue;
      found->worst.error_ratio = ratio;
      found->worst.row = row;
      found->worst.col = col;
    }
}

/* Returns the differing bits of two elements. A constant size keeps them in registers. */
static inline uint64_t differing_bits(const unsigned char *a, const unsigned char *b, size_t size) {
  uint64_t x[2] = {0, 0}, y[2] = {0, 0};
  memcpy(x, a, size);
  memcpy(y, b, size);
  return (x[0] ^ y[0]) | (x[1] ^ y[1]);
}

static inline uint64_t differing_bits_of_row(const unsigned char *from, int64_t from_step,
                                             const unsigned char *dst, int64_t step, int64_t count,
                                             size_t size) {
  uint64_t found = 0;
  for (int64_t i = 0; i < count; i++)
    found |= differing_bits(from + i * from_step, dst + i * step, size);
  return found;
}

static bool tile_has_equal_bits(const judge_transpose_job *job, const judge_transpose_tile *part) {
  const int64_t size = (int64_t)job->type->size, count = part->end_col - part->first_col;
  const int64_t from_step = job->operand_shape.row_stride * size, step = job->problem->c.col_stride * size;
  uint64_t found = 0;
  for (int64_t row = part->first_row; row < part->end_row; row++) {
    const unsigned char *from = tsl_shape_at(&job->operand_shape, job->from, part->first_col, row);
    const unsigned char *to = tsl_shape_at(&job->problem->c, job->c, row, part->first_col);
    found |= size == 1   ? differing_bits_of_row(from, from_step, to, step, count, 1)
             : size == 2 ? differing_bits_of_row(from, from_step, to, step, count, 2)
             : size == 4 ? differing_bits_of_row(from, from_step, to, step, count, 4)
             : size == 8 ? differing_bits_of_row(from, from_step, to, step, count, 8)
                         : differing_bits_of_row(from, from_step, to, step, count, 16);
  }
  return found == 0;
}

static void judge_row_of_tiles(void *argument, int64_t index, int worker) {
  const judge_transpose_job *job = argument;
  const tsl_problem *problem = job->problem;
  judge_transpose_findings *found = &job->worker_findings[worker];
  const bool exact = problem->alpha[0] == 1 && problem->alpha[1] == 0;
  judge_transpose_tile part = {.first_row = index * TILE};
  part.end_row = part.first_row + TILE < problem->m ? part.first_row + TILE : problem->m;
  for (; part.first_col < problem->n; part.first_col += TILE) {
    part.end_col = part.first_col + TILE < problem->n ? part.first_col + TILE : problem->n;
    if (!exact || !tile_has_equal_bits(job, &part))
      judge_tile_elements(job, &part, found);
    else if (tsl_verdict_is_exceeded(&found->worst, 0, part.first_row,
                                     part.first_col)) /* all tiles are equally good: the first one is named */
      found->worst.row = part.first_row, found->worst.col = part.first_col;
  }
}

static void merge_worker(const judge_transpose_findings *found, tsl_verdict *into) {
  const tsl_verdict *worst = &found->worst;
  into->wrong += found->wrong;
  into->error = fmax(into->error, worst->error);
  into->grade = fmax(into->grade, worst->grade);
  if (worst->row < 0 || !tsl_verdict_is_exceeded(into, worst->error_ratio, worst->row, worst->col))
    return;
  into->error_ratio = worst->error_ratio;
  into->row = worst->row;
  into->col = worst->col;
}

static void explain_worst_transposed(const judge_transpose_job *job, tsl_verdict *verdict) {
  double is[2], was[2] = {0, 0};
  tsl_text text = {0};
  tsl_type_load(job->type->type, tsl_shape_at(&job->problem->c, job->c, verdict->row, verdict->col), is);
  if (job->from)
    tsl_type_load(job->type->type, tsl_shape_at(&job->operand_shape, job->from, verdict->col, verdict->row),
                  was);
  tsl_text_add(&text, "C(%lld, %lld) is ", (long long)verdict->row, (long long)verdict->col);
  tsl_text_add_double(&text, is[0]);
  tsl_text_add(&text, " where A(%lld, %lld) is ", (long long)verdict->col, (long long)verdict->row);
  tsl_text_add_double(&text, was[0]);
  tsl_text_add(&text, "; %lld of %lld elements are wrong", (long long)verdict->wrong,
               (long long)verdict->checked);
  snprintf(verdict->why, sizeof verdict->why, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

size_t tsl_judge_transpose_bytes(const tsl_judge *judge) {
  return (size_t)tsl_team_threads(tsl_judge_team(judge)) * sizeof(judge_transpose_findings);
}

tesela_status tsl_judge_transpose(const tsl_problem *problem, const void *a, const void *b,
                                  const void *before, const void *c, const tsl_judge *judge,
                                  tsl_verdict *verdict) {
  const tsl_team team = tsl_judge_team(judge);
  const int threads = tsl_team_threads(team);
  void *workers;
  (void)b;
  *verdict = (tsl_verdict){.right = true, .row = -1, .col = -1};
  if (problem->m == 0 || problem->n == 0)
    return TESELA_OK;
  TSL_TRY(tsl_alloc((size_t)threads * sizeof(judge_transpose_findings), "the judge's notes", &workers));
  judge_transpose_job job = {.problem = problem,
                             .from = problem->in_place ? before : a,
                             .operand_shape = problem->a,
                             .c = c,
                             .judge = judge,
                             .type = tsl_type(problem->c.type),
                             .worker_findings = workers};
  for (int i = 0; i < threads; i++)
    job.worker_findings[i] = (judge_transpose_findings){.worst = {.row = -1, .col = -1}};
  tsl_team_run(team, (problem->m - 1) / TILE + 1, judge_row_of_tiles, &job);
  for (int i = 0; i < threads; i++)
    merge_worker(&job.worker_findings[i], verdict);
  tsl_free(workers);
  verdict->checked = problem->m * problem->n;
  verdict->right = verdict->wrong == 0;
  if (!verdict->right)
    explain_worst_transposed(&job, verdict);
  return TESELA_OK;
}
