/* sm_80's instructions, a function each: copies to shared memory that go on by themselves, and products of a warp in f64
 * (NVIDIA's PTX ISA 7.0 and newer, chapters "cp.async" and "mma"). CUDA C++ for NVRTC, which needs no header.
 *
 * Addresses of shared memory are 32 bits wide: shared_address(). */
#ifndef TSL_SM80_H
#define TSL_SM80_H

#define SM80_FUNCTION static __device__ __forceinline__

typedef unsigned int shared_t;

SM80_FUNCTION shared_t shared_address(const void *pointer) {
  return (shared_t)__cvta_generic_to_shared(pointer);
}

/* --- copies to shared memory, by each thread that executes them --- */

/* BYTES bytes, 8 or 16, where `asked`; both addresses multiples of that many. 16 leave the first cache out. */
template <int BYTES>
SM80_FUNCTION void copy_async_if(bool asked, shared_t to, const void *from) {
  if (BYTES == 16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
        "l"(__cvta_generic_to_global(from)), "r"((int)asked)
        : "memory");
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3; }" ::"r"(to),
        "l"(__cvta_generic_to_global(from)), "r"((int)asked), "n"(BYTES)
        : "memory");
}
/* Ends a group of this thread's copies. */
SM80_FUNCTION void copies_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most PENDING of this thread's groups are under way; other threads see what came after the next barrier. */
template <int PENDING>
SM80_FUNCTION void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* --- shared memory --- */

SM80_FUNCTION double load_double(shared_t from) {
  double value;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION void store_double(shared_t to, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(value) : "memory");
}

SM80_FUNCTION double2 load_doubles(shared_t from) {
  double2 value;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "r"(from) : "memory");
  return value;
}
SM80_FUNCTION void store_doubles(shared_t to, double first, double second) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(first), "d"(second) : "memory");
}

/* --- products of a warp --- */

/* sums (16 x 8) += A (16 x 8) B (8 x 8), in f64, each number rounded as multiply-adds round. Of thread t: a[0] is row t / 4, column
 * t % 4 of A, a[1] row + 8, a[2] column + 4, a[3] both; b[0] is row t % 4, column t / 4 of B, b[1] row + 4; sums[i] is row
 * t / 4 + 8 (i / 2), column 2 (t % 4) + i % 2. From sm_90 on one instruction; before, the four of 8 x 8 x 4 that it is made of. */
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

/* The same of A (16 x 4) B (4 x 8): a[0] is row t / 4, column t % 4, a[1] row + 8; b is row t % 4, column t / 4. */
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

/* --- clusters of blocks, from sm_90 on; below, a block is alone --- */

/* All threads of all blocks of a cluster; what they wrote to shared memory before is seen behind it. */
SM80_FUNCTION void blocks_barrier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/* Two numbers from the shared memory of the cluster's block `rank`, where it has what this block has at `from`. */
SM80_FUNCTION double2 load_doubles_of(unsigned rank, shared_t from) {
#if __CUDA_ARCH__ >= 900
  double2 value;
  shared_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(from), "r"(rank));
  asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
               : "=d"(value.x), "=d"(value.y)
               : "r"(there)
               : "memory");
  return value;
#else
  return load_doubles(from);
#endif
}

/* --- launches --- */

/* Waits until the kernel before this one in the stream has ended and its writes are seen; and says that the next one may start.
 * Both do nothing before sm_90, and where the launch does not ask for it. */
SM80_FUNCTION void dependency_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
SM80_FUNCTION void dependency_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
