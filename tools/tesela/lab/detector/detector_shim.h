/* Words and functions of OpenCL C and CUDA C++ that C lacks, for a kernel that runs on the processor. The
 * tool replaces the words that declare local memory (lab_detect.c). */
#ifdef __cplusplus
extern "C" {
#endif
typedef struct lab_vector {
  unsigned x, y, z;
} lab_vector;
extern lab_vector lab_item, lab_group, lab_items, lab_groups;
extern long lab_sizes[8], lab_local_counts[8];
extern double lab_scalars[2];
void lab_barrier(void);
void lab_register(const char *name, void *start, unsigned long bytes, unsigned long row,
                  unsigned long element);
void *lab_operand(const char *name);
void *lab_local_argument(const char *name, unsigned long bytes, unsigned long element);
void lab_call(void);
void lab_atomic(void *address, unsigned long bytes);
void *lab_memcpy(void *target, const void *source, __SIZE_TYPE__ bytes);
void *lab_memmove(void *target, const void *source, __SIZE_TYPE__ bytes);
void *lab_memset(void *target, int value, __SIZE_TYPE__ bytes);
#ifdef __cplusplus
}
#endif

#ifdef LAB_OPENCL
#include <stdbool.h>
#include <tgmath.h>
#undef I
#undef complex
#define __kernel
#define kernel
#define __global
#define global
#define __constant const
#define constant const
#define __private
#define restrict __restrict
#define vec_type_hint(type) unused
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int lab_uint;
typedef unsigned long ulong;
#define uint lab_uint
typedef __SIZE_TYPE__ size_t;
#define LAB_DIMENSION(vector, d) ((size_t)((d) == 0 ? (vector).x : (d) == 1 ? (vector).y : (vector).z))
#define get_local_id(d) LAB_DIMENSION(lab_item, d)
#define get_group_id(d) LAB_DIMENSION(lab_group, d)
#define get_local_size(d) LAB_DIMENSION(lab_items, d)
#define get_num_groups(d) LAB_DIMENSION(lab_groups, d)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define get_global_offset(d) ((size_t)0)
#define get_work_dim() 3u
#define barrier(flags) ((void)(flags), lab_barrier())
#define work_group_barrier(flags) ((void)(flags), lab_barrier())
#define mem_fence(flags) ((void)(flags))
#define read_mem_fence(flags) ((void)(flags))
#define write_mem_fence(flags) ((void)(flags))
#define mad(a, b, c) ((a) * (b) + (c))
#define mad24(a, b, c) ((a) * (b) + (c))
#define mul24(a, b) ((a) * (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(x, low, high) min(max(x, low), high)
#endif

#ifdef LAB_C
#include <string.h>
#define memcpy lab_memcpy
#define memmove lab_memmove
#define memset lab_memset
#endif

#ifdef LAB_CUDA
#include <cmath>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__ const
#define __launch_bounds__(...)
#define threadIdx lab_item
#define blockIdx lab_group
#define blockDim lab_items
#define gridDim lab_groups
#define __syncthreads() lab_barrier()
#define __ldg(address) (*(address))
#define __restrict__ __restrict
/* Atomic additions race with nothing. */
template <class T>
__attribute__((no_sanitize("thread"))) static inline T atomicAdd(T *address, T value) {
  lab_atomic(address, sizeof(T));
  const T old = *address;
  *address = old + value;
  return old;
}
template <class T>
static inline T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
static inline T max(T a, T b) {
  return a > b ? a : b;
}
#endif
