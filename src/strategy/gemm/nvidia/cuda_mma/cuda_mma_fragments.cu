/* A step of a warp, 32 bytes along k: fragments from shared memory, and their products (sm80.h). Sixteen
 * lines are loaded at a time, four matrices of eight lines by 16 bytes along k. The assignment of lines to
 * matrix rows makes a thread's sums of sixteen columns of C adjacent, four by four:
 *   B K-major         columns 0 1 4 5 8 9 12 13, then 2 3 6 7 ...: the thread's are 4 q to 4 q + 3, q = t % 4
 *   bytes MN-major          ldmatrix transposes pairs of bytes; k is permuted for it, and prmt puts bytes in
 *                           place: lines 0 2 4 ... 14, then 1 3 5 ... 15, of A as well
 *   16 and 32 bits MN-major lines 0 to 7, then 8 to 15; two threads exchange sums when C is stored
 * MN-major 32-bit elements are loaded one by one: ldmatrix cannot transpose them. 8-bit floating point is
 * converted to f16 exactly: 8-bit tensor cores accumulate with 14 places, or convert too. */
#include "cuda_mma_panels.cu"

/* Blocks of 16 rows and of 8 columns of a warp. */
constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8;
constexpr int STEPS = DEPTH_BYTES / 32, UNROLLED = STEPS;
static_assert(WARP_N % 16 == 0 && WARP_M % 16 == 0 && STEPS >= 2, "sixteen lines are read at a time");

SM80_FUNCTION int own_row() {
  return threadIdx.x / 32 / WARPS_N * WARP_M;
}
SM80_FUNCTION int own_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N;
}
SM80_FUNCTION int own_k() {
  return 0;
}
typedef int place_t;
constexpr int B_PLACE = 0;

#include "cuda_mma_products.cu"

/* Loads the registers of lines 16 `i` on, in step `step` of the panel at `panel`. `first`: the thread's
 * first_place(). Later chunks have the swizzle of the first, because their numbers share no bits. */
template <class PANEL>
SM80_FUNCTION void load_lines(unsigned (&to)[4], shared_t panel, int first, int step, int i) {
  if (!PANEL::MN_MAJOR) {
    ldmatrix_x4(to, panel + (first ^ step * 32) + i * 16 * DEPTH_BYTES);
    return;
  }
  const int chunks = i * ELEMENT,
            at = (first ^ chunks % 8 * 16) + chunks / 8 * 128 + step * (32 / ELEMENT) * PANEL::PITCH;
  if (PANEL::KIND == FOLLOWING) {
    ldmatrix_x4_trans(to, panel + at);
  } else if (PANEL::KIND == PAIRED) {
    unsigned pairs[4];
    ldmatrix_x4_trans(pairs, panel + at);
    to[0] = permute_bytes(pairs[0], pairs[1], 0x6420);
    to[PANEL::IS_B ? 2 : 1] = permute_bytes(pairs[0], pairs[1], 0x7531);
    to[PANEL::IS_B ? 1 : 2] = permute_bytes(pairs[2], pairs[3], 0x6420);
    to[3] = permute_bytes(pairs[2], pairs[3], 0x7531);
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int by_line = PANEL::IS_B ? e / 2 : e % 2, by_depth = PANEL::IS_B ? e % 2 : e / 2;
      to[e] = load_word(panel + (at ^ by_line * 32) + by_depth * 4 * PANEL::PITCH);
    }
  }
}

template <class A, class B>
SM80_FUNCTION void load_factors(factors &target, shared_t stage, int first_a, int first_b, int step) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
    load_lines<A>(target.a[i], stage, first_a, step, i);
#pragma unroll
  for (int j = 0; j < BLOCKS_N / 2; j++)
    load_lines<B>(target.b[j], stage + A::BYTES, first_b, step, j);
  if (ELEMENT == 4 && ROUNDS) {
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
      round_to_tf32(target.a[i]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N / 2; j++)
      round_to_tf32(target.b[j]);
  }
}

/* Issues this thread's chunk number `i` of the panel at `panel`, if the panel is whole. */
template <class PANEL>
SM80_FUNCTION void copy_chunk(shared_t panel, copy_source &source, int i, bool is_whole) {
  typedef copies<PANEL> each;
  const bool asked =
      is_whole && (each::CHUNKS >= THREADS || threadIdx.x < each::CHUNKS) && is_within<PANEL>(source, i);
#pragma unroll
  for (int byte = 0; byte < 16; byte += PANEL::COPY)
    cp_async_if<PANEL::COPY>(
        asked, panel + (source.to ^ PANEL::turn_of(i * each::APART)) + i * each::APART * PANEL::PITCH + byte,
        source.from + byte / ELEMENT);
  source.from += i + 1 < each::COUNT ? source.step : source.turn;
  make_opaque(source.from); /* otherwise the compiler multiplies for each copy */
}

/* Issues the copies of a slot to `stage`, if the panel is whole. Slots are positions between products, one
 * for each row of blocks in all steps but the last; the copies are spread over them. */
template <class A, class B>
SM80_FUNCTION void issue_copies(shared_t stage, copy_source &a, copy_source &b, int slot, bool is_whole) {
  constexpr int SLOTS = (STEPS - 1) * BLOCKS_M, A_COPIES = copies<A>::COUNT,
                COPIES = A_COPIES + copies<B>::COUNT;
#pragma unroll
  for (int c = 0; c < COPIES; c++)
    if (slot == ALL_SLOTS || c * SLOTS / COPIES == slot) {
      if (c < A_COPIES)
        copy_chunk<A>(stage, a, c, is_whole);
      else
        copy_chunk<B>(stage + A::BYTES, b, c - A_COPIES, is_whole);
    }
}
