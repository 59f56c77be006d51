/* Which cases there are: the standard list, random ones, and the few that are tried before a kernel's first
 * use. */
#ifndef TSL_JUDGE_CASES_H
#define TSL_JUDGE_CASES_H

#include "judge/case.h"
#include "strategy/strategy.h"

/* The standard list: 0, 1, tile edges (7 8 9, 15 16 17, 31 32 33), primes, thin and k-dominant shapes,
 * padded, transposed and negative strides, alpha and beta in {0, 1, -0.5, 1.5}, every kind of data; of dot,
 * lengths from 0 to 300,000; of transpose, in place too. Case `index`; false past the end. */
bool tsl_case_standard(tsl_op op, int index, tesela_type type, tsl_case *out);
/* A random one: sizes to a few hundred (dot: to 100,000), any layout, any scalars, any data; a pure function
 * of its arguments. */
void tsl_case_random(tsl_op op, uint64_t seed, uint64_t index, tesela_type type, tsl_case *out);
/* Products whose factors have structures, or of whose C a triangle is computed, for strategies that take such
 * ones: standard ones and random ones, as above. In types that have none they are general. */
bool tsl_case_structured(int index, tesela_type type, tsl_case *out);
void tsl_case_random_structured(uint64_t seed, uint64_t index, tesela_type type, tsl_case *out);
/* One of the short list that is tried before a kernel's first use on a device: case 0 is like the problem,
 * but small. */
bool tsl_case_quick(const tsl_problem *like, int index, tsl_case *out);
/* Gives a case's operands these types. Where C is complex, scalars other than 0 and 1 get an imaginary part;
 * where it is an integer, they become whole. */
void tsl_case_set_types(tsl_case *out, const tsl_types *types);

#endif
