/* What a thread does around its tiles where these are in tile registers. */
#include "strategy/gemm/host_amx/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

/* What LDTILECFG reads: all eight registers of 16 rows by 64 bytes. */
typedef struct shape {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} shape;

void tsl_amx_registers_begin(void) {
  shape all;
  memset(&all, 0, sizeof all);
  all.palette = 1;
  for (int t = 0; t < 8; t++) {
    all.rows[t] = TSL_AMX_REGISTER_ROWS;
    all.bytes[t] = 4 * TSL_AMX_REGISTER_UNITS;
  }
  _tile_loadconfig(&all);
}

void tsl_amx_registers_end(void) {
  _tile_release();
}
#else
typedef int tsl_no_registers_here;
#endif
