/* Tiles of C in tile registers, as text: 2 x 2 registers of 16 x 16 sums. A file that includes it has the words REGISTER_LOAD(t, at,
 * stride in bytes), REGISTER_STORE(t, at, stride), REGISTER_ZERO(t) and REGISTER_DOT(c, a, b) for the numbers of
 * registers; tests include it with words that are plain C, to prove its addresses where there is no such unit.
 *
 *          4        5        16 units (64 bytes) of B: a register holds 16 columns' units, unit after unit
 *      +--------+--------+
 *   6  |   0    |   1    |   16 rows of A by 16 units
 *      +--------+--------+
 *   7  |   2    |   3    |   for each 16 units: four loads, four products of 16 clocks each, no sum waits for the one before
 *      +--------+--------+
 *
 * A is in blocks of 16 units: rows x 64 bytes, dense. Each load of A is 1 KiB in a row; those of B are rows of 64 bytes, 128 apart. */
#include "strategy/gemm/host_amx/kernels.h"

enum { REGISTER_BYTES = 64, STRIP_BYTES = 2 * REGISTER_BYTES };

/* Sums so far, at first nothing. What is 16 columns right of a register is 16 numbers further, 16 rows below it 16 rows. */
static void multiply_16(const tsl_amx_tile *tile) {
  const unsigned char *a = (const unsigned char *)tile->a, *b = (const unsigned char *)tile->b;
  uint32_t *const sums = tile->sums;
  if (tile->goes_on) {
    REGISTER_LOAD(0, sums, STRIP_BYTES);
    REGISTER_LOAD(1, sums + 16, STRIP_BYTES);
  } else {
    REGISTER_ZERO(0);
    REGISTER_ZERO(1);
  }
  for (int64_t u = 0; u < tile->units; u += TSL_AMX_REGISTER_UNITS) {
    REGISTER_LOAD(6, a, REGISTER_BYTES);
    REGISTER_LOAD(4, b, STRIP_BYTES);
    REGISTER_LOAD(5, b + REGISTER_BYTES, STRIP_BYTES);
    REGISTER_DOT(0, 6, 4);
    REGISTER_DOT(1, 6, 5);
    a += 16 * REGISTER_BYTES;
    b += 16 * STRIP_BYTES;
  }
  REGISTER_STORE(0, sums, STRIP_BYTES);
  REGISTER_STORE(1, sums + 16, STRIP_BYTES);
}

static void multiply_32(const tsl_amx_tile *tile) {
  const unsigned char *a = (const unsigned char *)tile->a, *b = (const unsigned char *)tile->b;
  uint32_t *const sums = tile->sums, *const below = sums + 16 * 32;
  if (tile->goes_on) {
    REGISTER_LOAD(0, sums, STRIP_BYTES);
    REGISTER_LOAD(1, sums + 16, STRIP_BYTES);
    REGISTER_LOAD(2, below, STRIP_BYTES);
    REGISTER_LOAD(3, below + 16, STRIP_BYTES);
  } else {
    REGISTER_ZERO(0);
    REGISTER_ZERO(1);
    REGISTER_ZERO(2);
    REGISTER_ZERO(3);
  }
  for (int64_t u = 0; u < tile->units; u += TSL_AMX_REGISTER_UNITS) {
    REGISTER_LOAD(4, b, STRIP_BYTES);
    REGISTER_LOAD(6, a, REGISTER_BYTES);
    REGISTER_DOT(0, 6, 4);
    REGISTER_LOAD(5, b + REGISTER_BYTES, STRIP_BYTES);
    REGISTER_DOT(1, 6, 5);
    REGISTER_LOAD(7, a + 16 * REGISTER_BYTES, REGISTER_BYTES);
    /* A streams from the second-level cache, 2 KiB a step; B stays in the first. */
    for (int line = 0; line < 32; line++)
      __builtin_prefetch(a + (2 * 32 + line) * REGISTER_BYTES);
    REGISTER_DOT(2, 7, 4);
    REGISTER_DOT(3, 7, 5);
    a += 32 * REGISTER_BYTES;
    b += 16 * STRIP_BYTES;
  }
  REGISTER_STORE(0, sums, STRIP_BYTES);
  REGISTER_STORE(1, sums + 16, STRIP_BYTES);
  REGISTER_STORE(2, below, STRIP_BYTES);
  REGISTER_STORE(3, below + 16, STRIP_BYTES);
}
