/* Tables of residue_int8: the moduli, what makes a number of its residues (the Chinese remainder theorem), and the limits that follow
 * from what was asked. The moduli are those of Ozaki, Uchino and Imamura (2025): the largest coprime ones up to 256. */
#include "host/split.h"
#include "strategy/gemm/residue_int8/residue_int8.h"

#include <string.h>

static const unsigned moduli[TSL_RESIDUE_MODULI] = {256, 255, 253, 251, 247, 241, 239, 233,
                                                    229, 227, 223, 217, 211, 199, 197, 193};

/* The most for f32, whose numbers are cut into digits as long as they are below 2^40. */
enum { MOST_F32 = 10, LIMBS = 4 };

static bool is_double(const tsl_problem *problem) {
  return tsl_residue_type(problem) == TESELA_F64;
}

/* Whether the ask, and not a careful sum, says how many moduli: of complex products never more than that is promised. */
static bool is_asked(const tsl_problem *problem) {
  const tsl_accuracy_kind ask = problem->ask.accuracy;
  return (ask == TSL_ACCURACY_NUMBER || ask == TSL_ACCURACY_TYPE) && !tsl_type(problem->c.type)->is_complex;
}

int64_t tsl_residue_numbers(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? 2 * problem->k : problem->k;
}

/* --- the sieve --- */

/* number *= factor. */
static void multiply(unsigned number[LIMBS], unsigned factor) {
  residue_word carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (residue_word)number[i] * factor;
    number[i] = (unsigned)carry;
    carry >>= 32;
  }
}

/* The product of the first `count` moduli, without number `without`. */
static void product_of(int count, int without, unsigned number[LIMBS]) {
  memset(number, 0, LIMBS * sizeof *number);
  number[0] = 1;
  for (int l = 0; l < count; l++)
    if (l != without)
      multiply(number, moduli[l]);
}

static unsigned remainder_of(const unsigned number[LIMBS], unsigned p) {
  residue_word rest = 0;
  for (int i = LIMBS - 1; i >= 0; i--)
    rest = (rest << 32 | number[i]) % p;
  return (unsigned)rest;
}

static unsigned inverse_of(unsigned number, unsigned p) {
  unsigned inverse = 1;
  while (number * inverse % p != 1)
    inverse++;
  return inverse;
}

/* P (1/2 - 1/256), cut off. */
static void halve(const unsigned product[LIMBS], residue_sieve *sieve) {
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
  product_of(count, -1, product);
  halve(product, &sieve);
  for (int i = 0; i < LIMBS; i++) {
    carry += ~product[i];
    sieve.minus_product[i] = (unsigned)carry;
    carry >>= 32;
  }
  for (int l = 0; l < count; l++) {
    product_of(count, l, sieve.weight[l]);
    const unsigned inverse = inverse_of(remainder_of(sieve.weight[l], moduli[l]), moduli[l]);
    multiply(sieve.weight[l], inverse);
    sieve.part[l] = (inverse * (2u << 20) / moduli[l] + 1) / 2;
  }
  return sieve;
}

/* --- moduli --- */

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

/* --- limits --- */

double tsl_residue_allowed(const tsl_problem *problem) {
  const double u = tsl_type(tsl_residue_type(problem))->unit_roundoff, always = ((double)problem->k + 4) * u;
  return is_asked(problem) ? fmax(always, tsl_ask_allows(&problem->ask, problem->k, u, u)) : always;
}

/* NOTES.md: 5.1 errors of so much of an element each, beside the roundings of the result. */
static void allow(const tsl_problem *problem, residue_rules *rules) {
  const double u = tsl_type(tsl_residue_type(problem))->unit_roundoff;
  const double rest = fmin(0.125, (tsl_residue_allowed(problem) - 4 * u) * (1 - 0x1p-10));
  if (!(rest > 0)) /* no terms */
    return;
  const double half =
      frexp(rest / 5.1, &rules->margin); /* rest / 5.1 = 2^margin half, and half is from 1/2 on */
  rules->fraction = (unsigned)ceil((1 / half - 1) * 0x1p20);
}

int tsl_residue_most(const tsl_problem *problem) {
  return is_double(problem) ? TSL_RESIDUE_MODULI : MOST_F32;
}

/* By default enough to be no worse than sums in the type of C are in fact; where more is allowed, as many as give most rows of ordinary
 * numbers that, elements of a 64th of a typical one included. */
int tsl_residue_least(const tsl_problem *problem, const tsl_config *config) {
  const int64_t said = config->value[TSL_RESIDUE_INT8_LEAST];
  const int usual = is_double(problem) ? 14 : 7, most = tsl_residue_most(problem);
  if (said > 0)
    return (int)tsl_least(said, most);
  if (!is_asked(problem))
    return usual;
  residue_rules allowed = {.margin = 0};
  allow(problem, &allowed);
  const double bits = 2 * (5 - allowed.margin + log2((double)tsl_most(problem->k, 1)) / 2) + 1;
  double product = 0;
  int count = 0;
  while (count < most && (count < 4 || product < bits))
    product += log2(moduli[count++]);
  return count;
}

int tsl_residue_candidate(const tsl_problem *problem, const tsl_config *config, int number) {
  static const int more[][TSL_RESIDUE_CANDIDATES] = {{0, 1, 3}, {0, 1, 2}};
  const int least = tsl_residue_least(problem, config);
  return (int)tsl_least(least + more[is_double(problem)][number], tsl_residue_most(problem));
}

residue_rules tsl_residue_rules(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n) {
  residue_rules rules = {.lines = {m, n}, .k = tsl_residue_numbers(problem)};
  allow(problem, &rules);
  rules.native_weight = is_double(problem) ? 64 : 48;
  rules.line_weight = is_double(problem) ? 150 : 100;
  rules.native_once = is_double(problem) ? 13000000 : 8500000;
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
