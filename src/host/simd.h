/* Vectors of an instruction set, for source texts that are compiled once for each set (core/isa.h;
 * docs/MICRO_KERNELS.md has the contract of the texts). The includer defines:
 *
 *   TSL_ISA          name of the set; TSL_ISA_BASE: for an extension, the set with its header, else TSL_ISA
 *   TSL_ISA_HEADER   header of the set, which this file includes
 *   TSL_TYPE         element type: f32, f64, c64 or c128; undefined for texts of several types
 *
 * The set's header provides, for T of f32 and f64 (a lane is a number of a vector):
 *
 *   VECTOR_BYTES, REGISTERS           bytes of a register; number of registers
 *   vector_T                          the compiler's vector type; + and * use the set's instructions
 *   mask_T, mask_of_T(count)          mask of the first `count` lanes, 0 < count <= LANES_T
 *   load_masked_T(from, mask)         loads these lanes, and zeros; does not touch memory after them
 *   store_masked_T(to, value, mask)   stores these lanes
 *   HAS_RANGES                        1: & and ~ combine masks, and count may be 0; with store_any_lanes_T()
 *   store_any_lanes_T(to, value, mask)  stores any lanes
 *   fma_T(sum, number, value)         sum + number * value, number in every lane; rounded once if the set can
 *   fma_vectors_T(sum, a, b)          sum + a * b, rounded like fma_T()
 *   STEPS_T, transpose_T(rows, at, out)   out[s] = number `at` + s of LANES_T rows, for s < STEPS_T
 *   swap_pairs_T(value), times_i_T(value)   pairs become (imaginary, real), or (-imaginary, real)
 *   max_lanes_T(a, b)                 by lane: a if a > b, else b; b if either is NaN
 *   equal_lane_bits_T(a, b)           bit mask of equal lanes, lowest lane first
 *   sum_lanes_T(value), sum_lanes_of_4_T(values, to)   sum in a fixed order; sums of four vectors
 *   store_nontemporal_T(to, value)    stores past the caches, aligned; fence() before others read it
 *   HAS_LOAD_FAR, load_beyond_l1_T(from)   1 if a special load reaches memory speed beyond the L1 cache
 *   HAS_STREAMS                       1: functions for streams of short columns (vector/kernels/stream_dot.h)
 *     mask_of_bits_T(bits)            mask of the lanes whose bit is set
 *     select_T(mask, a, b)            a in the mask's lanes, else b
 *     permute_lanes_T(value, lanes)   lane l is lane lanes[l] of value
 *     unzip_numbers_T(a, b, out)      in 16 bytes each: even numbers of a, then b, to out[0]; odd to out[1]
 *     unzip_quarters_T(a, b, out)     equal with units of 16 bytes, in the whole vector
 *   TSL_KEEP(value)                   hides a value from the compiler, so that it is loaded once
 *   HAS_FUSED, fma_rounded_once_f64(a, b, c)   a b + c; HAS_FUSED 0: by a function call per lane
 *   widen_f64(from)                   loads as many f32 as a vector of f64 has lanes
 *   transpose_c128(rows, at, out)     for elements of two f64; STEPS_c128 is 1
 *
 * For 32-bit words, W of f32 and i32, which are sums, or units of two or four narrow numbers:
 *
 *   vector_i32, set_word_i32(word)    unsigned integers, so that sums wrap
 *   dot_i16(sum, a, b)                sum + a b for pairs of 16-bit integers, both products, modulo 2^32
 *   HAS_DOT_BF16                      1 with dot_bf16(), which may flush subnormal numbers to 0, unlike
 *                                     dot_bf16_with_subnormals()
 *   HAS_DOT_U8                        1 with dot_u8(): four products of a's unsigned and b's signed bytes
 *   HAS_DOT_I8                        1 with dot_i8() and dot_u8_u8(): products of bytes of equal signedness
 *   HAS_UNITS                         1 with the functions for host_amx/kernels/pack.c
 *   f32_of_f16(bits), f16_of_f32(value)   conversion to nearest even
 *   store_f16(to, value)              stores a vector of f32 as f16, rounded like f16_of_f32()
 *
 * For bytes, in quarters of 16, with elements of N = 1, 2, 4 and 8 bytes:
 *
 *   vector_bytes, store_nontemporal_bytes(to, value)
 *   HAS_MASKED_BYTES                  1 with load_part_bytes(from, count), which reads only the first bytes
 *   ZIP_LOW_N(a, b), ZIP_HIGH_N(a, b) in each quarter: first or last elements of a and b alternately
 *   transpose_quarters(in, out)       quarter i of out[k] is quarter k of in[i]
 *
 * HAS_HALF_f32, HAS_HALF_f64, HAS_QUARTER_f32: 1 with narrower vectors of 32, 32 and 16 bytes, and vector_,
 * mask_, mask_of_, load_masked_, store_masked_ and fma_ of f32_half, f64_half and f32_quarter. Halves also
 * have times_i_. Tile parameters that do not follow from the number of registers: PACKED_STEPS, steps of k
 * per iteration of a host_packed tile; SMALL_T, host_small's tiles (kernels/variant.h), with SMALL_WIDE_T and
 * SMALL_WIDE_FOUR on processors with SMALL_WIDE_NEEDS.
 *
 * This header adds, for T of f32, f64, c64 and c128: element_T, LANES_T, LANES_LOG2_T, load_T, store_T;
 * load_part_T and store_part_T (the first `count` elements); load_edge_T and store_edge_T (`count` may be
 * all); fma_number_T(sum, a, b) for single numbers, rounded like fma_T(); load_bytes, store_bytes and
 * load_part_bytes. For words: load_word_W(at), store_word_W(at, value), add_W(a, b), set_word_f32(word) and
 * dot_f32(sum, a, b).
 *
 *   lanes       0   1   2   3   4   5   6   7           a row of C of 13 numbers, vectors of 8:
 *   vector_f32 [x0][x1][x2][x3][x4][x5][x6][x7]         | load_f32 | load_part_f32(.., 5) |
 *   c64        [re  im][re  im][re  im][re  im]                        memory after it is not touched */
#ifndef TSL_HOST_SIMD_H
#define TSL_HOST_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef TSL_ISA
#define TSL_ISA generic
#define TSL_ISA_BASE generic
#define TSL_ISA_HEADER "host/simd_generic.h"
#define TSL_TYPE f32
#endif

#define JOIN_LATE(word, suffix) word##suffix
#define JOIN(word, suffix) JOIN_LATE(word, suffix)
#define TSL_NAME_LATE(word, isa, type) word##_##isa##_##type
#define TSL_NAME(word, isa, type) TSL_NAME_LATE(word, isa, type)
/* Exported symbol: with the set's and the type's suffix. */
#ifdef TSL_TYPE
#define TSL_ISA_NAME(word) TSL_NAME(word, TSL_ISA, TSL_TYPE)
#else
#define TSL_ISA_NAME(word) JOIN(word##_, TSL_ISA)
#endif
/* Name in a text: with the type's SUFFIX. */
#define NAME(word) JOIN(word, SUFFIX)

#if defined(__clang__)
#define TSL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TSL_UNROLL _Pragma("GCC unroll 16")
#endif
#define TSL_INLINE static inline __attribute__((always_inline))

#define REAL_f32 float
#define REAL_f64 double
#define REAL_c64 float
#define REAL_c128 double
#define HAS_QUARTER_f64 0
#define HAS_HALF_c64 0
#define HAS_HALF_c128 0
#define HAS_QUARTER_c64 0
#define HAS_QUARTER_c128 0
#define COMPONENTS_f32 1
#define COMPONENTS_f64 1
#define COMPONENTS_c64 2
#define COMPONENTS_c128 2
#define COMPONENT_SUFFIX_f32 _f32
#define COMPONENT_SUFFIX_f64 _f64
#define COMPONENT_SUFFIX_c64 _f32
#define COMPONENT_SUFFIX_c128 _f64
#define ENUM_f32 TESELA_F32
#define ENUM_f64 TESELA_F64
#define ENUM_c64 TESELA_C64
#define ENUM_c128 TESELA_C128

/* Complex elements have their components' alignment. */
typedef float element_f32;
typedef double element_f64;
typedef float element_f32_half;
typedef double element_f64_half;
typedef float element_f32_quarter;
typedef struct element_c64 {
  float component[2];
} element_c64;
typedef struct element_c128 {
  double component[2];
} element_c128;

#include TSL_ISA_HEADER

typedef vector_f32 vector_c64;
typedef vector_f64 vector_c128;
enum {
  LANES_f32 = VECTOR_BYTES / 4,
  LANES_f64 = VECTOR_BYTES / 8,
  LANES_c64 = VECTOR_BYTES / 8,
  LANES_c128 = VECTOR_BYTES / 16,
  STEPS_c64 = STEPS_f64,
  STEPS_c128 = 1,
  LANES_f32_half = 8,
  LANES_f64_half = 4,
  LANES_f32_quarter = 4
};
#define LOG2_OF(lanes) ((lanes) >= 16 ? 4 : (lanes) >= 8 ? 3 : (lanes) >= 4 ? 2 : (lanes) >= 2 ? 1 : 0)
enum {
  LANES_LOG2_f32 = LOG2_OF(LANES_f32),
  LANES_LOG2_f64 = LOG2_OF(LANES_f64),
  LANES_LOG2_c64 = LOG2_OF(LANES_c64),
  LANES_LOG2_c128 = LOG2_OF(LANES_c128),
  LANES_LOG2_f32_half = 3,
  LANES_LOG2_f64_half = 2,
  LANES_LOG2_f32_quarter = 2
};

typedef vector_bytes loose_bytes __attribute__((may_alias, aligned(1)));
static inline vector_bytes load_bytes(const unsigned char *from) {
  return *(const loose_bytes *)from;
}
static inline void store_bytes(unsigned char *dst, vector_bytes value) {
  *(loose_bytes *)dst = value;
}
#if !HAS_MASKED_BYTES
static inline vector_bytes load_part_bytes(const unsigned char *from, int64_t count) {
  _Alignas(VECTOR_BYTES) unsigned char padded[VECTOR_BYTES] = {0};
  memcpy(padded, from, (size_t)count);
  return load_bytes(padded);
}
#endif

typedef vector_f32 loose_words __attribute__((may_alias, aligned(4)));
static inline vector_f32 load_word_f32(const uint32_t *src) {
  return *(const loose_words *)src;
}
static inline vector_i32 load_word_i32(const uint32_t *src) {
  return (vector_i32)load_word_f32(src);
}
static inline void store_word_f32(uint32_t *data, vector_f32 value) {
  *(loose_words *)data = value;
}
static inline void store_word_i32(uint32_t *data, vector_i32 value) {
  store_word_f32(data, (vector_f32)value);
}
static inline vector_f32 set_word_f32(uint32_t word) {
  return (vector_f32)set_word_i32(word);
}
static inline vector_f32 add_f32(vector_f32 a, vector_f32 b) {
  return a + b;
}
static inline vector_i32 add_i32(vector_i32 a, vector_i32 b) {
  return a + b;
}
static inline vector_f32 dot_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return fma_vectors_f32(sum, a, b);
}

#if defined(__FMA__) || defined(__aarch64__)
static inline float fma_number_f32(float sum, float a, float b) {
  return __builtin_fmaf(a, b, sum);
}
static inline double fma_number_f64(double sum, double a, double b) {
  return __builtin_fma(a, b, sum);
}
#else
static inline float fma_number_f32(float sum, float a, float b) {
  return sum + a * b;
}
static inline double fma_number_f64(double sum, double a, double b) {
  return sum + a * b;
}
#endif

typedef mask_f32 mask_c64;
typedef mask_f64 mask_c128;
static inline mask_c64 mask_of_c64(int64_t count) {
  return mask_of_f32(2 * count);
}
static inline vector_c64 load_masked_c64(const element_c64 *from, mask_c64 mask) {
  return load_masked_f32(from->component, mask);
}
static inline void store_masked_c64(element_c64 *dst, vector_c64 value, mask_c64 mask) {
  store_masked_f32(dst->component, value, mask);
}
static inline mask_c128 mask_of_c128(int64_t count) {
  return mask_of_f64(2 * count);
}
static inline vector_c128 load_masked_c128(const element_c128 *from, mask_c128 mask) {
  return load_masked_f64(from->component, mask);
}
static inline void store_masked_c128(element_c128 *dst, vector_c128 value, mask_c128 mask) {
  store_masked_f64(dst->component, value, mask);
}
/* Moves pairs of f32 as f64. */
static inline void transpose_c64(const element_c64 *const *row, int64_t index, vector_c64 *out) {
  transpose_f64((const double *const *)(const void *)row, index, (vector_f64 *)out);
}

#define SUFFIX _f32
#define REAL float
#include "host/simd_memory.h"
#undef SUFFIX
#define SUFFIX _c64
#include "host/simd_memory.h"
#undef SUFFIX
#if HAS_HALF_f32
#define SUFFIX _f32_half
#include "host/simd_memory.h"
#undef SUFFIX
#endif
#if HAS_QUARTER_f32
#define SUFFIX _f32_quarter
#include "host/simd_memory.h"
#undef SUFFIX
#endif
#undef REAL
#define SUFFIX _f64
#define REAL double
#include "host/simd_memory.h"
#undef SUFFIX
#define SUFFIX _c128
#include "host/simd_memory.h"
#undef SUFFIX
#if HAS_HALF_f64
#define SUFFIX _f64_half
#include "host/simd_memory.h"
#undef SUFFIX
#endif
#undef REAL

#if !HAS_LOAD_FAR
static inline vector_f32 load_beyond_l1_f32(const float *from) {
  return load_f32(from);
}
static inline vector_f64 load_beyond_l1_f64(const double *from) {
  return load_f64(from);
}
#endif

#endif
