/* Additions of sm_90 to ptx.h (PTX ISA 8.0 or newer). Four warps multiply operands in local memory, one
 * instruction copies a panel, barriers count bytes. NVIDIA's OpenCL C compiler refuses instructions of
 * sm_90a: they are comments, which src/device/opencl/opencl_ptx.c enables in the compiled PTX. */
#ifndef TSL_KERNEL_PTX_GROUP_H
#define TSL_KERNEL_PTX_GROUP_H

#include "ptx.h"

#ifdef __OPENCL_C_VERSION__
#define TSL_PTX_90A "//sm_90a "
#else
#define TSL_PTX_90A ""
#endif

/* Initializes a barrier. Phases 0, 1, 0, ... end after `count` arrivals and all announced bytes. */
TSL_FUNCTION void tsl_ptx_barrier_start(unsigned int barrier, unsigned int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/* Publishes initialized barriers; required before other items use them. */
TSL_FUNCTION void tsl_ptx_barriers_started(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
TSL_FUNCTION void tsl_ptx_arrive(unsigned int barrier) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(barrier) : "memory");
}
/* Arrives, and announces `bytes` bytes of copies. */
TSL_FUNCTION void tsl_ptx_arrive_bytes(unsigned int barrier, unsigned int bytes) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1; }" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}
/* Waits until the phase with parity `phase` has ended. */
TSL_FUNCTION void tsl_ptx_wait_phase(unsigned int barrier, unsigned int phase) {
  unsigned int done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(phase)
        : "memory");
  } while (done == 0);
}

/* Returns the descriptor of a panel in local memory. It has blocks of 8 lines of 128 bytes, `block` bytes
 * apart, and 16-byte chunks permuted by line (chunk ^ line % 8). In an MN-major panel, `mn_step` is the
 * distance in bytes of consecutive 64 numbers. `address` is a multiple of 1024. */
TSL_FUNCTION TSL_UINT64 tsl_ptx_panel_descriptor(unsigned int address, unsigned int mn_step,
                                                 unsigned int block) {
  return (TSL_UINT64)((address & 0x3ffff) >> 4) | (TSL_UINT64)(mn_step >> 4) << 16 |
         (TSL_UINT64)(block >> 4) << 32 | (TSL_UINT64)1 << 62;
}

#define TSL_PTX_GROUP_BEGIN() asm volatile(TSL_PTX_90A "wgmma.fence.sync.aligned;" ::: "memory")
#define TSL_PTX_GROUP_END() asm volatile(TSL_PTX_90A "wgmma.commit_group.sync.aligned;" ::: "memory")
#define TSL_PTX_GROUP_WAIT(most)                                                                             \
  asm volatile(TSL_PTX_90A "wgmma.wait_group.sync.aligned " TSL_TEXT(most) ";" ::: "memory")

#define TSL_PTX_SUMS_4(R, s, j) "+" R((s)[j][0]), "+" R((s)[j][1]), "+" R((s)[j][2]), "+" R((s)[j][3])
#define TSL_PTX_SUMS_16(R, s, j)                                                                             \
  TSL_PTX_SUMS_4(R, s, j), TSL_PTX_SUMS_4(R, s, j + 1), TSL_PTX_SUMS_4(R, s, j + 2),                         \
      TSL_PTX_SUMS_4(R, s, j + 3)
#define TSL_PTX_SUMS_64(R, s, j)                                                                             \
  TSL_PTX_SUMS_16(R, s, j), TSL_PTX_SUMS_16(R, s, j + 4), TSL_PTX_SUMS_16(R, s, j + 8),                      \
      TSL_PTX_SUMS_16(R, s, j + 12)
/* Stops the compiler from moving accesses to the sums across the wait for their products. */
#define TSL_PTX_SUMS_HOLD(R, s, j) asm volatile("" : TSL_PTX_SUMS_4(R, s, j))
#define TSL_PTX_NAMES_64                                                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                         \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TSL_PTX_NAMES_96                                                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                         \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                         \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TSL_PTX_NAMES_128                                                                                    \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                         \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                         \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                         \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "             \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* sums (64 x 128, 64 x 192 or 64 x 256, as [columns / 8][4] in each item of four warps) += A B, by panel
 * descriptors. `depth` is "16" or "32" numbers along k; `end` is the text after the predicate. */
#define TSL_PTX_GROUP(columns, names, a_place, b_place, depth, type, a_type, b_type, end)                    \
  TSL_PTX_90A "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n" columns "k" depth     \
              "." type "." TSL_TEXT(a_type) "." TSL_TEXT(b_type) " {" names "}, " a_place ", " b_place       \
                                                                 ", p" end "; }"
#define TSL_PTX_GROUP_128(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  asm volatile(TSL_PTX_GROUP("128", TSL_PTX_NAMES_64, "%64", "%65", depth, type, a_type, b_type, end)        \
               : TSL_PTX_SUMS_64(R, sums, 0)                                                                 \
               : "l"(a), "l"(b))
#define TSL_PTX_GROUP_192(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  asm volatile(TSL_PTX_GROUP("192", TSL_PTX_NAMES_96, "%96", "%97", depth, type, a_type, b_type, end)        \
               : TSL_PTX_SUMS_64(R, sums, 0), TSL_PTX_SUMS_16(R, sums, 16), TSL_PTX_SUMS_16(R, sums, 20)     \
               : "l"(a), "l"(b))
#define TSL_PTX_GROUP_256(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  asm volatile(TSL_PTX_GROUP("256", TSL_PTX_NAMES_128, "%128", "%129", depth, type, a_type, b_type, end)     \
               : TSL_PTX_SUMS_64(R, sums, 0), TSL_PTX_SUMS_64(R, sums, 16)                                   \
               : "l"(a), "l"(b))

/* Writes the tensor map of a matrix to local memory (128 bytes, aligned to 128), by one item: `inner` dense
 * elements in each of `outer` rows, `pitch` bytes apart (a multiple of 16). Copies take boxes of 128 bytes by
 * `rows` for a panel, zeros outside of the matrix. `type`: "0" for bytes, "1" for 16 bits. */
#define TSL_PTX_MAP(map, from, inner, outer, pitch, elements, rows, type)                                    \
  asm volatile(TSL_PTX_90A "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1; "          \
                           "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1; "                     \
                           "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %5; "              \
                           "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %6; "              \
                           "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %2; "           \
                           "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %3; "           \
                           "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %4; "        \
                           "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, %7; "       \
                           "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %7; "       \
                           "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], " type "; "          \
                           "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0; "        \
                           "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3; "             \
                           "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(map),     \
               "l"(from), "r"((unsigned int)(inner)), "r"((unsigned int)(outer)), "l"(pitch),                \
               "r"((unsigned int)(elements)), "r"((unsigned int)(rows)), "r"(1u)                             \
               : "memory")
/* Copies a tensor map to global memory, by a whole warp. */
TSL_FUNCTION void tsl_ptx_map_publish(TSL_GLOBAL char *dst, unsigned int map) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], "
               "[%1], 128;" ::"l"(dst),
               "r"(map)
               : "memory");
}
/* Makes a published tensor map visible to the item that copies with it. */
TSL_FUNCTION void tsl_ptx_map_acquire(TSL_GLOBAL char *map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
/* Starts a copy of the box from (inner, outer) on to local memory; `barrier` counts its bytes. */
TSL_FUNCTION void tsl_ptx_copy_box(unsigned int end, TSL_GLOBAL char *map, int inner, int outer,
                                   unsigned int barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%2, %3}], [%4];" ::"r"(end),
               "l"(map), "r"(inner), "r"(outer), "r"(barrier)
               : "memory");
}

#endif
