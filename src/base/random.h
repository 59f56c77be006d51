/* Seeded random numbers by counter: value number i of a seed is a pure function of both, so that any part of
 * a matrix can be made by any thread, and the same everywhere. splitmix64 (Steele, Lea, Flood 2014) hashes
 * the counter. */
#ifndef TSL_BASE_RANDOM_H
#define TSL_BASE_RANDOM_H

#include "base/types.h"

/* X(NAME, name, what it draws) */
#define TSL_DISTRIBUTION_LIST(X)                                                                             \
  X(NORMAL, normal, "mean 0, standard deviation 1")                                                          \
  X(UNIFORM, uniform, "between -1 and 1")                                                                    \
  X(INTEGER, integer, "whole numbers from -8 to 8: products of exact sums")                                  \
  X(GRADED, graded, "normal, times a power of two between 2^-12 and 2^12")

typedef enum tsl_distribution {
#define TSL_DISTRIBUTION_MEMBER(name, text, what) TSL_DRAW_##name,
  TSL_DISTRIBUTION_LIST(TSL_DISTRIBUTION_MEMBER)
#undef TSL_DISTRIBUTION_MEMBER
      TSL_DRAW_COUNT
} tsl_distribution;

const char *tsl_distribution_name(tsl_distribution distribution);
const char *tsl_distribution_what(tsl_distribution distribution);
bool tsl_distribution_parse(const char *name, tsl_distribution *distribution);

uint64_t tsl_random_u64(uint64_t seed, uint64_t index);
double tsl_random_value(tsl_distribution distribution, uint64_t seed, uint64_t index);

/* Elements first, first + 1, ... of the seed's sequence, converted to `type`, dense. Complex elements take
 * two values each. */
void tsl_random_fill(tsl_distribution distribution, uint64_t seed, uint64_t first, tesela_type type,
                     void *out, size_t count);

#endif
