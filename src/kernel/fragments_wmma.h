/* kernel_fragments.h with the matrix instructions of AMD's RDNA (WMMA) in waves of 32, through clang's
 * builtins; layout of AMD's matrix instruction calculator. TSL_WMMA: 11 (RDNA 3) or 12 (RDNA 4).
 *
 *   11: A and B: 16 lines of 32 bytes; an item has all of line item % 16, so two items have equal data.
 *       Sums: 16 x 16; an item has rows item / 16, + 2, + 4, ... of column item % 16
 *   12: A and B: an item has 16 bytes of line item % 16, from item / 16 * 16 on (the order along k does not
 *       matter, because A and B agree). Sums: rows 8 (item / 16) to + 7 of column item % 16
 *
 * An instruction takes 16 numbers of each line. A step of bytes is two instructions. */
#define TSL_FRAGMENT_ITEMS 32
#define TSL_FRAGMENT_ROWS 16
#define TSL_FRAGMENT_COLS 16
#define TSL_FRAGMENT_BYTES 32
#define TSL_FRAGMENT_SUMS 8
#define TSL_FRAGMENT_ITEM() (TSL_ITEM(0) % 32)
#define TSL_FRAGMENT_GROUP() (TSL_ITEM(0) / 32)
#define TSL_FRAGMENT_COL(item, e) ((item) % 16)
#define TSL_FRAGMENT_KERNEL(items) TSL_KERNEL(items, 1, 1)

typedef TSL_VECTOR(TSL_REAL, 8) tsl_fragment_sums;

#if TSL_WMMA == 11
#define TSL_FRAGMENT_ROW(item, e) ((item) / 16 + 2 * (e))
typedef TSL_VECTOR(int, 8) tsl_fragment_a, tsl_fragment_b;
TSL_FUNCTION tsl_fragment_a tsl_fragment_load_a(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  TSL_LOCAL_POINTER const char *own = src + TSL_FRAGMENT_ITEM() % 16 * pitch_bytes;
  return tsl_chunk_pair(tsl_chunk_load(own), tsl_chunk_load(own + 16));
}
TSL_FUNCTION tsl_chunk tsl_wmma_part(tsl_fragment_a whole, int last) {
  tsl_chunk part;
  TSL_LANE(part, 0) = last ? TSL_LANE(whole, 4) : TSL_LANE(whole, 0);
  TSL_LANE(part, 1) = last ? TSL_LANE(whole, 5) : TSL_LANE(whole, 1);
  TSL_LANE(part, 2) = last ? TSL_LANE(whole, 6) : TSL_LANE(whole, 2);
  TSL_LANE(part, 3) = last ? TSL_LANE(whole, 7) : TSL_LANE(whole, 3);
  return part;
}
#define TSL_WMMA_NAME(types) TSL_PASTE(__builtin_amdgcn_wmma_##types, _w32)
#define TSL_WMMA_HALVES(x) as_half16(x)
#define TSL_WMMA_SHORTS(x) as_short16(x)
#else
#define TSL_FRAGMENT_ROW(item, e) ((item) / 16 * 8 + (e))
typedef tsl_chunk tsl_fragment_a, tsl_fragment_b;
TSL_FUNCTION tsl_fragment_a tsl_fragment_load_a(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  const int item = TSL_FRAGMENT_ITEM();
  return tsl_chunk_load(src + item % 16 * pitch_bytes + item / 16 * 16);
}
#define tsl_wmma_part(whole, last) tsl_chunk_half(whole, last)
#define TSL_WMMA_NAME(types) TSL_PASTE(__builtin_amdgcn_wmma_##types, _w32_gfx12)
#define TSL_WMMA_HALVES(x) as_half8(x)
#define TSL_WMMA_SHORTS(x) as_short8(x)
#endif

TSL_FUNCTION tsl_fragment_b tsl_fragment_load_b(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  return tsl_fragment_load_a(src, pitch_bytes);
}

TSL_FUNCTION tsl_fragment_sums tsl_fragment_multiply(tsl_fragment_a a, tsl_fragment_b b,
                                                     tsl_fragment_sums sums) {
#if TSL_TYPE_AB == TSL_TYPE_F16
  return TSL_WMMA_NAME(f32_16x16x16_f16)(TSL_WMMA_HALVES(a), TSL_WMMA_HALVES(b), sums);
#elif TSL_TYPE_AB == TSL_TYPE_BF16
  return TSL_WMMA_NAME(f32_16x16x16_bf16)(TSL_WMMA_SHORTS(a), TSL_WMMA_SHORTS(b), sums);
#else
  sums = TSL_WMMA_NAME(i32_16x16x16_iu8)(TSL_SIGNED_A, tsl_wmma_part(a, 0), TSL_SIGNED_B, tsl_wmma_part(b, 0),
                                         sums, 0);
  return TSL_WMMA_NAME(i32_16x16x16_iu8)(TSL_SIGNED_A, tsl_wmma_part(a, 1), TSL_SIGNED_B, tsl_wmma_part(b, 1),
                                         sums, 0);
#endif
}
