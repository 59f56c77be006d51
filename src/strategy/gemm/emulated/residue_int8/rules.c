/* Rules of residue_int8: moduli, constants of the Chinese remainder theorem, and limits by the requested
 * accuracy. The moduli of Ozaki, Uchino and Imamura (2025) are the largest coprime numbers up to 256. */
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

#include <math.h>
#include <string.h>

static const unsigned moduli[TSL_RESIDUE_MODULI] = {256, 255, 253, 251, 247, 241, 239, 233,
                                                    229, 227, 223, 217, 211, 199, 197, 193};

/* MODULI_MAX_F32: moduli for which |a'| < 2^40, the limit of f32's digits. */
enum { MODULI_MAX_F32 = 10, LIMBS = 4 };

static bool is_double(const tsl_problem *problem) {
  return tsl_residue_type(problem) == TESELA_F64;
}

/* Returns true if the requested accuracy, not a careful sum's, determines the number of moduli. For complex
 * products it never allows more than the documented bound. */
static bool rules_is_asked(const tsl_problem *problem) {
  const tsl_accuracy_kind ask = problem->ask.accuracy;
  return (ask == TSL_ACCURACY_NUMBER || ask == TSL_ACCURACY_TYPE) && !tsl_type(problem->c.type)->is_complex;
}

int64_t tsl_residue_numbers(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? 2 * problem->k : problem->k;
}

static void multiply_limbs(unsigned number[LIMBS], unsigned factor) {
  residue_word carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (residue_word)number[i] * factor;
    number[i] = (unsigned)carry;
    carry >>= 32;
  }
}

/* Computes the product of the first `count` moduli, without number `without`. */
static void rules_product_of(int count, int without, unsigned number[LIMBS]) {
  memset(number, 0, LIMBS * sizeof *number);
  number[0] = 1;
  for (int l = 0; l < count; l++)
    if (l != without)
      multiply_limbs(number, moduli[l]);
}

static unsigned remainder_of(const unsigned number[LIMBS], unsigned p) {
  residue_word rest = 0;
  for (int i = LIMBS - 1; i >= 0; i--)
    rest = (rest << 32 | number[i]) % p;
  return (unsigned)rest;
}

static unsigned inverse_modulo(unsigned number, unsigned p) {
  unsigned inverse = 1;
  while (number * inverse % p != 1)
    inverse++;
  return inverse;
}

/* Sets half_top and half_exponent to P (1/2 - 1/256), truncated. */
static void set_half(const unsigned product[LIMBS], residue_sieve *sieve) {
  int length = 32 * LIMBS;
  while (!(product[(length - 1) / 32] >> (length - 1) % 32 & 1))
    length--;
  residue_word top = 0;
  for (int bit = length - 1; bit >= length - 64; bit--)
    top = top << 1 | (bit >= 0 ? product[bit / 32] >> bit % 32 & 1 : 0);
  sieve->half_top = (top >> 8) * 127;
  sieve->half_exponent = length - 64;
  while (!(sieve->half_top >> 63)) {
    sieve->half_top <<= 1;
    sieve->half_exponent--;
  }
}

static residue_sieve sieve_of(int count) {
  residue_sieve sieve = {.moduli = count};
  unsigned product[LIMBS];
  residue_word carry = 1;
  rules_product_of(count, -1, product);
  set_half(product, &sieve);
  for (int i = 0; i < LIMBS; i++) {
    carry += ~product[i];
    sieve.minus_product[i] = (unsigned)carry;
    carry >>= 32;
  }
  for (int l = 0; l < count; l++) {
    rules_product_of(count, l, sieve.weight[l]);
    const unsigned inverse = inverse_modulo(remainder_of(sieve.weight[l], moduli[l]), moduli[l]);
    multiply_limbs(sieve.weight[l], inverse);
    sieve.part[l] = (inverse * (2u << 20) / moduli[l] + 1) / 2;
  }
  return sieve;
}

static residue_modulus modulus_of(unsigned p) {
  const residue_word one = 1;
  residue_modulus modulus = {.p = p,
                             .magic = (unsigned)(((one << 39) + p - 1) / p),
                             .bias = ((1u << 30) + p - 1) / p * p,
                             .inverse = 1.0f / (float)p,
                             .minus_p = -(float)p};
  int least[4];
  for (int i = 0; i < 4; i++) {
    const int rest = (int)((one << 14 * (i + 1)) % p);
    least[i] = rest > (int)p / 2 ? rest - (int)p : rest;
    modulus.powers |= ((unsigned)least[i] & 255u) << 8 * i;
  }
  modulus.first = (float)least[0];
  modulus.second = (float)least[1];
  return modulus;
}

residue_reduction tsl_residue_reduction(unsigned p) {
  const int64_t least = 1 << 23, all = p;
  int64_t factor = (1 << 16) % all;
  factor -= factor > all / 2 ? all : 0;
  const int64_t base = tsl_round_up(least + (factor < 0 ? -factor << 16 : 0), all);
  return (residue_reduction){.factors = 1u | ((unsigned)factor & 255u) << 8,
                             .base = 0x4b000000u + (unsigned)(base - least)};
}

/* Returns the bound of a careful sum in C's type, relative to |A||B|. */
static double always_allowed(const tsl_problem *problem) {
  return ((double)problem->k + 4) * tsl_type(tsl_residue_type(problem))->unit_roundoff;
}

/* Allowed error of TSL_RESIDUE_PRECISE, in roundings of f32. Sums in double and later steps err by less than
 * a tenth of a rounding for any allowed k, so C's rounding dominates; a quarter is left for residues. */
static const double precise_roundings = 1.25;

bool tsl_residue_is_precise(const tsl_problem *problem) {
  const double u = tsl_type(TESELA_F32)->unit_roundoff;
  return problem->c.type == TESELA_F32 && rules_is_asked(problem) &&
         tsl_numeric_requirements_error_limit(&problem->ask, problem->k, u, u) < always_allowed(problem);
}

double tsl_residue_allowed(const tsl_problem *problem) {
  const double u = tsl_type(tsl_residue_type(problem))->unit_roundoff;
  if (!rules_is_asked(problem))
    return always_allowed(problem);
  const double asked = tsl_numeric_requirements_error_limit(&problem->ask, problem->k, u, u);
  return fmax(asked, fmin(always_allowed(problem),
                          tsl_residue_is_precise(problem) ? precise_roundings * u : INFINITY));
}

/* Returns the allowed relative error of an element. The result errs by 4.15 of these
 * (docs/lab/residue_int8.md), and by its own roundings: f32 has one in its own type. */
static double allowed_each(const tsl_problem *problem) {
  const double u = tsl_type(tsl_residue_type(problem))->unit_roundoff,
               roundings = tsl_residue_is_precise(problem) ? 1 + 0x1p-20 : 4;
  return fmin(0.125, (tsl_residue_allowed(problem) - roundings * u) * (1 - 0x1p-10)) / 4.15;
}

static void set_margin(const tsl_problem *problem, residue_rules *rules) {
  const double each = allowed_each(problem);
  if (!(each > 0)) /* k is 0 */
    return;
  const double half = frexp(each, &rules->margin); /* each = 2^margin half, with 1/2 <= half < 1 */
  rules->fraction = (unsigned)ceil((1 / half - 1) * 0x1p20);
}

int tsl_residue_most(const tsl_problem *problem) {
  return is_double(problem) ? TSL_RESIDUE_MODULI : MODULI_MAX_F32;
}

/* Returns the bits of P for normal random numbers. The claim of docs/lab/residue_int8.md holds with a tenth
 * of the numbers below the limit; a tenth of a typical number is this limit. */
static double bits_wanted(const tsl_problem *problem) {
  static const double limit_bits = 2.25;
  const double each = allowed_each(problem);
  return each > 0 ? 2 * (limit_bits - log2(each) + log2((double)tsl_max(problem->k, 1)) / 2) + 1 : 0;
}

static double bits_of_product(int count) {
  double bits = 0;
  for (int l = 0; l < count; l++)
    bits += log2(moduli[l]);
  return bits;
}

/* Returns the least number of moduli. By default no worse than sums in C's type are in practice; else what
 * normal numbers need for the requested accuracy. */
int tsl_residue_least(const tsl_problem *problem, const tsl_config *config) {
  const int64_t requested = config->value[TSL_RESIDUE_INT8_LEAST];
  const int usual = is_double(problem) ? 14 : 7, most = tsl_residue_most(problem);
  if (requested > 0)
    return (int)tsl_min(requested, most);
  if (!rules_is_asked(problem))
    return usual;
  int count = 4;
  while (count < most && bits_of_product(count) < bits_wanted(problem))
    count++;
  return count;
}

int tsl_residue_candidate(const tsl_problem *problem, const tsl_config *config, int number) {
  static const int more[][TSL_RESIDUE_CANDIDATES] = {{0, 1, 3}, {0, 1, 2}};
  const int least = tsl_residue_least(problem, config);
  return (int)tsl_min(least + more[is_double(problem)][number], tsl_residue_most(problem));
}

residue_rules tsl_residue_rules(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n) {
  residue_rules rules = {.lines = {m, n}, .k = tsl_residue_numbers(problem)};
  set_margin(problem, &rules);
  const bool sums_are_double = is_double(problem) || tsl_residue_is_precise(problem);
  rules.guard = tsl_residue_is_precise(problem) ? 3 : 8;
  rules.native_weight = sums_are_double ? 64 : 48;
  rules.line_weight = sums_are_double ? 150 : 100;
  rules.native_once = tsl_residue_is_precise(problem) ? 52000000 : sums_are_double ? 13000000 : 8500000;
  for (int c = 0, before = 0; c < TSL_RESIDUE_CANDIDATES; c++) {
    const int count = tsl_residue_candidate(problem, config, c);
    if (count > before)
      rules.sieves[rules.candidates++] = sieve_of(count);
    before = count;
  }
  for (int l = 0; l < TSL_RESIDUE_MODULI; l++)
    rules.moduli[l] = modulus_of(moduli[l]);
  return rules;
}

/* Time of an element of a listed line on the CPU, relative to an element of the subplan's product; part of
 * the subplan's predicted time that residues may take. Measured with one thread of a Xeon with AMX. */
static const double slower_lines = 12, subplan_part = 0.85;

void tsl_residue_int8_weigh(const tsl_work *work, residue_rules *rules) {
  const tsl_residue_state *state = work->state;
  if (state->whole_weight == 0)
    return;
  rules->native_weight = state->whole_weight;
  if (is_double(&work->problem)) /* on an H200, lines of a short list take twice the time */
    rules->line_weight *= 2;
  if (tsl_device_is_host(work->device)) { /* the CPU has no padding of listed tiles */
    rules->native_weight = (int)fmax(subplan_part * state->whole_weight, rules->sieves[0].moduli + 1);
    rules->line_weight = (int)ceil(slower_lines * state->whole_weight);
    rules->native_once = 0;
  }
}
