/* The instruction sets that kernels in C are compiled for, best first. X(name, header, needs, flags):
 *   name     part of its symbols; what TESELA_ISA calls it
 *   header   its vectors are in host/simd_<header>.h
 *   needs    capabilities that a device must offer for it
 *   flags    the compiler's; of an extension, beside those of the set with its header
 * A new set is one row here and one header there. CMake reads the rows as text (cmake/isa.cmake) and compiles every file in a
 * folder kernels/ once for each row of its processor; nothing else lists sets.
 *
 * TSL_ISA_LIST are the sets that every kernel is compiled for; TSL_ISA_EXTENSION_LIST those with a few instructions more, which
 * only kernels of these instructions are compiled for. */
#ifndef TSL_HOST_ISA_H
#define TSL_HOST_ISA_H

#include "device/device.h"

/* clang-format off */
#define TSL_ISA_ROWS_any(X) X(generic, generic, 0, "")

#define TSL_ISA_ROWS_x86_64(X) \
  X(avx512, avx512, TSL_CAN_AVX512, "-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512") \
  X(avx2, avx2, TSL_CAN_AVX2, "-mavx2 -mfma -mf16c")
#define TSL_ISA_EXTENSIONS_x86_64(X) \
  X(amx, avx512, TSL_CAN_AMX, "-mamx-tile -mamx-int8 -mamx-bf16") \
  X(avx512_bf16, avx512, TSL_CAN_AVX512_BF16, "-mavx512bf16") \
  X(avx512_vnni, avx512, TSL_CAN_AVX512_VNNI, "-mavx512vnni")

#define TSL_ISA_ROWS_aarch64(X) X(neon, neon, TSL_CAN_NEON, "")
#define TSL_ISA_EXTENSIONS_aarch64(X) \
  X(neon_bf16, neon, TSL_CAN_NEON_BF16, "-march=armv8.2-a+bf16") \
  X(neon_dot, neon, TSL_CAN_NEON_DOT, "-march=armv8.2-a+dotprod")
/* clang-format on */

#if defined(__x86_64__)
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_x86_64(X) TSL_ISA_ROWS_any(X)
#define TSL_ISA_EXTENSION_LIST(X) TSL_ISA_EXTENSIONS_x86_64(X)
#elif defined(__aarch64__)
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_aarch64(X) TSL_ISA_ROWS_any(X)
#define TSL_ISA_EXTENSION_LIST(X) TSL_ISA_EXTENSIONS_aarch64(X)
#else
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_any(X)
#define TSL_ISA_EXTENSION_LIST(X)
#endif

/* The row of TSL_ISA_LIST, from 0, that is best among those whose needs a device offers: the last one needs nothing. */
static inline int tsl_isa_best(unsigned offers) {
#define TSL_ISA_NEEDS(name, header, needs, flags) needs,
  static const unsigned rows[] = {TSL_ISA_LIST(TSL_ISA_NEEDS)};
#undef TSL_ISA_NEEDS
  int row = 0;
  while ((rows[row] & ~offers) != 0)
    row++;
  return row;
}

#endif
