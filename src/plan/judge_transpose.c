/* Whether a transpose is right: A's bits, or A times alpha within a rounding. */
#include "base/status.h"
#include "plan/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct judging {
  const tsl_problem *problem;
  const unsigned char *from; /* element (0, 0) of what was transposed */
  tsl_shape shape;           /* of that, n x m */
  const unsigned char *c;
  const tsl_judge *judge;
  const tsl_type_info *type;
} judging;

static const unsigned char *element_at(const tsl_shape *shape, const unsigned char *base, int64_t row,
                                       int64_t col) {
  return base + (row * shape->row_stride + col * shape->col_stride) * (int64_t)tsl_type(shape->type)->size;
}

/* alpha as C's type has it; parts of the product are sums of two, hence the factor. */
static void scaled(const judging *job, const double value[2], double out[2], double magnitude[2]) {
  unsigned char stored[16];
  double alpha[2];
  tsl_type_store(job->type->type, stored, job->problem->alpha);
  tsl_type_load(job->type->type, stored, alpha);
  out[0] = alpha[0] * value[0] - alpha[1] * value[1];
  out[1] = alpha[0] * value[1] + alpha[1] * value[0];
  magnitude[0] = fabs(alpha[0] * value[0]) + fabs(alpha[1] * value[1]);
  magnitude[1] = fabs(alpha[0] * value[1]) + fabs(alpha[1] * value[0]);
}

/* |error| over its bound, 0 where both are the same special value. Double's own rounding, where it is C's type as
 * well, stays within the bound's second unit. */
static double ratio_of(const judging *job, double right, double value, double magnitude, tsl_verdict *seen) {
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

static double judge_element(const judging *job, int64_t row, int64_t col, tsl_verdict *seen) {
  const unsigned char *source = element_at(&job->shape, job->from, col, row);
  const unsigned char *result = element_at(&job->problem->c, job->c, row, col);
  const double *alpha = job->problem->alpha;
  if (alpha[0] == 1 && alpha[1] == 0)
    return memcmp(source, result, job->type->size) == 0 ? 0 : INFINITY;
  const bool zero = alpha[0] == 0 && alpha[1] == 0;
  double from[2] = {0, 0}, value[2], right[2], magnitude[2], worst = 0;
  if (!zero)
    tsl_type_load(job->type->type, source, from);
  tsl_type_load(job->type->type, result, value);
  scaled(job, from, right, magnitude);
  for (int part = 0; part < (job->type->is_complex ? 2 : 1); part++)
    worst = fmax(worst, ratio_of(job, right[part], value[part], magnitude[part], seen));
  return worst;
}

static void explain(const judging *job, int64_t wrong, tsl_verdict *verdict) {
  double is[2], was[2] = {0, 0};
  tsl_text text = {0};
  tsl_type_load(job->type->type, element_at(&job->problem->c, job->c, verdict->row, verdict->col), is);
  if (job->from)
    tsl_type_load(job->type->type, element_at(&job->shape, job->from, verdict->col, verdict->row), was);
  tsl_text_add(&text, "C(%lld, %lld) is ", (long long)verdict->row, (long long)verdict->col);
  tsl_text_add_double(&text, is[0]);
  tsl_text_add(&text, " where A(%lld, %lld) is ", (long long)verdict->col, (long long)verdict->row);
  tsl_text_add_double(&text, was[0]);
  tsl_text_add(&text, "; wrong are %lld of %lld elements", (long long)wrong, (long long)verdict->checked);
  snprintf(verdict->why, sizeof verdict->why, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

tesela_status tsl_judge_transpose(const tsl_problem *problem, const void *a, const void *b,
                                  const void *before, const void *c, const tsl_judge *judge,
                                  tsl_verdict *verdict) {
  (void)b;
  const judging job = {.problem = problem,
                       .from = problem->in_place ? before : a,
                       .shape = problem->a,
                       .c = c,
                       .judge = judge,
                       .type = tsl_type(problem->c.type)};
  int64_t wrong = 0;
  *verdict = (tsl_verdict){.right = true, .row = -1, .col = -1};
  for (int64_t row = 0; row < problem->m; row++)
    for (int64_t col = 0; col < problem->n; col++) {
      const double ratio = judge_element(&job, row, col, verdict);
      verdict->checked++;
      wrong += ratio > 1;
      if (verdict->row >= 0 && ratio <= verdict->error_ratio)
        continue;
      verdict->error_ratio = ratio;
      verdict->row = row;
      verdict->col = col;
    }
  verdict->right = wrong == 0;
  if (wrong > 0)
    explain(&job, wrong, verdict);
  return TESELA_OK;
}
