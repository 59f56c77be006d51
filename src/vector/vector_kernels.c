#include "vector/vector_kernels.h"

enum { TYPES = TESELA_C128 + 1 };

#define SET(isa, type, element, bytes, complex_type)                                                         \
  [element] = {element, bytes, complex_type, &tsl_lines_##isa##_##type, &tsl_columns_##isa##_##type},
#define ROW(isa, header, needs, ...)                                                                         \
  {SET(isa, f32, TESELA_F32, 4, false) SET(isa, f64, TESELA_F64, 8, false)                                   \
       SET(isa, c64, TESELA_C64, 8, true) SET(isa, c128, TESELA_C128, 16, true)},
static const tsl_vector_kernels sets[][TYPES] = {TSL_ISA_LIST(ROW)};
#undef ROW
#undef SET

_Atomic(const tsl_vector_kernels *) tsl_vector_chosen;

const tsl_vector_kernels *tsl_vector_choose(void) {
  const tsl_vector_kernels *set = sets[tsl_isa_best(tsl_host_offers())];
  atomic_store_explicit(&tsl_vector_chosen, set, memory_order_relaxed);
  return set;
}
