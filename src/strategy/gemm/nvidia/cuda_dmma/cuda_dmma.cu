/* Idea: f64 and c128 by tensor cores (DMMA), which have twice the rate of FMA, and c64 by FMA. Warps share a
 * block's tile of C. cp.async brings panels of A and B to shared memory several stages ahead.
 *
 * Read ../sm80/sm80_gemm.h first, about the base. This folder adds an element trait: cuda_dmma_panels.cu has
 * layout and copies, cuda_dmma_fragments.cu the products. This file stores the sums; cuda_dmma.c is the
 * descriptor.
 *
 *   tile of C, TILE_M x TILE_N              shared memory: | stage 0: A panel, B panel | stage 1 | ... |
 *   +----------+----------+
 *   | warp 0   | warp 1   | WARP_M          a K-major panel:    | row 0: 16 k | row 1 | ...
 *   +----------+----------+                 an MN-major panel:  | k 0: all rows | k 1 | ...
 *   | ...      |          |
 *       WARP_N
 *
 * Lines have 32 bytes of padding against bank conflicts of sixteen threads that read four rows of four k, or
 * four k of four rows. Elements of an operand are copied by 16 bytes where pairs are aligned (A_COPY and
 * B_COPY), else by 8.
 * Products of a batch are the grid's second dimension. Many tiles and a short k (STAYS): persistent blocks
 * load the next tile's panels while they store the current tile. A k of one panel (SHORT) may be partial:
 * copies leave out all that is outside, and steps end with k.
 *
 * Few tiles and a long k: a block's warps split the k of each panel (SLICES of 16), which keeps all tensor
 * cores busy; their sums meet in shared memory. Blocks of a cluster (CLUSTER) split k and read each other's
 * sums. Or `parts` of k go to a matrix each, and sm80_split_k_reduce.cu adds them; with JOINS, few parts
 * are added by the block of the last one. The order of additions is fixed:
 *
 *   a tile's sums:  slices in order -> | block 0 | block 1 | ... -> in order -> rows of C, a part per block
 *
 * For bits=rows k has fixed parts, whose sums are added in order. The same matrices, a cluster, or each block
 * add them; with FOLDS a block keeps totals in scratch memory.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _SLICES, _CLUSTER. Defines of the host: STAGES, WARP_M, WARP_N,
 * GROUPS (resident blocks of a multiprocessor), A_MN_MAJOR, B_MN_MAJOR, A_COPY, B_COPY; C_FORM (4: f64,
 * 5: c128, 6: c64), CONJUGATE_A and _B (-1: yes), STAYS, SHORT, JOINS, SWAPPED (1: A is the problem's B).
 * Limits: sm_80; m, n and k below 2^31. */
#include "cuda_dmma_fragments.cu"

#include "cuda_dmma_parts.cu"

#include "../sm80/sm80_mainloop.cu"

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

/* Columns of a pair of real numbers of a row: two real elements, or one complex element. */
constexpr int COLUMNS = 2 / NUMBERS;

/* Returns pair `p` of block `j` in row `i` of the thread; pair_column(): its first column in the tile. */
SM80_FUNCTION real_pair own_pair(warp_sums sums, int i, int j, int p) {
  const int e = i % 2 * 2;
  if constexpr (NUMBERS == 2)
    return make_pair(sums[0][i / 2][j][e + p], sums[NUMBERS - 1][i / 2][j][e + p]);
  else
    return make_pair(sums[0][i / 2][j][e], sums[0][i / 2][j][e + 1]);
}
SM80_FUNCTION int pair_column(int j, int p) {
  return 8 * j + threadIdx.x % 4 * 2 + p;
}

/* Stores alpha sum + beta C from column `x` on of row `line`, within C and this tile. */
SM80_FUNCTION void store_columns(double *line, int x, double2 sum, const work_tile &tile,
                                 const sm80_arguments &args) {
  const double first = args.scalars.f64.alpha[0] * sum.x, second = args.scalars.f64.alpha[0] * sum.y,
               beta = args.scalars.f64.beta[0];
  const bool is_first = x >= tile.col && x < args.n, is_second = x + 1 >= tile.col && x + 1 < args.n;
  if (is_first && is_second && args.c.width && tile.first_col % 2 == 0) {
    double2 *to = (double2 *)(line + x);
    const double2 before = beta != 0 ? *to : make_double2(0, 0);
    *to = beta != 0 ? make_double2(fma(beta, before.x, first), fma(beta, before.y, second))
                    : make_double2(first, second);
  } else {
    if (is_first)
      store_scaled(line + x * args.c.col, first, beta);
    if (is_second)
      store_scaled(line + (x + 1) * args.c.col, second, beta);
  }
}
SM80_FUNCTION void store_columns(real_pair *line, int x, real_pair sum, const work_tile &tile,
                                 const sm80_arguments &args) {
  if (x >= tile.col && x < args.n)
    store_number(line + x * args.c.col, sum, args.scalars, args.c.width);
}

/* Stores two adjacent elements of c64 together if possible. */
SM80_FUNCTION bool store_adjacent(float2 *target, int x, const float2 (&pairs)[2], const work_tile &tile,
                                  const sm80_arguments &args) {
  const sm80_scalars &by = args.scalars;
  if (args.c.width < 2 || tile.first_col % 2 != 0 || x < tile.col || x + 1 >= args.n || by.f64.beta[0] != 0 ||
      by.f64.beta[1] != 0)
    return false;
  const real_pair one = scaled(make_pair(pairs[0].x, pairs[0].y), by.f64.alpha),
                  two = scaled(make_pair(pairs[1].x, pairs[1].y), by.f64.alpha);
  *(float4 *)target = make_float4(one.x, one.y, two.x, two.y);
  return true;
}
/* Stores the eight adjacent elements of four threads in pairs that are aligned in C, also in odd rows of f64.
 * Where rows begin between pairs, threads pass their first elements on, and both ends are stored alone. */
SM80_FUNCTION bool store_adjacent(double *target, int x, const double2 (&pairs)[2], const work_tile &tile,
                                  const sm80_arguments &args) {
  const int own = threadIdx.x % 4, begin = x - 2 * own;
  if (args.c.width || args.c.col != 1 || args.scalars.f64.beta[0] != 0 || begin < tile.col ||
      begin + 8 > args.n)
    return false;
  const double first = args.scalars.f64.alpha[0] * pairs[0].x,
               second = args.scalars.f64.alpha[0] * pairs[0].y,
               next = __shfl_down_sync(15u << (threadIdx.x & 28), first, 1, 4);
  const bool is_between = (unsigned long long)target % 16 != 0;
  if (!is_between || own < 3)
    *(double2 *)(target + is_between) = is_between ? make_double2(second, next) : make_double2(first, second);
  if (is_between && (own == 0 || own == 3))
    target[own / 3] = own == 0 ? first : second;
  return true;
}
SM80_FUNCTION bool store_adjacent(double2 *, int, const double2 (&)[2], const work_tile &,
                                  const sm80_arguments &) {
  return false;
}

/* Exchanges elements of c128 between the halves of a warp, whose rows are 4 apart. Both halves then store
 * one row at a time, in whole lines of memory. Pair p becomes row p of a column. */
SM80_FUNCTION void exchange(real_pair (&pairs)[2]) {
  const bool is_upper = threadIdx.x & 16;
  const real_pair sent = is_upper ? pairs[0] : pairs[1],
                  got = make_pair(__shfl_xor_sync(~0u, sent.x, 16), __shfl_xor_sync(~0u, sent.y, 16));
  pairs[0] = is_upper ? got : pairs[0];
  pairs[1] = is_upper ? pairs[1] : got;
}

/* Stores a warp's tile to C, or to the part's matrix of partial sums. */
SM80_FUNCTION void store_sums(element *c, warp_sums sums, const work_tile &tile, const sm80_arguments &args) {
  constexpr bool EXCHANGES = C_FORM == 5;
  const int is_upper = EXCHANGES ? threadIdx.x / 16 % 2 : 0, row = tile.first_row + own_row() - 4 * is_upper,
            col = tile.first_col + warp_col() + threadIdx.x % 4 * 2 + is_upper;
  c += args.c.offset + tile.part * args.c_part + blockIdx.y * args.c_step;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = row + 8 * i, last_y = y + 4 * EXCHANGES;
    if (!EXCHANGES && (y < tile.row || y >= args.m))
      continue;
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++) {
      const int x = col + 8 * j;
      element *const line = c + y * args.c.row;
      real_pair pairs[2] = {own_pair(sums, i, j, 0), own_pair(sums, i, j, NUMBERS - 1)};
      if (EXCHANGES)
        exchange(pairs);
      if (store_adjacent(line + x, x, pairs, tile, args))
        continue;
      if (!EXCHANGES || (y >= tile.row && y < args.m))
        store_columns(line, x, pairs[0], tile, args);
      if (NUMBERS == 2 && (!EXCHANGES || (last_y >= tile.row && last_y < args.m)))
        store_columns(line + (last_y - y) * args.c.row, x + !EXCHANGES, pairs[NUMBERS - 1], tile, args);
    }
  }
}

/* Layout of a slice's sums in shared memory: rows of SLICE_PITCH bytes. Sums are added and stored in pairs.
 */
constexpr int SLICE_PITCH = TILE_N * NUMBER_BYTES + 64, SLICE_BYTES = SLICE_PITCH * TILE_M;
constexpr int ROW_PAIRS = TILE_N / COLUMNS, PAIRS = TILE_M * ROW_PAIRS;
/* True if C is stored from shared memory, with adjacent elements by neighbours: always for c64, unless blocks
 * are persistent. */
constexpr bool MEETS = SLICES * CLUSTER > 1 || (C_FORM == 6 && !STAYS);
static_assert(!MEETS || SLICES * SLICE_BYTES <= STAGES * STAGE_BYTES, "sums fit where panels were");

/* Returns the address of pair `pair` of a tile, counted row by row, in the sums at `sums`. */
SM80_FUNCTION shared_t pair_at(shared_t sums, int pair) {
  return sums + pair / ROW_PAIRS * SLICE_PITCH + pair % ROW_PAIRS * (int)sizeof(real_pair);
}

/* JOINS: the last part of a tile adds the sums of the other parts in their order. Blocks of these have
 * published them in scratch memory. It waits for blocks of lower numbers only, which started before. */
constexpr bool JOINED = JOINS;
SM80_FUNCTION bool is_last_part(const sm80_arguments &args) {
  return blockIdx.x >= (unsigned)(args.parts - 1) * args.tiles_m * args.tiles_n;
}
/* Returns the number of the block with part `part` of this block's tile. */
SM80_FUNCTION unsigned block_of_part(int part, const sm80_arguments &args) {
  return blockIdx.x - (unsigned)(args.parts - 1 - part) * args.tiles_m * args.tiles_n;
}
SM80_FUNCTION real_pair *published_sums(unsigned block, const sm80_arguments &args) {
  return (real_pair *)args.partials + (long long)block * PAIRS;
}
SM80_FUNCTION void publish(const sm80_arguments &args) {
  __syncthreads();
  if (threadIdx.x == 0)
    flag_publish((unsigned long long *)args.flags + blockIdx.x, args.ticket);
}
SM80_FUNCTION void wait_for_parts(const sm80_arguments &args) {
  for (int part = threadIdx.x; part < args.parts - 1; part += THREADS)
    flag_wait_and_clear((unsigned long long *)args.flags + block_of_part(part, args), args.ticket);
  __syncthreads();
}
/* Adds the other parts to the sums of pairs `pair`, `pair` + THREADS, ... */
template <int COUNT>
SM80_FUNCTION void join_pairs(real_pair (&own)[COUNT], int pair, const sm80_arguments &args) {
  const long long apart = (long long)PAIRS * args.tiles_m * args.tiles_n;
  const real_pair *from = published_sums(block_of_part(0, args), args) + pair;
  real_pair sums[COUNT];
#pragma unroll
  for (int q = 0; q < COUNT; q++)
    sums[q] = __ldcg(from + q * THREADS);
#pragma unroll 2
  for (int part = 1; part < args.parts - 1; part++) {
    from += apart;
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
      const real_pair more = __ldcg(from + q * THREADS);
      sums[q].x += more.x, sums[q].y += more.y;
    }
  }
#pragma unroll
  for (int q = 0; q < COUNT; q++)
    own[q].x = sums[q].x + own[q].x, own[q].y = sums[q].y + own[q].y;
}

/* Publishes the sums of a warp in registers or, for the last part, adds the other parts to these. */
template <bool IS_LAST>
SM80_FUNCTION void join_sums(warp_sums sums, const sm80_arguments &args) {
  constexpr int OWN = NUMBERS * BLOCKS_M * BLOCKS_N * 2, COUNT = OWN % 8 == 0 ? 8 : 4;
  real_t *const all = &sums[0][0][0][0];
  if (IS_LAST)
    wait_for_parts(args);
#pragma unroll
  for (int first = 0; first < OWN; first += COUNT) {
    real_pair own[COUNT];
    const int pair = threadIdx.x + first * THREADS;
#pragma unroll
    for (int q = 0; q < COUNT; q++)
      own[q] = make_pair(all[2 * (first + q)], all[2 * (first + q) + 1]);
    if (IS_LAST)
      join_pairs(own, pair, args);
#pragma unroll
    for (int q = 0; q < COUNT; q++)
      if (IS_LAST)
        all[2 * (first + q)] = own[q].x, all[2 * (first + q) + 1] = own[q].y;
      else
        published_sums(blockIdx.x, args)[pair + q * THREADS] = own[q];
  }
  if (!IS_LAST)
    publish(args);
}

/* c64: imaginary parts first, as in registers, where the sums' parity avoids conflicts with a and b. */
SM80_FUNCTION real_pair turned(real_pair pair) {
  return C_FORM == 6 ? make_pair(pair.y, pair.x) : pair;
}

SM80_FUNCTION void put_slice_sums(shared_t memory, warp_sums sums) {
  const shared_t to = memory + own_slice() * SLICE_BYTES + own_row() * SLICE_PITCH;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int p = 0; p < NUMBERS; p++) {
        store_pair(to + 8 * i * SLICE_PITCH + (warp_col() + pair_column(j, p)) * NUMBER_BYTES,
                   turned(own_pair(sums, i, j, p)));
      }
}

SM80_FUNCTION real_pair sum_of_slices(shared_t pair) {
  real_pair sum, more;
  load_pair(sum, pair);
#pragma unroll
  for (int s = 1; s < SLICES; s++) {
    load_pair(more, pair + s * SLICE_BYTES);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

SM80_FUNCTION real_pair sum_of_blocks(shared_t pair) {
  real_pair sum, more;
  cluster_load_pair(sum, 0, pair);
#pragma unroll
  for (int r = 1; r < CLUSTER; r++) {
    cluster_load_pair(more, r, pair);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

/* Adds the sums of all slices and blocks of the cluster through shared memory and stores C row by row. Each
 * block of a cluster stores a part of the rows. */
SM80_FUNCTION void reduce_sums(element *c, warp_sums sums, const sm80_arguments &args, shared_t memory) {
  const work_tile tile = get_own_tile(args);
  __syncthreads(); /* all warps have read the last panels */
  put_slice_sums(memory, sums);
  __syncthreads();
  if (CLUSTER > 1) {
    if (SLICES > 1)
      for (int pair = threadIdx.x; pair < PAIRS; pair += THREADS) {
        store_pair(pair_at(memory, pair), sum_of_slices(pair_at(memory, pair)));
      }
    cluster_barrier();
  }
  c += args.c.offset + (CLUSTER > 1 ? 0 : tile.part * args.c_part) + blockIdx.y * args.c_step;
  const int first = CLUSTER > 1 ? PAIRS / CLUSTER * tile.part : 0;
  const bool is_last = !JOINED || is_last_part(args);
  if (JOINED && is_last)
    wait_for_parts(args);
  constexpr int COUNT = CLUSTER > 1 || PAIRS % (4 * THREADS) != 0 ? 1 : 4; /* pairs at a time */
#pragma unroll(COUNT == 1 ? 4 : 1)
  for (int own = first + threadIdx.x; own < first + PAIRS / CLUSTER; own += COUNT * THREADS) {
    real_pair sums_of[COUNT];
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
      const shared_t at = pair_at(memory, own + q * THREADS);
      sums_of[q] = CLUSTER > 1 ? sum_of_blocks(at) : sum_of_slices(at);
    }
    if (JOINED && is_last)
      join_pairs(sums_of, own, args);
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
      const int pair = own + q * THREADS, y = tile.first_row + pair / ROW_PAIRS,
                x = tile.first_col + pair % ROW_PAIRS * COLUMNS;
      if (!is_last)
        published_sums(blockIdx.x, args)[pair] = sums_of[q];
      else if (y >= tile.row && y < args.m)
        store_columns(c + y * args.c.row, x, turned(sums_of[q]), tile, args);
    }
  }
  if (!is_last)
    publish(args);
  if (CLUSTER > 1)
    cluster_barrier(); /* keeps this block's shared memory alive until the other blocks have read it */
}

/* Computes a tile anew at each call: an opaque number saves registers. */
SM80_FUNCTION work_tile get_tile_recomputed(unsigned number, const sm80_arguments &args) {
  asm volatile("" : "+r"(number));
  return get_tile(number, args);
}

/* Stores zeros to all stages: copies leave out k outside of the matrices, which steps of tensor cores read.
 */
SM80_FUNCTION void clear_stages(shared_t stages) {
  for (int at = threadIdx.x * 16; at < STAGES * STAGE_BYTES; at += THREADS * 16)
    store_double(stages + at, 0), store_double(stages + at + 8, 0);
  __syncthreads();
}

/* Adds the products of a panel's first `depth` steps of k. */
template <class A, class B>
SM80_FUNCTION void multiply_short(warp_sums sums, factors &held, shared_t stage, shared_t first_a,
                                  shared_t first_b, int depth) {
#pragma unroll 2
  for (int s = 0; s < (depth + STEP - 1) / STEP; s++) {
    load_factors<A, B>(held, stage, first_a, first_b, s);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
      load_rows<A>(held, stage + first_a, s, i);
    multiply(sums, held, [](int) {});
  }
}

/* Computes tiles of whole panels, or with SHORT of one panel that may be partial. The next tile's panels are
 * loaded while this one is computed. */
template <class A, class B>
SM80_FUNCTION void multiply_tiles(warp_sums sums, const element *a, const element *b, element *c,
                                  const sm80_arguments &args, shared_t stages) {
  const unsigned tiles = args.tiles_m * args.tiles_n;
  const int panels = SHORT ? 1 : args.k / DEPTH, k = own_k();
  const place_t first_a = A::first_place(own_row(), k), first_b = B_PLACE + B::first_place(own_col(), k);
  unsigned filling = blockIdx.x;
  int left = 0; /* panels of the tile `filling` whose copies have not been issued */
  copy_source source_a, source_b;
  shared_t fill = stages, use = stages;
  const auto begin_tile = [&]() {
    if (filling >= tiles)
      return;
    const work_tile tile = get_tile_recomputed(filling, args);
    source_a = get_copy_source<A>(rows_of(a, tile, args));
    source_b = get_copy_source<B>(columns_of(b, tile, args));
    left = panels;
  };
  const auto fill_next = [&]() {
    cp_async_commit();
    fill = next_stage<A, B>(fill, stages);
    if (left > 0 && --left == 0) {
      filling += gridDim.x;
      begin_tile();
    }
  };
  begin_tile();
  grid_dependency_wait();
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    issue_copies<A, B>(fill, source_a, source_b, ALL_SLOTS, left > 0);
    fill_next();
  }
  factors held[2];
  if constexpr (!SHORT) {
    cp_async_wait_group<STAGES - 2>();
    __syncthreads();
    load_factors<A, B>(held[0], stages, first_a, first_b, 0);
  }
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    if constexpr (SHORT) {
      cp_async_wait_group<STAGES - 2>();
      __syncthreads();
      issue_copies<A, B>(fill, source_a, source_b, ALL_SLOTS, left > 0);
      fill_next();
      multiply_short<A, B>(sums, held[0], use, first_a, first_b, args.k);
      use = next_stage<A, B>(use, stages);
    }
#pragma unroll 1
    for (int p = 0; !SHORT && p < panels; p++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        if (s + 1 == STEPS) {
          fill_next();
          cp_async_wait_group<STAGES - 2>();
          __syncthreads();
          use = next_stage<A, B>(use, stages);
        }
        load_factors<A, B>(held[(s + 1) % 2], use, first_a, first_b, (s + 1) % STEPS);
        multiply(sums, held[s % 2], [&](int i) {
          if (s == 0 && i == 0)
            issue_part<A, 0, 1>(fill, source_a, left > 0);
          if (s == 0 && i == BLOCKS_M - 1)
            issue_part<B, 0, 1>(fill + A_BYTES, source_b, left > 0);
        });
      }
    }
    if (tile + gridDim.x >= tiles)
      grid_dependency_launch();
    store_sums(c, sums, get_tile_recomputed(tile, args), args);
    clear(sums);
  }
}

#if TSL_PARAM_CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

extern "C" __global__ void CLUSTERED __launch_bounds__(THREADS, GROUPS)
    tsl_gemm_cuda_dmma(const element *a, const element *b, element *c,
                       const __grid_constant__ sm80_arguments args) {
  extern __shared__ __align__(128) char memory[];
  warp_sums sums;
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  clear(sums);
  a += blockIdx.y * args.a_step;
  b += blockIdx.y * args.b_step;
  const shared_t stages = shared_address(memory);
  typedef panel<A_MN_MAJOR, TILE_M, A_COPY> a_wide;
  typedef panel<B_MN_MAJOR, TILE_N, B_COPY> b_wide;
  typedef panel<A_MN_MAJOR, TILE_M, 8> a_ones;
  typedef panel<B_MN_MAJOR, TILE_N, 8> b_ones;
  if constexpr (STAYS) {
    typedef panel<A_MN_MAJOR, TILE_M, SHORT ? SHORT_COPY : 8> a_short;
    typedef panel<B_MN_MAJOR, TILE_N, SHORT ? SHORT_COPY : 8> b_short;
    if (SHORT && STEP > 1)
      clear_stages(stages);
    if (is_wide(args) && (!SHORT || has_even_lines(args)))
      multiply_tiles<a_wide, b_wide>(sums, a, b, c, args, stages);
    else
      multiply_tiles<a_short, b_short>(sums, a, b, c, args, stages);
  } else {
    if (is_wide(args))
      mainloop<a_wide, b_wide>(sums, a, b, args, stages);
    else
      mainloop<a_ones, b_ones>(sums, a, b, args, stages);
    grid_dependency_launch();
    if constexpr (JOINED && !MEETS) {
      if (!is_last_part(args)) {
        join_sums<false>(sums, args);
        return;
      }
      join_sums<true>(sums, args);
    }
    if (MEETS)
      reduce_sums(c, sums, args, stages);
    else
      store_sums(c, sums, get_own_tile(args), args);
  }
}
