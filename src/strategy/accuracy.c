#include "strategy/accuracy.h"

#include <math.h>

int64_t tsl_accuracy_terms(const tsl_problem *problem) {
  const int64_t terms = tsl_problem_terms(problem);
  return tsl_type(problem->c.type)->is_complex ? 2 * terms : terms;
}

tsl_accuracy tsl_accuracy_of_sum(int64_t k) {
  return (tsl_accuracy){.factor = (double)k + 4, .is_reproducible = true};
}

tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return tsl_accuracy_in_type(tsl_accuracy_of_sum(tsl_problem_terms(problem)), problem->c.type);
}

tsl_accuracy tsl_accuracy_of_substitution(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double k = (double)problem->k;
  return (tsl_accuracy){.factor = tsl_type(problem->c.type)->is_complex ? 2 * k + 16 : k + 4,
                        .is_reproducible = true};
}

tsl_accuracy tsl_accuracy_relaxed(tsl_accuracy of_sums, const tsl_problem *problem, bool relaxed) {
  if (relaxed) {
    of_sums.flush_threshold = problem->c.type == TESELA_F64 ? 0x1p-1022 : 0x1p-126;
    of_sums.finite_only = true;
  }
  return of_sums;
}

tsl_accuracy tsl_accuracy_in_type(tsl_accuracy of_sums, tesela_type type) {
  const tsl_type_info *info = tsl_type(type), *sums = tsl_type(info->sums);
  if (info->is_integer)
    of_sums.factor = 0;
  else if (sums != info)
    of_sums.factor =
        1 + of_sums.factor * sums->unit_roundoff / info->unit_roundoff * (1 + info->unit_roundoff);
  return of_sums;
}

static const double gelu_slope = 1.13;

static bool is_gelu(const tsl_problem *problem) {
  return problem->activation == TESELA_GELU || problem->activation == TESELA_GELU_TANH;
}

tsl_accuracy tsl_accuracy_scaled(tsl_accuracy of_sums, const tsl_problem *problem) {
  const double slope = is_gelu(problem) ? gelu_slope : 1;
  tsl_accuracy result = of_sums;
  result.factor = slope * (of_sums.factor + 8) + (is_gelu(problem) ? 24 : 0);
  result.flush_threshold = slope * of_sums.flush_threshold;
  result.subnormal_error = slope * of_sums.subnormal_error;
  result.is_correctly_rounded = result.has_fixed_tree =
      false; /* devices may or may not fuse a product and an addition */
  return tsl_accuracy_in_type(result, problem->c.type);
}

tsl_accuracy tsl_accuracy_finished(tsl_accuracy of_product, const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type), *sums = tsl_type(type->sums);
  const bool is_curved = is_gelu(problem);
  const double slope = is_curved ? gelu_slope : 1,
               function = is_curved ? 24 * sums->unit_roundoff / type->unit_roundoff : 0;
  tsl_accuracy result = of_product;
  if (problem->bias_axis == TESELA_NO_BIAS && !is_curved)
    return result; /* ReLU of the rounded number is exact */
  result.factor = slope * (of_product.factor + 2) + function + 1;
  result.flush_threshold = slope * of_product.flush_threshold;
  result.subnormal_error = slope * of_product.subnormal_error;
  result.is_correctly_rounded = false;
  result.has_fixed_tree = tsl_accuracy_bits(&of_product) == TSL_REPRODUCIBILITY_DEVICES &&
                          !is_curved; /* the implementation of the activation differs between devices */
  return result;
}

double tsl_accuracy_slips(const tsl_problem *problem, double factor) {
  const tsl_type_info *a = tsl_type(problem->a.type);
  const double smallest_normal =
      a->type == TESELA_BF16 ? 0x1p-126 : 0x1p-14; /* 8-bit types become f16 at worst */
  return a->is_integer || a->size > 2 ? 0 : factor * 0x1p-24 * smallest_normal;
}

double tsl_accuracy_cuts(double k) {
  return 2.25 * k + 24 + 0x1p-22 * k;
}

double tsl_accuracy_cuts_of_panels(double k, double panel) {
  return 2.25 * fmin(k, panel) + 26 + 1.25 * ceil(k / panel) + 0x1p-22 * k;
}

tsl_accuracy tsl_accuracy_of_tensor_cores(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double factor = tsl_accuracy_cuts((double)problem->k);
  return tsl_accuracy_in_type((tsl_accuracy){.factor = factor,
                                             .subnormal_error = tsl_accuracy_slips(problem, factor),
                                             .is_reproducible = true},
                              problem->c.type);
}

/* Counts the lost places. A product's exponent is the sum of its factors' exponents, up to 2^3 too large for
 * a subnormal factor (2^2 for e5m2). Where a product is the largest, each other term of its instruction loses
 * one place of it: at most |A||B| in all. Where the accumulator is, each term loses one place. */
tsl_accuracy tsl_accuracy_of_eights(const tsl_problem *problem, int64_t panel) {
  enum { TOGETHER = 32 };
  static const double place = 0x1p-13 / 0x1p-24;
  const bool all_e5m2 = problem->a.type == TESELA_E5M2 && problem->b.type == TESELA_E5M2;
  const double k = (double)problem->k, below = all_e5m2 ? 4 : 8, depth = fmin(k, (double)panel),
               panels = ceil(k / (double)panel), instructions = ceil(depth / TOGETHER);
  const double cuts = below * fmin(depth, TOGETHER) + TOGETHER * fmax(0, instructions - 1) + instructions;
  return tsl_accuracy_in_type(
      (tsl_accuracy){.factor = cuts * place + 2 * panels + 24, .is_reproducible = true}, problem->c.type);
}

tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel) {
  const int64_t k = tsl_problem_terms(problem), depth = k < panel ? k : panel,
                panels = k == 0 ? 1 : (k - 1) / panel + 1;
  const tesela_type sums = tsl_type(problem->c.type)->sums;
  const double second_order = 2 * (double)k * tsl_type(sums)->unit_roundoff;
  const tsl_accuracy made = {.factor = (double)depth + (double)panels + 3 + second_order,
                             .is_reproducible = true};
  return tsl_accuracy_in_type(made, problem->c.type);
}

/* Adds to k the panels of host_packed and second-order terms. */
tsl_accuracy tsl_accuracy_of_parts(const tsl_problem *problem, int64_t slabs) {
  const double depth = (double)(problem->k / slabs + (problem->k % slabs != 0));
  const bool narrow = tsl_type(problem->a.type)->size < 4 && !tsl_type(problem->a.type)->is_integer;
  const double one = narrow ? tsl_accuracy_cuts(depth) : depth + 6 + 0x1p-20 * depth,
               factor = (double)slabs * one;
  return tsl_accuracy_in_type((tsl_accuracy){.factor = factor,
                                             .subnormal_error = tsl_accuracy_slips(problem, factor),
                                             .is_reproducible = true},
                              problem->c.type);
}

/* Gets the error that the requirement allows, in units of C's roundoff; false: there is no limit. */
static bool get_error_limit(const tsl_problem *problem, double *factor) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const tsl_numeric_requirements *ask = &problem->ask;
  if (type->is_integer || (ask->accuracy != TSL_ACCURACY_NUMBER && ask->accuracy != TSL_ACCURACY_TYPE))
    return false;
  *factor =
      tsl_numeric_requirements_error_limit(ask, tsl_accuracy_terms(problem),
                                           tsl_type(problem->a.type)->unit_roundoff, type->unit_roundoff) /
      type->unit_roundoff;
  return true;
}

/* Allows truncation of f32 factors, which may flush subnormals to 0. */
static void allow_truncation(const tsl_problem *problem, tsl_accuracy *accuracy) {
  const tsl_type_info *component = tsl_type(tsl_type(problem->a.type)->component);
  accuracy->truncates_inputs = component == tsl_type(TESELA_F32);
  accuracy->flush_threshold = accuracy->truncates_inputs ? 0x1p-126 : accuracy->flush_threshold;
}

tsl_accuracy tsl_accuracy_asked_of_parts(const tsl_problem *problem, int64_t slabs) {
  tsl_accuracy made = tsl_accuracy_of_parts(problem, slabs);
  double allowed;
  if (!get_error_limit(problem, &allowed) || allowed <= made.factor)
    return made;
  made.factor = allowed;
  allow_truncation(problem, &made);
  return made;
}

tsl_accuracy tsl_accuracy_of_one_part(const tsl_problem *whole, const tsl_problem *part, int64_t slabs) {
  tsl_accuracy made = tsl_accuracy_of_parts(part, 1);
  const tsl_accuracy all = tsl_accuracy_of_parts(whole, slabs);
  double allowed;
  if (!get_error_limit(whole, &allowed) || allowed <= all.factor)
    return made;
  if (allowed / (double)slabs > made.factor)
    made.factor = allowed / (double)slabs;
  allow_truncation(whole, &made);
  return made;
}

tsl_reproducibility tsl_accuracy_bits(const tsl_accuracy *accuracy) {
  return accuracy->is_correctly_rounded || accuracy->factor == 0 || accuracy->has_fixed_tree
             ? TSL_REPRODUCIBILITY_DEVICES
         : accuracy->is_reproducible ? TSL_REPRODUCIBILITY_THREADS
                                     : TSL_REPRODUCIBILITY_ANY;
}
