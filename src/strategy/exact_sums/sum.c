#include "strategy/exact_sums/sum.h"

#include <math.h>

/* Blocks between two carry propagations of levels: eight add less than 8 * 256 * 1.5 * 2^51 < 2^63 to a
 * level. A block's products and a window's levels add less than 256 * 3 * (2^53 + 2^52) < 2^63 to a digit. */
enum { SETTLE_BLOCKS = 8, LEVELS = TSL_EXACT_LEVELS };

tsl_exact_terms tsl_exact_terms_of(tesela_type result, unsigned capabilities) {
#define SET(isa, header, needs, ...) &tsl_exact_blocks_##isa,
  static const tsl_exact_blocks *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  const tsl_exact_blocks *blocks = sets[tsl_isa_best(capabilities)];
  const bool is_f64 = result == TESELA_F64;
  return (tsl_exact_terms){is_f64, is_f64 ? &blocks->f64 : &blocks->f32};
}

void tsl_exact_sum_begin(tsl_exact_sum *sum, int top) {
  memset(sum, 0, sizeof *sum);
  sum->top = top;
}

/* Adds the window's levels to the digits and clears them; digits are not settled. */
static void levels_to_digits(tsl_exact_sum *sum) {
  tsl_exact_settle_levels(sum->levels, LEVELS);
  for (int j = 0; j < LEVELS; j++) {
    const int position = sum->top - 52 * j - TSL_EXACT_LOW;
    tsl_exact_add(sum->digits, sum->levels[j] & UINT32_MAX, position);
    tsl_exact_add(sum->digits, sum->levels[j] >> 32, position + 32);
    sum->levels[j] = 0;
  }
}

static void window_to_digits(tsl_exact_sum *sum) {
  levels_to_digits(sum);
  tsl_exact_settle(sum->digits);
}

static double sum_number_at(const void *numbers, int i, bool is_f64) {
  return is_f64 ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

static void add_slowly(tsl_exact_sum *sum, const void *x, const void *y, int count, bool is_f64) {
  int largest = 0;
  sum->uses_digits = true;
  for (int i = 0; i < count; i++) {
    const double a = sum_number_at(x, i, is_f64), b = sum_number_at(y, i, is_f64), product = a * b;
    const int exponent = tsl_exact_exponent(product);
    largest = exponent > largest ? exponent : largest;
    if (!tsl_exact_is_finite(a) || !tsl_exact_is_finite(b))
      sum->flags |= tsl_exact_special(product);
    else if (is_f64)
      tsl_exact_add_product(sum->digits, a, b);
    else
      tsl_exact_add_double(sum->digits, product);
  }
  tsl_exact_settle(sum->digits);
  const int top = tsl_exact_top_for(largest);
  if (top > sum->top || top < sum->top - TSL_EXACT_SLACK) {
    window_to_digits(sum);
    sum->top = top;
  }
}

void tsl_exact_sum_add(const tsl_exact_terms *terms, tsl_exact_sum *sum, const void *x, const void *y,
                       int count) {
  int64_t levels[LEVELS] = {0};
  if (!terms->window->shallow(x, y, sum->top, levels) &&
      !(sum->top >= TSL_EXACT_TOP_DEEP && terms->window->deep(x, y, sum->top, levels))) {
    add_slowly(sum, x, y, count, terms->is_f64);
    return;
  }
  for (int j = 1; j < LEVELS; j++)
    sum->levels[j] += levels[j];
  if (++sum->blocks == SETTLE_BLOCKS) {
    tsl_exact_settle_levels(sum->levels, LEVELS);
    sum->blocks = 0;
  }
}

void tsl_exact_sum_settle(tsl_exact_sum *sum) {
  window_to_digits(sum);
}

tsl_exact_store tsl_exact_store_of(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const bool is_f64 = type->type == TESELA_F64;
  const double given = problem->k == 0 ? 0 : problem->alpha[0];
  return (tsl_exact_store){.type = type,
                           .precision = type->is_integer ? 0 : -ilogb(type->unit_roundoff),
                           .least = type->is_integer ? 0 : ilogb(type->smallest),
                           .alpha = is_f64 ? given : (double)(float)given,
                           .beta = is_f64 ? problem->beta[0] : (double)(float)problem->beta[0]};
}

/* Stores an integer: the sum, a whole number below 2^53, is exact; the rest is modulo 2^32. */
static void store_integer(const tsl_exact_store *store, int64_t *digits, uint32_t *c) {
  int64_t wide[TSL_EXACT_WIDE] = {0};
  const double exact = tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, 0, 1, 0, 0, wide, 53, -1074);
  const uint32_t alpha = (uint32_t)(int64_t)store->alpha, beta = (uint32_t)(int64_t)store->beta,
                 scaled = alpha * (uint32_t)(int64_t)exact;
  *c = beta == 0 ? scaled : scaled + beta * *c;
}

static void store_real(const tsl_exact_store *store, int64_t *digits, int first, int end, int flags,
                       void *c) {
  int64_t wide[TSL_EXACT_WIDE] = {0};
  double before[2] = {0, 0}, result[2] = {0, 0};
  if (store->beta != 0)
    tsl_type_load(store->type->type, c, before);
  result[0] = tsl_exact_result(digits, first, end, flags, store->alpha, store->beta, before[0], wide,
                               store->precision, store->least);
  if (isnan(result[0]))
    result[0] = (double)NAN;
  tsl_type_store(store->type->type, c, result);
}

void tsl_exact_sum_store(const tsl_exact_store *store, int64_t *digits, int flags, void *c) {
  if (store->type->is_integer)
    store_integer(store, digits, c);
  else
    store_real(store, digits, 0, TSL_EXACT_DIGITS, flags, c);
}

void tsl_exact_sum_finish(const tsl_exact_store *store, tsl_exact_sum *sum, void *c) {
  /* digits from the last level to the upper half of the first one, and a carry */
  const int lowest = (sum->top - 52 * (LEVELS - 1) - TSL_EXACT_LOW) / 52,
            highest = (sum->top + 32 - TSL_EXACT_LOW) / 52 + 3;
  const bool few = !sum->uses_digits;
  levels_to_digits(sum);
  store_real(store, sum->digits, few ? lowest : 0,
             few && highest < TSL_EXACT_DIGITS ? highest : TSL_EXACT_DIGITS, sum->flags, c);
}
