#include "strategy/gemm/host_small/kernels.h"

/* Rows of the table by instruction set, least capable first; of each by the columns of C: f32 for any number, for up to
 * eight and up to four of them, f64 for any number and up to four. */
static const struct {
  unsigned needs; /* capabilities, of TSL_CAN_... */
  const tsl_small_kernels *f32[3], *f64[2];
} sets[] = {
    {0,
     {&tsl_small_kernels_generic_f32, &tsl_small_kernels_generic_f32, &tsl_small_kernels_generic_f32},
     {&tsl_small_kernels_generic_f64, &tsl_small_kernels_generic_f64}},
#if defined(__x86_64__)
    {TSL_CAN_AVX2,
     {&tsl_small_kernels_avx2_f32, &tsl_small_kernels_avx2_f32, &tsl_small_kernels_avx2_half_f32},
     {&tsl_small_kernels_avx2_f64, &tsl_small_kernels_avx2_f64}},
    {TSL_CAN_AVX512,
     {&tsl_small_kernels_avx512_f32, &tsl_small_kernels_avx512_half_f32,
      &tsl_small_kernels_avx512_quarter_f32},
     {&tsl_small_kernels_avx512_f64, &tsl_small_kernels_avx512_half_f64}},
    /* All processors with tile registers have two units for 512-bit multiply-adds. */
    {TSL_CAN_AVX512 | TSL_CAN_AMX,
     {&tsl_small_kernels_avx512_wide_f32, &tsl_small_kernels_avx512_half_f32,
      &tsl_small_kernels_avx512_quarter_f32},
     {&tsl_small_kernels_avx512_wide_f64, &tsl_small_kernels_avx512_half_f64}},
#endif
};

const tsl_small_kernels *tsl_small_kernels_for(tesela_type type, int64_t columns, unsigned offers) {
  int set = sizeof sets / sizeof sets[0] - 1;
  while ((sets[set].needs & ~offers) != 0)
    set--;
  return type == TESELA_F64 ? sets[set].f64[columns <= 4]
                            : sets[set].f32[columns <= 4   ? 2
                                            : columns <= 8 ? 1
                                                           : 0];
}
