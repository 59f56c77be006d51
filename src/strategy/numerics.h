/* What a caller asks of a result beside that it is right: how right, and when its bits are to come again. One
 * grammar for descriptions, options, environment and plans; docs/ACCURACY.md tells people what the words
 * mean. */
#ifndef TSL_STRATEGY_NUMERICS_H
#define TSL_STRATEGY_NUMERICS_H

#include "base/text.h"
#include "base/types.h"

/* X(NAME, word): the guarantee that is asked for. */
#define TSL_ACCURACY_LIST(X)                                                                                 \
  X(DEFAULT, "default") /* what a strategy guarantees by itself; no factor is rounded */                     \
  X(NUMBER, "number")   /* |error| <= number (|alpha| |A||B| + |beta| |C|), element by element */            \
  X(TYPE, "type")       /* what a careful sum gives of factors that have a type's precision */               \
  X(EXACT, "exact")     /* the exact result, rounded once to the type of C */

typedef enum tsl_accuracy_kind {
#define TSL_ACCURACY_MEMBER(name, word) TSL_ACCURACY_##name,
  TSL_ACCURACY_LIST(TSL_ACCURACY_MEMBER)
#undef TSL_ACCURACY_MEMBER
} tsl_accuracy_kind;

/* X(word, unit roundoff of factors, of sums). tf32 is what tensor cores call so: of factors they cut off what
 * is behind ten binary places, and of sums' terms what is below the last place of the largest. e4m3 allows
 * what their units for 8-bit numbers do (tsl_accuracy_of_eights()). */
#define TSL_PRECISION_LIST(X)                                                                                \
  X(e4m3, 0x1p-4, 0x1p-10)                                                                                   \
  X(tf32, 0x1p-10, 0x1p-22)                                                                                  \
  X(bf16, 0x1p-8, 0x1p-24)                                                                                   \
  X(f32, 0x1p-24, 0x1p-24)                                                                                   \
  X(f64, 0x1p-53, 0x1p-53)

/* X(NAME, word, what it asks for): each asks for more than the one before. */
#define TSL_REPRODUCIBILITY_LIST(X)                                                                          \
  X(ANY, "any", "nothing")                                                                                   \
  X(RUN, "run", "the same bits from the same call on the same machine")                                      \
  X(THREADS, "threads", "and with any number of threads")                                                    \
  X(DEVICES, "devices", "and on any processor and device")

typedef enum tsl_reproducibility {
#define TSL_REPRODUCIBILITY_MEMBER(name, word, what) TSL_REPRODUCIBILITY_##name,
  TSL_REPRODUCIBILITY_LIST(TSL_REPRODUCIBILITY_MEMBER)
#undef TSL_REPRODUCIBILITY_MEMBER
} tsl_reproducibility;

/* Zero asks for nothing. Plain numbers: equal asks have equal members. */
typedef struct tsl_numeric_requirements {
  tsl_accuracy_kind accuracy;
  double number; /* of NUMBER, else 0 */
  int precision; /* of TYPE: a row of the list, else 0 */
  tsl_reproducibility bits;
} tsl_numeric_requirements;

/* Whether both ask for the same. */
bool tsl_numeric_requirements_same(const tsl_numeric_requirements *requirements,
                                   const tsl_numeric_requirements *other);
/* Whether anything is asked of accuracy. */
bool tsl_numeric_requirements_has_accuracy(const tsl_numeric_requirements *ask);

/* Reads "default", "1e-5", "tf32" ... or "exact"; "any", "run", "threads" or "devices". TESELA_BAD_CALL says
 * what is allowed. */
tesela_status tsl_numeric_requirements_parse_accuracy(const char *word, tsl_numeric_requirements *ask);
tesela_status tsl_numeric_requirements_parse_bits(const char *word, tsl_numeric_requirements *ask);
/* The same words. */
void tsl_numeric_requirements_print_accuracy(const tsl_numeric_requirements *ask, tsl_text *text);
const char *tsl_numeric_requirements_bits_word(tsl_reproducibility bits);

/* The largest |error| / (|alpha| |A||B| + |beta| |C|) that an ask for NUMBER or TYPE allows for sums of k
 * terms that are rounded to a type of so much unit roundoff, whose factors have `factors`. A part of a
 * complex product of k terms is a sum of 2 k. */
double tsl_numeric_requirements_allows(const tsl_numeric_requirements *ask, int64_t k, double factors,
                                       double result);

#endif
