/* src/kernel/ptx.h without a GPU: the same words, as the PTX ISA describes them, computed by warp.c. */
#ifndef TSL_KERNEL_PTX_H
#define TSL_KERNEL_PTX_H

#include "dialect.h"

#include <string.h>

#define tsl_ptx_local_address ptx_local
#define tsl_ptx_copy(to, from) ptx_copy(to, from, 16)
#define tsl_ptx_copy_number(to, from) ptx_copy(to, from, 4)
#define tsl_ptx_copy_inside(to, from, inside)                                                                \
  ((inside) ? ptx_copy(to, from, 16) : ptx_put(to, (const int[4]){0}, 16))
#define tsl_ptx_copy_number_inside(to, from, inside)                                                         \
  ((inside) ? ptx_copy(to, from, 4) : ptx_put(to, &(const int){0}, 4))
#define tsl_ptx_store_16_bytes(to, words) ptx_put(to, words, 16)
#define tsl_ptx_copies_end ptx_copies_end
#define tsl_ptx_copies_wait ptx_copies_wait
#define tsl_ptx_end_block(count) (void)(count)
#define tsl_ptx_fence() (void)0
#define tsl_ptx_set_flag(flag, value) (void)(*(flag) = (value))
#define tsl_ptx_wait_flag(flag, value)                                                                       \
  ((void)(*(flag) != (value) && (ptx_complain("a flag that is not set"), 0)))
#define TSL_PTX_LOAD_FOUR(REGISTER, to, from) memcpy(to, from, 16)
#define tsl_ptx_warp_barrier ptx_warp_barrier
#define tsl_ptx_barrier(number, items) ptx_warps_barrier(items)
#define tsl_ptx_load_blocks(line, out) ptx_blocks(line, 0, out)
#define tsl_ptx_load_blocks_transposed(line, out) ptx_blocks(line, 1, out)
#define tsl_ptx_pick_bytes ptx_bytes
#define TSL_PTX_EXCHANGE(REGISTER, to, given) ptx_exchange(&(to), &(given))
#define TSL_PTX_MULTIPLY(shape, type, REGISTER, a_type, b_type, sums, a, b)                                  \
  ptx_multiply(shape, TSL_TEXT(a_type), TSL_TEXT(b_type), sums, a, b)
#define tsl_ptx_f16_pair(first, second) ptx_pair(TESELA_F16, first, second)
#define tsl_ptx_bf16_pair(first, second) ptx_pair(TESELA_BF16, first, second)
#define tsl_ptx_from_f16(bits) ptx_from(TESELA_F16, bits)
#define tsl_ptx_from_bf16(bits) ptx_from(TESELA_BF16, bits)

#endif
