#include "strategy/gemm/host_packed/kernels.h"

/* The table, best rows first. */
static const struct {
  unsigned needs; /* capabilities, of TSL_CAN_... */
  const tsl_packed_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    {TSL_CAN_AVX512, &tsl_packed_kernels_avx512_f32},
    {TSL_CAN_AVX512, &tsl_packed_kernels_avx512_f64},
    {TSL_CAN_AVX2, &tsl_packed_kernels_avx2_f32},
    {TSL_CAN_AVX2, &tsl_packed_kernels_avx2_f64},
#endif
    {0, &tsl_packed_kernels_generic_f32},
    {0, &tsl_packed_kernels_generic_f64},
};

const tsl_packed_kernels *tsl_packed_kernels_for(tesela_type type, unsigned offers) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].kernels->type == type && (rows[i].needs & ~offers) == 0)
      return rows[i].kernels;
  return NULL;
}
