/* NVIDIA's matrix instructions and asynchronous copies as PTX (PTX ISA 7.0, sm_80 or newer), for devices with
 * TSL_CAN_MMA. Addresses of local memory are 32 bits: tsl_ptx_local_address(). All items of a warp call these
 * functions together, each with its own arguments. */
#ifndef TSL_KERNEL_PTX_H
#define TSL_KERNEL_PTX_H

#include "dialect.h"

/* Converts a pointer to local memory (an offset in OpenCL C, generic in CUDA C++) to a 32-bit address. */
TSL_FUNCTION unsigned int tsl_ptx_local_address(TSL_LOCAL_POINTER const void *pointer) {
  unsigned int address;
  asm volatile(
      "{ .reg .u64 t; .reg .pred p; isspacep.shared p, %1; mov.u64 t, %1; @p cvta.to.shared.u64 t, %1;"
      " cvt.u32.u64 %0, t; }"
      : "=r"(address)
      : "l"((TSL_UINT64)pointer)
      : "memory");
  return address;
}

/* Starts a copy of 16 aligned bytes to local memory. Partial chunks need tsl_ptx_store_16_bytes(). */
TSL_FUNCTION void tsl_ptx_copy(unsigned int local_address, TSL_GLOBAL const char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(local_address), "l"(from) : "memory");
}
/* Starts a copy of 16 aligned bytes if `inside`; else writes zeros and reads nothing. */
TSL_FUNCTION void tsl_ptx_copy_inside(unsigned int local_address, TSL_GLOBAL const char *from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(local_address), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
/* Starts a copy of 4 bytes, aligned to 4. */
TSL_FUNCTION void tsl_ptx_copy_number(unsigned int local_address, TSL_GLOBAL const char *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(local_address), "l"(from) : "memory");
}
/* Starts a copy of 4 bytes if `inside`; else writes a zero and reads nothing. */
TSL_FUNCTION void tsl_ptx_copy_number_inside(unsigned int local_address, TSL_GLOBAL const char *from,
                                             bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(local_address), "l"(from),
               "r"(inside ? 4 : 0)
               : "memory");
}
/* Writes four words to local memory, aligned to 16 bytes. Visible after the barrier that ends copies. */
TSL_FUNCTION void tsl_ptx_store_16_bytes(unsigned int local_address, const unsigned int *words) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(local_address), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
}
/* Ends a group of this item's copies. */
TSL_FUNCTION void tsl_ptx_copies_end(void) {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most `most` (a constant up to 7) of this item's copy groups are in flight. */
#define TSL_PTX_WAIT_IF(count)                                                                               \
  if (most == count)                                                                                         \
  asm volatile("cp.async.wait_group " #count ";" ::: "memory")
TSL_FUNCTION void tsl_ptx_copies_wait(int most) {
  TSL_PTX_WAIT_IF(0);
  TSL_PTX_WAIT_IF(1);
  TSL_PTX_WAIT_IF(2);
  TSL_PTX_WAIT_IF(3);
  TSL_PTX_WAIT_IF(4);
  TSL_PTX_WAIT_IF(5);
  TSL_PTX_WAIT_IF(6);
  TSL_PTX_WAIT_IF(7);
}

/* Keeps NVIDIA's assembler from moving instructions across, by a branch that is never taken: `count` is not
 * negative. */
TSL_FUNCTION void tsl_ptx_end_block(int count) {
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p trap; }" ::"r"(count));
}

/* Makes this item's earlier writes to global memory visible to other groups before its later writes. */
TSL_FUNCTION void tsl_ptx_fence(void) {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
/* Sets a flag that another group waits for. */
TSL_FUNCTION void tsl_ptx_set_flag(TSL_GLOBAL TSL_UINT64 *flag, TSL_UINT64 value) {
  asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
/* Waits until a flag has the value. */
TSL_FUNCTION void tsl_ptx_wait_flag(TSL_GLOBAL const TSL_UINT64 *flag, TSL_UINT64 value) {
  TSL_UINT64 found;
  do {
    asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(found) : "l"(flag) : "memory");
  } while (found != value);
}
/* Loads four numbers, aligned to 16 bytes, that other groups wrote, from the last cache. */
#define TSL_PTX_LOAD_FOUR(REGISTER, to, from)                                                                \
  asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"                                                 \
               : "=" REGISTER((to)[0]), "=" REGISTER((to)[1]), "=" REGISTER((to)[2]), "=" REGISTER((to)[3])  \
               : "l"(from))

/* Waits for all items of the warp; their writes to local memory are visible. */
TSL_FUNCTION void tsl_ptx_warp_barrier(void) {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
/* Waits at barrier `number` (1 to 15) for `items` items of whole warps; publishes local memory. */
TSL_FUNCTION void tsl_ptx_barrier(int number, int items) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(items) : "memory");
}

/* Loads four blocks of 8 lines of 16 bytes. Items 8 i to 8 i + 7 give the addresses of block i's lines. Each
 * item gets 4 bytes of each block: of line item / 4, from byte 4 (item % 4) on. */
TSL_FUNCTION void tsl_ptx_load_blocks(unsigned int line_address, unsigned int *out) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(line_address)
               : "memory");
}
/* Loads four blocks of 8 x 8 pairs of bytes, transposed: pair item / 4 of line 2 (item % 4) and the next. */
TSL_FUNCTION void tsl_ptx_load_blocks_transposed(unsigned int line_address, unsigned int *out) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(line_address)
               : "memory");
}

/* Returns four bytes of a (0 to 3) and b (4 to 7), by the hexadecimal digits of `which`, lowest first. */
TSL_FUNCTION unsigned int tsl_ptx_pick_bytes(unsigned int a, unsigned int b, unsigned int which) {
  unsigned int out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(which));
  return out;
}

/* Sets `to` to `given` of item ^ 1; both are int (REGISTER r) or float (f). */
#define TSL_PTX_EXCHANGE(REGISTER, to, given)                                                                \
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=" REGISTER(to) : REGISTER(given))

/* Computes the warp's 16 x 8 sums += A (16 x k) B (k x 8). An item has four sums, four registers of A and two
 * of B. `shape`: "m16n8k16", with `type` "f32" and REGISTER "f"; or "m16n8k32", with "s32" and "r". a_type
 * and b_type are words of PTX, without quotes. */
#define TSL_PTX_MULTIPLY(shape, type, REGISTER, a_type, b_type, sums, a, b)                                  \
  asm volatile("mma.sync.aligned." shape ".row.col." type "." TSL_TEXT(a_type) "." TSL_TEXT(                 \
                   b_type) "." type " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"       \
               : "+" REGISTER((sums)[0]), "+" REGISTER((sums)[1]), "+" REGISTER((sums)[2]),                  \
                 "+" REGISTER((sums)[3])                                                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))

/* Returns two f32 numbers as f16, rounded to nearest even, `first` in the lower half. */
TSL_FUNCTION unsigned int tsl_ptx_f16_pair(float first, float second) {
  unsigned int out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
TSL_FUNCTION unsigned int tsl_ptx_bf16_pair(float first, float second) {
  unsigned int out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
TSL_FUNCTION float tsl_ptx_from_f16(unsigned int bits) {
  float out;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(out) : "r"(bits));
  return out;
}
TSL_FUNCTION float tsl_ptx_from_bf16(unsigned int bits) {
  float out;
  asm("mov.b32 %0, %1;" : "=f"(out) : "r"(bits << 16));
  return out;
}

#endif
