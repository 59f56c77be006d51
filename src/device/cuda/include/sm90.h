/* PTX instructions of sm_90a (NVIDIA's PTX ISA 8.0, chapters "mbarrier", "cp.async.bulk.tensor", "wgmma"),
 * one function each. CUDA C++ for NVRTC without headers. Addresses of shared memory have 32 bits:
 * shared_address(). "By one thread": each calling thread executes the instruction once. */
#ifndef TSL_SM90_H
#define TSL_SM90_H

#define SM90_FUNCTION static __device__ __forceinline__

typedef unsigned int shared_t;
typedef unsigned long long descriptor_t;

/* Encoded by device/cuda/tensor_map.c. A __grid_constant__ parameter, or in device memory. */
struct alignas(64) tensor_map {
  unsigned long long opaque[16];
};

SM90_FUNCTION shared_t shared_address(const void *pointer) {
  return (shared_t)__cvta_generic_to_shared(pointer);
}

/* Returns a value that all threads of a warp have, by whole warps. The compiler then keeps the value and its
 * results in uniform registers. wgmma takes descriptors from there. */
SM90_FUNCTION unsigned warp_uniform(unsigned value) {
  unsigned same;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(same) : "r"(value));
  return same;
}

/* Returns true in one thread of a whole warp. The compiler knows that it is one: it keeps the operands of
 * copies in uniform registers, without a loop over threads (100 clocks a copy). */
SM90_FUNCTION bool elect_one() {
  unsigned is_elected;
  asm volatile("{ .reg .pred elected; elect.sync _|elected, -1; selp.u32 %0, 1, 0, elected; }"
               : "=r"(is_elected));
  return is_elected;
}

SM90_FUNCTION unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/* Waits for all threads of the cluster, whose earlier writes to shared memory are then visible. */
SM90_FUNCTION void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/* Waits for all threads of the cluster, but not for their writes. Mbarriers are visible that were initialised
 * before fence_mbarrier_init(). */
SM90_FUNCTION void cluster_barrier_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/* Returns `address` in the shared memory of the cluster's block `rank`, which must not have exited. */
SM90_FUNCTION shared_t cluster_address(shared_t address, unsigned rank) {
  shared_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}
/* Loads 16 aligned bytes at a cluster_address(), written before a cluster_barrier(). */
SM90_FUNCTION uint4 cluster_load(shared_t from) {
  uint4 words;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(from)
               : "memory");
  return words;
}

/* Synchronises `threads` threads (whole warps) at named barrier NUMBER, 1 to 15. */
template <int NUMBER>
SM90_FUNCTION void named_barrier(int threads) {
  asm volatile("bar.sync %0, %1;" ::"n"(NUMBER), "r"(threads) : "memory");
}
/* Synchronises consumer warpgroup 0 or 1, by named barrier 1 or 2. */
SM90_FUNCTION void warpgroup_barrier(int group) {
  if (group == 0)
    named_barrier<1>(128);
  else
    named_barrier<2>(128);
}

/* Sets the registers per thread of this warpgroup: 24 to 256, a multiple of 8. All four warps execute it. The
 * kernel needs __launch_bounds__ with two arguments. */
template <int REGISTERS>
SM90_FUNCTION void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
SM90_FUNCTION void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/* Waits for the end and the writes of the stream's previous kernel, in a programmatic dependent launch. */
SM90_FUNCTION void grid_dependency_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
SM90_FUNCTION void grid_dependency_launch() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* Sets a flag in device memory after a fence for writes of this thread, and of its block before a barrier. */
SM90_FUNCTION void flag_publish(unsigned long long *flag, unsigned long long value) {
  asm volatile("fence.acq_rel.gpu;\n st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
/* Waits until the flag holds `value`, then resets it to 0. By one thread, the only waiter. */
SM90_FUNCTION void flag_wait_and_clear(unsigned long long *flag, unsigned long long value) {
  unsigned long long seen;
  do
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
  while (seen != value);
  asm volatile("st.relaxed.gpu.global.u64 [%0], 0;" ::"l"(flag) : "memory");
}

/* Initialises an mbarrier (8 aligned bytes), by one thread, before fence_mbarrier_init() and a barrier.
 * Phases have parities 0, 1, 0, ... and end after `count` arrivals and all expected bytes. */
SM90_FUNCTION void mbarrier_init(shared_t barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
SM90_FUNCTION void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
SM90_FUNCTION void mbarrier_arrive(shared_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/* Arrives at the mbarrier at this address in the cluster's block `rank`, which must not have exited. */
SM90_FUNCTION void mbarrier_arrive_remote(shared_t barrier, unsigned rank) {
  asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
               " mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
               "r"(rank)
               : "memory");
}
/* Arrives, and expects `bytes` more bytes of copies in this phase. */
SM90_FUNCTION void mbarrier_arrive_expect_tx(shared_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
SM90_FUNCTION void mbarrier_wait_parity(shared_t barrier, unsigned parity) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra ended;\n"
               "bra again;\n"
               "ended: }" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

SM90_FUNCTION void tma_prefetch_map(const tensor_map *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/* Makes a map in device memory (128-byte aligned) visible as written before this launch. By one thread of
 * each block before its first copy with the map. */
SM90_FUNCTION void fence_tensormap_acquire(const tensor_map *map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
/* Prefetches a box to L2, by one thread; allowed before grid_dependency_wait(): later writes reach L2. */
SM90_FUNCTION void tma_prefetch_box(const tensor_map *map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map), "r"(x),
               "r"(y), "r"(z)
               : "memory");
}
/* Copies the box at (x, y, z) to shared memory (aligned to 128 bytes, or 1024 with swizzling), by one thread.
 * `barrier` counts all bytes; elements outside of the matrix arrive as zeros. */
SM90_FUNCTION void tma_load(shared_t end, const tensor_map *map, shared_t barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], [%2];" ::"r"(end),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
/* Copies a box to the same address in each block of the cluster with a bit in `blocks`, and its `barrier`. */
SM90_FUNCTION void tma_load_multicast(shared_t end, const tensor_map *map, shared_t barrier, int x, int y,
                                      int z, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
               "cluster [%0], [%1, "
               "{%3, %4, %5}], [%2], %6;" ::"r"(end),
               "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks)
               : "memory");
}
/* Copies a box from shared memory, without elements outside of the matrix. By one thread, after
 * fence_proxy_async() of all writers and a barrier. */
SM90_FUNCTION void tma_store(const tensor_map *map, shared_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(from), "r"(x), "r"(y), "r"(z)
               : "memory");
}
SM90_FUNCTION void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/* Returns the policy of lines that L2 evicts first, for data read once. */
SM90_FUNCTION unsigned long long cache_policy_evict_first() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/* Copies contiguous bytes to shared memory, by one thread; addresses and size are multiples of 16. `barrier`
 * must expect the bytes. Policy 0: no cache hint, faster than a neutral hint. */
SM90_FUNCTION void cp_async_bulk_load(shared_t end, const void *from, unsigned bytes, shared_t barrier,
                                      unsigned long long policy) {
  if (policy)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                 "[%1], %2, [%3], %4;" ::"r"(end),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "l"(policy)
                 : "memory");
  else
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(end),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
        : "memory");
}
/* Waits until at most PENDING of this thread's store groups still read shared memory. */
template <int PENDING>
SM90_FUNCTION void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
/* Makes this thread's writes to shared memory visible to TMA and wgmma after the next barrier. */
SM90_FUNCTION void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Stores four 8 x 8 matrices of 16-bit elements in the layout of wgmma's accumulators. Threads 8 i to 8 i + 7
 * pass the addresses of matrix i's rows of 16 bytes. */
SM90_FUNCTION void stmatrix_x4(shared_t row, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
}
/* Stores the transposes of four such matrices. */
SM90_FUNCTION void stmatrix_x4_trans(shared_t row, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
SM90_FUNCTION void store_pair(shared_t end, unsigned a, unsigned b) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(end), "r"(a), "r"(b) : "memory");
}

SM90_FUNCTION void store_shared(shared_t end, unsigned word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(end), "r"(word) : "memory");
}
SM90_FUNCTION unsigned load_shared(shared_t from) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}
/* Loads four words, 16-byte aligned. */
SM90_FUNCTION void load_shared_chunk(shared_t from, unsigned *words) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
/* Loads two words, 8-byte aligned. */
SM90_FUNCTION void load_shared_pair(shared_t from, unsigned &first, unsigned &second) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(from) : "memory");
}

/* Loads four transposed 8 x 8 matrices of 16-bit elements, by a whole warp. Threads 8 i to 8 i + 7 pass the
 * addresses of matrix i's rows. out[i] has element t / 4 of rows 2 (t % 4) and 2 (t % 4) + 1 (high). */
SM90_FUNCTION void ldmatrix_x4_trans(unsigned *out, shared_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(row)
               : "memory");
}

/* Loads two f32, 8-byte aligned. */
SM90_FUNCTION void load_shared_pair(shared_t from, float pair[2]) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair[0]), "=f"(pair[1]) : "r"(from) : "memory");
}

/* Stores 16 aligned bytes by one instruction: compilers split a uint4 near a store of one word. */
SM90_FUNCTION void store_global_chunk(void *dst, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(dst)), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
}

/* Returns the descriptor of an operand in shared memory with 128-byte swizzling: atoms of 8 rows of 128
 * bytes, aligned to 1024 bytes. Chunk c of row r is at c ^ r % 8. `atom_rows`: bytes between groups of 8
 * rows; `atom_columns`: between groups of 64 elements of an MN-major operand, else not used. */
SM90_FUNCTION descriptor_t smem_descriptor(shared_t address, unsigned atom_columns, unsigned atom_rows) {
  return (descriptor_t)((address & 0x3ffff) >> 4) | (descriptor_t)(atom_columns >> 4) << 16 |
         (descriptor_t)(atom_rows >> 4) << 32 | (descriptor_t)1 << 62;
}
/* Orders register accesses before the next wgmma: before the first, and after accesses to accumulators. */
SM90_FUNCTION void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
SM90_FUNCTION void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int PENDING>
SM90_FUNCTION void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

#include "wgmma_widths.h"

#endif
