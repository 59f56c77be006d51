#include "strategy/gemm/host_small/kernels.h"

/* The table, best rows first. */
static const struct {
  unsigned needs;  /* capabilities, of TSL_CAN_... */
  int64_t columns; /* most columns of C; 0: any number */
  const tsl_small_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    {TSL_CAN_AVX512, 8, &tsl_small_kernels_avx512_half_f32},
    {TSL_CAN_AVX512, 4, &tsl_small_kernels_avx512_half_f64},
    {TSL_CAN_AVX512, 0, &tsl_small_kernels_avx512_f32},
    {TSL_CAN_AVX512, 0, &tsl_small_kernels_avx512_f64},
    {TSL_CAN_AVX2, 0, &tsl_small_kernels_avx2_f32},
    {TSL_CAN_AVX2, 0, &tsl_small_kernels_avx2_f64},
#endif
    {0, 0, &tsl_small_kernels_generic_f32},
    {0, 0, &tsl_small_kernels_generic_f64},
};

const tsl_small_kernels *tsl_small_kernels_for(tesela_type type, int64_t columns, unsigned offers) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].kernels->type == type && (rows[i].needs & ~offers) == 0 &&
        (rows[i].columns == 0 || columns <= rows[i].columns))
      return rows[i].kernels;
  return NULL;
}
