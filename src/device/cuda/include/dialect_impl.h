/* The kernel dialect in CUDA C++ (NVRTC, no headers). */
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

#define TSL_KERNEL(x, y, z) extern "C" __global__ __launch_bounds__((x) * (y) * (z)) void
#define TSL_KERNEL_SHARING(x, y, z, groups)                                                                  \
  extern "C" __global__ __launch_bounds__((x) * (y) * (z), groups) void
#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_GLOBAL
#define TSL_LOCAL __shared__ __align__(16)
#define TSL_LOCAL_LINES __shared__ __align__(128)
#define TSL_LOCAL_BYTES(name, bytes) extern TSL_LOCAL_LINES char name[]
#define TSL_LOCAL_POINTER
#define TSL_CONSTANT static __constant__ const
#define TSL_RESTRICT __restrict__
#define TSL_INDEX long long
#define TSL_UINT64 unsigned long long

#define TSL_AXIS_0 x
#define TSL_AXIS_1 y
#define TSL_AXIS_2 z
#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)
#define TSL_GROUP(d) ((int)blockIdx.TSL_PASTE(TSL_AXIS_, d))
#define TSL_GROUPS(d) ((int)gridDim.TSL_PASTE(TSL_AXIS_, d))
#define TSL_ITEM(d) ((int)threadIdx.TSL_PASTE(TSL_AXIS_, d))
#define TSL_ITEMS(d) ((int)blockDim.TSL_PASTE(TSL_AXIS_, d))
#define TSL_GLOBAL_ITEM(d)                                                                                   \
  ((TSL_INDEX)blockIdx.TSL_PASTE(TSL_AXIS_, d) * (TSL_INDEX)blockDim.TSL_PASTE(TSL_AXIS_, d) +               \
   (TSL_INDEX)threadIdx.TSL_PASTE(TSL_AXIS_, d))
#define TSL_BARRIER() __syncthreads()
#if __CUDA_ARCH__ >= 900
#define TSL_START() asm volatile("griddepcontrol.wait;" ::: "memory")
#define TSL_END() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define TSL_START() ((void)0)
#define TSL_END() ((void)0)
#endif
#define TSL_LOCAL_ADD(pointer, x) ((void)atomicAdd(pointer, x))

#define TSL_FMA(a, b, c) fma(a, b, c)
#define TSL_MUL_float(a, b) __fmul_rn(a, b)
#define TSL_MUL_double(a, b) __dmul_rn(a, b)
#define TSL_MUL(type, a, b) TSL_PASTE(TSL_MUL_, type)(a, b)
#define TSL_ERF(x) erf(x)
#define TSL_TANH(x) tanh(x)
TSL_FUNCTION float tsl_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
TSL_FUNCTION float tsl_max(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(x), "f"(y));
  return most;
#else
  return x > y || x != x ? x : y;
#endif
}
#define TSL_EXP2(x) tsl_exp2(x)
#define TSL_MAX(x, y) tsl_max(x, y)
#define TSL_AS_INDEX(x) __double_as_longlong(x)
#define TSL_AS_DOUBLE(i) __longlong_as_double(i)
#define TSL_AS_INT(x) __float_as_int(x)
#define TSL_AS_FLOAT(i) __int_as_float(i)
#define TSL_NAN_float __int_as_float(0x7fc00000)
#define TSL_NAN_double __longlong_as_double(0x7ff8000000000000ll)
#define TSL_NAN(type) TSL_PASTE(TSL_NAN_, type)

/* f16 as bits: CUDA's type needs a header. */
TSL_FUNCTION float tsl_float_of_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
TSL_FUNCTION unsigned short tsl_half_of_float(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#define TSL_FLOAT_OF_HALF(bits) tsl_float_of_half(bits)
#define TSL_HALF_OF_FLOAT(x) tsl_half_of_float(x)

#if __CUDA_ARCH__ >= 610
TSL_FUNCTION int tsl_dot4_ss(int a, int b, int sum) {
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
TSL_FUNCTION int tsl_dot4_su(int a, int b, int sum) {
  asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
TSL_FUNCTION int tsl_dot4_us(int a, int b, int sum) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
TSL_FUNCTION int tsl_dot4_uu(int a, int b, int sum) {
  asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
#define TSL_DOT4_(a_sign, b_sign, a, b, sum) tsl_dot4_##a_sign##b_sign(a, b, sum)
#else
#define TSL_BYTE_s(x, i) ((int)((unsigned)(x) << (24 - 8 * (i))) >> 24)
#define TSL_BYTE_u(x, i) ((int)((unsigned)(x) >> 8 * (i)&255))
#define TSL_DOT4_(a_sign, b_sign, a, b, sum)                                                                 \
  ((sum) + TSL_BYTE_##a_sign(a, 0) * TSL_BYTE_##b_sign(b, 0) +                                               \
   TSL_BYTE_##a_sign(a, 1) * TSL_BYTE_##b_sign(b, 1) + TSL_BYTE_##a_sign(a, 2) * TSL_BYTE_##b_sign(b, 2) +   \
   TSL_BYTE_##a_sign(a, 3) * TSL_BYTE_##b_sign(b, 3))
#endif
#define TSL_DOT4(a_sign, b_sign, a, b, sum) TSL_DOT4_(a_sign, b_sign, a, b, sum)

/* N lanes; the compiler unrolls the operators. */
template <typename T, int N>
struct tsl_vector {
  T lane[N];
};
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> operator+(tsl_vector<T, N> a, tsl_vector<T, N> b) {
#pragma unroll
  for (int i = 0; i < N; i++)
    a.lane[i] += b.lane[i];
  return a;
}
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> operator-(tsl_vector<T, N> a, tsl_vector<T, N> b) {
#pragma unroll
  for (int i = 0; i < N; i++)
    a.lane[i] -= b.lane[i];
  return a;
}
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> operator*(tsl_vector<T, N> a, tsl_vector<T, N> b) {
#pragma unroll
  for (int i = 0; i < N; i++)
    a.lane[i] *= b.lane[i];
  return a;
}
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> fma(tsl_vector<T, N> a, tsl_vector<T, N> b, tsl_vector<T, N> c) {
#pragma unroll
  for (int i = 0; i < N; i++)
    c.lane[i] = fma(a.lane[i], b.lane[i], c.lane[i]);
  return c;
}
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> tsl_splat(T x) {
  tsl_vector<T, N> v;
#pragma unroll
  for (int i = 0; i < N; i++)
    v.lane[i] = x;
  return v;
}
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> tsl_load(const T *p) {
  tsl_vector<T, N> v;
#pragma unroll
  for (int i = 0; i < N; i++)
    v.lane[i] = p[i];
  return v;
}
/* Accesses of up to 16 bytes, by the type's alignment. */
template <typename T, int N>
struct __align__(N * sizeof(T) < 16 ? N * sizeof(T) : 16) tsl_aligned_vector {
  tsl_vector<T, N> vector;
};
template <typename T, int N>
TSL_FUNCTION tsl_vector<T, N> tsl_load_aligned(const T *p) {
  /* a copy of the member alone would lose the alignment */
  const tsl_aligned_vector<T, N> whole = *reinterpret_cast<const tsl_aligned_vector<T, N> *>(p);
  return whole.vector;
}
template <typename T, int N>
TSL_FUNCTION void tsl_store(T *p, tsl_vector<T, N> v) {
#pragma unroll
  for (int i = 0; i < N; i++)
    p[i] = v.lane[i];
}
template <typename T, int N>
TSL_FUNCTION void tsl_store_aligned(T *p, tsl_vector<T, N> v) {
  reinterpret_cast<tsl_aligned_vector<T, N> *>(p)->vector = v;
}

/* Stores 16 bytes by one instruction: NVRTC 13.0 splits some such stores of structs and vector types. */
TSL_FUNCTION void tsl_store_whole(int *p, tsl_vector<int, 4> v) {
  asm volatile("st.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(v.lane[0]),
               "r"(v.lane[1]), "r"(v.lane[2]), "r"(v.lane[3])
               : "memory");
}
TSL_FUNCTION void tsl_store_whole(float *p, tsl_vector<float, 4> v) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "f"(v.lane[0]),
               "f"(v.lane[1]), "f"(v.lane[2]), "f"(v.lane[3])
               : "memory");
}
TSL_FUNCTION void tsl_store_whole(long long *p, tsl_vector<long long, 2> v) {
  asm volatile("st.global.v2.s64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "l"(v.lane[0]),
               "l"(v.lane[1])
               : "memory");
}
TSL_FUNCTION void tsl_store_whole(double *p, tsl_vector<double, 2> v) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "d"(v.lane[0]),
               "d"(v.lane[1])
               : "memory");
}

#define TSL_VECTOR(type, n) tsl_vector<type, n>
#define TSL_SPLAT(type, n, x) tsl_splat<type, n>(x)
#define TSL_LOAD(type, n, pointer) tsl_load<type, n>(pointer)
#define TSL_LOAD_ALIGNED(type, n, pointer) tsl_load_aligned<type, n>(pointer)
#define TSL_STORE(type, n, pointer, vector) tsl_store<type, n>(pointer, vector)
#define TSL_STORE_ALIGNED(type, n, pointer, vector) tsl_store_aligned<type, n>(pointer, vector)
#define TSL_STORE_WHOLE(type, n, pointer, vector) tsl_store_whole(pointer, vector)
#define TSL_LOCAL_LOAD(type, n, pointer) tsl_load_aligned<type, n>(pointer)
#define TSL_LOCAL_STORE(type, n, pointer, vector) tsl_store_aligned<type, n>(pointer, vector)
#define TSL_LANE(vector, i) ((vector).lane[0x##i])

/* Rows of texels in global memory, read through the cache that textures use (ld.global.nc); zeros outside. A
 * texture object would belong to the driver: a stream's capture forbids its creation. */
struct tsl_cuda_image {
  const char *address;
  unsigned long long pitch;
  int width, height;
};
#define TSL_IMAGE tsl_cuda_image
TSL_FUNCTION tsl_vector<float, 4> tsl_texel(const tsl_cuda_image &image, int column, int row) {
  tsl_vector<float, 4> texel = {};
  const int is_inside = (unsigned)column < (unsigned)image.width && (unsigned)row < (unsigned)image.height;
  asm("{ .reg .pred inside;\n"
      "  setp.ne.s32 inside, %5, 0;\n"
      "  @inside ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4]; }"
      : "+f"(texel.lane[0]), "+f"(texel.lane[1]), "+f"(texel.lane[2]), "+f"(texel.lane[3])
      : "l"(image.address + row * image.pitch + column * 16LL), "r"(is_inside));
  return texel;
}
#define TSL_TEXEL(image, column, row) tsl_texel(image, column, row)

#define TSL_TEXT_(x) #x
#define TSL_TEXT(x) TSL_TEXT_(x)
#define TSL_UNROLL _Pragma("unroll")
#define TSL_UNROLL_BY(n) _Pragma(TSL_TEXT(unroll n))

#endif
