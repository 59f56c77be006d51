/* What a thread does around its tiles where these are in tile registers. */
#include "strategy/gemm/host_amx/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* What LDTILECFG reads: all eight registers of 16 rows by 64 bytes. */
typedef struct shape {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} shape;

/* A constant: GCC's _tile_loadconfig() is said to read eight bytes, so stores to the rest of a local table are lost. */
#define EIGHT(value)                                                                                         \
  { value, value, value, value, value, value, value, value }
static const shape all = {
    .palette = 1, .bytes = EIGHT(4 * TSL_AMX_REGISTER_UNITS), .rows = EIGHT(TSL_AMX_REGISTER_ROWS)};

void tsl_amx_registers_begin(void) {
  _tile_loadconfig(&all);
}

void tsl_amx_registers_end(void) {
  _tile_release();
}
#else
typedef int tsl_no_registers_here;
#endif
