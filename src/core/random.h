/* Seeded random numbers by counter: number i depends only on i and the seed. Any thread can make any part,
 * equal on all machines. The hash is splitmix64 (Steele, Lea, Flood 2014). */
#ifndef TSL_CORE_RANDOM_H
#define TSL_CORE_RANDOM_H

#include "core/types.h"

/* X(NAME, name, description) */
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
const char *tsl_distribution_description(tsl_distribution distribution);
bool tsl_distribution_parse(const char *name, tsl_distribution *distribution);

/* Returns 64 random bits: number `index` of the seed's sequence. */
uint64_t tsl_random_u64(uint64_t seed, uint64_t index);
/* Returns number `index` of the seed's sequence, which a real tsl_random_fill() also gives. */
double tsl_random_value(tsl_distribution distribution, uint64_t seed, uint64_t index);

/* Fills a dense array from element `first` of the seed's sequence on. A complex element uses two numbers. */
void tsl_random_fill(tsl_distribution distribution, uint64_t seed, uint64_t first, tesela_type type,
                     void *out, size_t count);

#endif
