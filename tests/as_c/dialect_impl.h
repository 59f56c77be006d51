// The kernel dialect in C, for kernels whose text the C compiler compiles when a test asks for it (device.c).
// The items of a group take turns on one thread. Accesses that promise an alignment are checked.
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef __SIZE_TYPE__ size_t;
#define bool _Bool
#define true 1
#define false 0

/* An image shared by the host and a kernel. The host uses device.h's names for its members. */
typedef struct as_c_image {
  const char *data;
  long pitch, width, height; /* bytes; texels; rows */
} as_c_image;
typedef struct as_c_place {
  int group[3], groups[3], item[3], items[3];
  int run; /* counts groups */
  void (*barrier)(void);
  void (*complain)(const char *what);
} as_c_place;
as_c_place as_c_here;

#define TSL_KERNEL(x, y, z) static void
#define TSL_KERNEL_SHARING(x, y, z, groups) static void
#define TSL_FUNCTION static inline
#define TSL_GLOBAL
#define TSL_LOCAL static __attribute__((aligned(16)))
#define TSL_LOCAL_LINES static __attribute__((aligned(128)))
/* Each group's first item fills such memory with NaN. */
#define TSL_LOCAL_BYTES(name, bytes)                                                                         \
  TSL_LOCAL_LINES char name[bytes];                                                                          \
  static int name##_run;                                                                                     \
  if (name##_run != as_c_here.run)                                                                           \
    __builtin_memset(name, 255, sizeof name);                                                                \
  name##_run = as_c_here.run
#define TSL_LOCAL_POINTER
#define TSL_CONSTANT static const
#define TSL_RESTRICT
#define TSL_INDEX long
#define TSL_UINT64 ulong

#define TSL_GROUP(d) as_c_here.group[d]
#define TSL_GROUPS(d) as_c_here.groups[d]
#define TSL_ITEM(d) as_c_here.item[d]
#define TSL_ITEMS(d) as_c_here.items[d]
#define TSL_GLOBAL_ITEM(d) ((TSL_INDEX)TSL_GROUP(d) * TSL_ITEMS(d) + TSL_ITEM(d))
#define TSL_BARRIER() as_c_here.barrier()
#define TSL_START() ((void)0)
#define TSL_END() ((void)0)
#define TSL_LOCAL_ADD(pointer, x) ((void)(*(pointer) += (x)))

#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)
#define TSL_TEXT_(x) #x
#define TSL_TEXT(x) TSL_TEXT_(x)
#define TSL_VECTOR(type, n) TSL_PASTE(type, n)
#define TSL_LANE(vector, i) ((vector)[0x##i])

/* Vectors, and their multiply-adds, rounded once lane by lane. */
#define AS_C_VECTOR(type, n)                                                                                 \
  typedef type TSL_PASTE(type, n) __attribute__((vector_size(n * sizeof(type)), may_alias));
#define AS_C_VECTORS(type)                                                                                   \
  AS_C_VECTOR(type, 2) AS_C_VECTOR(type, 4) AS_C_VECTOR(type, 8) AS_C_VECTOR(type, 16)
AS_C_VECTORS(char)
AS_C_VECTORS(uchar)
AS_C_VECTORS(short)
AS_C_VECTORS(ushort)
AS_C_VECTORS(int)
AS_C_VECTORS(uint)
AS_C_VECTORS(long)
AS_C_VECTORS(ulong)
AS_C_VECTORS(float)
AS_C_VECTORS(double)
#define AS_C_FMA(type, n, fma)                                                                               \
  static inline TSL_PASTE(type, n)                                                                           \
      as_c_fma_##type##n(TSL_PASTE(type, n) a, TSL_PASTE(type, n) b, TSL_PASTE(type, n) c) {                 \
    for (int i = 0; i < n; i++)                                                                              \
      c[i] = fma(a[i], b[i], c[i]);                                                                          \
    return c;                                                                                                \
  }
#define AS_C_FMAS(type, fma)                                                                                 \
  AS_C_FMA(type, 2, fma) AS_C_FMA(type, 4, fma) AS_C_FMA(type, 8, fma) AS_C_FMA(type, 16, fma)
AS_C_FMAS(float, __builtin_fmaf)
AS_C_FMAS(double, __builtin_fma)
#define TSL_FMA(a, b, c)                                                                                     \
  _Generic((a), float                                                                                        \
           : __builtin_fmaf, double                                                                          \
           : __builtin_fma, float2                                                                           \
           : as_c_fma_float2, float4                                                                         \
           : as_c_fma_float4, float8                                                                         \
           : as_c_fma_float8, float16                                                                        \
           : as_c_fma_float16, double2                                                                       \
           : as_c_fma_double2, double4                                                                       \
           : as_c_fma_double4, double8                                                                       \
           : as_c_fma_double8, double16                                                                      \
           : as_c_fma_double16)(a, b, c)
/* A compiler option forbids fused operations. */
#define TSL_MUL(type, a, b) ((type)(a) * (type)(b))
#define TSL_ERF(x) __builtin_erf(x)
#define TSL_TANH(x) __builtin_tanh(x)
#define TSL_EXP2(x) __builtin_exp2f(x)
static inline float as_c_most(float x, float y) {
  return x > y || x != x ? x : y;
}
#define TSL_MAX(x, y) as_c_most(x, y)
#define AS_C_BITS(to, from, x)                                                                               \
  (((union {                                                                                                 \
     from given;                                                                                             \
     to bits;                                                                                                \
   }){.given = (x)})                                                                                         \
       .bits)
#define TSL_AS_INDEX(x) AS_C_BITS(long, double, x)
#define TSL_AS_DOUBLE(i) AS_C_BITS(double, long, i)
#define TSL_AS_INT(x) AS_C_BITS(int, float, x)
#define TSL_AS_FLOAT(i) AS_C_BITS(float, int, i)
#define TSL_NAN(type) ((type)__builtin_nan(""))

#define AS_C_BYTE_s(x, i) ((int)((uint)(x) << (24 - 8 * (i))) >> 24)
#define AS_C_BYTE_u(x, i) ((int)((uint)(x) >> 8 * (i)&255))
#define AS_C_DOT4(a_sign, b_sign, a, b, sum)                                                                 \
  ((sum) + AS_C_BYTE_##a_sign(a, 0) * AS_C_BYTE_##b_sign(b, 0) +                                             \
   AS_C_BYTE_##a_sign(a, 1) * AS_C_BYTE_##b_sign(b, 1) +                                                     \
   AS_C_BYTE_##a_sign(a, 2) * AS_C_BYTE_##b_sign(b, 2) +                                                     \
   AS_C_BYTE_##a_sign(a, 3) * AS_C_BYTE_##b_sign(b, 3))
#define TSL_DOT4(a_sign, b_sign, a, b, sum) AS_C_DOT4(a_sign, b_sign, a, b, sum)

/* Complains where an address is not the multiple that the kernel promises. */
static inline void *as_c_aligned(const void *pointer, size_t bytes) {
  if ((size_t)pointer % bytes != 0)
    as_c_here.complain("an access is not aligned to its vector");
  return (void *)pointer;
}
#define AS_C_SPLAT(name, type, value)                                                                        \
  ({                                                                                                         \
    const type as_c_given = (value);                                                                         \
    name as_c_made;                                                                                          \
    for (size_t as_c_i = 0; as_c_i < sizeof(name) / sizeof(type); as_c_i++)                                  \
      as_c_made[as_c_i] = as_c_given;                                                                        \
    as_c_made;                                                                                               \
  })
#define TSL_SPLAT(type, n, x) AS_C_SPLAT(TSL_VECTOR(type, n), type, x)
#define AS_C_LOAD(vector, pointer)                                                                           \
  ({                                                                                                         \
    vector as_c_made;                                                                                        \
    __builtin_memcpy(&as_c_made, pointer, sizeof as_c_made);                                                 \
    as_c_made;                                                                                               \
  })
#define AS_C_STORE(vector, pointer, value)                                                                   \
  ({                                                                                                         \
    const vector as_c_made = (value);                                                                        \
    __builtin_memcpy(pointer, &as_c_made, sizeof as_c_made);                                                 \
  })
#define TSL_LOAD(type, n, pointer) AS_C_LOAD(TSL_VECTOR(type, n), pointer)
#define TSL_LOAD_ALIGNED(type, n, pointer) TSL_LOAD(type, n, as_c_aligned(pointer, n * sizeof(type)))
#define TSL_STORE(type, n, pointer, vector) AS_C_STORE(TSL_VECTOR(type, n), pointer, vector)
#define TSL_STORE_ALIGNED(type, n, pointer, vector)                                                          \
  TSL_STORE(type, n, as_c_aligned(pointer, n * sizeof(type)), vector)
#define TSL_STORE_WHOLE(type, n, pointer, vector) TSL_STORE_ALIGNED(type, n, pointer, vector)
#define TSL_LOCAL_LOAD(type, n, pointer) TSL_LOAD_ALIGNED(type, n, pointer)
#define TSL_LOCAL_STORE(type, n, pointer, vector) TSL_STORE_ALIGNED(type, n, pointer, vector)

#define TSL_IMAGE const as_c_image *
static inline float4 as_c_texel(const as_c_image *image, long column, long row) {
  const float4 zeros = {0};
  if (column < 0 || row < 0 || column >= image->width || row >= image->height)
    return zeros;
  return AS_C_LOAD(float4, image->data + row * image->pitch + column * 16);
}
#define TSL_TEXEL(image, column, row) as_c_texel(image, column, row)

#define TSL_UNROLL
#define TSL_UNROLL_BY(n)

/* Asynchronous copies of ptx.h. They arrive as late as allowed; until then their memory holds NaN. Barriers
 * of a part of the items are barriers of all, so slices must have equally many. */
#define TSL_KERNEL_PTX_H
enum { AS_C_ITEMS = 256, AS_C_COPIES = 256, AS_C_BATCHES = 16 };
typedef struct as_c_copies {
  struct {
    char *to;
    const char *from;
    int bytes;
  } copies[AS_C_BATCHES][AS_C_COPIES];
  int counts[AS_C_BATCHES], ended, arrived; /* batches */
} as_c_copies;
static as_c_copies as_c_items[AS_C_ITEMS];

static char as_c_anchor; /* addresses of local memory count from it */
static inline uint tsl_ptx_local_address(const void *pointer) {
  return (uint)((const char *)pointer - &as_c_anchor);
}
static inline void as_c_copy(uint address, const char *from, uint bytes) {
  as_c_copies *own = &as_c_items[as_c_here.item[0]];
  const int batch = own->ended % AS_C_BATCHES;
  char *to = as_c_aligned(&as_c_anchor + (int)address, bytes);
  __builtin_memset(to, 255, bytes);
  if (own->counts[batch] == AS_C_COPIES || own->ended - own->arrived == AS_C_BATCHES)
    __builtin_trap();
  own->copies[batch][own->counts[batch]++] =
      (typeof(own->copies[0][0])){to, as_c_aligned(from, bytes), (int)bytes};
}
static inline void as_c_copy_inside(uint address, const char *from, uint bytes, bool inside) {
  if (inside)
    as_c_copy(address, from, bytes);
  else
    __builtin_memset(as_c_aligned(&as_c_anchor + (int)address, bytes), 0, bytes);
}
static inline void tsl_ptx_copies_end(void) {
  as_c_items[as_c_here.item[0]].ended++;
}
static inline void tsl_ptx_end_block(int count) {
  (void)count;
}
static inline void tsl_ptx_copies_wait(int most) {
  as_c_copies *own = &as_c_items[as_c_here.item[0]];
  for (; own->ended - own->arrived > most; own->arrived++) {
    const int batch = own->arrived % AS_C_BATCHES;
    for (int i = 0; i < own->counts[batch]; i++)
      __builtin_memcpy(own->copies[batch][i].to, own->copies[batch][i].from, own->copies[batch][i].bytes);
    own->counts[batch] = 0;
  }
}
#define tsl_ptx_copy(address, from) as_c_copy(address, from, 16)
#define tsl_ptx_copy_number(address, from) as_c_copy(address, from, 4)
#define tsl_ptx_copy_inside(address, from, inside) as_c_copy_inside(address, from, 16, inside)
#define tsl_ptx_copy_number_inside(address, from, inside) as_c_copy_inside(address, from, 4, inside)
#define tsl_ptx_warp_barrier() as_c_here.barrier()
#define tsl_ptx_barrier(number, items) as_c_here.barrier()

#endif
