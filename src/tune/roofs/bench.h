#ifndef TSL_TUNE_ROOFS_BENCH_H
#define TSL_TUNE_ROOFS_BENCH_H

#include "tune/roofs/roof.h"

/* Limit of sums: small integers in memory have exact sums in f32 in any order. */
#define TSL_ROOFS_EXACT ((int64_t)1 << 24)

/* Recurrence x -> factor x + summand, hidden from the compiler; starts are multiples of 2^-16 from 1 to 2. */
typedef struct tsl_roofs_chain {
  double factor, summand;
} tsl_roofs_chain;
/* Returns to its start every second step, for any number of steps. */
static const tsl_roofs_chain tsl_roofs_periodic_chain = {-1, 3};
/* Counts its steps. */
static const tsl_roofs_chain tsl_roofs_counting_chain = {1, 1.0 / 65536};
enum { TSL_ROOFS_ROUNDS_COUNTED = 64 };
/* Above this limit rounds would take no time. */
#define TSL_ROOFS_ROUNDS_MAX ((int64_t)1 << 40)

/* Does one run and sets its seconds. */
typedef tesela_status (*tsl_roofs_run)(void *argument, double *seconds);

/* Returns number `index` in memory, 0 to mask, equal to roofs/roofs_memory.cl's. Mixes twice: parts with
 * equal sums would hide a part that was read in place of another. */
static inline int tsl_roofs_number(uint64_t index, int64_t mask) {
  uint32_t stirred = (uint32_t)index * UINT32_C(0x9E3779B1);
  stirred = (stirred ^ stirred >> 15) * UINT32_C(0x85EBCA77);
  return (int)(stirred >> 12 & (uint32_t)mask);
}
static inline double tsl_roofs_chain_start(int index) {
  return 1 + (double)tsl_roofs_number((uint64_t)index + 1, 0xffff) / 65536;
}
/* Returns the end of a chain after an even `count` of multiply-adds. */
static inline double tsl_roofs_chain_end(const tsl_roofs_chain *chain, int index, int64_t count) {
  return tsl_roofs_chain_start(index) + (chain->factor < 0 ? 0 : (double)count * chain->summand);
}
/* Returns the largest mask for which `count` numbers have an exact sum. */
int64_t tsl_roofs_mask(int64_t count);

/* Sets the best of a run of `work`, repeated for about `seconds`, at least three times, after a warm-up. */
tesela_status tsl_roofs_repeat(tsl_roofs_run run, void *argument, double work, double seconds,
                               tsl_roof *roof);
/* Records why a roof is missing, unless a reason is recorded. */
void tsl_roofs_set_missing(tsl_roofs *roofs, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Measures all roofs into roofs->roof; no memory roofs if roofs->bytes is 0. */
tesela_status tsl_roofs_on_host(tsl_device *device, double seconds, tsl_roofs *roofs);
tesela_status tsl_roofs_on_kernels(tsl_device *device, double seconds, tsl_roofs *roofs);

#endif
