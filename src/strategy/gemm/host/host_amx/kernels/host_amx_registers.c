/* Micro-kernels in AMX tile registers: pairs of bf16 (TDPBF16PS), quads of 8-bit integers (TDPBSSD, TDPBSUD,
 * TDPBUSD, TDPBUUD). In names, s means signed and u unsigned, of A and of B. */
#include "host/simd.h"

/* Macros of gcc and of clang; tools that read this file define neither. */
#if defined(__AMX_TILE__) || defined(__AMXTILE__)

#define REGISTER_NONTEMPORAL(to, from)                                                                       \
  _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))
#define REGISTER_COPY_TAIL(to, from, bytes)                                                                  \
  _mm512_storeu_si512((void *)(to),                                                                          \
                      _mm512_maskz_loadu_epi8(((uint64_t)1 << (bytes)) - 1, (const void *)(from)))
/* Takes the minimum of the magnitudes minus one of each 16 bits; 0 becomes the maximum. */
static inline __m512i add_least(__m512i least, const void *line) {
  const __m512i magnitudes = _mm512_and_si512(_mm512_loadu_si512(line), _mm512_set1_epi16(0x7fff));
  return _mm512_min_epu16(least, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1)));
}

static inline uint32_t minimum_of_lanes(__m512i least) {
  uint16_t all[32], lowest = UINT16_MAX;
  _mm512_storeu_si512(all, least);
  for (int i = 0; i < 32; i++)
    lowest = all[i] < lowest ? all[i] : lowest;
  return (uint32_t)lowest + 1;
}

#define REGISTER_LEAST __m512i
#define REGISTER_LEAST_NONE _mm512_set1_epi16(-1)
#define REGISTER_LEAST_ADD(least, line) add_least(least, line)
#define REGISTER_LEAST_OF(least) minimum_of_lanes(least)
#include "strategy/gemm/host/host_amx/kernels/host_amx_registers.h"

#define REGISTER_LOAD(t, at, stride) _tile_loadd(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) _tile_stream_loadd(t, at, stride)
#define REGISTER_STORE(t, at, stride) _tile_stored(t, at, stride)
#define REGISTER_ZERO(t) _tile_zero(t)
#define REGISTER_NAME(word) word##_bf16
#define REGISTER_DOT(c, a, b) _tile_dpbf16ps(c, a, b)
#define REGISTER_FINDS_LEAST 1
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"
#define REGISTER_NAME(word) word##_ss
#define REGISTER_DOT(c, a, b) _tile_dpbssd(c, a, b)
#define REGISTER_FINDS_LEAST 0
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"
#define REGISTER_NAME(word) word##_su
#define REGISTER_DOT(c, a, b) _tile_dpbsud(c, a, b)
#define REGISTER_FINDS_LEAST 0
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"
#define REGISTER_NAME(word) word##_us
#define REGISTER_DOT(c, a, b) _tile_dpbusd(c, a, b)
#define REGISTER_FINDS_LEAST 0
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"
#define REGISTER_NAME(word) word##_uu
#define REGISTER_DOT(c, a, b) _tile_dpbuud(c, a, b)
#define REGISTER_FINDS_LEAST 0
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"
#undef REGISTER_LOAD
#undef REGISTER_LOAD_ONCE
#undef REGISTER_STORE
#undef REGISTER_ZERO

/* --- TDPBF16PS without flushing of subnormal numbers: registers are arrays --- */

typedef __m512i file_row;

static inline void load_rows(file_row *row, const void *from, int64_t stride) {
  for (int i = 0; i < 16; i++)
    row[i] = _mm512_loadu_si512((const unsigned char *)from + i * stride);
}

static inline void store_rows(const file_row *from, void *dst, int64_t stride) {
  for (int i = 0; i < 16; i++)
    _mm512_storeu_si512((unsigned char *)dst + i * stride, from[i]);
}

/* Adds in the order of TDPBF16PS: the first and the second numbers of the pairs have sums of their own. So
 * bits are equal where nothing is subnormal. bits=rows needs this, as other columns decide which tiles are
 * used. */
static void add_products(file_row *sums, const file_row *a, const file_row *b) {
  for (int i = 0; i < 16; i++) {
    uint32_t units[16];
    memcpy(units, &a[i], sizeof units);
    vector_f32 first = {0}, second = {0};
    for (int u = 0; u < 16; u++) {
      const vector_f32 unit = set_word_f32(units[u]), pairs = _mm512_castsi512_ps(b[u]);
      first = _mm512_fmadd_ps(first_bf16_of_pairs(unit), first_bf16_of_pairs(pairs), first);
      second = _mm512_fmadd_ps(second_bf16_of_pairs(unit), second_bf16_of_pairs(pairs), second);
    }
    sums[i] = _mm512_castps_si512(_mm512_castsi512_ps(sums[i]) + (first + second));
  }
}

#undef REGISTER_FILE
#define REGISTER_FILE file_row file[8][16]
#define REGISTER_LOAD(t, at, stride) load_rows(file[t], at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) load_rows(file[t], at, stride)
#define REGISTER_STORE(t, at, stride) store_rows(file[t], at, stride)
#define REGISTER_ZERO(t) memset(file[t], 0, sizeof file[t])
#define REGISTER_NAME(word) word##_careful
#define REGISTER_DOT(c, a, b) add_products(file[c], file[a], file[b])
#define REGISTER_FINDS_LEAST 1
#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"

/* Operand of LDTILECFG: all eight registers have 16 rows of 64 bytes. */
typedef struct shape {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} shape;

/* A constant: GCC declares that _tile_loadconfig() reads eight bytes, so other stores could be removed. */
#define EIGHT(value)                                                                                         \
  { value, value, value, value, value, value, value, value }
static const shape all_registers = {
    .palette = 1, .bytes = EIGHT(4 * TSL_AMX_REGISTER_UNITS), .rows = EIGHT(TSL_AMX_REGISTER_ROWS)};

static void load_tile_config(void) {
  _tile_loadconfig(&all_registers);
}

static void release_tiles(void) {
  _tile_release();
}

#define ROW(type_a, type_b, ...)                                                                             \
  {                                                                                                          \
    .a = (type_a), .b = (type_b), .is_amx = true, .height = 32, .width = 32,                                 \
    .packing = &JOIN(tsl_amx_packing_, TSL_ISA_BASE), .begin = load_tile_config, .end = release_tiles,       \
    __VA_ARGS__                                                                                              \
  }
#define QUADS .format = TSL_AMX_QUADS
#define PAIRS .format = TSL_AMX_PAIRS_BF16, .tiles = tiles_bf16, .careful = tiles_careful, .finds_least = true
const tsl_amx_kernels TSL_ISA_NAME(tsl_amx)[] = {ROW(TESELA_BF16, TESELA_BF16, PAIRS),
                                                 TSL_AMX_EIGHTS(ROW, PAIRS),
                                                 ROW(TESELA_I8, TESELA_I8, QUADS, .tiles = tiles_ss),
                                                 ROW(TESELA_I8, TESELA_U8, QUADS, .tiles = tiles_su),
                                                 ROW(TESELA_U8, TESELA_I8, QUADS, .tiles = tiles_us),
                                                 ROW(TESELA_U8, TESELA_U8, QUADS, .tiles = tiles_uu),
                                                 {.packing = NULL}};

#endif
