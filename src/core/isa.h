/* Instruction sets for which kernels in C are compiled, least capable first.
 * X(name, header, needs, flags, floats, fused, runs):
 *   name     suffix of the symbols, and the value of TESELA_ISA
 *   header   the set's vector operations are in host/simd_<header>.h
 *   needs    capability that a device needs in addition to the previous sets' ones; 0: none
 *   flags    compiler flags; for an extension, in addition to the flags of the set with its header
 *   floats   number of f32 in a vector
 *   fused    vector multiply-adds that a core executes in a clock
 *   runs     expression: true if processor and operating system support it, given the previous sets
 *
 * A new set is one row here and one header there. CMake reads the rows as text (cmake/isa.cmake). It compiles
 * every file in a folder kernels/ once for each row of the target processor. The file
 * device/cpu/cpu_describe.c evaluates `runs`.
 *
 * Every kernel is compiled for the sets in TSL_ISA_LIST. The sets in TSL_ISA_EXTENSION_LIST add a few
 * instructions; only kernels that use these instructions are compiled for them. */
#ifndef TSL_CORE_ISA_H
#define TSL_CORE_ISA_H

/* Multiply-adds in a clock of plain C. */
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

/* TSL_PLAIN builds plain C only (TESELA_PLAIN in cmake/isa.cmake). TSL_ISA_AMX: kernels for AMX exist. */
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

/* Names of all sets: "generic", "avx2", ... */
#define TSL_ISA_WORD(name, ...) #name,
#define TSL_ISA_WORDS TSL_ISA_LIST(TSL_ISA_WORD) TSL_ISA_EXTENSION_LIST(TSL_ISA_WORD)
/* Names of one processor family's rows as text: ", avx2, ...". */
#define TSL_ISA_TEXT(name, ...) ", " #name

#endif
