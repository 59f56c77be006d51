/* Base sets: f32 made from narrower numbers, and pairs of 16-bit integers made from 8-bit ones. Extensions:
 * their own types, and 8-bit floating point as bf16. */
#include "strategy/gemm/host/host_amx/host_amx_kernels.h"

#include "host/simd.h"

#include <string.h>

enum { WIDTH = 2 * LANES_f32 };
#if REGISTERS >= 32
#define TILE_ROWS_MAX 14
#else
#define TILE_ROWS_MAX 6
#endif
#define PACKING &JOIN(tsl_amx_packing_, TSL_ISA_BASE)
#define ROW(type_a, type_b, ...)                                                                             \
  { .a = (type_a), .b = (type_b), .height = TILE_ROWS_MAX, .width = WIDTH, .packing = PACKING, __VA_ARGS__ }
#define LAST_ROW                                                                                             \
  { .packing = NULL }

#if HAS_DOT_BF16

/* Two products a lane and instruction; subnormal numbers are flushed to 0. */
#define OWN(word) JOIN(word, _bf16)
#define VECTOR f32
#define DOT dot_bf16
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"
#undef OWN
#undef DOT

/* Kernels for operands whose numbers or sums would be flushed to 0. VDPBF16PS adds the second product of a
 * pair first. These kernels must, too: for bits=rows other columns may decide which kernel is used. */
static inline vector_f32 swap_pairs(vector_f32 pairs) {
  const vector_i32 units = (vector_i32)pairs;
  return (vector_f32)(units << 16 | units >> 16);
}
#define OWN(word) JOIN(word, _careful)
#define DOT(sum, a, b) dot_bf16_with_subnormals(sum, swap_pairs(a), swap_pairs(b))
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"

#define PAIRS .format = TSL_AMX_PAIRS_BF16, .tiles = tiles_bf16, .careful = tiles_careful
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {ROW(TESELA_BF16, TESELA_BF16, PAIRS),
                                                 TSL_AMX_EIGHTS(ROW, PAIRS), LAST_ROW};

#elif HAS_DOT_U8

/* Four products a lane and instruction; A unsigned and B signed, or the reverse. */
#define VECTOR i32
#define OWN(word) JOIN(word, _unsigned_a)
#define DOT(sum, a, b) dot_u8(sum, a, b)
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"
#undef OWN
#undef DOT
#define OWN(word) JOIN(word, _unsigned_b)
#define DOT(sum, a, b) dot_u8(sum, b, a)
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"

#define QUADS .format = TSL_AMX_QUADS
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {
    ROW(TESELA_U8, TESELA_I8, QUADS, .tiles = tiles_unsigned_a),
    ROW(TESELA_I8, TESELA_I8, QUADS, .tiles = tiles_unsigned_a, .bias = 128),
    ROW(TESELA_I8, TESELA_U8, QUADS, .tiles = tiles_unsigned_b),
    ROW(TESELA_U8, TESELA_U8, QUADS, .tiles = tiles_unsigned_b, .bias = -128), LAST_ROW};

#elif HAS_DOT_I8

/* Four products a lane and instruction; both operands signed or both unsigned. */
#define VECTOR i32
#define OWN(word) JOIN(word, _signed)
#define DOT dot_i8
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"
#undef OWN
#undef DOT
#define OWN(word) JOIN(word, _unsigned)
#define DOT dot_u8_u8
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"

#define QUADS .format = TSL_AMX_QUADS
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {
    ROW(TESELA_I8, TESELA_I8, QUADS, .tiles = tiles_signed),
    ROW(TESELA_U8, TESELA_U8, QUADS, .tiles = tiles_unsigned),
    ROW(TESELA_U8, TESELA_I8, QUADS, .tiles = tiles_signed, .bias = -128),
    ROW(TESELA_I8, TESELA_U8, QUADS, .tiles = tiles_unsigned, .bias = 128), LAST_ROW};

#else

#define VECTOR f32
#define OWN(word) JOIN(word, _floats)
#define DOT dot_f32
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"
#undef VECTOR
#undef OWN
#undef DOT
#define VECTOR i32
#define OWN(word) JOIN(word, _pairs)
#define DOT dot_i16
#include "strategy/gemm/host/host_amx/kernels/dot_tile.h"

/* 16-bit pairs hold signed and unsigned bytes. */
#define FLOATS .format = TSL_AMX_FLOATS, .tiles = tiles_floats
#define PAIRS .format = TSL_AMX_PAIRS_I16, .tiles = tiles_pairs
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {
    ROW(TESELA_BF16, TESELA_BF16, FLOATS), ROW(TESELA_F16, TESELA_F16, FLOATS),
    TSL_AMX_EIGHTS(ROW, FLOATS),           ROW(TESELA_I8, TESELA_I8, PAIRS),
    ROW(TESELA_U8, TESELA_I8, PAIRS),      ROW(TESELA_I8, TESELA_U8, PAIRS),
    ROW(TESELA_U8, TESELA_U8, PAIRS),      LAST_ROW};

#endif
