/* Seeded random numbers by counter: number i depends only on i and the seed. Any thread can make any part,
 * equal on all machines. The hash is splitmix64 (Steele, Lea, Flood 2014). */
#ifndef TSL_CORE_RANDOM_H
#define TSL_CORE_RANDOM_H

#include "core/types.h"

typedef enum tsl_distribution {
  TSL_DRAW_NORMAL,  /* mean 0, standard deviation 1 */
  TSL_DRAW_UNIFORM, /* between -1 and 1 */
  TSL_DRAW_INTEGER, /* whole numbers from -8 to 8: products of exact sums */
  TSL_DRAW_GRADED,  /* normal, times a power of two between 2^-12 and 2^12 */
  TSL_DRAW_COUNT
} tsl_distribution;

/* Returns 64 random bits: number `index` of the seed's sequence. */
uint64_t tsl_random_u64(uint64_t seed, uint64_t index);
/* Returns number `index` of the seed's sequence, which a real tsl_random_fill() also gives. */
double tsl_random_value(tsl_distribution distribution, uint64_t seed, uint64_t index);

/* Fills a dense array from element `first` of the seed's sequence on. A complex element uses two numbers. */
void tsl_random_fill(tsl_distribution distribution, uint64_t seed, uint64_t first, tesela_type type,
                     void *out, size_t count);

#endif
