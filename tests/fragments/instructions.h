/* Matrix instructions of Intel and AMD on the host, for tests: the results of their OpenCL C builtins. The
 * vendors' documents define which item holds which number (instructions.c names the documents). Items are
 * the threads of ptx/warp.h. */
#ifndef TSL_TESTS_FRAGMENTS_INSTRUCTIONS_H
#define TSL_TESTS_FRAGMENTS_INSTRUCTIONS_H

#include "warp.h"

/* X(NAME, items, rows, cols, depth, bytes of a number, who holds what) */
#define INSTRUCTION_LIST(X)                                                                                  \
  X(DPAS_8_K16, 8, 8, 8, 16, 2, dpas)                                                                        \
  X(DPAS_8_K32, 8, 8, 8, 32, 1, dpas)                                                                        \
  X(DPAS_16_K16, 16, 8, 16, 16, 2, dpas)                                                                     \
  X(DPAS_16_K32, 16, 8, 16, 32, 1, dpas)                                                                     \
  X(MFMA_16X16X8, 64, 16, 16, 8, 2, mfma)                                                                    \
  X(MFMA_16X16X16, 64, 16, 16, 16, 2, mfma)                                                                  \
  X(MFMA_16X16X16_I8, 64, 16, 16, 16, 1, mfma)                                                               \
  X(MFMA_16X16X32_I8, 64, 16, 16, 32, 1, mfma)                                                               \
  X(WMMA_11, 32, 16, 16, 16, 2, wmma11)                                                                      \
  X(WMMA_11_IU8, 32, 16, 16, 16, 1, wmma11)                                                                  \
  X(WMMA_12, 32, 16, 16, 16, 2, wmma12)                                                                      \
  X(WMMA_12_IU8, 32, 16, 16, 16, 1, wmma12)

typedef enum instruction {
#define INSTRUCTION_MEMBER(NAME, ...) INSTRUCTION_##NAME,
  INSTRUCTION_LIST(INSTRUCTION_MEMBER)
#undef INSTRUCTION_MEMBER
} instruction;

/* One side of a product as an item gives it. */
typedef struct instruction_operand {
  const void *at;
  size_t bytes;
  tesela_type type;
} instruction_operand;

/* Adds A B to this item's sums, float or int. All items of a sub-group call it. */
void instruction_run(instruction which, instruction_operand a, instruction_operand b, void *sums);

#define INSTRUCTION_RUN(which, a_type, b_type, a, b, sums)                                                   \
  ({                                                                                                         \
    __typeof__(sums) sums_ = (sums);                                                                         \
    const __typeof__(a) a_ = (a);                                                                            \
    const __typeof__(b) b_ = (b);                                                                            \
    instruction_run(INSTRUCTION_##which, (instruction_operand){&a_, sizeof a_, TESELA_##a_type},             \
                    (instruction_operand){&b_, sizeof b_, TESELA_##b_type}, &sums_);                         \
    sums_;                                                                                                   \
  })

/* --- the builtins, by the names that kernels have for them --- */

/* Returns its argument: bits already have the right type here. */
#define as_half4(x) (x)
#define as_half8(x) (x)
#define as_half16(x) (x)
#define as_short2(x) (x)
#define as_short4(x) (x)
#define as_short8(x) (x)
#define as_short16(x) (x)
#define as_ushort8(x) (x)
#define as_uint8(x) (x)
#define as_long(x) (x)

#define DPAS_PASTE_(size, k) DPAS_##size##_##k
#define DPAS_PASTE(size, k) DPAS_PASTE_(size, k)
#define DPAS_RUN_(which, a_type, b_type, a, b, sums) INSTRUCTION_RUN(which, a_type, b_type, a, b, sums)
#define DPAS_RUN(k, a_type, b_type, a, b, sums) DPAS_RUN_(DPAS_PASTE(TSL_DPAS, k), a_type, b_type, a, b, sums)
#define get_sub_group_local_id() (ptx_self.item % TSL_DPAS)
#define get_sub_group_id() (ptx_self.item / TSL_DPAS)
#define intel_sub_group_f16_f16_matrix_mad_k16(a, b, sums) DPAS_RUN(K16, F16, F16, a, b, sums)
#define intel_sub_group_bf16_bf16_matrix_mad_k16(a, b, sums) DPAS_RUN(K16, BF16, BF16, a, b, sums)
#define intel_sub_group_i8_i8_matrix_mad_k32(a, b, sums) DPAS_RUN(K32, I8, I8, a, b, sums)
#define intel_sub_group_i8_u8_matrix_mad_k32(a, b, sums) DPAS_RUN(K32, I8, U8, a, b, sums)
#define intel_sub_group_u8_i8_matrix_mad_k32(a, b, sums) DPAS_RUN(K32, U8, I8, a, b, sums)
#define intel_sub_group_u8_u8_matrix_mad_k32(a, b, sums) DPAS_RUN(K32, U8, U8, a, b, sums)

#define __builtin_amdgcn_mfma_f32_16x16x8bf16(a, b, sums, x, y, z)                                           \
  INSTRUCTION_RUN(MFMA_16X16X8, BF16, BF16, a, b, sums)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, sums, x, y, z)                                       \
  INSTRUCTION_RUN(MFMA_16X16X16, BF16, BF16, a, b, sums)
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, sums, x, y, z)                                           \
  INSTRUCTION_RUN(MFMA_16X16X16, F16, F16, a, b, sums)
#define __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, sums, x, y, z)                                            \
  INSTRUCTION_RUN(MFMA_16X16X16_I8, I8, I8, a, b, sums)
#define __builtin_amdgcn_mfma_i32_16x16x32_i8(a, b, sums, x, y, z)                                           \
  INSTRUCTION_RUN(MFMA_16X16X32_I8, I8, I8, a, b, sums)

#define WMMA_BYTES(which, a_sign, a, b_sign, b, sums)                                                        \
  ((a_sign) ? ((b_sign) ? INSTRUCTION_RUN(which, I8, I8, a, b, sums)                                         \
                        : INSTRUCTION_RUN(which, I8, U8, a, b, sums))                                        \
            : ((b_sign) ? INSTRUCTION_RUN(which, U8, I8, a, b, sums)                                         \
                        : INSTRUCTION_RUN(which, U8, U8, a, b, sums)))
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, sums) INSTRUCTION_RUN(WMMA_11, F16, F16, a, b, sums)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, sums)                                              \
  INSTRUCTION_RUN(WMMA_11, BF16, BF16, a, b, sums)
#define __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(a_sign, a, b_sign, b, sums, clamp)                        \
  WMMA_BYTES(WMMA_11_IU8, a_sign, a, b_sign, b, sums)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, sums)                                         \
  INSTRUCTION_RUN(WMMA_12, F16, F16, a, b, sums)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, sums)                                        \
  INSTRUCTION_RUN(WMMA_12, BF16, BF16, a, b, sums)
#define __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(a_sign, a, b_sign, b, sums, clamp)                  \
  WMMA_BYTES(WMMA_12_IU8, a_sign, a, b_sign, b, sums)

#endif
