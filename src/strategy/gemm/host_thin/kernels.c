#include "strategy/gemm/host_thin/kernels.h"

/* Least capable first. */
static const struct {
  unsigned needs; /* capabilities, of TSL_CAN_... */
  const tsl_thin_kernels *f32, *f64;
} sets[] = {
    {0, &tsl_thin_kernels_generic_f32, &tsl_thin_kernels_generic_f64},
#if defined(__x86_64__)
    {TSL_CAN_AVX2, &tsl_thin_kernels_avx2_f32, &tsl_thin_kernels_avx2_f64},
    {TSL_CAN_AVX512, &tsl_thin_kernels_avx512_f32, &tsl_thin_kernels_avx512_f64},
#endif
};

const tsl_thin_kernels *tsl_thin_kernels_for(tesela_type type, unsigned offers) {
  int set = sizeof sets / sizeof sets[0] - 1;
  while ((sets[set].needs & ~offers) != 0)
    set--;
  return type == TESELA_F64 ? sets[set].f64 : sets[set].f32;
}
