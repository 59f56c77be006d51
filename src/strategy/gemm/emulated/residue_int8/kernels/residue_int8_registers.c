#include "host/simd.h"

/* Macros of gcc and of clang; tools read this file without either. */
#if defined(__AMX_TILE__) || defined(__AMXTILE__)

#include "host/int_math.h"

#define REGISTER_LOAD(t, at, stride) _tile_loadd(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) _tile_stream_loadd(t, at, stride)
#define REGISTER_STORE(t, at, stride) _tile_stored(t, at, stride)
#define REGISTER_ZERO(t) _tile_zero(t)
#define REGISTER_DOT(c, a, b) _tile_dpbssd(c, a, b)
#include "strategy/gemm/emulated/residue_int8/kernels/residue_int8_register_tile.h"

/* Operand of LDTILECFG: all eight registers have 16 rows of 64 bytes. It is constant, because GCC's
 * _tile_loadconfig() is declared to read eight bytes: stores to the rest of a local table are lost. */
typedef struct shape {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} shape;
static const shape all_registers = {
    .palette = 1, .bytes = {EIGHT(TSL_RESIDUE_STEP)}, .rows = {EIGHT(TSL_RESIDUE_ROWS)}};

static void begin(void) {
  _tile_loadconfig(&all_registers);
}
static void end(void) {
  _tile_release();
}

const tsl_residue_product TSL_ISA_NAME(tsl_residue_product) = {
    .tile = register_tile, .finish = reduce_all, .begin = begin, .end = end};

#endif
