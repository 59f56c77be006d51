#include "strategy/gemm/host_amx/kernels.h"

enum { TILE_512 = 14, TILE_256 = 6, TILE_128 = 6 };

#define BF16_ROW(needs, format, height, width, ends, tiles, careful)                                         \
  {                                                                                                          \
    (needs), TESELA_BF16, TESELA_BF16, (format), 0, false, (height), (width), &(ends), (tiles), (careful),   \
        NULL, NULL                                                                                           \
  }
#define F16_ROW(needs, height, width, ends, tiles)                                                           \
  {                                                                                                          \
    (needs), TESELA_F16, TESELA_F16, TSL_AMX_FLOATS, 0, false, (height), (width), &(ends), (tiles), NULL,    \
        NULL, NULL                                                                                           \
  }
#define INTEGER_ROW(needs, a, b, format, turned, height, width, ends, tiles)                                 \
  {                                                                                                          \
    (needs), TESELA_##a, TESELA_##b, (format), (turned), false, (height), (width), &(ends), (tiles), NULL,   \
        NULL, NULL                                                                                           \
  }
#define REGISTER_ROW(needs, a, b, format, tiles, careful)                                                    \
  {                                                                                                          \
    (needs), TESELA_##a, TESELA_##b, (format), 0, true, 32, 32, &tsl_amx_ends_avx512, (tiles), (careful),    \
        tsl_amx_registers_begin, tsl_amx_registers_end                                                       \
  }
/* 16-bit pairs take any signs. */
#define PAIR_ROWS(needs, height, width, ends, tiles)                                                         \
  INTEGER_ROW(needs, I8, I8, TSL_AMX_PAIRS_I16, 0, height, width, ends, tiles),                              \
      INTEGER_ROW(needs, U8, I8, TSL_AMX_PAIRS_I16, 0, height, width, ends, tiles),                          \
      INTEGER_ROW(needs, I8, U8, TSL_AMX_PAIRS_I16, 0, height, width, ends, tiles),                          \
      INTEGER_ROW(needs, U8, U8, TSL_AMX_PAIRS_I16, 0, height, width, ends, tiles)

/* The table, best rows first. */
static const tsl_amx_kernels rows[] = {
#if defined(__x86_64__)
    REGISTER_ROW(TSL_CAN_AMX, BF16, BF16, TSL_AMX_PAIRS_BF16, tsl_amx_registers_bf16,
                 tsl_amx_registers_careful),
    REGISTER_ROW(TSL_CAN_AMX, I8, I8, TSL_AMX_QUADS, tsl_amx_registers_ss, NULL),
    REGISTER_ROW(TSL_CAN_AMX, I8, U8, TSL_AMX_QUADS, tsl_amx_registers_su, NULL),
    REGISTER_ROW(TSL_CAN_AMX, U8, I8, TSL_AMX_QUADS, tsl_amx_registers_us, NULL),
    REGISTER_ROW(TSL_CAN_AMX, U8, U8, TSL_AMX_QUADS, tsl_amx_registers_uu, NULL),
    BF16_ROW(TSL_CAN_AVX512_BF16, TSL_AMX_PAIRS_BF16, TILE_512, 32, tsl_amx_ends_avx512, tsl_amx_bf16_avx512,
             tsl_amx_careful_avx512),
    INTEGER_ROW(TSL_CAN_AVX512_VNNI, U8, I8, TSL_AMX_QUADS, 0, TILE_512, 32, tsl_amx_ends_avx512,
                tsl_amx_quads_signed_avx512),
    INTEGER_ROW(TSL_CAN_AVX512_VNNI, I8, I8, TSL_AMX_QUADS, 128, TILE_512, 32, tsl_amx_ends_avx512,
                tsl_amx_quads_signed_avx512),
    INTEGER_ROW(TSL_CAN_AVX512_VNNI, I8, U8, TSL_AMX_QUADS, 0, TILE_512, 32, tsl_amx_ends_avx512,
                tsl_amx_quads_unsigned_avx512),
    INTEGER_ROW(TSL_CAN_AVX512_VNNI, U8, U8, TSL_AMX_QUADS, -128, TILE_512, 32, tsl_amx_ends_avx512,
                tsl_amx_quads_unsigned_avx512),
    BF16_ROW(TSL_CAN_AVX512, TSL_AMX_FLOATS, TILE_512, 32, tsl_amx_ends_avx512, tsl_amx_floats_avx512, NULL),
    F16_ROW(TSL_CAN_AVX512, TILE_512, 32, tsl_amx_ends_avx512, tsl_amx_floats_avx512),
    PAIR_ROWS(TSL_CAN_AVX512, TILE_512, 32, tsl_amx_ends_avx512, tsl_amx_pairs_avx512),
    BF16_ROW(TSL_CAN_AVX2, TSL_AMX_FLOATS, TILE_256, 16, tsl_amx_ends_avx2, tsl_amx_floats_avx2, NULL),
    F16_ROW(TSL_CAN_AVX2, TILE_256, 16, tsl_amx_ends_avx2, tsl_amx_floats_avx2),
    PAIR_ROWS(TSL_CAN_AVX2, TILE_256, 16, tsl_amx_ends_avx2, tsl_amx_pairs_avx2),
#endif
    BF16_ROW(0, TSL_AMX_FLOATS, TILE_128, 8, tsl_amx_ends_generic, tsl_amx_floats_generic, NULL),
    F16_ROW(0, TILE_128, 8, tsl_amx_ends_generic, tsl_amx_floats_generic),
    PAIR_ROWS(0, TILE_128, 8, tsl_amx_ends_generic, tsl_amx_pairs_generic),
};

const tsl_amx_kernels *tsl_amx_kernels_for(tesela_type a, tesela_type b, unsigned offers) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].a == a && rows[i].b == b && (rows[i].needs & ~offers) == 0)
      return &rows[i];
  return NULL;
}

tsl_amx_copy_function *tsl_amx_copy_for(const tsl_amx_kernels *kernels, tesela_type type) {
  const tsl_amx_ends *ends = kernels->ends;
  if (kernels->format == TSL_AMX_QUADS)
    return ends->quads;
  if (kernels->format == TSL_AMX_PAIRS_BF16)
    return ends->pairs_bf16;
  return type == TESELA_F16    ? ends->floats_f16
         : type == TESELA_BF16 ? ends->floats_bf16
         : type == TESELA_I8   ? ends->pairs_i8
                               : ends->pairs_u8;
}

tsl_amx_last_function *tsl_amx_last_for(const tsl_amx_kernels *kernels, tesela_type c) {
  const tsl_amx_ends *ends = kernels->ends;
  return c == TESELA_F32    ? ends->last_f32
         : c == TESELA_F16  ? ends->last_f16
         : c == TESELA_BF16 ? ends->last_bf16
                            : ends->last_i32;
}
