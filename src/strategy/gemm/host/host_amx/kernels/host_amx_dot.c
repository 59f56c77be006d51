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

#if HAS_UNITS
#define LINES_VECTOR vector_f32
#define LINES_NUMBER float
#define LINES_NAME line_dots_bf16
#define LINES_LOAD line_units_16
#define LINES_DOT dot_bf16_with_subnormals
#define LINES_SIZE 2
#define LINES_PER 2
#define LINES_FLIP 0
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"
#define LINES .lines = {line_dots_bf16, line_dots_bf16}
#else
#define LINES .lines = {NULL}
#endif

#define PAIRS .format = TSL_AMX_PAIRS_BF16, .tiles = tiles_bf16, .careful = tiles_careful
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {ROW(TESELA_BF16, TESELA_BF16, PAIRS, LINES),
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

/* Large and thin operand; if both are alike, the sign bits of the large one are flipped. */
#define LINES_VECTOR vector_i32
#define LINES_NUMBER uint32_t
#define LINES_NAME line_dots_u8_i8
#define LINES_LOAD line_units_8
#define LINES_DOT(sum, large, thin) dot_u8(sum, large, thin)
#define LINES_SIZE 1
#define LINES_PER 4
#define LINES_FLIP 0
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"
#define LINES_NAME line_dots_i8_i8
#define LINES_LOAD line_units_8
#define LINES_DOT(sum, large, thin) dot_u8(sum, large, thin)
#define LINES_SIZE 1
#define LINES_PER 4
#define LINES_FLIP 0x80808080
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"
#define LINES_NAME line_dots_i8_u8
#define LINES_LOAD line_units_8
#define LINES_DOT(sum, large, thin) dot_u8(sum, thin, large)
#define LINES_SIZE 1
#define LINES_PER 4
#define LINES_FLIP 0
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"
#define LINES_NAME line_dots_u8_u8
#define LINES_LOAD line_units_8
#define LINES_DOT(sum, large, thin) dot_u8(sum, thin, large)
#define LINES_SIZE 1
#define LINES_PER 4
#define LINES_FLIP 0x80808080
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"

#define QUADS .format = TSL_AMX_QUADS
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {
    ROW(TESELA_U8, TESELA_I8, QUADS, .tiles = tiles_unsigned_a, .lines = {line_dots_u8_i8, line_dots_i8_u8}),
    ROW(TESELA_I8, TESELA_I8, QUADS, .tiles = tiles_unsigned_a, .bias = 128,
        .lines = {line_dots_i8_i8, line_dots_i8_i8}),
    ROW(TESELA_I8, TESELA_U8, QUADS, .tiles = tiles_unsigned_b, .lines = {line_dots_i8_u8, line_dots_u8_i8}),
    ROW(TESELA_U8, TESELA_U8, QUADS, .tiles = tiles_unsigned_b, .bias = -128,
        .lines = {line_dots_u8_u8, line_dots_u8_u8}),
    LAST_ROW};

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

#if HAS_UNITS
#define LINES_VECTOR vector_f32
#define LINES_NUMBER float
#define LINES_NAME line_dots_f16
#define LINES_LOAD line_units_f16
#define LINES_DOT dot_f32
#define LINES_SIZE 2
#define LINES_PER 1
#define LINES_FLIP 0
#include "strategy/gemm/host/host_amx/kernels/line_dots.h"
#define LINES .lines = {line_dots_f16, line_dots_f16}
#else
#define LINES .lines = {NULL}
#endif

/* 16-bit pairs hold signed and unsigned bytes. */
#define FLOATS .format = TSL_AMX_FLOATS, .tiles = tiles_floats
#define PAIRS .format = TSL_AMX_PAIRS_I16, .tiles = tiles_pairs
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {
    ROW(TESELA_BF16, TESELA_BF16, FLOATS), ROW(TESELA_F16, TESELA_F16, FLOATS, LINES),
    TSL_AMX_EIGHTS(ROW, FLOATS),           ROW(TESELA_I8, TESELA_I8, PAIRS),
    ROW(TESELA_U8, TESELA_I8, PAIRS),      ROW(TESELA_I8, TESELA_U8, PAIRS),
    ROW(TESELA_U8, TESELA_U8, PAIRS),      LAST_ROW};

#endif
