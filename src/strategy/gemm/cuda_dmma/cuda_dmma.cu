/* Idea: f64, and complex numbers of it, by tensor cores, which multiply twice
 * as fast as the lanes of FMA: a block's tile of C is shared out among warps,
 * panels of A and B come to shared memory by copies that go on by themselves,
 * several panels ahead, and each warp takes what it multiplies from there while
 * its last products are under way.
 *
 *   tile of C, TILE_M x TILE_N              shared memory: | stage 0: A panel,
 * B panel | stage 1 | ... | stage STAGES - 1 |
 *   +----------+----------+
 *   | warp 0   | warp 1   | WARP_M          a panel, elements side by side
 * along k:   | row 0: 16 k | row 1 | ...
 *   +----------+----------+                          side by side across k
 * (ACROSS):  | k 0: all rows | k 1 | ... | ...      |          | WARP_N
 *
 * Whatever the strides, a panel lies as its elements do in memory, with 32
 * bytes of padding a line: sixteen threads that read four rows of four k, or
 * four k of four rows, meet in no bank.
 *
 * Products of a batch are the grid's second dimension.
 *
 * Many tiles and a short k (STAYS). Blocks take tile after tile, and the next
 * one's panels come while this one is stored.
 *
 * Elements come by 16 bytes where pairs of them are aligned (is_wide), else one
 * by one, from any strides. What lies beyond the matrix is written as zeros.
 *
 * Few tiles and a long k. Warps of a block share out the k of each panel
 * (SLICES of 16), so that small tiles keep all tensor cores busy, with more
 * panels under way; their sums meet in shared memory. Blocks of a cluster
 * (CLUSTER) share out k likewise, and read each other's sums there. Or `parts`
 * of k are summed apart, to a matrix each, and cuda_dmma_split_k_reduce.cu adds them up.
 * Always in the same order:
 *
 *   a tile's sums:  slices in order -> | block 0 | block 1 | ... -> in order,
 * each block for a share of the tile's rows -> C
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _SLICES, _CLUSTER. From the host:
 * STAGES, WARP_M, WARP_N, GROUPS (blocks that share a multiprocessor),
 * A_MN_MAJOR, B_MN_MAJOR, NUMBERS (of f64 in a number: 2 of c128), CONJUGATE_A and
 * _B (-1: yes), STAYS. Limits: sm_80; m, n and k below 2^31. */
#include "cuda_dmma_factors.cu"

/* --- multiplying --- */

SM80_FUNCTION void clear(warp_sums sums) {
#pragma unroll
  for (int part = 0; part < NUMBERS; part++)
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          sums[part][i][j][e] = 0;
}

/* This thread's row and column of its warp's first block, in the tile, and its
 * warp's slice of each panel. */
SM80_FUNCTION int own_row() {
  return threadIdx.x / 32 % WARPS / WARPS_N * WARP_M + threadIdx.x % 32 / 4;
}
SM80_FUNCTION int own_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N;
}
SM80_FUNCTION int own_slice() {
  return threadIdx.x / 32 / WARPS;
}

/* Stages in turn. */
SM80_FUNCTION shared_t next_stage(shared_t stage, shared_t first) {
  return stage == first + (STAGES - 1) * STAGE_BYTES ? first : stage + STAGE_BYTES;
}

/* The sums of all panels. A stage is filled again one panel after it was read,
 * which the barrier between says of all warps. */
template <int BYTES>
SM80_FUNCTION void multiply_panels(warp_sums sums, const number *a, const number *b,
                                   const cuda_dmma_arguments &args, shared_t stages) {
  const own_tile own = tile_of(args);
  const lines rows = rows_of(a, own, args), columns = columns_of(b, own, args);
  const int panels = (rows.depth + DEPTH - 1) / DEPTH,
            whole = rows.count >= TILE_M && columns.count >= TILE_N ? rows.depth / DEPTH : 0;
  feed feed_a = feed_of<A_MN_MAJOR, TILE_M, BYTES>(rows), feed_b = feed_of<B_MN_MAJOR, TILE_N, BYTES>(columns);
  const int k = own_slice() * SLICE + threadIdx.x % 4;
  const shared_t from_a = place<A_MN_MAJOR, TILE_M>(own_row(), k),
                 from_b = A_BYTES + place<B_MN_MAJOR, TILE_N>(own_col() + threadIdx.x % 32 / 4, k);
  shared_t fill = stages, use = stages;
  int filled = 0; /* panels that were asked for */
  grid_dependency_wait();
  const auto copy_last = [&]() {
    if (filled >= whole && filled < panels) {
      const own_tile again = tile_of(args);
      copy_part<A_MN_MAJOR, TILE_M, BYTES>(fill, rows_of(a, again, args), filled * DEPTH);
      copy_part<B_MN_MAJOR, TILE_N, BYTES>(fill + A_BYTES, columns_of(b, again, args), filled * DEPTH);
    }
  };
  const auto fill_next = [&]() {
    cp_async_commit(); /* also of none: groups are what is counted */
    filled++;
    fill = next_stage(fill, stages);
  };
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    copy_share<A_MN_MAJOR, TILE_M, BYTES, 0, 1>(fill, feed_a, filled < whole);
    copy_share<B_MN_MAJOR, TILE_N, BYTES, 0, 1>(fill + A_BYTES, feed_b, filled < whole);
    copy_last();
    fill_next();
  }
  cp_async_wait_group<STAGES - 2>();
  __syncthreads();
  factors held[2];
  load_factors(held[0], stages + from_a, stages + from_b, 0);
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
      load_factors(held[(s + 1) % 2], use + from_a, use + from_b, (s + 1) % STEPS);
      multiply(sums, held[s % 2], [&](int i) {
        if (s == 0 && i == 0)
          copy_share<A_MN_MAJOR, TILE_M, BYTES, 0, 2>(fill, feed_a, filled < whole);
        if (s == 0 && i == BLOCKS_M / 2)
          copy_share<A_MN_MAJOR, TILE_M, BYTES, 1, 2>(fill, feed_a, filled < whole);
        if (s == 0 && i == BLOCKS_M - 1)
          copy_share<B_MN_MAJOR, TILE_N, BYTES, 0, 1>(fill + A_BYTES, feed_b, filled < whole);
      });
    }
  }
}

/* --- C --- */

/* Two numbers of f64 of a row: two columns, or one complex number. */
constexpr int COLUMNS = 2 / NUMBERS;

/* Those that this thread has in row `i` (0 to 2 BLOCKS_M - 1) of its blocks,
 * pair `p` of block `j`; and their first column, in the warp's tile. */
SM80_FUNCTION double2 own_pair(warp_sums sums, int i, int j, int p) {
  const int e = i % 2 * 2;
#if NUMBERS == 2
  return make_double2(sums[0][i / 2][j][e + p], sums[1][i / 2][j][e + p]);
#else
  return make_double2(sums[0][i / 2][j][e], sums[0][i / 2][j][e + 1]);
#endif
}
SM80_FUNCTION int pair_column(int j, int p) {
  return 8 * j + threadIdx.x % 4 * 2 + p;
}

/* Columns `x` and on of a row of C, as far as they are there and this tile's.
 */
#if NUMBERS == 1

SM80_FUNCTION void store_one(double *c, double sum, double beta) {
  *c = beta == 0 ? sum : fma(beta, *c, sum);
}

SM80_FUNCTION void store_columns(number *line, int x, double2 sum, const own_tile &tile,
                                 const cuda_dmma_arguments &args) {
  const double first = args.alpha[0] * sum.x, second = args.alpha[0] * sum.y, beta = args.beta[0];
  const bool is_first = x >= tile.col && x < args.n, is_second = x + 1 >= tile.col && x + 1 < args.n;
  if (is_first && is_second && args.c.is_wide && tile.first_col % 2 == 0) {
    double2 *to = (double2 *)(line + x);
    const double2 before = beta != 0 ? *to : make_double2(0, 0);
    *to = beta != 0 ? make_double2(fma(beta, before.x, first), fma(beta, before.y, second))
                    : make_double2(first, second);
  } else {
    if (is_first)
      store_one(line + x * args.c.col, first, beta);
    if (is_second)
      store_one(line + (x + 1) * args.c.col, second, beta);
  }
}

#else

SM80_FUNCTION void store_columns(number *line, int x, double2 sum, const own_tile &tile,
                                 const cuda_dmma_arguments &args) {
  if (x < tile.col || x >= args.n)
    return;
  double *to = (double *)(line + x * args.c.col);
  double2 value = scaled(sum, args.alpha);
  if (args.beta[0] != 0 || args.beta[1] != 0) {
    const double2 before = scaled(make_double2(to[0], to[1]), args.beta);
    value.x += before.x, value.y += before.y;
  }
  if (args.c.is_wide)
    *(double2 *)to = value;
  else
    to[0] = value.x, to[1] = value.y;
}

#endif

SM80_FUNCTION void store_sums(number *c, warp_sums sums, const own_tile &tile,
                              const cuda_dmma_arguments &args) {
  const int row = tile.first_row + own_row(), col = tile.first_col + own_col();
  c += args.c.offset + tile.part * args.c_part + blockIdx.y * args.c_step;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = row + 8 * i;
    if (y < tile.row || y >= args.m)
      continue;
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int p = 0; p < NUMBERS; p++)
        store_columns(c + y * args.c.row, col + pair_column(j, p), own_pair(sums, i, j, p), tile, args);
  }
}

/* --- sums of slices and of blocks --- */

/* A slice's sums of the tile in shared memory, rows of FOLD_PITCH bytes; pairs
 * of them are what is added and stored at a time. */
constexpr int FOLD_PITCH = TILE_N * NUMBER_BYTES + 64, FOLD_BYTES = FOLD_PITCH * TILE_M;
constexpr int ROW_PAIRS = TILE_N / COLUMNS, PAIRS = TILE_M * ROW_PAIRS;
static_assert(SLICES * CLUSTER == 1 || SLICES * FOLD_BYTES <= STAGES * STAGE_BYTES,
              "sums fit where panels were");

SM80_FUNCTION shared_t pair_at(shared_t sums, int pair) {
  return sums + pair / ROW_PAIRS * FOLD_PITCH + pair % ROW_PAIRS * 16;
}

SM80_FUNCTION void share_sums(shared_t memory, warp_sums sums) {
  const shared_t to = memory + own_slice() * FOLD_BYTES + own_row() * FOLD_PITCH;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int p = 0; p < NUMBERS; p++) {
        const double2 own = own_pair(sums, i, j, p);
        store_doubles(to + 8 * i * FOLD_PITCH + (own_col() + pair_column(j, p)) * NUMBER_BYTES, own.x, own.y);
      }
}

SM80_FUNCTION double2 sum_of_slices(shared_t index) {
  double2 sum = load_doubles(index);
#pragma unroll
  for (int s = 1; s < SLICES; s++) {
    const double2 more = load_doubles(index + s * FOLD_BYTES);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

SM80_FUNCTION double2 sum_of_blocks(shared_t index) {
  double2 sum = cluster_load_doubles(0, index);
#pragma unroll
  for (int r = 1; r < CLUSTER; r++) {
    const double2 more = cluster_load_doubles(r, index);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

/* What all warps have goes to memory, is added, and stored row by row; of a
 * cluster, each block stores a share. */
SM80_FUNCTION void fold_sums(number *c, warp_sums sums, const cuda_dmma_arguments &args, shared_t memory) {
  const own_tile own = tile_of(args);
  __syncthreads(); /* the last panels were read */
  share_sums(memory, sums);
  __syncthreads();
  if (CLUSTER > 1) {
    if (SLICES > 1)
      for (int pair = threadIdx.x; pair < PAIRS; pair += THREADS) {
        const double2 sum = sum_of_slices(pair_at(memory, pair));
        store_doubles(pair_at(memory, pair), sum.x, sum.y);
      }
    cluster_barrier();
  }
  c += args.c.offset + (CLUSTER > 1 ? 0 : own.part * args.c_part) + blockIdx.y * args.c_step;
  const int first = CLUSTER > 1 ? PAIRS / CLUSTER * own.part : 0;
#pragma unroll 4
  for (int pair = first + threadIdx.x; pair < first + PAIRS / CLUSTER; pair += THREADS) {
    const shared_t at = pair_at(memory, pair);
    const double2 sum = CLUSTER > 1 ? sum_of_blocks(at) : sum_of_slices(at);
    const int y = own.first_row + pair / ROW_PAIRS, x = own.first_col + pair % ROW_PAIRS * COLUMNS;
    if (y >= own.row && y < args.m)
      store_columns(c + y * args.c.row, x, sum, own, args);
  }
  if (CLUSTER > 1)
    cluster_barrier(); /* others read this block's sums until here */
}

/* --- blocks that stay --- */

#if STAYS

/* Tile after tile of whole panels: those of the next one are on their way
 * while this one is multiplied and stored. */
template <int BYTES>
SM80_FUNCTION void multiply_tiles(warp_sums sums, const number *a, const number *b, number *c,
                                  const cuda_dmma_arguments &args, shared_t stages) {
  const unsigned tiles = args.tiles_m * args.tiles_n;
  const int panels = args.k / DEPTH, k = threadIdx.x % 4;
  const shared_t from_a = place<A_MN_MAJOR, TILE_M>(own_row(), k),
                 from_b = A_BYTES + place<B_MN_MAJOR, TILE_N>(own_col() + threadIdx.x % 32 / 4, k);
  unsigned filling = blockIdx.x;
  int left = 0; /* of its panels, those that were not asked for */
  feed feed_a, feed_b;
  shared_t fill = stages, use = stages;
  const auto begin_tile = [&]() {
    if (filling >= tiles)
      return;
    const own_tile own = tile_anew(filling, args);
    feed_a = feed_of<A_MN_MAJOR, TILE_M, BYTES>(rows_of(a, own, args));
    feed_b = feed_of<B_MN_MAJOR, TILE_N, BYTES>(columns_of(b, own, args));
    left = panels;
  };
  const auto fill_next = [&]() {
    cp_async_commit();
    fill = next_stage(fill, stages);
    if (left > 0 && --left == 0) {
      filling += gridDim.x;
      begin_tile();
    }
  };
  begin_tile();
  grid_dependency_wait();
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    copy_share<A_MN_MAJOR, TILE_M, BYTES, 0, 1>(fill, feed_a, left > 0);
    copy_share<B_MN_MAJOR, TILE_N, BYTES, 0, 1>(fill + A_BYTES, feed_b, left > 0);
    fill_next();
  }
  cp_async_wait_group<STAGES - 2>();
  __syncthreads();
  factors held[2];
  load_factors(held[0], stages + from_a, stages + from_b, 0);
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
#pragma unroll 1
    for (int p = 0; p < panels; p++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        if (s + 1 == STEPS) {
          fill_next();
          cp_async_wait_group<STAGES - 2>();
          __syncthreads();
          use = next_stage(use, stages);
        }
        load_factors(held[(s + 1) % 2], use + from_a, use + from_b, (s + 1) % STEPS);
        multiply(sums, held[s % 2], [&](int i) {
          if (s == 0 && i == 0)
            copy_share<A_MN_MAJOR, TILE_M, BYTES, 0, 1>(fill, feed_a, left > 0);
          if (s == 0 && i == BLOCKS_M - 1)
            copy_share<B_MN_MAJOR, TILE_N, BYTES, 0, 1>(fill + A_BYTES, feed_b, left > 0);
        });
      }
    }
    if (tile + gridDim.x >= tiles)
      grid_dependency_launch();
    store_sums(c, sums, tile_anew(tile, args), args);
    clear(sums);
  }
}

#endif

#if TSL_PARAM_CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

extern "C" __global__ void CLUSTERED __launch_bounds__(THREADS, GROUPS)
    tsl_gemm_cuda_dmma(const number *a, const number *b, number *c,
                       const __grid_constant__ cuda_dmma_arguments args) {
  extern __shared__ __align__(128) char memory[];
  warp_sums sums;
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  clear(sums);
  a += blockIdx.y * args.a_step;
  b += blockIdx.y * args.b_step;
#if STAYS
  if (is_wide(args))
    multiply_tiles<16>(sums, a, b, c, args, shared_address(memory));
  else
    multiply_tiles<8>(sums, a, b, c, args, shared_address(memory));
#else
  if (is_wide(args))
    multiply_panels<16>(sums, a, b, args, shared_address(memory));
  else
    multiply_panels<8>(sums, a, b, args, shared_address(memory));
  grid_dependency_launch();
  if (SLICES * CLUSTER > 1)
    fold_sums(c, sums, args, shared_address(memory));
  else
    store_sums(c, sums, tile_of(args), args);
#endif
}
