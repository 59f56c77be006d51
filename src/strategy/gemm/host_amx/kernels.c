#include "strategy/gemm/host_amx/kernels.h"

const tsl_amx_kernels *tsl_amx_kernels_for(tesela_type a, tesela_type b, unsigned offers) {
#define SET(isa, header, needs, flags) {needs, tsl_amx_##isa},
  static const struct {
    unsigned needs; /* capabilities */
    const tsl_amx_kernels *rows;
  } sets[] = {TSL_ISA_EXTENSION_LIST(SET) TSL_ISA_LIST(SET)}; /* best first */
#undef SET
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
    for (const tsl_amx_kernels *row = sets[i].rows; (sets[i].needs & ~offers) == 0 && row->packing; row++)
      if (row->a == a && row->b == b)
        return row;
  return NULL;
}

tsl_amx_copy_function *tsl_amx_copy_for(const tsl_amx_kernels *kernels, tesela_type type) {
  const tsl_amx_packing *packing = kernels->packing;
  if (kernels->format == TSL_AMX_QUADS)
    return packing->quads;
  if (kernels->format == TSL_AMX_PAIRS_BF16)
    return packing->pairs_bf16;
  return type == TESELA_F16    ? packing->floats_f16
         : type == TESELA_BF16 ? packing->floats_bf16
         : type == TESELA_I8   ? packing->pairs_i8
                               : packing->pairs_u8;
}

tsl_amx_epilogue_function *tsl_amx_epilogue_for(const tsl_amx_kernels *kernels, tesela_type c) {
  const tsl_amx_packing *packing = kernels->packing;
  return c == TESELA_F32    ? packing->epilogue_f32
         : c == TESELA_F16  ? packing->epilogue_f16
         : c == TESELA_BF16 ? packing->epilogue_bf16
                            : packing->epilogue_i32;
}
