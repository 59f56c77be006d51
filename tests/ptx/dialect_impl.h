/* The kernel dialect in C, as far as kernels with matrix instructions use it. Each item of a group
 * is a thread of the host (warp.h). */
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

#include "warp.h"

#define TSL_KERNEL(x, y, z)                                                                                  \
  enum { ptx_items = (x) * (y) * (z) };                                                                      \
  static void
#define TSL_KERNEL_SHARING(x, y, z, groups) TSL_KERNEL(x, y, z)
#define TSL_FUNCTION static inline
#define TSL_GLOBAL
#define TSL_LOCAL static _Alignas(16)
#define TSL_LOCAL_LINES static _Alignas(128)
#define TSL_LOCAL_BYTES(name, bytes) TSL_LOCAL_LINES char name[bytes]
#define TSL_LOCAL_POINTER
#define TSL_RESTRICT restrict
#define TSL_INDEX long long
#define TSL_UINT64 unsigned long long
#define TSL_GROUP(d) ((d) == 0 ? ptx_self.group : 0)
#define TSL_GROUPS(d) ((d) == 0 ? ptx_self.groups : 1)
#define TSL_ITEM(d) ptx_self.item
#define TSL_GLOBAL_ITEM(d) ((TSL_INDEX)ptx_self.group * ptx_items + ptx_self.item)
#define TSL_BARRIER() ptx_barrier()
#define TSL_START() ((void)0)
#define TSL_END() ((void)0)
#define TSL_FMA(a, b, c) _Generic((a), float : fmaf, default : ptx_fma4)(a, b, c)
#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)
#define TSL_TEXT_(x) #x
#define TSL_TEXT(x) TSL_TEXT_(x)
#define TSL_VECTOR(type, n) TSL_PASTE(type, n)
#define TSL_LANE(vector, i) ((vector)[0x##i])
#define TSL_SPLAT(type, n, x) ((x) + (TSL_VECTOR(type, n)){0})
#define TSL_LOAD_ALIGNED(type, n, pointer) (*(const TSL_VECTOR(type, n) *)(pointer))
#define TSL_LOCAL_LOAD(type, n, pointer) TSL_LOAD_ALIGNED(type, n, pointer)
#define TSL_LOCAL_STORE(type, n, pointer, vector) TSL_STORE_ALIGNED(type, n, pointer, vector)
#define TSL_STORE_ALIGNED(type, n, pointer, vector)                                                          \
  ptx_store(pointer, (TSL_VECTOR(type, n)[]){vector}, n * sizeof(type))
#define TSL_STORE_WHOLE(type, n, pointer, vector)                                                            \
  ptx_store(pointer, (TSL_VECTOR(type, n)[]){vector}, n * sizeof(type))
#define TSL_UNROLL
#define TSL_UNROLL_BY(n)

#define TSL_FLOAT_OF_HALF(bits) ptx_from(TESELA_F16, bits)
#define TSL_HALF_OF_FLOAT(x) ((unsigned short)ptx_pair(TESELA_F16, x, 0))
#define TSL_AS_FLOAT(i)                                                                                      \
  (((union {                                                                                                 \
     int bits;                                                                                               \
     float x;                                                                                                \
   }){.bits = (i)})                                                                                          \
       .x)
#define TSL_AS_INT(f)                                                                                        \
  (((union {                                                                                                 \
     float x;                                                                                                \
     int bits;                                                                                               \
   }){.x = (f)})                                                                                             \
       .bits)

#define VECTOR(type, n)                                                                                      \
  typedef type TSL_PASTE(type, n) __attribute__((vector_size(n * sizeof(type)), may_alias));
VECTOR(int, 2)
VECTOR(int, 4)
VECTOR(int, 8)
VECTOR(short, 8)
VECTOR(float, 4)
VECTOR(float, 8)
#undef VECTOR
static inline float4 ptx_fma4(float4 a, float4 b, float4 c) {
  for (int i = 0; i < 4; i++)
    c[i] = fmaf(a[i], b[i], c[i]);
  return c;
}

#endif
