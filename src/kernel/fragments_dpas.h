/* kernel_fragments.h with Intel's systolic arrays (DPAS), by cl_intel_subgroup_matrix_multiply_accumulate
 * 1.1.0. TSL_DPAS is the sub-group size, the device's smallest: 8 (Xe-HPG) or 16 (Xe-HPC and later).
 *
 *   A: 8 lines of 32 bytes; an item has its part of each line, 32 / TSL_DPAS bytes, as one vector component
 *   B: TSL_DPAS lines of 32 bytes; an item has all of its own line
 *   sums: 8 x TSL_DPAS; an item has its own column */
#define TSL_FRAGMENT_ITEMS TSL_DPAS
#define TSL_FRAGMENT_ROWS 8
#define TSL_FRAGMENT_COLS TSL_DPAS
#define TSL_FRAGMENT_BYTES 32
#define TSL_FRAGMENT_SUMS 8
#define TSL_FRAGMENT_ITEM() ((int)get_sub_group_local_id())
#define TSL_FRAGMENT_GROUP() ((int)get_sub_group_id())
#define TSL_FRAGMENT_ROW(item, e) (e)
#define TSL_FRAGMENT_COL(item, e) (item)
#define TSL_FRAGMENT_KERNEL(items)                                                                           \
  __attribute__((intel_reqd_sub_group_size(TSL_DPAS))) TSL_KERNEL(items, 1, 1)

#if TSL_DPAS == 8
#define TSL_DPAS_SHARE int
#define TSL_DPAS_UNSIGNED(a) as_uint8(a)
#else
#define TSL_DPAS_SHARE short
#define TSL_DPAS_UNSIGNED(a) as_ushort8(a)
#endif

typedef TSL_VECTOR(TSL_DPAS_SHARE, 8) tsl_fragment_a;
typedef TSL_VECTOR(int, 8) tsl_fragment_b;
typedef TSL_VECTOR(TSL_REAL, 8) tsl_fragment_sums;

TSL_FUNCTION tsl_fragment_a tsl_fragment_load_a(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  TSL_LOCAL_POINTER const char *own = src + TSL_FRAGMENT_ITEM() * (32 / TSL_DPAS);
  tsl_fragment_a a;
  TSL_LANE(a, 0) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)own;
  TSL_LANE(a, 1) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + pitch_bytes);
  TSL_LANE(a, 2) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 2 * pitch_bytes);
  TSL_LANE(a, 3) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 3 * pitch_bytes);
  TSL_LANE(a, 4) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 4 * pitch_bytes);
  TSL_LANE(a, 5) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 5 * pitch_bytes);
  TSL_LANE(a, 6) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 6 * pitch_bytes);
  TSL_LANE(a, 7) = *(TSL_LOCAL_POINTER const TSL_DPAS_SHARE *)(own + 7 * pitch_bytes);
  return a;
}

TSL_FUNCTION tsl_fragment_b tsl_fragment_load_b(TSL_LOCAL_POINTER const char *src, int pitch_bytes) {
  TSL_LOCAL_POINTER const char *own = src + TSL_FRAGMENT_ITEM() * pitch_bytes;
  return tsl_chunk_pair(tsl_chunk_load(own), tsl_chunk_load(own + 16));
}

TSL_FUNCTION tsl_fragment_sums tsl_fragment_multiply(tsl_fragment_a a, tsl_fragment_b b,
                                                     tsl_fragment_sums sums) {
#if TSL_TYPE_AB == TSL_TYPE_F16
  return intel_sub_group_f16_f16_matrix_mad_k16(a, b, sums);
#elif TSL_TYPE_AB == TSL_TYPE_BF16
  return intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sums);
#elif TSL_SIGNED_A && TSL_SIGNED_B
  return intel_sub_group_i8_i8_matrix_mad_k32(a, b, sums);
#elif TSL_SIGNED_A
  return intel_sub_group_i8_u8_matrix_mad_k32(a, as_uint8(b), sums);
#elif TSL_SIGNED_B
  return intel_sub_group_u8_i8_matrix_mad_k32(TSL_DPAS_UNSIGNED(a), b, sums);
#else
  return intel_sub_group_u8_u8_matrix_mad_k32(TSL_DPAS_UNSIGNED(a), as_uint8(b), sums);
#endif
}
