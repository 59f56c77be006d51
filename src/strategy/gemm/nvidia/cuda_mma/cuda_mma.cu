/* Idea: narrow types by mma.sync of sm_80. Each warp multiplies fragments that it loads from shared memory by
 * ldmatrix. cp.async brings panels there, several stages ahead.
 *
 * Read ../sm80/sm80_gemm.h first, about the base. This folder adds an element trait: cuda_mma_panels.cu has
 * layout and copies, cuda_mma_fragments.cu the products. This file stores the sums; cuda_mma.c is the
 * descriptor.
 *
 * Beyond opencl_mma: no packing, whatever the layout, down to single elements; copies are issued between
 * products; batches are one launch; small tiles; split-k by the device's size; 8-bit floating point and tf32.
 *
 *   tile of C, TILE_M x TILE_N              shared memory: | stage 0: A panel, B panel | stage 1 | ... |
 *   +----------+----------+
 *   | warp 0   | warp 1   | WARP_M          a K-major panel:    | row 0: DEPTH bytes | row 1 | ...
 *   +----------+----------+                 an MN-major panel:  | k 0: all rows | k 1 | ...
 *   | ...      |          |
 *       WARP_N                              Chunks of 16 bytes are copied. A row's chunks are swizzled by
 *                                           its number against bank conflicts: | 1 | 0 | 3 | 2 | ... in row 1
 *
 * A chunk is one copy where all of an operand's chunks are aligned, else copies of 8 or 4 bytes (A_COPY,
 * B_COPY), else single elements through registers. Products of a batch are the grid's second dimension. Few
 * tiles and a long k: `parts` of k go to a matrix each, and sm80_split_k_reduce.cu adds the matrices in a
 * fixed order.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _DEPTH (bytes of k in a panel). Defines of the host: STAGES, WARP_M,
 * WARP_N, GROUPS (resident blocks of a multiprocessor), ELEMENT (bytes), A_TYPE, B_TYPE (PTX types); IS_EIGHT
 * (8-bit floating point), A_COPY, B_COPY, A_MN_MAJOR, B_MN_MAJOR, C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), SPLIT
 * (1: split-k), ROUNDS (1: f32 is rounded to tf32, 0: truncated). Limits: sm_80; 8-bit floating point sm_89;
 * m, n and k below 2^30. */
#include "cuda_mma_fragments.cu"

#include "../sm80/sm80_mainloop.cu"

/* Returns the row, in the warp's tile, of this thread's sums number `i` of a column block. */
SM80_FUNCTION int sum_row(int i) {
  const int line = threadIdx.x % 32 / 4;
  return i / 2 * 16 + (a_panel::KIND == PAIRED ? 2 * line + i % 2 : line + i % 2 * 8);
}

/* Collects four adjacent sums of a row of 16-column group `j`. Returns the first one's column in the tile. */
SM80_FUNCTION int collect_quad(sum_t (&quad)[4], const sum_t (&left)[4], const sum_t (&right)[4], int half,
                               int j) {
  const int q = threadIdx.x % 4;
  if (!B_MN_MAJOR || b_panel::KIND == PAIRED) {
    const int second = B_MN_MAJOR ? 1 : 2; /* position of the right block's first sum */
    quad[0] = left[2 * half], quad[3 - second] = left[2 * half + 1];
    quad[second] = right[2 * half], quad[3] = right[2 * half + 1];
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

/* Rows of C that go through shared memory at a time, 16 of each warp, and the pitch of their sums there. */
constexpr int STORE_ROWS = 16 * (TILE_M / WARP_M), STORE_PITCH = TILE_N % 32 == 16 ? TILE_N : TILE_N + 16;
static_assert(STORE_ROWS * STORE_PITCH * 4 <= STAGES * (a_panel::BYTES + b_panel::BYTES), "stages hold rows");
/* Elements of C in a word, and threads that store adjacent words of a row. */
constexpr int WORD_ELEMENTS = 4 / (int)sizeof(c_number), ROW_WORDS = TILE_N / WORD_ELEMENTS,
              LANES = ROW_WORDS < 32 ? ROW_WORDS : 32;

/* Stores elements [begin, end) of a row of the tile from its sums, by LANES threads. Pairs of 16-bit elements
 * are aligned, so a row may begin or end with a single element. */
template <class T>
SM80_FUNCTION void store_row(T *line, const sum_t *sums, int begin, int end, const sm80_arguments &args) {
  const int lane = threadIdx.x % LANES;
  const auto alpha = args.scalars.narrow.alpha, beta = args.scalars.narrow.beta;
  if (WORD_ELEMENTS == 1 || args.c.col != 1 || reads_c(beta)) {
#pragma unroll
    for (int i = 0; i < TILE_N / LANES; i++) {
      const int x = i * LANES + lane;
      if (x >= begin && x < end)
        store_number(line + x * args.c.col, sums[x], args.scalars);
    }
    return;
  }
  const int odd = (unsigned)(unsigned long long)line / 2 % 2;
#pragma unroll
  for (int i = 0; i < ROW_WORDS / LANES; i++) {
    const int x = 2 * (i * LANES + lane) + odd;
    if (x >= begin && x + 1 < end)
      *(unsigned *)(line + x) =
          c_pair(combined<sum_t>(sums[x], 0, alpha, beta), combined<sum_t>(sums[x + 1], 0, alpha, beta));
  }
  const int x = lane == 0 ? begin : end - 1;
  if (lane < 2 && (x + odd + lane) % 2 == 1)
    store_number(line + x, sums[x], args.scalars);
}

/* Stores C where its rows are not aligned. Rows go through shared memory, so that adjacent threads store
 * adjacent words. */
SM80_FUNCTION void store_rows(c_number *c, const work_tile &tile, warp_sums sums, const sm80_arguments &args,
                              sum_t *rows) {
  const int begin = tile.col - tile.first_col, end = min(args.n - tile.first_col, TILE_N);
  c += tile.first_col * args.c.col;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
    __syncthreads(); /* all warps have read the stages, or the rows before */
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N / 2; j++) {
        quad_of<sum_t> quad;
        const int x = own_col() + collect_quad(quad.number, sums[i][2 * j], sums[i][2 * j + 1], half, j),
                  y = own_row() / WARP_M * 16 + sum_row(half);
        *(quad_of<sum_t> *)(rows + y * STORE_PITCH + x) = quad;
      }
    __syncthreads();
#pragma unroll 2
    for (int y = threadIdx.x / LANES; y < STORE_ROWS; y += THREADS / LANES) {
      const int row = tile.first_row + y / 16 * WARP_M + 16 * i + y % 16;
      if (row >= tile.row && row < args.m)
        store_row(c + row * args.c.row, rows + y * STORE_PITCH, begin, end, args);
    }
  }
}

/* Stores C where whole quads of its rows are aligned, straight from registers. */
SM80_FUNCTION void store_quads(c_number *c, const work_tile &tile, warp_sums sums,
                               const sm80_arguments &args) {
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = tile.first_row + own_row() + sum_row(i);
#pragma unroll
    for (int j = 0; j < BLOCKS_N / 2; j++) {
      sum_t quad[4];
      const int x = tile.first_col + own_col() +
                    collect_quad(quad, sums[i / 2][2 * j], sums[i / 2][2 * j + 1], i % 2, j);
      if (y >= tile.row && y < args.m && x >= tile.col && x < args.n)
        store_quad(c + y * args.c.row + x, quad, args.scalars);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, GROUPS)
    tsl_gemm_cuda_mma(const element *a, const element *b, c_number *c,
                      const __grid_constant__ sm80_arguments args) {
  extern __shared__ __align__(128) char memory[];
  warp_sums sums;
  clear_sums(sums);
  a += blockIdx.y * args.a_step;
  b += blockIdx.y * args.b_step;
  mainloop<a_panel, b_panel>(sums, a, b, args, shared_address(memory));
  grid_dependency_launch();
  const work_tile tile = get_own_tile(args);
  c += args.c.offset + tile.part * args.c_part + blockIdx.y * args.c_step;
  /* Rows of partial sums have room for whole quads. */
  if (args.c.width != 0 && tile.first_col % 4 == 0 && (SPLIT || args.n % 4 == 0))
    store_quads(c, tile, sums, args);
  else
    store_rows(c, tile, sums, args, (sum_t *)memory);
}
