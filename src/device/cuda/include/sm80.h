/* PTX instructions of sm_80 (NVIDIA's PTX ISA 7.0, chapters "cp.async", "ldmatrix", "mma"), one function
 * each. CUDA C++ for NVRTC without headers. Addresses of shared memory have 32 bits: shared_address(). */
#ifndef TSL_SM80_H
#define TSL_SM80_H

#define SM80_FUNCTION static __device__ __forceinline__

typedef unsigned int shared_t;

SM80_FUNCTION shared_t shared_address(const void *pointer) {
  return (shared_t)__cvta_generic_to_shared(pointer);
}

/* Copies 4, 8 or 16 BYTES if `asked`; else writes nothing. Addresses are multiples of BYTES; 16 bypass L1. */
template <int BYTES>
SM80_FUNCTION void cp_async_if(bool asked, shared_t end, const void *from) {
  if (BYTES == 16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(end),
        "l"(__cvta_generic_to_global(from)), "r"((int)asked)
        : "memory");
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3; }" ::"r"(end),
        "l"(__cvta_generic_to_global(from)), "r"((int)asked), "n"(BYTES)
        : "memory");
}
/* Closes the group of this thread's copies. */
SM80_FUNCTION void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most PENDING of this thread's groups are incomplete; a barrier shows the data to others. */
template <int PENDING>
SM80_FUNCTION void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

SM80_FUNCTION double load_double(shared_t from) {
  double value;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION void store_double(shared_t end, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(end), "d"(value) : "memory");
}

SM80_FUNCTION double2 load_doubles(shared_t from) {
  double2 value;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION float2 load_floats(shared_t from) {
  float2 value;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION void load_floats(float2 &first, float2 &second, shared_t from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(first.x), "=f"(first.y), "=f"(second.x), "=f"(second.y)
               : "r"(from)
               : "memory");
}
SM80_FUNCTION void load_pair(double2 &value, shared_t from) {
  value = load_doubles(from);
}
SM80_FUNCTION void load_pair(float2 &value, shared_t from) {
  value = load_floats(from);
}
SM80_FUNCTION void store_pair(shared_t end, double2 value) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(end), "d"(value.x), "d"(value.y) : "memory");
}
SM80_FUNCTION void store_pair(shared_t end, float2 value) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(end), "f"(value.x), "f"(value.y) : "memory");
}

/* Reads global memory past the level-1 cache, and adds to it in the level-2 cache, rounded to nearest. */
SM80_FUNCTION double2 load_from_l2(const double *from) {
  double2 value;
  asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "l"(from) : "memory");
  return value;
}
SM80_FUNCTION void add_in_l2(double *total, double value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(total), "d"(value) : "memory");
}

/* Sets a flag of device memory after the block's earlier writes, by one thread after a barrier. */
SM80_FUNCTION void flag_publish(unsigned long long *flag, unsigned long long value) {
  asm volatile("fence.acq_rel.gpu;\n st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
/* Waits until the flag holds `value`, then resets it to 0, by its only waiter. */
SM80_FUNCTION void flag_wait_and_clear(unsigned long long *flag, unsigned long long value) {
  unsigned long long seen;
  do
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
  while (seen != value);
  asm volatile("st.relaxed.gpu.global.u64 [%0], 0;" ::"l"(flag) : "memory");
}

SM80_FUNCTION unsigned load_word(shared_t from) {
  unsigned value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION void store_word(shared_t end, unsigned value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(end), "r"(value) : "memory");
}
SM80_FUNCTION void store_half(shared_t end, unsigned short value) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(end), "h"(value) : "memory");
}
/* Stores four words, 16-byte aligned. */
SM80_FUNCTION void store_words(shared_t end, const unsigned (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(end), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
}
/* Loads an aligned element of 1, 2 or 4 BYTES if `asked`, without a branch; else returns 0. */
template <int BYTES>
SM80_FUNCTION unsigned load_if(bool asked, const void *from) {
  unsigned value;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; mov.b32 %0, 0; @p ld.global.u%3 %0, [%1]; }"
               : "=&r"(value)
               : "l"(__cvta_generic_to_global(from)), "r"((int)asked), "n"(8 * BYTES)
               : "memory");
  return value;
}
/* Loads 16 aligned bytes if `asked`, without a branch; else zeros. IN_L1: the first-level cache keeps them.
 */
template <bool IN_L1>
SM80_FUNCTION void load_words_if(unsigned (&words)[4], bool asked, const void *from) {
#define load_words_if_(cached)                                                                               \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0;"          \
               " mov.b32 %3, 0; @p ld.global" cached ".v4.b32 {%0, %1, %2, %3}, [%4]; }"                     \
               : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])                          \
               : "l"(__cvta_generic_to_global(from)), "r"((int)asked)                                        \
               : "memory")
  if (IN_L1)
    load_words_if_("");
  else
    load_words_if_(".L1::no_allocate");
#undef load_words_if_
}
/* Prefetches `bytes`, a multiple of 16 at such an address, to L2, by one thread. No effect before sm_90. */
SM80_FUNCTION void prefetch_bulk(const void *from, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
#endif
}
/* Stores the low 2 or 4 BYTES of a word if `asked`, without a branch. */
template <int BYTES>
SM80_FUNCTION void store_if(bool asked, void *end, unsigned value) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u%3 [%0], %1; }" ::"l"(
                   __cvta_generic_to_global(end)),
               "r"(value), "r"((int)asked), "n"(8 * BYTES)
               : "memory");
}
/* Stores 16 aligned bytes of memory by one instruction: compilers split a uint4 near a store of one element.
 */
SM80_FUNCTION void store_global_words(void *end, const uint4 &words) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(end)), "r"(words.x),
               "r"(words.y), "r"(words.z), "r"(words.w)
               : "memory");
}

/* Loads four 8 x 8 matrices of 16-bit elements, by a whole warp. Threads 8 i to 8 i + 7 pass the addresses of
 * matrix i's rows, multiples of 16. Thread t gets in out[i] word t % 4 of row t / 4 of matrix i. */
SM80_FUNCTION void ldmatrix_x4(unsigned *out, shared_t line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(line)
               : "memory");
}
/* As ldmatrix_x4(), transposed: out[i] has element t / 4 of rows 2 (t % 4) and 2 (t % 4) + 1 (high half). */
SM80_FUNCTION void ldmatrix_x4_trans(unsigned *out, shared_t line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(line)
               : "memory");
}

/* Returns four bytes of `low` (0 to 3) and `high` (4 to 7), selected by hexadecimal digits, lowest first. */
SM80_FUNCTION unsigned permute_bytes(unsigned low, unsigned high, unsigned which) {
  unsigned out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(low), "r"(high), "r"(which));
  return out;
}
/* Returns the value of thread t ^ 1; the whole warp calls it. */
SM80_FUNCTION unsigned shuffle_xor_1(unsigned value) {
  unsigned out;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(out) : "r"(value));
  return out;
}

/* Rounds to nearest even; `first` is the low half. */
SM80_FUNCTION unsigned f16_pair(float first, float second) {
  unsigned out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
SM80_FUNCTION unsigned bf16_pair(float first, float second) {
  unsigned out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
SM80_FUNCTION float from_f16(unsigned short bits) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(bits));
  return out;
}
/* Converts two 8-bit floating-point numbers to f16, exactly. From sm_89 on. */
#if __CUDA_ARCH__ >= 890
SM80_FUNCTION unsigned f16_pair_of_e4m3(unsigned pair) {
  unsigned out;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out) : "h"((unsigned short)pair));
  return out;
}
SM80_FUNCTION unsigned f16_pair_of_e5m2(unsigned pair) {
  unsigned out;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(out) : "h"((unsigned short)pair));
  return out;
}
#endif

/* Computes sums (16 x 8) += A (16 x K) B (K x 8), where 32 bytes are K elements. SHAPE: "m16n8k16" for bf16
 * and f16, "m16n8k32" for 8-bit integers, "m16n8k8" for tf32 (f32 truncated to ten places). A_TYPE, B_TYPE:
 * PTX types. SUM, REGISTER: "f32" in "f", or "s32" (which wraps) in "r". Thread t: a[0] is bytes 4 (t % 4) on
 * of row t / 4 of A; a[1] row t / 4 + 8; a[2] and a[3] 16 bytes further. b[0] is bytes 4 (t % 4) on of column
 * t / 4 of B; b[1] 16 bytes further. sums[i] is row t / 4 + 8 (i / 2), column 2 (t % 4) + i % 2. */
#define mma_16x8(SHAPE, SUM, REGISTER, A_TYPE, B_TYPE, sums, a, b)                                           \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." SUM "." A_TYPE "." B_TYPE "." SUM                       \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                            \
               : "+" REGISTER((sums)[0]), "+" REGISTER((sums)[1]), "+" REGISTER((sums)[2]),                  \
                 "+" REGISTER((sums)[3])                                                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))

/* The name of a PTX type as a string, from a define of the host. */
#define MMA_TEXT_(type) #type
#define MMA_TEXT(type) MMA_TEXT_(type)

/* Computes sums (16 x 8) += A (16 x 8) B (8 x 8) in f64. Thread t: a[0] is row t / 4, column t % 4 of A; a[1]
 * row + 8; a[2] column + 4; a[3] both. b[0] is row t % 4, column t / 4 of B; b[1] row + 4. Sums: mma_16x8. */
SM80_FUNCTION void dmma_16x8x8(double (&sums)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
               "%9}, {%0, %1, %2, %3};"
               : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sums[i % 2 * 2]), "+d"(sums[i % 2 * 2 + 1])
                 : "d"(a[i]), "d"(b[i / 2]));
#endif
}

/* Computes sums (16 x 8) += A (16 x 4) B (4 x 8) in f64, with a[0], a[1] and b[0] of dmma_16x8x8(). */
SM80_FUNCTION void dmma_16x8x4(double (&sums)[4], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, "
               "%2, %3};"
               : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
               : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int i = 0; i < 2; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sums[2 * i]), "+d"(sums[2 * i + 1])
                 : "d"(a[i]), "d"(b));
#endif
}

/* Waits for all threads of the cluster, and shows their writes to shared memory. Before sm_90: nothing. */
SM80_FUNCTION void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/* Loads from address `from` in the shared memory of the cluster's block `rank`; before sm_90 its own. */
template <class T>
SM80_FUNCTION void cluster_load_pair(T &value, unsigned rank, shared_t from) {
#if __CUDA_ARCH__ >= 900
  shared_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(from), "r"(rank));
  if constexpr (sizeof(T) == 16)
    asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
                 : "=d"(value.x), "=d"(value.y)
                 : "r"(there)
                 : "memory");
  else
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(value.x), "=f"(value.y)
                 : "r"(there)
                 : "memory");
#else
  load_pair(value, from);
#endif
}

/* Returns the block's index, opaque to the compiler: derived values occupy no registers before their use. */
SM80_FUNCTION unsigned opaque_block_index() {
  unsigned number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return number;
}
/* Makes an address opaque to the compiler, so that it is not recomputed. */
template <typename T>
SM80_FUNCTION void make_opaque(T *&pointer) {
  asm("" : "+l"(pointer));
}

/* Waits for the stream's previous kernel and its writes. No effect before sm_90 or in an ordinary launch. */
SM80_FUNCTION void grid_dependency_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
SM80_FUNCTION void grid_dependency_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/* Returns true if the result is not used: the int at address `index` (0: used) is at most `above`. */
SM80_FUNCTION bool is_unwanted(long long index, long long above) {
  if (index == 0)
    return false;
  grid_dependency_wait();
  return *(const volatile int *)index <= above;
}

#endif
