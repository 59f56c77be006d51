/* Comparison with a file that holds the expected product. Both are roundings of the same numbers, so they may differ
 * by the strategy's bound and by that of a plain sum in the file's type:
 *
 *   |C - E| <= (factor u + (k + 2) u_E) G,   G = |alpha| |A||B| + |beta||C0|
 *
 * G costs a dot product of magnitudes, but |C| <= G up to rounding, so G is only computed where |C| in its
 * place does not explain the difference already: after cancellation, or where something is wrong. */
#include "product.h"

#include <math.h>

static double load(tesela_type type, const void *data, int64_t index) {
  double value[2];
  tsl_type_load(type, (const char *)data + index * (int64_t)tsl_type(type)->size, value);
  return value[0];
}

static double magnitude(const tsl_product *product, const tsl_problem *problem, const void *a, int64_t row,
                        int64_t col) {
  double sum = 0;
  for (int64_t l = 0; l < product->k; l++)
    sum += fabs(load(product->types.a, a, row * problem->a.row_stride + l * problem->a.col_stride)) *
           fabs(load(product->types.b, product->b.data,
                     l * problem->b.row_stride + col * problem->b.col_stride));
  sum *= fabs(problem->alpha[0]);
  if (product->before)
    sum += fabs(problem->beta[0]) * fabs(load(product->type, product->before, row * product->n + col));
  return sum;
}

static bool same_special(double x, double y) {
  return (isnan(x) && isnan(y)) || x == y;
}

static double relative_bound(const tsl_product *product) {
  const tsl_work *work = &product->plan->work;
  const double own = tsl_plan_error_bound(product->plan), u = tsl_type(work->problem.c.type)->unit_roundoff;
  const double file = tsl_type(product->expected.type)->unit_roundoff;
  return own + ((double)product->k + 2) * fmax(u, file);
}

/* Whether one element is explained by rounding; if not, it is counted. */
static void compare_element(tsl_product *product, const tsl_problem *problem, const void *a, int64_t row,
                            int64_t col, tsl_difference found) {
  tsl_difference *out = &product->difference;
  const double relative = relative_bound(product);
  const double underflow = ((double)product->k + 2) * tsl_type(product->type)->smallest; /* 0 for integers */
  const double error = fabs(found.computed - found.expected);
  out->error = isfinite(error) ? fmax(out->error, error) : INFINITY;
  found.bound = relative * 0.5 * fabs(found.computed) + underflow;
  if (isfinite(error) && error <= found.bound)
    return;
  if (isfinite(found.computed) && isfinite(found.expected))
    found.bound = relative * magnitude(product, problem, a, row, col) + underflow;
  if (isfinite(error) && error <= found.bound)
    return;
  if (out->count == 0) {
    found.error = out->error;
    *out = found;
  }
  out->count++;
}

void tsl_product_compare(tsl_product *product, const tsl_problem *problem, const void *a, int64_t first,
                         const void *expected) {
  for (int64_t row = 0; row < problem->m; row++)
    for (int64_t col = 0; col < product->n; col++) {
      const int64_t index = row * product->n + col;
      const double c = load(product->type, product->c, index), e = load(product->type, expected, index);
      if (same_special(c, e))
        continue;
      compare_element(product, problem, a, row, col,
                      (tsl_difference){.row = first + row, .col = col, .computed = c, .expected = e});
      if (product->difference.count == TSL_DIFFERENCES_MAX)
        return;
    }
}
