#include "strategy/gemm/host_packed/kernels.h"

/* The table, best rows first. */
static const struct {
  unsigned needs; /* capabilities, of TSL_CAN_... */
  const tsl_packed_kernels *kernels;
} rows[] = {
#define ROWS_OF(needs, set)                                                                                  \
  {needs, &tsl_packed_kernels_##set##_f32}, {needs, &tsl_packed_kernels_##set##_f64},                        \
      {needs, &tsl_packed_kernels_##set##_c64}, {                                                            \
    needs, &tsl_packed_kernels_##set##_c128                                                                  \
  }
#if defined(__x86_64__)
    ROWS_OF(TSL_CAN_AVX512, avx512),
    ROWS_OF(TSL_CAN_AVX2, avx2),
#endif
    ROWS_OF(0, generic),
#undef ROWS_OF
};

const tsl_packed_kernels *tsl_packed_kernels_for(tesela_type type, unsigned offers) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].kernels->type == type && (rows[i].needs & ~offers) == 0)
      return rows[i].kernels;
  return NULL;
}
