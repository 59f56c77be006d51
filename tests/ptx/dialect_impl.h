/* The kernel dialect in C, as far as kernels with PTX use it: each item of a group is a thread of the host (warp.h). */
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

#include "warp.h"

#define TSL_KERNEL(x, y, z)                                                                                  \
  enum { ptx_items = (x) * (y) * (z) };                                                                      \
  static void
#define TSL_FUNCTION static inline
#define TSL_GLOBAL
#define TSL_LOCAL_LINES static _Alignas(128)
#define TSL_LOCAL_ROOM(name, bytes) TSL_LOCAL_LINES char name[bytes]
#define TSL_LOCAL_POINTER
#define TSL_RESTRICT restrict
#define TSL_INDEX long long
#define TSL_BITS unsigned long long
#define TSL_GROUP(d) ptx_self.group
#define TSL_GROUPS(d) ptx_self.groups
#define TSL_ITEM(d) ptx_self.item
#define TSL_BARRIER() ptx_barrier()
#define TSL_FMA(a, b, c) fmaf(a, b, c)
#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)
#define TSL_TEXT_(x) #x
#define TSL_TEXT(x) TSL_TEXT_(x)
#define TSL_VECTOR(type, n) TSL_PASTE(type, n)
#define TSL_LANE(vector, i) ((vector).lane[i])
#define TSL_STORE_ALIGNED(type, n, pointer, vector) ptx_store(pointer, (vector).lane, n * sizeof(type))
#define TSL_STORE_WHOLE(type, n, pointer, vector) ptx_store(pointer, (vector).lane, n * sizeof(type))
#define TSL_UNROLL
#define TSL_UNROLL_BY(n)

typedef struct int2 {
  int lane[2];
} int2;
typedef struct int4 {
  int lane[4];
} int4;
typedef struct float4 {
  float lane[4];
} float4;

#endif
