/* Lists of cases: the standard list, random cases, and the self-test before a kernel's first use. */
#ifndef TSL_JUDGE_CASES_H
#define TSL_JUDGE_CASES_H

#include "judge/case.h"
#include "strategy/strategy.h"

/* Gets case `index` of the standard list; false past the end. Sizes: 0 and 1, tile edges (7 8 9, 15 16 17, 31
 * 32 33), primes, thin and k-dominant shapes; dots from 0 to 300,000; transposes also in place. Layouts are
 * padded, transposed and with negative strides; alpha and beta in {0, 1, -0.5, 1.5}; every kind of data. */
bool tsl_case_standard(tsl_op op, int index, tesela_type type, tsl_case *out);
/* Makes a random case from its arguments only: sizes to hundreds (dot: 100,000), any layout and data. */
void tsl_case_random(tsl_op op, uint64_t seed, uint64_t index, tesela_type type, tsl_case *out);
/* Gets case `index` of the self-test before a kernel's first use, 0: a small `like`; false past the end. */
bool tsl_case_quick(const tsl_problem *like, int index, tsl_case *out);
/* Sets the types of a case. Scalars other than 0 and 1 become complex or whole where C's type needs it. */
void tsl_case_set_types(tsl_case *out, const tsl_types *types);

#endif
