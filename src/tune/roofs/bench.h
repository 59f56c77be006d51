/* What the two ways of measuring roofs share. */
#ifndef TSL_TUNE_ROOFS_BENCH_H
#define TSL_TUNE_ROOFS_BENCH_H

#include "tune/roofs/roof.h"

/* Numbers in memory are whole and small, so that sums of so many of them are exact in f32, whatever the
 * order. */
#define TSL_ROOFS_EXACT ((int64_t)1 << 24)

/* Multiply-adds run x -> factor x + summand. The compiler knows neither, and the host knows what must come
 * out, exactly: a chain starts between 1 and 2, at a multiple of 2^-16. With the first pair, x comes back
 * every second time, so that it may run for as long as one likes; with the second it counts. */
typedef struct tsl_roofs_chain {
  double factor, summand;
} tsl_roofs_chain;
static const tsl_roofs_chain tsl_roofs_turning = {-1, 3};
static const tsl_roofs_chain tsl_roofs_counting = {1, 1.0 / 65536};
/* Rounds of the run that counts; and more of the other than these would mean that they take no time. */
enum { TSL_ROOFS_ROUNDS_COUNTED = 64 };
#define TSL_ROOFS_ROUNDS_MAX ((int64_t)1 << 40)

/* A thing to repeat: one run, and how long it took. */
typedef tesela_status (*tsl_roofs_run)(void *argument, double *seconds);

/* Number `index` in memory, from 0 to mask; roofs/roofs_memory.cl has the same. Stirred twice: of the plain
 * product, regular parts have equal sums, and one that is read twice in place of another would not show. */
static inline int tsl_roofs_number(uint64_t index, int64_t mask) {
  uint32_t stirred = (uint32_t)index * UINT32_C(0x9E3779B1);
  stirred = (stirred ^ stirred >> 15) * UINT32_C(0x85EBCA77);
  return (int)(stirred >> 12 & (uint32_t)mask);
}
/* Where chain number `index` starts. */
static inline double tsl_roofs_start(int index) {
  return 1 + (double)tsl_roofs_number((uint64_t)index + 1, 0xffff) / 65536;
}
/* Where it ends, after an even number of multiply-adds. */
static inline double tsl_roofs_end(const tsl_roofs_chain *chain, int index, int64_t count) {
  return tsl_roofs_start(index) + (chain->factor < 0 ? 0 : (double)count * chain->summand);
}
/* The largest mask with which `count` numbers have an exact sum. */
int64_t tsl_roofs_mask(int64_t count);

/* Repeats for about `seconds`, longer where the repeats differ much, at least thrice, after a run that does
 * not count; `work` is that of one run. What is measured replaces *roof where it is faster. */
tesela_status tsl_roofs_repeat(tsl_roofs_run run, void *argument, double work, double seconds,
                               tsl_roof *roof);
/* Notes why a roof is missing. */
void tsl_roofs_missing(tsl_roofs *roofs, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Both fill roofs->roof; roofs->bytes is set, 0 for no memory to measure with. */
tesela_status tsl_roofs_on_host(tsl_device *device, double seconds, tsl_roofs *roofs);
tesela_status tsl_roofs_on_kernels(tsl_device *device, double seconds, tsl_roofs *roofs);

#endif
