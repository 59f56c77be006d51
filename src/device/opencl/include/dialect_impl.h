/* The kernel dialect in OpenCL C 1.2. */
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define TSL_KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define TSL_KERNEL_SHARING(x, y, z, groups) TSL_KERNEL(x, y, z)
/* always_inline: PoCL 3.1 loses local memory where two calls share a function with barriers. */
#define TSL_FUNCTION static inline __attribute__((always_inline))
#define TSL_GLOBAL __global
#define TSL_LOCAL __local __attribute__((aligned(16)))
#define TSL_LOCAL_LINES __local __attribute__((aligned(128)))
#define TSL_LOCAL_BYTES(name, bytes) TSL_LOCAL_LINES char name[bytes]
#define TSL_LOCAL_POINTER __local
#define TSL_CONSTANT __constant
#define TSL_RESTRICT restrict
#define TSL_INDEX long
#define TSL_UINT64 ulong

#define TSL_GROUP(d) ((int)get_group_id(d))
#define TSL_GROUPS(d) ((int)get_num_groups(d))
#define TSL_ITEM(d) ((int)get_local_id(d))
#define TSL_ITEMS(d) ((int)get_local_size(d))
#define TSL_GLOBAL_ITEM(d)                                                                                   \
  ((TSL_INDEX)get_group_id(d) * (TSL_INDEX)get_local_size(d) + (TSL_INDEX)get_local_id(d))
#define TSL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define TSL_START() ((void)0)
#define TSL_END() ((void)0)
#define TSL_LOCAL_ADD(pointer, x) ((void)atomic_add(pointer, x))

#define TSL_FMA(a, b, c) fma(a, b, c)

#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)

/* Functions limit the pragma. */
static inline float tsl_mul_float(float a, float b) {
#pragma OPENCL FP_CONTRACT OFF
  return a * b;
}
#ifdef cl_khr_fp64
static inline double tsl_mul_double(double a, double b) {
#pragma OPENCL FP_CONTRACT OFF
  return a * b;
}
#endif
#define TSL_MUL(type, a, b) TSL_PASTE(tsl_mul_, type)(a, b)
#define TSL_ERF(x) erf(x)
#define TSL_TANH(x) tanh(x)
#define TSL_EXP2(x) exp2((float)(x))
static inline float tsl_max(float x, float y) {
  return x > y || x != x ? x : y;
}
#define TSL_MAX(x, y) tsl_max(x, y)
#define TSL_AS_INDEX(x) as_long(x)
#define TSL_AS_DOUBLE(i) as_double((long)(i))
#define TSL_AS_INT(x) as_int(x)
#define TSL_AS_FLOAT(i) as_float((int)(i))
#define TSL_NAN_float as_float(0x7fc00000u)
#define TSL_NAN_double as_double(0x7ff8000000000000ul)
#define TSL_NAN(type) TSL_PASTE(TSL_NAN_, type)

/* Every device can load and store halves; only some compute with them. */
static inline float tsl_float_of_half(ushort bits) {
  return vload_half(0, (const __private half *)&bits);
}
static inline ushort tsl_half_of_float(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (__private half *)&bits);
  return bits;
}
#define TSL_FLOAT_OF_HALF(bits) tsl_float_of_half(bits)
#define TSL_HALF_OF_FLOAT(x) tsl_half_of_float(x)

/* Dot products of four bytes: by the compiler's extension, by PTX on NVIDIA, else by plain arithmetic. */
#if defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define TSL_DOT4_(a_sign, b_sign, a, b, sum) ((sum) + (int)tsl_dot4_##a_sign##b_sign((uint)(a), (uint)(b)))
#define tsl_dot4_ss dot_4x8packed_ss_int
#define tsl_dot4_su dot_4x8packed_su_int
#define tsl_dot4_us dot_4x8packed_us_int
#define tsl_dot4_uu dot_4x8packed_uu_uint
#elif defined(__NV_CL_C_VERSION)
static inline int tsl_dot4_ss(int a, int b, int sum) {
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}
static inline int tsl_dot4_su(int a, int b, int sum) {
  asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}
static inline int tsl_dot4_us(int a, int b, int sum) {
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}
static inline int tsl_dot4_uu(int a, int b, int sum) {
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}
#define TSL_DOT4_(a_sign, b_sign, a, b, sum) tsl_dot4_##a_sign##b_sign(a, b, sum)
#else
#define TSL_BYTE_s(x, i) ((int)((uint)(x) << (24 - 8 * (i))) >> 24)
#define TSL_BYTE_u(x, i) ((int)((uint)(x) >> 8 * (i)&255))
#define TSL_DOT4_(a_sign, b_sign, a, b, sum)                                                                 \
  ((sum) + TSL_BYTE_##a_sign(a, 0) * TSL_BYTE_##b_sign(b, 0) +                                               \
   TSL_BYTE_##a_sign(a, 1) * TSL_BYTE_##b_sign(b, 1) + TSL_BYTE_##a_sign(a, 2) * TSL_BYTE_##b_sign(b, 2) +   \
   TSL_BYTE_##a_sign(a, 3) * TSL_BYTE_##b_sign(b, 3))
#endif
#define TSL_DOT4(a_sign, b_sign, a, b, sum) TSL_DOT4_(a_sign, b_sign, a, b, sum)

#define TSL_VECTOR(type, n) TSL_PASTE(type, n)
#define TSL_SPLAT(type, n, x) ((TSL_VECTOR(type, n))(x))
#define TSL_LOAD(type, n, pointer) TSL_PASTE(vload, n)(0, pointer)
#define TSL_LOAD_ALIGNED(type, n, pointer) (*(TSL_GLOBAL const TSL_VECTOR(type, n) *)(pointer))
#define TSL_STORE(type, n, pointer, vector) TSL_PASTE(vstore, n)(vector, 0, pointer)
#define TSL_STORE_ALIGNED(type, n, pointer, vector) (*(TSL_GLOBAL TSL_VECTOR(type, n) *)(pointer) = (vector))
#define TSL_STORE_WHOLE(type, n, pointer, vector) TSL_STORE_ALIGNED(type, n, pointer, vector)
#define TSL_LOCAL_LOAD(type, n, pointer) (*(__local const TSL_VECTOR(type, n) *)(pointer))
#define TSL_LOCAL_STORE(type, n, pointer, vector) (*(__local TSL_VECTOR(type, n) *)(pointer) = (vector))
#define TSL_LANE(vector, i) ((vector).s##i)

/* Texels outside are zero. */
#ifdef __IMAGE_SUPPORT__
__constant sampler_t tsl_texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
#define TSL_IMAGE __read_only image2d_t
#define TSL_TEXEL(image, column, row) read_imagef(image, tsl_texels, (int2)(column, row))
#endif

#define TSL_TEXT_(x) #x
#define TSL_TEXT(x) TSL_TEXT_(x)
#define TSL_UNROLL _Pragma("unroll")
#define TSL_UNROLL_BY(n) _Pragma(TSL_TEXT(unroll n))

#endif
