/* The instruction sets that kernels in C are compiled for, least capable first.
 * X(name, header, needs, flags, floats, fused, runs):
 *   name     part of its symbols; what TESELA_ISA calls it
 *   header   its vectors are in host/simd_<header>.h
 *   needs    the capability that a device must offer for it, beside those of the sets before; 0: none
 *   flags    the compiler's; of an extension, beside those of the set with its header
 *   floats   in a vector; and fused, vector multiply-adds that a core does in a clock
 *   runs     whether processor and operating system have it, where those of the sets before do;
 * device/cpu/cpu_describe.c asks A new set is one row here and one header there. CMake reads the rows as text
 * (cmake/isa.cmake) and compiles every file in a folder kernels/ once for each row of its processor; nothing
 * else lists sets.
 *
 * TSL_ISA_LIST are the sets that every kernel is compiled for; TSL_ISA_EXTENSION_LIST those with a few
 * instructions more, which only kernels of these instructions are compiled for. */
#ifndef TSL_BASE_ISA_H
#define TSL_BASE_ISA_H

/* Plain C: SSE2 has a multiplication and an addition in a clock; whatever becomes of it on AArch64 is
 * Advanced SIMD, with two pipes. */
#if defined(__aarch64__)
#define TSL_ISA_PLAIN_FUSED 2
#else
#define TSL_ISA_PLAIN_FUSED 1
#endif

/* clang-format off */
#define TSL_ISA_ROWS_any(X) X(generic, generic, 0, "", 4, TSL_ISA_PLAIN_FUSED, true)

#define TSL_ISA_ROWS_x86_64(X) \
  X(avx2, avx2, TSL_CAN_AVX2, "-mavx2 -mfma -mf16c", 8, 2, \
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) \
  X(avx512, avx512, TSL_CAN_AVX512, "-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512", 16, 2, \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && \
    __builtin_cpu_supports("avx512vl"))
#define TSL_ISA_EXTENSIONS_x86_64(X) \
  X(avx512_vnni, avx512, TSL_CAN_AVX512_VNNI, "-mavx512vnni", 16, 2, __builtin_cpu_supports("avx512vnni")) \
  X(avx512_bf16, avx512, TSL_CAN_AVX512_BF16, "-mavx512bf16", 16, 2, __builtin_cpu_supports("avx512bf16")) \
  X(amx, avx512, TSL_CAN_AMX, "-mamx-tile -mamx-int8 -mamx-bf16", 16, 2, tsl_cpu_has_amx())

#define TSL_ISA_ROWS_aarch64(X) X(neon, neon, TSL_CAN_NEON, "", 4, 2, true)
#define TSL_ISA_EXTENSIONS_aarch64(X) \
  X(neon_dot, neon, TSL_CAN_NEON_DOT, "-march=armv8.2-a+dotprod", 4, 2, getauxval(AT_HWCAP) & HWCAP_ASIMDDP) \
  X(neon_bf16, neon, TSL_CAN_NEON_BF16, "-march=armv8.2-a+bf16", 4, 2, getauxval(AT_HWCAP2) & HWCAP2_BF16)
/* clang-format on */

/* TSL_PLAIN: plain C alone (TESELA_PLAIN in cmake/isa.cmake). TSL_ISA_AMX: there are kernels for AMX. */
#if defined(__x86_64__) && !defined(TSL_PLAIN)
#define TSL_ISA_AMX
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_any(X) TSL_ISA_ROWS_x86_64(X)
#define TSL_ISA_EXTENSION_LIST(X) TSL_ISA_EXTENSIONS_x86_64(X)
#elif defined(__aarch64__) && !defined(TSL_PLAIN)
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_any(X) TSL_ISA_ROWS_aarch64(X)
#define TSL_ISA_EXTENSION_LIST(X) TSL_ISA_EXTENSIONS_aarch64(X)
#else
#define TSL_ISA_LIST(X) TSL_ISA_ROWS_any(X)
#define TSL_ISA_EXTENSION_LIST(X)
#endif

/* All of them, by name: "generic", "avx2", ...; and ", avx2, ..." of a family's rows. */
#define TSL_ISA_WORD(name, ...) #name,
#define TSL_ISA_WORDS TSL_ISA_LIST(TSL_ISA_WORD) TSL_ISA_EXTENSION_LIST(TSL_ISA_WORD)
#define TSL_ISA_TEXT(name, ...) ", " #name

#endif
