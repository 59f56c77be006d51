/* Comparison with a file that holds the expected result. The file's numbers are the right ones, printed or rounded; what
 * was computed may be off by the strategy's own bound:
 *
 *   |C - E| <= (factor u + u_A + u_B) G + u_E |E| + half a unit of E's last printed digit,
 *   G = |alpha| |A||B| + |beta||C0|
 *
 * u_E is the unit roundoff of the file's type, or C's where that is coarser; u_A and u_B are those of the types as which
 * A and B were read, where these are coarser than their files'. Types that are narrower than their sums are
 * rounded once, at the end, which costs u |C| and not u G. Of complex numbers, each component is a real sum, with a G of its
 * own. With --tolerance, that alone decides.
 *
 * G costs a dot product of magnitudes, but |C| <= G up to rounding, so G is only computed where |C| in its
 * place does not explain the difference already: after cancellation, or where something is wrong. */
#include "base/status.h"
#include "product/product.h"

#include <math.h>
#include <stdio.h>

/* What judges one element, component by component. */
typedef struct bound {
  double relative;  /* of G */
  double own, file; /* of |C|, of |E| */
  double underflow;
  double flushes; /* as tsl_accuracy has it */
} bound;

static void load(tesela_type type, const void *data, int64_t index, double value[2]) {
  tsl_type_load(type, (const char *)data + index * (int64_t)tsl_type(type)->size, value);
}

/* What reading a file in a narrower type costs, relative to its numbers. */
static double read_roundoff(const tsl_feed *feed) {
  const double file = feed->reader ? tsl_type(feed->type)->unit_roundoff : 0;
  const double own = feed->reader ? tsl_type(feed->as)->unit_roundoff : 0;
  return own > file ? own : 0;
}

static bound bound_of(const tsl_product *product, const tsl_plan_bound *guaranteed) {
  const tsl_plan_bound accuracy = *guaranteed;
  const tsl_type_info *type = tsl_type(product->type), *sums = tsl_type(type->sums);
  const double u = type->unit_roundoff, factor = accuracy.factor + (type->is_complex ? 2 : 0);
  const double scale = fmax(1, hypot(product->request.alpha[0], product->request.alpha[1]));
  bound out = {.relative = factor * u,
               .file = fmax(u, tsl_type(product->expected.type)->unit_roundoff),
               .underflow = ((double)product->k + 2) * scale * sums->smallest + type->smallest,
               .flushes = accuracy.flushes};
  if (type->is_integer)
    return (bound){.relative = 0};
  if (accuracy.rounded || sums != type) {
    out.own = u * (1 + u);
    out.relative = accuracy.rounded ? 0 : fmax(0, factor - 1) * u;
  }
  const double a = read_roundoff(&product->a), b = read_roundoff(&product->b);
  out.relative += fmax(a + b + a * b, read_roundoff(&product->c0));
  return out;
}

/* G of both components of one element, and what flushing its terms to 0 may cost. */
static void add_magnitudes(const tsl_product *product, const tsl_compared *of, int64_t row, int64_t col,
                           double g[2], double *terms) {
  const tsl_layout *at = &of->at;
  const double *alpha = product->whole.alpha, *beta = product->whole.beta;
  double sum[2] = {0, 0}, before[2] = {0, 0};
  *terms = 0;
  for (int64_t l = 0; l < product->k; l++) {
    double x[2], y[2];
    load(product->types.a, of->a, row * at->a_row + l * at->a_col, x);
    load(product->types.b, of->b, l * at->b_row + col * at->b_col, y);
    sum[0] += fabs(x[0] * y[0]) + fabs(x[1] * y[1]);
    sum[1] += fabs(x[0] * y[1]) + fabs(x[1] * y[0]);
    *terms += fabs(x[0]) + fabs(y[0]) + 2;
  }
  if (of->before)
    load(product->type, of->before, row * of->cols + col, before);
  for (int component = 0; component < 2; component++)
    g[component] = fabs(alpha[0]) * sum[component] + fabs(alpha[1]) * sum[1 - component] +
                   fabs(beta[0] * before[component]) + fabs(beta[1] * before[1 - component]);
  *terms *= fabs(alpha[0]);
}

static bool same_special(double x, double y) {
  return (isnan(x) && isnan(y)) || x == y;
}

/* How one component of an element was judged. */
typedef struct judgement {
  bool agrees, by_print, weak;
  double rounding, printed; /* that explain so much */
} judgement;

static judgement judge_component(const tsl_product *product, const bound *by, double c, double e,
                                 const double *g, double flushed) {
  const double error = fabs(c - e), size = g ? *g : 0.5 * fabs(c);
  judgement out = {.rounding = by->relative * size + by->own * fabs(c) + by->file * fabs(e) + by->underflow +
                               by->flushes * flushed,
                   .printed =
                       product->expected.printed ? tsl_printed_half_unit(product->expected.printed, e) : 0};
  if (!isfinite(error)) {
    out.rounding = out.printed = 0;
    return out;
  }
  out.agrees = error <= out.rounding + out.printed;
  out.by_print = out.agrees && error > out.rounding;
  out.weak = out.agrees && error >= 0.5 * fmax(fabs(c), fabs(e)) && out.rounding > out.printed;
  return out;
}

/* Compares an element whose components are not all equal, and counts it where it differs. */
static void compare_element(tsl_product *product, const tsl_compared *of, const bound *by,
                            tsl_difference found) {
  tsl_difference *out = &product->difference;
  const int components =
      tsl_type(product->expected.as)->is_complex || tsl_type(product->type)->is_complex ? 2 : 1;
  const bool moved = product->request.op == TSL_OP_TRANSPOSE;
  double g[2], flushed = 0, error = 0;
  bool differs = false, print = false, weak = false, have_g = false;
  for (int component = 0; component < components; component++) {
    const double c = found.computed[component], e = found.expected[component];
    if (same_special(c, e))
      continue;
    const double whole = fabs(c);
    judgement seen = judge_component(product, by, c, e, moved ? &whole : NULL, 0);
    if ((!seen.agrees || seen.by_print) && !moved && isfinite(c) && isfinite(e)) {
      if (!have_g)
        add_magnitudes(product, of, found.row - of->row, found.col - of->col, g, &flushed);
      have_g = true;
      seen = judge_component(product, by, c, e, &g[component], flushed);
    }
    error = isfinite(c - e) ? hypot(error, c - e) : INFINITY;
    if (!seen.agrees && !differs) {
      found.rounding = seen.rounding;
      found.printed = seen.printed;
    }
    differs = differs || !seen.agrees;
    print = print || seen.by_print;
    weak = weak || seen.weak;
  }
  if (product->request.tolerance.given) {
    differs = !(error <= product->request.tolerance.value);
    print = weak = false;
  }
  out->error = fmax(out->error, error);
  out->by_print += !differs && print;
  out->weak += !differs && weak;
  if (!differs)
    return;
  if (out->count == 0) {
    found.error = out->error;
    found.by_print = out->by_print;
    found.weak = out->weak;
    *out = found;
  }
  out->count++;
}

void tsl_product_compare(tsl_product *product, const tsl_compared *of) {
  const bound by = bound_of(product, &of->guaranteed);
  for (int64_t row = 0; row < of->rows; row++)
    for (int64_t col = 0; col < of->cols; col++) {
      const int64_t index = row * of->cols + col;
      tsl_difference found = {.row = of->row + row, .col = of->col + col};
      load(product->type, of->c, index, found.computed);
      load(product->expected.as, of->expected, index, found.expected);
      if (same_special(found.computed[0], found.expected[0]) &&
          same_special(found.computed[1], found.expected[1]))
        continue;
      compare_element(product, of, &by, found);
      if (product->difference.count == TSL_DIFFERENCES_MAX)
        return;
    }
}

tsl_decider tsl_product_decider(const tsl_product *product) {
  const tsl_difference *difference = &product->difference;
  if (product->request.tolerance.given)
    return TSL_DECIDED_BY_TOLERANCE;
  const bool print =
      difference->count > 0 ? difference->printed > difference->rounding : difference->by_print > 0;
  return print ? TSL_DECIDED_BY_PRINT : TSL_DECIDED_BY_ROUNDING;
}

const char *tsl_decider_name(tsl_decider decider) {
  static const char *const names[] = {
#define DECIDER_ROW(name, text) [TSL_DECIDED_BY_##name] = text,
      TSL_DECIDER_LIST(DECIDER_ROW)
#undef DECIDER_ROW
  };
  return names[decider];
}

/* --- what differs --- */

static const char *format_value(const double value[2], bool complex, char *out, size_t size) {
  if (complex)
    snprintf(out, size, "%.9g%+.9gi", value[0], value[1]);
  else
    snprintf(out, size, "%.9g", value[0]);
  return out;
}

/* What would have been fine, after the two numbers. */
static const char *format_bound(const tsl_product *product, char *out, size_t size) {
  const tsl_difference *difference = &product->difference;
  if (product->request.tolerance.given)
    snprintf(out, size, "; --tolerance is %.3g", product->request.tolerance.value);
  else if (difference->printed > 0)
    snprintf(out, size, "; rounding explains %.2g and its last printed digit %.2g", difference->rounding,
             difference->printed);
  else
    snprintf(out, size, " and rounding explains %.2g", difference->rounding);
  return out;
}

tesela_status tsl_product_tell_difference(const tsl_product *product, bool is_last) {
  const tsl_difference *difference = &product->difference;
  if (difference->count == 0)
    return TESELA_OK;
  const bool all = is_last && difference->count < TSL_DIFFERENCES_MAX;
  const bool complex = tsl_type(product->type)->is_complex || tsl_type(product->expected.type)->is_complex;
  char computed[64], expected[64], why[128];
  return tsl_fail(
      TESELA_WRONG_RESULT,
      "the %s differs from %s in %s%lld element%s; the first is C(%lld, %lld), which is %s where the "
      "file has %s%s",
      tsl_product_result_name(product), product->expected.path, all ? "" : "at least ",
      (long long)difference->count, difference->count == 1 ? "" : "s", (long long)difference->row,
      (long long)difference->col, format_value(difference->computed, complex, computed, sizeof computed),
      format_value(difference->expected, complex, expected, sizeof expected),
      format_bound(product, why, sizeof why));
}
