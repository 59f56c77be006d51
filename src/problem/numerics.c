#include "problem/numerics.h"

#include "core/list_text.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

typedef struct precision {
  const char *word;
  double factors, sums; /* unit roundoffs of A and B, and of their sums */
} precision;

static const precision precisions[] = {
#define PRECISION_ROW(word, factors, sums) {#word, factors, sums},
    TSL_PRECISION_LIST(PRECISION_ROW)
#undef PRECISION_ROW
};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

static const char *const bits_words[] = {TSL_REPRODUCIBILITY_LIST(TSL_LIST_TEXT)};
enum { BITS = sizeof bits_words / sizeof *bits_words };

bool tsl_numeric_requirements_same(const tsl_numeric_requirements *requirements,
                                   const tsl_numeric_requirements *other) {
  return requirements->accuracy == other->accuracy && requirements->number == other->number &&
         requirements->precision == other->precision && requirements->bits == other->bits;
}

bool tsl_numeric_requirements_has_accuracy(const tsl_numeric_requirements *requirements) {
  return requirements->accuracy != TSL_ACCURACY_DEFAULT;
}

static tesela_status fail_unknown_accuracy(const char *word) {
  tsl_text names = {0};
  for (int i = 0; i < PRECISIONS; i++)
    tsl_text_add(&names, "%s, ", precisions[i].word);
  const tesela_status status =
      tsl_fail(TESELA_BAD_CALL,
               "accuracy is \"%s\"; it can be default, a number above 0 such as 1e-5 (of |A||B|), %sor exact",
               word, tsl_text_get(&names));
  tsl_text_free(&names);
  return status;
}

tesela_status tsl_numeric_requirements_parse_accuracy(const char *word,
                                                      tsl_numeric_requirements *requirements) {
  const tsl_reproducibility bits = requirements->bits;
  double number;
  *requirements = (tsl_numeric_requirements){.bits = bits};
  if (strcmp(word, "default") == 0)
    return TESELA_OK;
  if (strcmp(word, "exact") == 0) {
    requirements->accuracy = TSL_ACCURACY_EXACT;
    return TESELA_OK;
  }
  for (int i = 0; i < PRECISIONS; i++)
    if (strcmp(word, precisions[i].word) == 0) {
      requirements->accuracy = TSL_ACCURACY_TYPE;
      requirements->precision = i;
      return TESELA_OK;
    }
  if (!tsl_parse_double(word, &number) || !(number > 0) || !isfinite(number))
    return fail_unknown_accuracy(word);
  requirements->accuracy = TSL_ACCURACY_NUMBER;
  requirements->number = number;
  return TESELA_OK;
}

tesela_status tsl_numeric_requirements_parse_bits(const char *word, tsl_numeric_requirements *requirements) {
  for (int i = 0; i < BITS; i++)
    if (strcmp(word, bits_words[i]) == 0) {
      requirements->bits = (tsl_reproducibility)i;
      return TESELA_OK;
    }
  return tsl_fail(TESELA_BAD_CALL, "bits is \"%s\"; it can be any, run, threads, rows or devices", word);
}

void tsl_numeric_requirements_print_accuracy(const tsl_numeric_requirements *requirements, tsl_text *text) {
  switch (requirements->accuracy) {
  case TSL_ACCURACY_DEFAULT:
    tsl_text_add(text, "default");
    break;
  case TSL_ACCURACY_NUMBER:
    tsl_text_add_double(text, requirements->number);
    break;
  case TSL_ACCURACY_TYPE:
    tsl_text_add(text, "%s", precisions[requirements->precision].word);
    break;
  case TSL_ACCURACY_EXACT:
    tsl_text_add(text, "exact");
    break;
  }
}

const char *tsl_numeric_requirements_bits_word(tsl_reproducibility bits) {
  return bits_words[bits];
}

/* Allows for TYPE: rounding of factors with more digits, a sum as in tsl_accuracy_of_sum(), rounding to C. */
double tsl_numeric_requirements_error_limit(const tsl_numeric_requirements *requirements, int64_t k,
                                            double factors, double result) {
  const precision *row = &precisions[requirements->precision];
  if (requirements->accuracy != TSL_ACCURACY_TYPE)
    return requirements->number;
  const double rounded = row->factors > factors ? 2 * row->factors + row->factors * row->factors : 0;
  return rounded + (1 + rounded) * ((double)k + 4) * row->sums + result;
}
