/* Compares the result with the file of --expect. The file has the right numbers, printed or rounded. The
 * result may have the strategy's guaranteed error:
 *
 *   |C - E| <= (factor u + u_A + u_B) G + u_E |E| + half a unit of E's last printed digit,
 *   G = |alpha| |A||B| + |beta||C0| + |bias|
 *
 * u_E is the larger unit roundoff of E's type and C's type. u_A is the unit roundoff of the type as which A
 * is read. It is 0 if A's file has that type or a coarser one. u_B is B's. If sums are wider than C,
 * C is rounded once at the end, which costs u |C| instead of u G. Each component of a complex number is a
 * real sum with its own G. An activation multiplies the errors of reading by its largest slope. With
 * --tolerance, the tolerance alone decides.
 *
 * G costs a dot product of magnitudes. |C| <= G up to rounding, so |C| / 2 is tried first. G is computed only
 * if |C| / 2 does not explain the difference: after cancellation, or for a wrong element. Its terms are added
 * part by part until they explain the difference. */
#include "core/list_text.h"
#include "core/status.h"
#include "product/product.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The coefficients of an element's bound. */
typedef struct bound {
  double relative;  /* the coefficient of G */
  double own, file; /* the coefficients of |C| and of |E| */
  double underflow;
  double flushes; /* as in tsl_accuracy */
} bound;

static void expect_load(tesela_type type, const void *data, int64_t index, double value[2]) {
  tsl_type_load(type, (const char *)data + index * (int64_t)tsl_type(type)->size, value);
}

/* Loads element (row, col) of a factor as its structure defines it; signs are not needed. */
static void expect_load_factor(const tsl_shape *shape, const void *data, int64_t row_stride,
                               int64_t col_stride, int64_t row, int64_t col, double value[2]) {
  const tsl_stored from = tsl_shape_element(shape, row, col);
  value[0] = from.what == TSL_ELEMENT_ONE;
  value[1] = 0;
  if (from.what != TSL_ELEMENT_STORED)
    return;
  expect_load(shape->type, data, from.row * row_stride + from.col * col_stride, value);
  if (from.real)
    value[1] = 0;
}

/* Returns the relative error of reading a file into a narrower type. */
static double read_roundoff(const tsl_matrix_source *feed) {
  const double file = feed->reader ? tsl_type(feed->type)->unit_roundoff : 0;
  const double own = feed->reader ? tsl_type(feed->as)->unit_roundoff : 0;
  return own > file ? own : 0;
}

/* Returns the largest slope of the activation function (GELU and its approximations exceed 1). */
static double slope(tesela_activation activation) {
  return activation == TESELA_GELU || activation == TESELA_GELU_TANH ? 1.13 : 1;
}

static bound expect_bound_of(const tsl_product *product, const tsl_plan_bound *guaranteed) {
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
  const double a = read_roundoff(&product->a),
               b = product->request.by_itself ? a : read_roundoff(&product->b);
  const double read = fmax(a + b + a * b, fmax(read_roundoff(&product->c0), read_roundoff(&product->bias)));
  for (int i = 0; i < 2; i++)
    out.relative += product->scales[i].reader ? read_roundoff(&product->scales[i]) : 0;
  out.relative += slope(product->request.activation) * read;
  return out;
}

static double scale_of(const tsl_product *product, int value, const tesela_vector *vector, int64_t line) {
  const float *numbers = vector->data;
  return numbers ? fabs((double)numbers[product->scalings[value] == TESELA_SCALE_LINES ? line : 0]) : 1;
}

/* Returns the magnitude of the product of scales that multiplies an element of a part. */
static double expect_scales_at(const tsl_product *product, const tsl_compared *compared, int64_t row,
                               int64_t col) {
  return scale_of(product, 0, &compared->last.scale_a, row) *
         scale_of(product, 1, &compared->last.scale_b, compared->col + col);
}

void tsl_product_add_magnitudes(const tsl_product *product, tsl_element_sum *sum, const tsl_factors *factors,
                                int64_t row, int64_t col, int64_t first, int64_t depth) {
  const tsl_file_layout *at = &factors->at;
  for (int64_t l = first; l < first + depth; l++) {
    double x[2], y[2];
    expect_load_factor(&product->whole.a, factors->a, at->a_row, at->a_col, row, l, x);
    expect_load_factor(&product->whole.b, factors->b, at->b_row, at->b_col, l, col, y);
    sum->magnitude[0] += fabs(x[0] * y[0]) + fabs(x[1] * y[1]);
    sum->magnitude[1] += fabs(x[0] * y[1]) + fabs(x[1] * y[0]);
    sum->terms += fabs(x[0]) + fabs(y[0]) + 2;
  }
}

/* G of both components of one element, and the largest error of flushing its terms to 0. */
typedef struct magnitudes {
  double g[2], flushed;
} magnitudes;

/* Returns G from the sum of products. `before`, `bias` and `scales` are the element's. */
static magnitudes whole_magnitudes(const tsl_product *product, const tsl_element_sum *sum,
                                   const double before[2], const double bias[2], double scales) {
  const double *alpha = product->whole.alpha, *beta = product->whole.beta;
  magnitudes out = {.flushed = sum->terms * fabs(alpha[0]) * scales};
  for (int component = 0; component < 2; component++)
    out.g[component] =
        scales *
            (fabs(alpha[0]) * sum->magnitude[component] + fabs(alpha[1]) * sum->magnitude[1 - component]) +
        fabs(beta[0] * before[component]) + fabs(beta[1] * before[1 - component]) + fabs(bias[component]);
  return out;
}

static bool same_special(double x, double y) {
  return (isnan(x) && isnan(y)) || x == y;
}

/* The judgement of one component of an element. */
typedef struct judgement {
  bool agrees, by_print, weak;
  double rounding, printed; /* the two parts of the bound */
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

/* The judgement of an element. */
typedef struct expect_outcome {
  double error;
  bool differs, by_print, weak;
  bool is_sure; /* larger magnitudes would not change the judgement */
} expect_outcome;

/* Returns true if C has no sums whose magnitudes could explain a difference: |C| stands for G. For a solve
 * --tolerance decides. */
static bool expect_is_moved(const tsl_product *product) {
  return product->request.op == TSL_OP_TRANSPOSE || product->request.op == TSL_OP_SOLVE;
}

static int components_of(const tsl_product *product) {
  return tsl_type(product->expected.as)->is_complex || tsl_type(product->type)->is_complex ? 2 : 1;
}

static double error_of(const tsl_product *product, const tsl_difference *found) {
  double error = 0;
  for (int component = 0; component < components_of(product); component++) {
    const double c = found->computed[component], e = found->expected[component];
    if (!same_special(c, e))
      error = isfinite(c - e) ? hypot(error, c - e) : INFINITY;
  }
  return error;
}

/* Judges an element whose components are not all equal, and sets its bounds. `is`: the element's magnitudes;
 * NULL: |C| / 2 is used, and false means that |C| / 2 is not enough. A difference within --tolerance needs no
 * magnitudes. */
static bool expect_judge_element(const tsl_product *product, const bound *by, const magnitudes *is,
                                 tsl_difference *found, expect_outcome *out) {
  const tsl_option_number *tolerance = &product->request.tolerance;
  *out = (expect_outcome){.error = error_of(product, found), .is_sure = true};
  const bool moved = expect_is_moved(product), is_near = tolerance->given && out->error <= tolerance->value;
  for (int component = 0; component < components_of(product); component++) {
    const double c = found->computed[component], e = found->expected[component], whole = fabs(c);
    if (same_special(c, e))
      continue;
    judgement seen = judge_component(product, by, c, e, moved ? &whole : NULL, 0);
    if ((!seen.agrees || seen.by_print) && !moved && !is_near && isfinite(c) && isfinite(e)) {
      if (!is)
        return false;
      seen = judge_component(product, by, c, e, &is->g[component], is->flushed);
      out->is_sure =
          out->is_sure && fabs(c - e) <= seen.rounding && (seen.printed == 0 || seen.rounding > seen.printed);
    }
    if (!seen.agrees && !out->differs) {
      found->rounding = seen.rounding;
      found->printed = seen.printed;
    }
    out->differs = out->differs || !seen.agrees;
    out->by_print = out->by_print || seen.by_print;
    out->weak = out->weak || seen.weak;
  }
  return true;
}

static bool is_before(const tsl_difference *difference, const tsl_difference *other) {
  return difference->row < other->row || (difference->row == other->row && difference->col < other->col);
}

/* Adds a judged element to the product's difference. */
static void count_element(tsl_product *product, tsl_difference found, expect_outcome is) {
  tsl_difference *out = &product->difference;
  if (product->request.tolerance.given) {
    is.differs = !(is.error <= product->request.tolerance.value);
    is.by_print = is.weak = false;
  }
  out->error = fmax(out->error, is.error);
  out->by_print += !is.differs && is.by_print;
  out->weak += !is.differs && is.weak;
  if (!is.differs)
    return;
  if (out->count == 0 || is_before(&found, out)) {
    found.count = out->count;
    found.error = out->error;
    found.by_print = out->by_print;
    found.weak = out->weak;
    *out = found;
  }
  out->count++;
}

/* Judges an element with its factors. Adds magnitudes, one part of k after another, until they explain the
 * difference. */
static void judge_in_parts(const tsl_product *product, const tsl_compared *compared, const bound *by,
                           tsl_difference *found, expect_outcome *is) {
  const int64_t row = found->row - compared->row, col = found->col - compared->col, k = product->k;
  double before[2] = {0, 0}, bias[2] = {0, 0};
  tsl_element_sum sum = {.terms = 0};
  if (compared->before)
    expect_load(product->type, compared->before, row * compared->cols + col, before);
  if (compared->last.bias.data)
    expect_load(product->bias.as, compared->last.bias.data,
                product->request.bias_axis == TESELA_BIAS_ROW ? found->col : row, bias);
  for (int64_t l = 0;; l += TSL_MAGNITUDES_FIRST) {
    const int64_t left = k - l, depth = left < TSL_MAGNITUDES_FIRST ? left : TSL_MAGNITUDES_FIRST;
    tsl_product_add_magnitudes(product, &sum, &compared->factors, row, col, l, depth);
    const magnitudes all =
        whole_magnitudes(product, &sum, before, bias, expect_scales_at(product, compared, row, col));
    (void)expect_judge_element(product, by, &all, found, is);
    if (is->is_sure || depth == left)
      return;
  }
}

/* Compares an element; returns false if its magnitudes are needed and the factors are not in
 * memory. */
static bool compare_element(tsl_product *product, const tsl_compared *compared, const bound *by,
                            tsl_difference found) {
  expect_outcome is;
  if (!expect_judge_element(product, by, NULL, &found, &is)) {
    if (compared->open)
      return false;
    judge_in_parts(product, compared, by, &found, &is);
  }
  count_element(product, found, is);
  return true;
}

bool tsl_product_settle(tsl_product *product, const tsl_plan_bound *guaranteed,
                        const tsl_open_element *element, bool is_whole) {
  static const double none[2] = {0, 0};
  const bound by = expect_bound_of(product, guaranteed);
  const magnitudes all = whole_magnitudes(product, &element->sum, element->before, none, 1);
  tsl_difference found = {.row = element->row, .col = element->col};
  expect_outcome is;
  memcpy(found.computed, element->computed, sizeof found.computed);
  memcpy(found.expected, element->expected, sizeof found.expected);
  (void)expect_judge_element(product, &by, &all, &found, &is);
  if (!is_whole && !is.is_sure)
    return false;
  count_element(product, found, is);
  return true;
}

/* Puts an element on the list of open elements; returns false if the list is full. */
static bool keep_open(const tsl_compared *compared, const tsl_difference *found) {
  tsl_open_list *list = compared->open;
  if (list->count == list->most)
    return false;
  tsl_open_element *element = &list->elements[list->count++];
  *element = (tsl_open_element){.row = found->row, .col = found->col};
  memcpy(element->computed, found->computed, sizeof element->computed);
  memcpy(element->expected, found->expected, sizeof element->expected);
  return true;
}

int64_t tsl_product_compare(tsl_product *product, const tsl_compared *compared, int64_t from) {
  const bound by = expect_bound_of(product, &compared->guaranteed);
  const int64_t count = compared->rows * compared->cols;
  for (int64_t index = from; index < count && product->difference.count < TSL_DIFFERENCES_MAX; index++) {
    tsl_difference found = {.row = compared->row + index / compared->cols,
                            .col = compared->col + index % compared->cols};
    expect_load(product->type, compared->c, index, found.computed);
    expect_load(product->expected.as, compared->expected, index, found.expected);
    if (same_special(found.computed[0], found.expected[0]) &&
        same_special(found.computed[1], found.expected[1]))
      continue;
    if (!compare_element(product, compared, &by, found) && !keep_open(compared, &found))
      return index;
  }
  return count;
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
  static const char *const names[] = {TSL_DECIDER_LIST(TSL_LIST_TEXT)};
  return names[decider];
}

/* --- the message --- */

static const char *format_value(const double value[2], bool complex, char *out, size_t size) {
  if (complex)
    snprintf(out, size, "%.9g%+.9gi", value[0], value[1]);
  else
    snprintf(out, size, "%.9g", value[0]);
  return out;
}

/* Formats the permitted difference, for the message after the two numbers. */
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
