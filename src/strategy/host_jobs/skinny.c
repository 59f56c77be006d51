#include "strategy/host_jobs/skinny.h"

#include "host/int_math.h"
#include "strategy/host_jobs/host_job.h"

const char *tsl_lopsided_refuse(const tsl_problem *problem, int thin_max, int k_max) {
  const int64_t m = problem->m, n = problem->n, k = problem->k;
  if (tsl_min(m, n) <= thin_max)
    return NULL;
  if (k > k_max)
    return tsl_refusal("neither m nor n of %lld x %lld x %lld is %d or less, nor k %d", (long long)m,
                       (long long)n, (long long)k, thin_max, k_max);
  return problem->c.row_stride == 1 || problem->c.col_stride == 1
             ? NULL
             : "a product with a small k needs contiguous rows or columns of C";
}

tsl_lopsided tsl_lopsided_of(const tsl_problem *problem, const tsl_operands *strides, int thin_max) {
  const int64_t m = problem->m, n = problem->n, depth = problem->alpha[0] != 0 ? problem->k : 0;
  const bool is_large_c = tsl_min(m, n) > thin_max,
             is_swapped = is_large_c ? strides->c.col_stride != 1 : n < m;
  const int64_t few = is_swapped ? n : m, many = is_swapped ? m : n;
  tsl_views views = tsl_views_as_given(problem, strides);
  if (is_swapped)
    tsl_views_swap(&views);
  return (tsl_lopsided){.is_large_c = is_large_c,
                        .is_swapped = is_swapped,
                        .size = (int64_t)tsl_type(problem->c.type)->size,
                        .few = few,
                        .many = many,
                        .depth = depth,
                        .across = depth == 0 ? 1 : tsl_stride_or_alone(views.b.col_stride, many, 1),
                        .along = tsl_stride_or_alone(views.b.row_stride, depth, many > 1 ? 0 : 1),
                        .thin_across = depth == 0 ? 0 : tsl_stride_or_alone(views.a.row_stride, few, 0),
                        .thin_along = tsl_stride_or_alone(views.a.col_stride, depth, 1),
                        .c_few = tsl_stride_or_alone(views.c.row_stride, few, 0),
                        .c_many = tsl_stride_or_alone(views.c.col_stride, many, 1),
                        .alpha = problem->alpha[0],
                        .beta = problem->beta[0]};
}
