/* Numeric requirements of a caller: accuracy, and reproducibility of the bits (docs/ACCURACY.md). */
#ifndef TSL_STRATEGY_NUMERICS_H
#define TSL_STRATEGY_NUMERICS_H

#include "core/text.h"
#include "core/types.h"

/* Accuracy requirements. X(NAME, word) */
#define TSL_ACCURACY_LIST(X)                                                                                 \
  X(DEFAULT, "default") /* the strategy's own guarantee; A and B are not rounded */                          \
  X(NUMBER, "number")   /* |error| <= number (|alpha| |A||B| + |beta| |C|), for each element */              \
  X(TYPE, "type")       /* error of a careful sum of factors with the precision of a type */                 \
  X(EXACT, "exact")     /* the exact result, rounded once to the type of C */

typedef enum tsl_accuracy_kind {
#define TSL_ACCURACY_MEMBER(name, word) TSL_ACCURACY_##name,
  TSL_ACCURACY_LIST(TSL_ACCURACY_MEMBER)
#undef TSL_ACCURACY_MEMBER
} tsl_accuracy_kind;

/* Precisions. X(word, unit roundoff of factors, of sums). Precision tf32 follows tensor cores, which truncate
 * factors to ten binary places, and terms below the last place of the largest. Precision e4m3 allows the
 * error of units for 8-bit floating point (tsl_accuracy_of_eights()). */
#define TSL_PRECISION_LIST(X)                                                                                \
  X(e4m3, 0x1p-4, 0x1p-10)                                                                                   \
  X(tf32, 0x1p-10, 0x1p-22)                                                                                  \
  X(bf16, 0x1p-8, 0x1p-24)                                                                                   \
  X(f32, 0x1p-24, 0x1p-24)                                                                                   \
  X(f64, 0x1p-53, 0x1p-53)

/* Reproducibility levels, weakest first. X(NAME, word, description) */
#define TSL_REPRODUCIBILITY_LIST(X)                                                                          \
  X(ANY, "any", "nothing")                                                                                   \
  X(RUN, "run", "the same bits from the same call on the same machine")                                      \
  X(THREADS, "threads", "and with any number of threads")                                                    \
  X(ROWS, "rows", "each element depends on its row, its column, k and types only")                           \
  X(DEVICES, "devices", "and on any processor and device")

typedef enum tsl_reproducibility {
#define TSL_REPRODUCIBILITY_MEMBER(name, word, what) TSL_REPRODUCIBILITY_##name,
  TSL_REPRODUCIBILITY_LIST(TSL_REPRODUCIBILITY_MEMBER)
#undef TSL_REPRODUCIBILITY_MEMBER
} tsl_reproducibility;

/* Requirements; zero: none. Equal requirements have equal members. */
typedef struct tsl_numeric_requirements {
  tsl_accuracy_kind accuracy;
  double number; /* allowed relative error, for NUMBER, else 0 */
  int precision; /* for TYPE: row of TSL_PRECISION_LIST, else 0 */
  tsl_reproducibility bits;
} tsl_numeric_requirements;

bool tsl_numeric_requirements_same(const tsl_numeric_requirements *requirements,
                                   const tsl_numeric_requirements *other);
bool tsl_numeric_requirements_has_accuracy(const tsl_numeric_requirements *requirements);

/* Reads "default", "1e-5", "tf32" ... or "exact". TESELA_BAD_CALL lists the allowed words. */
tesela_status tsl_numeric_requirements_parse_accuracy(const char *word,
                                                      tsl_numeric_requirements *requirements);
/* Reads a word of TSL_REPRODUCIBILITY_LIST. TESELA_BAD_CALL lists the allowed words. */
tesela_status tsl_numeric_requirements_parse_bits(const char *word, tsl_numeric_requirements *requirements);
/* Appends the word that tsl_numeric_requirements_parse_accuracy() reads. */
void tsl_numeric_requirements_print_accuracy(const tsl_numeric_requirements *requirements, tsl_text *text);
const char *tsl_numeric_requirements_bits_word(tsl_reproducibility bits);

/* Returns the largest |error| / (|alpha| |A||B| + |beta| |C|) that NUMBER or TYPE allows for sums of k terms
 * (complex products: 2 k). `factors` and `result` are the unit roundoffs of A and B, and of C. */
double tsl_numeric_requirements_error_limit(const tsl_numeric_requirements *requirements, int64_t k,
                                            double factors, double result);

#endif
