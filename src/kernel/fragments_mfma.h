/* kernel_fragments.h with the matrix cores of AMD's CDNA (MFMA), through clang's builtins; layout of AMD's
 * matrix instruction calculator. TSL_MFMA: 0x908, 0x90a or 0x940 (also gfx942 and gfx950).
 *
 * A and B: 16 lines of 64 bytes; an item has 16 bytes of line item % 16, from item / 16 * 16 on. A step is
 * two (or four) instructions, which take 8 (or 4) bytes of each item; A and B have one order along k. Sums:
 * 16 x 16; an item has rows 4 (item / 16) to + 3 of column item % 16. Bytes are signed. */
#define TSL_FRAGMENT_ITEMS 64
#define TSL_FRAGMENT_ROWS 16
#define TSL_FRAGMENT_COLS 16
#define TSL_FRAGMENT_BYTES 64
#define TSL_FRAGMENT_SUMS 4
#define TSL_FRAGMENT_ITEM() (TSL_ITEM(0) % 64)
#define TSL_FRAGMENT_GROUP() (TSL_ITEM(0) / 64)
#define TSL_FRAGMENT_ROW(item, e) ((item) / 16 * 4 + (e))
#define TSL_FRAGMENT_COL(item, e) ((item) % 16)
#define TSL_FRAGMENT_KERNEL(items) TSL_KERNEL(items, 1, 1)

typedef tsl_chunk tsl_fragment_a, tsl_fragment_b;
typedef TSL_VECTOR(TSL_REAL, 4) tsl_fragment_sums;

TSL_FUNCTION tsl_chunk tsl_fragment_load_a(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  const int item = TSL_FRAGMENT_ITEM();
  return tsl_chunk_load(src + item % 16 * pitch_bytes + item / 16 * 16);
}
TSL_FUNCTION tsl_chunk tsl_fragment_load_b(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  return tsl_fragment_load_a(src, pitch_bytes);
}

/* Instructions that take 8 bytes of each item. */
#if TSL_TYPE_AB == TSL_TYPE_F16
#define TSL_MFMA_PAIR(a, b, sums)                                                                            \
  __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), sums, 0, 0, 0)
#elif TSL_TYPE_AB == TSL_TYPE_BF16 && TSL_MFMA != 0x908
#define TSL_MFMA_PAIR(a, b, sums)                                                                            \
  __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(a), as_short4(b), sums, 0, 0, 0)
#elif TSL_TYPE_AB == TSL_TYPE_BYTE && TSL_MFMA == 0x940
#define TSL_MFMA_PAIR(a, b, sums) __builtin_amdgcn_mfma_i32_16x16x32_i8(as_long(a), as_long(b), sums, 0, 0, 0)
/* Instructions that take 4 bytes of each item. */
#elif TSL_TYPE_AB == TSL_TYPE_BF16
#define TSL_MFMA_SINGLE(a, b, sums)                                                                          \
  __builtin_amdgcn_mfma_f32_16x16x8bf16(as_short2(a), as_short2(b), sums, 0, 0, 0)
#else
#define TSL_MFMA_SINGLE(a, b, sums) __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, sums, 0, 0, 0)
#endif

TSL_FUNCTION tsl_fragment_sums tsl_fragment_multiply(tsl_chunk a, tsl_chunk b, tsl_fragment_sums sums) {
#ifdef TSL_MFMA_PAIR
  sums = TSL_MFMA_PAIR(tsl_chunk_half(a, 0), tsl_chunk_half(b, 0), sums);
  return TSL_MFMA_PAIR(tsl_chunk_half(a, 1), tsl_chunk_half(b, 1), sums);
#else
  sums = TSL_MFMA_SINGLE(TSL_LANE(a, 0), TSL_LANE(b, 0), sums);
  sums = TSL_MFMA_SINGLE(TSL_LANE(a, 1), TSL_LANE(b, 1), sums);
  sums = TSL_MFMA_SINGLE(TSL_LANE(a, 2), TSL_LANE(b, 2), sums);
  return TSL_MFMA_SINGLE(TSL_LANE(a, 3), TSL_LANE(b, 3), sums);
#endif
}
