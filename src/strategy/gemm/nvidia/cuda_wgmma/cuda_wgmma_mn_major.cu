/* Idea: wgmma reads f32 (as tf32) and 8-bit integers from shared memory K-major only. An MN-major A of such
 * elements is copied unchanged. Each warpgroup loads its rows to registers (A_FROM_REGISTERS), from which
 * wgmma takes A as well. B is K-major and read from shared memory. Row-major operands are computed as B' A'
 * (order=swapped), whose A is MN-major. A fragment may have the rows of A in any order: rows of C have the
 * same order. A slab of f32 is 32 rows of A by 32 of k (128 bytes of each k, whose chunks of 16 bytes are
 * swizzled by k). A thread reads two adjacent rows at a time. Lane l = 4 r + q of warp w has
 *   fragment row 16 w + r + 8 h, k q
 *     ->  row h + 2 (r & 1) + 4 (w & 1) + 8 (w >> 1) + 16 (r >> 1 & 1) + 32 (r >> 2)
 * so that half a warp (two bits of r, both of q) reads all 32 banks. Chunk 4 of 8 differs by r's second bit,
 * chunks 0 to 3 by q through the swizzle, and half a chunk by r's first bit. A slab of bytes is 128 rows by
 * 128 of k, and the 16 rows of warp w are one chunk of each k. By ldmatrix, which transposes pairs of bytes,
 * a lane gets rows 2 r and 2 r + 1 at two k. Two bytes of each of two words are four k of a row:
 *   Fragment row 16 w + r + 8 h, k 4 q to 4 q + 3  ->  row 16 w + 2 r + h.
 * The eight lines of k of one load must lie in different banks, so their numbers modulo 8 differ. Lines 4 q
 * and 4 q + 1 of the lower two q are paired with 4 q + 2 and 4 q + 3 of the upper two, and then the other way
 * round. Registers that wgmma still reads must not be written, so there are two sets of fragments: of this
 * panel and of the next one. Boxes of C's columns are 64 columns of 32 rows, in pairs. */
constexpr bool IS_F32 = ELEMENT == 4;
static_assert(!A_FROM_REGISTERS || IS_F32 || BLOCK_M >= SLAB_LINES, "a slab of bytes has 128 rows");
static_assert(!A_FROM_REGISTERS || (!SPLIT_ACCUMULATORS && !FINISH && !STREAM && !C_IS_16_BITS), "plain");

typedef unsigned fragments[WAVES][K_STEPS][4];

/* Returns the first of a thread's two adjacent rows of a block of 64. */
SM90_FUNCTION int fragment_row() {
  const int r = threadIdx.x % 32 / 4, w = threadIdx.x / 32 % 4;
  return IS_F32 ? 2 * (r & 1) + 4 * (w & 1) + 8 * (w >> 1) + 16 * (r >> 1 & 1) + 32 * (r >> 2)
                : w * 16 + r * 2;
}
/* Returns bit 1 of r: rows 16 apart swap the chunks that they store, to use all banks. Rows of bytes already
 * lie in different banks. */
SM90_FUNCTION bool swaps_chunks() {
  return IS_F32 && threadIdx.x % 16 / 8 == 1;
}

/* Returns the offset in a panel of the thread's rows, at its k of the first four; for bytes the offset of the
 * k line that the thread passes to ldmatrix, for the warpgroup's first 64 rows. */
SM90_FUNCTION shared_t fragment_offset() {
  const shared_t slab = rows_above() / SLAB_LINES * SLAB_BYTES;
  if constexpr (IS_F32) {
    const int row = fragment_row(), k = threadIdx.x % 4;
    return slab + row / SLAB_LINES * SLAB_BYTES + swizzled(k, row % SLAB_LINES * 4);
  } else {
    const int lane = threadIdx.x % 32, matrix = lane / 8, q = lane % 8 / 2, w = threadIdx.x / 32 % 4,
              k = 16 * (matrix >> 1) + 4 * q + 2 * ((matrix ^ q >> 1) & 1) + lane % 2;
    return slab + swizzled(k, rows_above() % SLAB_LINES + 16 * w);
  }
}

/* Loads a panel's fragments. Of f32, the next four k lie four lines below, in chunks whose number differs
 * by 4. */
SM90_FUNCTION void read_fragments(fragments current, shared_t thread_offset) {
  const unsigned first = threadIdx.x % 4 < 2 ? 0x6420 : 0x2064, second = first + 0x1111;
#pragma unroll
  for (int i = 0; i < WAVES; i++)
#pragma unroll
    for (int s = 0; s < K_STEPS; s++) {
      unsigned *const words = current[i][s];
      if constexpr (IS_F32) {
        const int below = i * (64 / SLAB_LINES) * SLAB_BYTES + s * 8 * 128;
        load_shared_pair(thread_offset + below, words[0], words[1]);
        load_shared_pair((thread_offset ^ 64) + 4 * 128 + below, words[2], words[3]);
      } else {
        unsigned pairs[4];
        ldmatrix_x4_trans(pairs, (thread_offset ^ i * 64) + s * 32 * 128);
#pragma unroll
        for (int j = 0; j < 4; j++)
          words[j] = __byte_perm(pairs[j / 2 * 2], pairs[j / 2 * 2 + 1], j % 2 == 0 ? first : second);
      }
    }
}

SM90_FUNCTION void multiply_fragments(wgmma_sums sums[WAVES], fragments current, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < WAVES; i++)
#pragma unroll
    for (int s = 0; s < K_STEPS; s++)
      wgmma_multiply_registers(TSL_PARAM_TILE_N, "m64n" WGMMA_TEXT(TSL_PARAM_TILE_N) WGMMA_DEPTH,
                               WGMMA_SUM "." WGMMA_TEXT(A_TYPE) "." WGMMA_TEXT(B_TYPE), WGMMA_FLAGS,
                               WGMMA_REGISTER, sums[i], current[i][s],
                               smem_descriptor(b + s * 32, SLAB_BYTES, 1024), add || s > 0);
  wgmma_commit_group();
}

struct progress {
  int left;            /* panels of the work tile that are not finished */
  bool add;            /* false for the work tile's first panel */
  pipeline_state pipe; /* stage of the panel whose fragments are loaded */
  shared_t previous;   /* "empty" barrier of the stage whose products may be in flight */
  bool releases;       /* releases_stages() */
};

/* Multiplies the panel whose fragments are `current`. Waits for the previous products, which read `next`,
 * then loads the next panel's fragments to `next`. Returns false after the last panel. */
SM90_FUNCTION bool multiply_and_prefetch(wgmma_sums sums[WAVES], fragments current, fragments next,
                                         progress &now, const pipeline_memory &smem, shared_t thread_offset) {
  multiply_fragments(sums, current, smem.stages + now.pipe.stage * STAGE_BYTES + A_BYTES, now.add);
  wgmma_wait_group<1>();
  if (now.add)
    release_stage(now.previous, now.releases);
  now.previous = smem.empty + 8 * now.pipe.stage;
  now.add = true;
  advance(now.pipe);
  if (--now.left == 0)
    return false;
  mbarrier_wait_parity(smem.full + 8 * now.pipe.stage, now.pipe.parity);
  read_fragments(next, smem.stages + now.pipe.stage * STAGE_BYTES + thread_offset);
  return true;
}

/* consumer_mainloop() with A in registers. */
SM90_FUNCTION shared_t consumer_mainloop_registers(wgmma_sums sums[WAVES], const work_tile &tile,
                                                   const pipeline_memory &smem, shared_t thread_offset,
                                                   bool releases, pipeline_state &pipe) {
  progress now = {tile.end - tile.first, false, pipe, 0, releases};
  fragments even, odd;
  mbarrier_wait_parity(smem.full + 8 * pipe.stage, pipe.parity);
  read_fragments(even, smem.stages + pipe.stage * STAGE_BYTES + thread_offset);
  while (multiply_and_prefetch(sums, even, odd, now, smem, thread_offset) &&
         multiply_and_prefetch(sums, odd, even, now, smem, thread_offset))
    ;
  pipe = now.pipe;
  wgmma_wait_group<0>();
  return now.previous;
}

/* Writes 64 rows of columns from `column` on, at most 32, times alpha. */
SM90_FUNCTION void put_fragment_rows(shared_t end, wgmma_sums sums, int column, cuda_wgmma_scalar alpha) {
  wgmma_tile_put_words(end, sums, column, alpha, fragment_row(), 1, swaps_chunks());
}

/* Writes 64 columns from `column` on, as two boxes of 32 rows. */
SM90_FUNCTION void put_fragment_columns(shared_t end, wgmma_sums sums, int column, cuda_wgmma_scalar alpha) {
  const int row = fragment_row(), odd = swaps_chunks();
  const shared_t box = end + row / 32 * BOX_BYTES;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const sum_t *own = sums[column / 8 + j];
#pragma unroll
    for (int e = 0; e < 2; e++)
      store_pair(box + swizzled(8 * j + 2 * (threadIdx.x % 4) + (e ^ odd), row % 32 * 4),
                 scaled(odd ? own[1 - e] : own[e], alpha), scaled(odd ? own[3 - e] : own[2 + e], alpha));
  }
}
