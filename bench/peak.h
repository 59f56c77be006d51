/* Peaks of one core in registers, in operations a second, two for each multiply-add: the best of a few runs
 * of less than a millisecond. */
#ifndef TSL_BENCH_PEAK_H
#define TSL_BENCH_PEAK_H

#include "core/random.h"
#include "harness.h"

#include <immintrin.h>

/* Twelve independent chains of multiply-adds. X(name, instruction set, register, its numbers, a vector of
 * equal numbers, a b + c) */
#define PEAK_LIST(X)                                                                                         \
  X(peak_avx512_f32, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps)                                 \
  X(peak_avx512_f64, "avx512f", __m512d, 8, _mm512_set1_pd, _mm512_fmadd_pd)                                 \
  X(peak_avx2_f32, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps)                                   \
  X(peak_avx2_f64, "avx2,fma", __m256d, 4, _mm256_set1_pd, _mm256_fmadd_pd)

#define PEAK_FUNCTION(name, instructions, vector, lanes, set1, fmadd)                                        \
  static __attribute__((target(instructions))) double name(void) {                                           \
    enum { CHAINS = 12, TURNS = 40000, RUNS = 8 };                                                           \
    double best = INFINITY;                                                                                  \
    for (int run = 0; run < RUNS; run++) {                                                                   \
      const vector factor = set1(1.0000001f), small = set1(1e-7f);                                           \
      vector sum[CHAINS];                                                                                    \
      for (int i = 0; i < CHAINS; i++)                                                                       \
        sum[i] = set1((float)i);                                                                             \
      const double start = bench_clock();                                                                    \
      for (int turn = 0; turn < TURNS; turn++)                                                               \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sum[i] = fmadd(sum[i], factor, small);     \
      for (int i = 0; i < CHAINS; i++)                                                                       \
        __asm__ volatile("" : : "x"(sum[i]));                                                                \
      best = fmin(best, bench_clock() - start);                                                              \
    }                                                                                                        \
    return 2.0 * (lanes)*CHAINS * TURNS / best;                                                              \
  }
PEAK_LIST(PEAK_FUNCTION)
#undef PEAK_FUNCTION
#undef PEAK_LIST

/* Four chains of products of random bf16 numbers or (whole) 8-bit integers in tile registers. The process
 * must have the permission to use the registers (src/device/cpu/amx.c). */
static __attribute__((target("amx-tile,amx-bf16,amx-int8"))) double peak_amx(bool whole) {
  enum { TURNS = 10000, RUNS = 8, STEP = 64 };
  static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {
      .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
  static uint16_t numbers[4][512];
  double best = INFINITY;
  for (int i = 0; i < 4 * 512; i++) /* both signs, magnitudes from 2^-8 to 1 in bf16 */
    numbers[i / 512][i % 512] = (uint16_t)(tsl_random_u64(1, (uint64_t)i) % 0x400 + 0x3b80 +
                                           (tsl_random_u64(2, (uint64_t)i) & 0x8000));
  for (int run = 0; run < RUNS; run++) {
    _tile_loadconfig(&shape);
    _tile_loadd(4, numbers[0], STEP);
    _tile_loadd(5, numbers[1], STEP);
    _tile_loadd(6, numbers[2], STEP);
    _tile_loadd(7, numbers[3], STEP);
    const double start = bench_clock();
    for (int turn = 0; turn < TURNS; turn++)
      if (whole) {
        _tile_dpbssd(0, 6, 4);
        _tile_dpbssd(1, 6, 5);
        _tile_dpbssd(2, 7, 4);
        _tile_dpbssd(3, 7, 5);
      } else {
        _tile_dpbf16ps(0, 6, 4);
        _tile_dpbf16ps(1, 6, 5);
        _tile_dpbf16ps(2, 7, 4);
        _tile_dpbf16ps(3, 7, 5);
      }
    best = fmin(best, bench_clock() - start);
    _tile_release();
  }
  return 4.0 * TURNS * 2 * 16 * 16 * (whole ? 64 : 32) / best;
}

#endif
