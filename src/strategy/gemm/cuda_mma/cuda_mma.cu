/* Idea: narrow types by tensor cores as sm_80 has them: each warp multiplies by itself, 16 x 8 sums at an instruction, what it reads from
 * shared memory by blocks; copies that go on by themselves bring panels there several ahead, from wherever they lie in memory.
 *
 * What it adds to opencl_mma: nothing is packed first, whatever the layout, down to single elements; copies stand between products;
 * batches are one launch; small tiles, parts of k in proportion to the device; 8-bit floating point and tf32.
 *
 *   tile of C, TILE_M x TILE_N              shared memory: | stage 0: A panel, B panel | stage 1 | ... | stage STAGES - 1 |
 *   +----------+----------+
 *   | warp 0   | warp 1   | WARP_M          a panel, elements side by side along k:    | row 0: DEPTH bytes | row 1 | ...
 *   +----------+----------+                          side by side across k (ACROSS):  | k 0: all rows | k 1 | ...
 *   | ...      |          |
 *       WARP_N                               16 bytes, a chunk, are what is copied; a row's chunks are exchanged by its number, so
 *                                            that what is read together meets in no bank: row 1 of 128 bytes | 1 | 0 | 3 | 2 | ...
 *
 * Chunks come by one copy where all of a factor's are aligned, by 8 or 4 bytes where these are, else element by element through
 * registers, with zeros beyond the edges. A tile that would end behind C starts further up, where it is whole. Products of a batch are
 * the grid's second dimension. Few tiles and a long k: `parts` of k are summed apart, to a matrix each, and cuda_mma_split_k_reduce.cu adds them
 * up, always in the same order.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _DEPTH (bytes along k of a panel). From the host: STAGES, WARP_M, WARP_N, GROUPS (blocks that
 * share a multiprocessor), ELEMENT (bytes), A_TYPE, B_TYPE (PTX's words), IS_EIGHT (8-bit floating point), A_MN_MAJOR, B_MN_MAJOR, C_FORM (0
 * f32, 1 f16, 2 bf16, 3 i32), SPLIT (1: k is shared out). Limits: sm_80; 8-bit floating point sm_89; m, n and k below 2^30. */
#include "cuda_mma_factors.cu"

/* --- multiplying --- */

/* Stages in turn. */
SM80_FUNCTION shared_t next_stage(shared_t stage, shared_t first) {
  return stage == first + (STAGES - 1) * STAGE_BYTES ? first : stage + STAGE_BYTES;
}

/* A panel's copies are shared out among the rows of products of all steps but the last. */
constexpr int SLOTS = (STEPS - 1) * BLOCKS_M, COPIES = a_copies::COUNT + b_copies::COUNT;

/* Those of slot `slot` of `slots`. */
SM80_FUNCTION void copy_slot(shared_t end, feed &a, feed &b, int slot, int slots, bool is_whole) {
#pragma unroll
  for (int c = 0; c < COPIES; c++)
    if (c * slots / COPIES == slot) {
      if (c < a_copies::COUNT)
        copy_chunk<A_MN_MAJOR, TILE_M, A_KIND>(end, a, c, is_whole);
      else
        copy_chunk<B_MN_MAJOR, TILE_N, B_KIND>(end + A_BYTES, b, c - a_copies::COUNT, is_whole);
    }
}

/* The sums of all panels. A stage is filled again one panel after it was read, which the barrier between says of all warps. */
SM80_FUNCTION void multiply_panels(warp_sums sums, const element *a, const element *b,
                                   const cuda_mma_arguments &args, shared_t stages) {
  const own_tile own = tile_of(args);
  const lines rows = rows_of(a, own, args), columns = columns_of(b, own, args);
  const int panels = (rows.depth + DEPTH - 1) / DEPTH,
            whole =
                is_wide(args) && rows.count >= TILE_M && columns.count >= TILE_N ? rows.depth / DEPTH : 0;
  feed feed_a = feed_of<A_MN_MAJOR, TILE_M, A_KIND>(rows), feed_b = feed_of<B_MN_MAJOR, TILE_N, B_KIND>(columns);
  const int first_a = first_block<A_MN_MAJOR, TILE_M, A_KIND, false>(own_row()),
            first_b = first_block<B_MN_MAJOR, TILE_N, B_KIND, true>(own_col());
  shared_t fill = stages, use = stages;
  int filled = 0; /* panels that were asked for */
  grid_dependency_wait();
  const auto copy_last = [&]() {
    if (filled >= whole && filled < panels) {
      const own_tile again = tile_of(args);
      copy_part<A_MN_MAJOR, TILE_M, A_KIND>(fill, rows_of(a, again, args), filled * DEPTH);
      copy_part<B_MN_MAJOR, TILE_N, B_KIND>(fill + A_BYTES, columns_of(b, again, args), filled * DEPTH);
    }
  };
  const auto fill_next = [&]() {
    cp_async_commit(); /* also of none: groups are what is counted */
    filled++;
    fill = next_stage(fill, stages);
  };
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    copy_slot(fill, feed_a, feed_b, 0, 1, filled < whole);
    copy_last();
    fill_next();
  }
  cp_async_wait_group<STAGES - 2>();
  __syncthreads();
  factors held[2];
  load_factors(held[0], stages, first_a, first_b, 0);
#pragma unroll 1
  for (int p = 0; p < panels; p++) {
    copy_last();
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      if (s + 1 == STEPS) {
        fill_next();
        cp_async_wait_group<STAGES - 2>();
        __syncthreads();
        use = next_stage(use, stages);
      }
      load_factors(held[(s + 1) % 2], use, first_a, first_b, (s + 1) % STEPS);
      multiply(sums, held[s % 2], [&](int i) {
        if (s + 1 < STEPS)
          copy_slot(fill, feed_a, feed_b, s * BLOCKS_M + i, SLOTS, filled < whole);
      });
    }
  }
}

/* --- C --- */

/* Row `i` (0 to 2 BLOCKS_M - 1) of those that this thread has of its warp's tile. */
SM80_FUNCTION int sum_row(int i) {
  const int line = threadIdx.x % 32 / 4;
  return i / 2 * 16 + (A_KIND == PAIRED ? 2 * line + i % 2 : line + i % 2 * 8);
}

/* Four sums side by side in a row, of the sixteen columns `j`: the first one's column in the warp's tile. */
SM80_FUNCTION int take_quad(sum_t (&quad)[4], const sum_t (&left)[4], const sum_t (&right)[4], int half,
                            int j) {
  const int q = threadIdx.x % 4;
  if (!B_MN_MAJOR || B_KIND == PAIRED) {
    const int beside =
        B_MN_MAJOR ? 1 : 2; /* where the left block's second one belongs, or else the right's first */
    quad[0] = left[2 * half], quad[3 - beside] = left[2 * half + 1];
    quad[beside] = right[2 * half], quad[3] = right[2 * half + 1];
    return 16 * j + 4 * q;
  }
  const bool is_odd = q % 2 == 1;
#pragma unroll
  for (int e = 0; e < 2; e++) {
    const sum_t own = is_odd ? right[2 * half + e] : left[2 * half + e],
                given = is_odd ? left[2 * half + e] : right[2 * half + e];
#if C_FORM == 3
    const sum_t got = (int)shuffle_xor_1((unsigned)given);
#else
    const sum_t got = __uint_as_float(shuffle_xor_1(__float_as_uint(given)));
#endif
    quad[e] = is_odd ? got : own, quad[2 + e] = is_odd ? own : got;
  }
  return 16 * j + (is_odd ? 8 + 2 * (q - 1) : 2 * q);
}

SM80_FUNCTION void store_sums(c_number *c, warp_sums sums, const cuda_mma_arguments &args) {
  const own_tile own = tile_of(args);
  const int row = own.first_row + own_row(), col = own.first_col + own_col();
  const bool is_wide = args.c.width != 0 && own.first_col % 4 == 0;
  c += args.c.offset + own.part * args.c_part + blockIdx.y * args.c_step;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = row + sum_row(i);
    const bool is_there = y >= own.row && y < args.m;
    c_number *line = c + y * args.c.row;
#pragma unroll
    for (int j = 0; j < BLOCKS_N / 2; j++) {
      sum_t quad[4];
      const int x = col + take_quad(quad, sums[i / 2][2 * j], sums[i / 2][2 * j + 1], i % 2, j);
      if (is_there && is_wide && x >= own.col && x + 3 < args.n) {
        store_quad(line + x, quad, args.alpha, args.beta);
      } else if (is_there) {
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (x + e >= own.col && x + e < args.n)
            store_number(line + (x + e) * args.c.col, quad[e], args.alpha, args.beta);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, GROUPS)
    tsl_gemm_cuda_mma(const element *a, const element *b, c_number *c,
                      const __grid_constant__ cuda_mma_arguments args) {
  extern __shared__ __align__(128) char memory[];
  warp_sums sums;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
  a += blockIdx.y * args.a_step;
  b += blockIdx.y * args.b_step;
  multiply_panels(sums, a, b, args, shared_address(memory));
  grid_dependency_launch();
  store_sums(c, sums, args);
}
