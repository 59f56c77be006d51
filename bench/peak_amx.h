/* Measures the peak of the tile registers: four chains of products of random bf16 numbers or (whole) 8-bit
 * integers. Returns operations a second, two for each multiply-add: the best of a few runs of about 0.3
 * milliseconds. The process must have the permission to use the registers (src/device/cpu/amx.c). */
#include <immintrin.h>

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
    const double start = tsl_clock();
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
    best = fmin(best, tsl_clock() - start);
    _tile_release();
  }
  return 4.0 * TURNS * 2 * 16 * 16 * (whole ? 64 : 32) / best;
}
