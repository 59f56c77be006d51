/* Cases of products with structured operands. */
#ifndef TESTS_CASES_STRUCTURED_H
#define TESTS_CASES_STRUCTURED_H

#include "judge/cases.h"

/* Gets case `index` of products with structured A, B or C (general if the type has none); false past the
 * end. */
bool tsl_case_structured(int index, tesela_type type, tsl_case *out);
/* Makes a random case of structured products from its arguments only. */
void tsl_case_random_structured(uint64_t seed, uint64_t index, tesela_type type, tsl_case *out);

#endif
