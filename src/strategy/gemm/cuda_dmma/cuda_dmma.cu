/* Idea: f64 by tensor cores, which multiply twice as fast as the lanes of FMA: a block's tile of C is shared out among warps, panels of A
 * and B come to shared memory by copies that go on by themselves, several panels ahead, and each warp takes what it multiplies from
 * there while its last products are under way.
 *
 *   tile of C, TILE_M x TILE_N              shared memory: | stage 0: A panel, B panel | stage 1 | ... | stage STAGES - 1 |
 *   +----------+----------+
 *   | warp 0   | warp 1   | WARP_M          a panel, elements side by side along k:   | row 0: 16 k | row 1 | ...
 *   +----------+----------+                          side by side across k (ACROSS):  | k 0: all rows | k 1 | ...
 *   | ...      |          |
 *     WARP_N
 *
 * Whatever the strides, a panel lies as its elements do in memory, with 32 bytes of padding a line: sixteen threads that read four rows
 * of four k, or four k of four rows, meet in no bank.
 *
 * Products of a batch are the grid's second dimension.
 *
 * Elements come by 16 bytes where pairs of them are aligned (is_wide), else one by one, from any strides. What lies beyond the
 * matrix is written as zeros.
 *
 * Few tiles and a long k. Warps of a block share out the k of each panel (SLICES of 16), so that small tiles keep all tensor cores
 * busy, with more panels under way; their sums meet in shared memory. Blocks of a cluster (CLUSTER) share out k likewise, and read
 * each other's sums there. Or `parts` of k are summed apart, to a matrix each, and cuda_dmma_fold.cu adds them up. Always in the
 * same order:
 *
 *   a tile's sums:  slices in order -> | block 0 | block 1 | ... -> in order, each block for a share of the tile's rows -> C
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _SLICES, _CLUSTER. From the host: STAGES, WARP_M, WARP_N, GROUPS (blocks that share a
 * multiprocessor), A_ACROSS, B_ACROSS.
 * Limits: sm_80; m, n and k below 2^31. */
#include "cuda_dmma_shared.h"
#include "sm80.h"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int SLICES = TSL_PARAM_SLICES, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int SLICE = 16, DEPTH = SLICE * SLICES,
              STEP = 8; /* of k: a warp's share, a panel, and what is multiplied at a time */
constexpr int WARPS_N = TILE_N / WARP_N, WARPS = TILE_M / WARP_M * WARPS_N /* of a slice */,
              THREADS = 32 * WARPS * SLICES;
constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8; /* of 16 rows and of 8 columns, in a warp */
constexpr int BAND = 8;                                      /* rows of tiles that blocks take together */

/* A panel in shared memory, LINES rows of A or columns of B: bytes from a line, or from a k, to the next; all of it; where an
 * element lies. */
template <int ACROSS, int LINES>
constexpr int PITCH = (ACROSS ? LINES : DEPTH) * 8 + 32;
template <int ACROSS, int LINES>
constexpr int PANEL_BYTES = PITCH<ACROSS, LINES> *(ACROSS ? DEPTH : LINES);
template <int ACROSS, int LINES>
SM80_FUNCTION int place(int line, int k) {
  return ACROSS ? k * PITCH<ACROSS, LINES> + line * 8 : line * PITCH<ACROSS, LINES> + k * 8;
}
constexpr int A_BYTES = PANEL_BYTES<A_ACROSS, TILE_M>, STAGE_BYTES = A_BYTES + PANEL_BYTES<B_ACROSS, TILE_N>;

/* --- a block's share of the work --- */

/* Its tile of C, where the rows and columns that it multiplies start, and its part of k: a tile at the end of C starts further up, where
 * it is whole. */
struct own_tile {
  int row, col, first_row, first_col, part, first_k, end_k;
};

/* Where a tile's lines start: further up where it would end behind the last. Pairs stay aligned. */
template <int LINES>
SM80_FUNCTION int first_of(int line, int count, bool by_pairs) {
  return line + LINES > count && count >= LINES && !(by_pairs && count % 2 != 0) ? count - LINES : line;
}

SM80_FUNCTION bool is_wide(const cuda_dmma_arguments &given) {
  return given.a.is_wide && given.b.is_wide;
}

/* What it says is found anew wherever it is asked, and takes no registers in between: the compiler does not know that it stays the
 * same. */
SM80_FUNCTION own_tile tile_of(const cuda_dmma_arguments &given) {
  unsigned number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  const unsigned tiles = given.tiles_m * given.tiles_n;
  unsigned part = 0, tile = number;
  if (CLUSTER > 1)
    part = number % CLUSTER, tile = number / CLUSTER;
  else if (given.parts > 1)
    part = number / tiles, tile = number % tiles;
  /* Divisions take as long as a panel does: there is one where the band is whole. */
  const unsigned band_tiles = BAND * given.tiles_n, band = given.tiles_m > BAND ? tile / band_tiles : 0,
                 beside = tile - band * band_tiles,
                 height = min((unsigned)given.tiles_m - band * BAND, (unsigned)BAND),
                 column = height == BAND ? beside / BAND
                          : height == 1  ? beside
                                         : beside / height;
  const int row = (int)(band * BAND + beside - column * height) * TILE_M, col = (int)column * TILE_N;
  const int first = (int)part * given.part_panels + min((int)part, given.longer_parts),
            panels = given.part_panels + ((int)part < given.longer_parts);
  return {row,
          col,
          first_of<TILE_M>(row, given.m, A_ACROSS && is_wide(given)),
          first_of<TILE_N>(col, given.n, B_ACROSS && is_wide(given)),
          (int)part,
          first * DEPTH,
          min(given.k, (first + panels) * DEPTH)};
}

/* LINES lines of a factor: element (0, 0) of the first of them, elements from a line and from a k to the next, and how many lines and
 * k there are. */
struct lines {
  const double *from;
  long long line, k;
  int count, depth;
};

SM80_FUNCTION lines rows_of(const double *a, const own_tile &own, const cuda_dmma_arguments &given) {
  return {a + given.a.offset + own.first_row * given.a.row + own.first_k * given.a.col, given.a.row,
          given.a.col, given.m - own.first_row, own.end_k - own.first_k};
}
SM80_FUNCTION lines columns_of(const double *b, const own_tile &own, const cuda_dmma_arguments &given) {
  return {b + given.b.offset + own.first_col * given.b.col + own.first_k * given.b.row, given.b.col,
          given.b.row, given.n - own.first_col, own.end_k - own.first_k};
}

/* --- panels to shared memory --- */

/* A thread's copies of WIDE elements each, of which COUNT make a panel: each is APART lines (across: k) behind the one before. */
template <int ACROSS, int LINES, int WIDE>
struct copies {
  static constexpr int ROW = (ACROSS ? LINES : DEPTH) / WIDE, APART = THREADS / ROW,
                       COUNT = LINES * DEPTH / WIDE / THREADS;
  static_assert(THREADS % ROW == 0, "a thread's copies lie a constant apart");
};

/* Where they come from and go to: the next one's element, elements from one to the next and from a panel's last to the next panel's
 * first, and the first one's place in a panel. */
struct feed {
  const double *from;
  long long step, turn;
  shared_t to;
};

template <int ACROSS, int LINES, int WIDE>
SM80_FUNCTION feed feed_of(const lines &own) {
  typedef copies<ACROSS, LINES, WIDE> each;
  const int side = threadIdx.x % each::ROW * WIDE, row = threadIdx.x / each::ROW;
  const int line = ACROSS ? side : row, k = ACROSS ? row : side;
  const long long step = each::APART * (ACROSS ? own.k : own.line);
  return {own.from + line * own.line + k * own.k, step, DEPTH * own.k - (each::COUNT - 1) * step,
          (shared_t)place<ACROSS, LINES>(line, k)};
}

/* The share FIRST / OF of a panel's copies, where `is_whole`. */
template <int ACROSS, int LINES, int WIDE, int FIRST, int OF>
SM80_FUNCTION void copy_share(shared_t panel, feed &own, bool is_whole) {
  typedef copies<ACROSS, LINES, WIDE> each;
#pragma unroll
  for (int i = each::COUNT * FIRST / OF; i < each::COUNT * (FIRST + 1) / OF; i++) {
    copy_async_if<8 * WIDE>(is_whole, panel + own.to + i * each::APART * PITCH<ACROSS, LINES>, own.from);
    own.from += i + 1 < each::COUNT ? own.step : own.turn;
    asm("" : "+l"(own.from)); /* or the compiler multiplies for each copy */
  }
}

/* A panel of which less than all is there, from `depth` on: zeros beyond. */
template <int ACROSS, int LINES, int WIDE>
SM80_FUNCTION void copy_part(shared_t panel, const lines &own, int depth) {
  constexpr int ROW = copies<ACROSS, LINES, WIDE>::ROW;
#pragma unroll 1
  for (int i = threadIdx.x; i < LINES * DEPTH / WIDE; i += THREADS) {
    const int side = i % ROW * WIDE, row = i / ROW, line = ACROSS ? side : row, k = ACROSS ? row : side;
    const int more_lines = own.count - line, more_depth = own.depth - depth - k,
              there = ACROSS ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const long long from = there > 0 ? line * own.line + (depth + k) * own.k : 0;
    copy_async_part<8 * WIDE>(8 * max(0, min(there, WIDE)), panel + place<ACROSS, LINES>(line, k),
                              own.from + from);
  }
}

/* --- multiplying --- */

/* What a thread holds of what its warp multiplies at a time (sm80.h). */
struct factors {
  double a[BLOCKS_M][4], b[BLOCKS_N][2];
};

SM80_FUNCTION void load_factors(factors &to, shared_t a, shared_t b, int step) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      to.a[i][e] = load_double(a + place<A_ACROSS, TILE_M>(16 * i + e % 2 * 8, step * STEP + e / 2 * 4));
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
    for (int e = 0; e < 2; e++)
      to.b[j][e] = load_double(b + place<B_ACROSS, TILE_N>(8 * j, step * STEP + e * 4));
}

typedef double warp_sums[BLOCKS_M][BLOCKS_N][4];

/* `between` is called after each row of blocks: what it does goes on while tensor cores multiply. */
template <typename function>
SM80_FUNCTION void multiply(warp_sums sums, const factors &from, function between) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x8(sums[i][j], from.a[i], from.b[j]);
    between(i);
  }
}

/* This thread's row and column of its warp's first block, in the tile, and its warp's slice of each panel. */
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

/* The sums of all panels. A stage is filled again one panel after it was read, which the barrier between says of all warps. */
template <int WIDE>
SM80_FUNCTION void multiply_panels(warp_sums sums, const double *a, const double *b,
                                   const cuda_dmma_arguments &given, shared_t stages) {
  const own_tile own = tile_of(given);
  const lines rows = rows_of(a, own, given), columns = columns_of(b, own, given);
  const int panels = (rows.depth + DEPTH - 1) / DEPTH,
            whole = rows.count >= TILE_M && columns.count >= TILE_N ? rows.depth / DEPTH : 0;
  feed feed_a = feed_of<A_ACROSS, TILE_M, WIDE>(rows), feed_b = feed_of<B_ACROSS, TILE_N, WIDE>(columns);
  const int k = own_slice() * SLICE + threadIdx.x % 4;
  const shared_t from_a = place<A_ACROSS, TILE_M>(own_row(), k),
                 from_b = A_BYTES + place<B_ACROSS, TILE_N>(own_col() + threadIdx.x % 32 / 4, k);
  shared_t fill = stages, use = stages;
  int filled = 0; /* panels that were asked for */
  dependency_wait();
  const auto copy_last = [&]() {
    if (filled >= whole && filled < panels) {
      const own_tile again = tile_of(given);
      copy_part<A_ACROSS, TILE_M, WIDE>(fill, rows_of(a, again, given), filled * DEPTH);
      copy_part<B_ACROSS, TILE_N, WIDE>(fill + A_BYTES, columns_of(b, again, given), filled * DEPTH);
    }
  };
  const auto fill_next = [&]() {
    copies_commit(); /* also of none: groups are what is counted */
    filled++;
    fill = next_stage(fill, stages);
  };
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    copy_share<A_ACROSS, TILE_M, WIDE, 0, 1>(fill, feed_a, filled < whole);
    copy_share<B_ACROSS, TILE_N, WIDE, 0, 1>(fill + A_BYTES, feed_b, filled < whole);
    copy_last();
    fill_next();
  }
  copies_wait<STAGES - 2>();
  __syncthreads();
  factors held[2];
  load_factors(held[0], stages + from_a, stages + from_b, 0);
#pragma unroll 1
  for (int p = 0; p < panels; p++) {
    copy_last();
    load_factors(held[1], use + from_a, use + from_b, 1);
    multiply(sums, held[0], [&](int i) {
      if (i == 0)
        copy_share<A_ACROSS, TILE_M, WIDE, 0, 2>(fill, feed_a, filled < whole);
      if (i == BLOCKS_M / 2)
        copy_share<A_ACROSS, TILE_M, WIDE, 1, 2>(fill, feed_a, filled < whole);
      if (i == BLOCKS_M - 1)
        copy_share<B_ACROSS, TILE_N, WIDE, 0, 1>(fill + A_BYTES, feed_b, filled < whole);
    });
    fill_next();
    copies_wait<STAGES - 2>();
    __syncthreads();
    use = next_stage(use, stages);
    load_factors(held[0], use + from_a, use + from_b, 0);
    multiply(sums, held[1], [](int) {});
  }
}

/* --- C --- */

SM80_FUNCTION void store_one(double *c, double sum, double beta) {
  *c = beta == 0 ? sum : fma(beta, *c, sum);
}

/* c[0] and c[1], at a multiple of 16 bytes. */
SM80_FUNCTION void store_pair(double *c, double first, double second, double beta) {
  double2 *to = (double2 *)c;
  if (beta != 0) {
    const double2 before = *to;
    first = fma(beta, before.x, first), second = fma(beta, before.y, second);
  }
  *to = make_double2(first, second);
}

/* Where the columns of two numbers lie in C, and which of them are there and this tile's. */
struct pair_of_columns {
  int x;
  bool is_first, is_second, is_pair;
};

SM80_FUNCTION pair_of_columns columns_at(int x, const own_tile &own, const cuda_dmma_arguments &given) {
  const bool is_first = x >= own.col && x < given.n, is_second = x + 1 >= own.col && x + 1 < given.n;
  return {x, is_first, is_second, is_first && is_second && given.c.is_wide && own.first_col % 2 == 0};
}

SM80_FUNCTION void store_columns(double *line, const pair_of_columns &at, double first, double second,
                                 const cuda_dmma_arguments &given) {
  first *= given.alpha, second *= given.alpha;
  if (at.is_pair) {
    store_pair(line + at.x, first, second, given.beta);
  } else {
    if (at.is_first)
      store_one(line + at.x * given.c.col, first, given.beta);
    if (at.is_second)
      store_one(line + (at.x + 1) * given.c.col, second, given.beta);
  }
}

SM80_FUNCTION void store_sums(double *c, warp_sums sums, const cuda_dmma_arguments &given) {
  const own_tile own = tile_of(given);
  const int row = own.first_row + own_row(), col = own.first_col + own_col() + threadIdx.x % 4 * 2;
  c += given.c.offset + own.part * given.c_part + blockIdx.y * given.c_step;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = row + 8 * i;
    if (y < own.row || y >= given.m)
      continue;
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++) {
      const double *sum = sums[i / 2][j] + i % 2 * 2;
      store_columns(c + y * given.c.row, columns_at(col + 8 * j, own, given), sum[0], sum[1], given);
    }
  }
}

/* --- sums of slices and of blocks --- */

/* A slice's sums of the tile in shared memory, rows of FOLD_PITCH bytes; pairs of them are what is added and stored at a time. */
constexpr int FOLD_PITCH = TILE_N * 8 + 64, FOLD_BYTES = FOLD_PITCH * TILE_M;
constexpr int ROW_PAIRS = TILE_N / 2, PAIRS = TILE_M * ROW_PAIRS;
static_assert(SLICES * CLUSTER == 1 || SLICES * FOLD_BYTES <= STAGES * STAGE_BYTES,
              "sums fit where panels were");

SM80_FUNCTION shared_t pair_at(shared_t sums, int pair) {
  return sums + pair / ROW_PAIRS * FOLD_PITCH + pair % ROW_PAIRS * 16;
}

SM80_FUNCTION void share_sums(shared_t memory, warp_sums sums) {
  const shared_t to =
      memory + own_slice() * FOLD_BYTES + own_row() * FOLD_PITCH + (own_col() + threadIdx.x % 4 * 2) * 8;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      store_doubles(to + 8 * i * FOLD_PITCH + 64 * j, sums[i / 2][j][i % 2 * 2],
                    sums[i / 2][j][i % 2 * 2 + 1]);
}

SM80_FUNCTION double2 sum_of_slices(shared_t at) {
  double2 sum = load_doubles(at);
#pragma unroll
  for (int s = 1; s < SLICES; s++) {
    const double2 more = load_doubles(at + s * FOLD_BYTES);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

SM80_FUNCTION double2 sum_of_blocks(shared_t at) {
  double2 sum = load_doubles_of(0, at);
#pragma unroll
  for (int r = 1; r < CLUSTER; r++) {
    const double2 more = load_doubles_of(r, at);
    sum.x += more.x, sum.y += more.y;
  }
  return sum;
}

/* What all warps have goes to memory, is added, and stored row by row; of a cluster, each block stores a share. */
SM80_FUNCTION void fold_sums(double *c, warp_sums sums, const cuda_dmma_arguments &given, shared_t memory) {
  const own_tile own = tile_of(given);
  __syncthreads(); /* the last panels were read */
  share_sums(memory, sums);
  __syncthreads();
  if (CLUSTER > 1) {
    if (SLICES > 1)
      for (int pair = threadIdx.x; pair < PAIRS; pair += THREADS) {
        const double2 sum = sum_of_slices(pair_at(memory, pair));
        store_doubles(pair_at(memory, pair), sum.x, sum.y);
      }
    blocks_barrier();
  }
  c += given.c.offset + (CLUSTER > 1 ? 0 : own.part * given.c_part) + blockIdx.y * given.c_step;
  const int first = CLUSTER > 1 ? PAIRS / CLUSTER * own.part : 0;
#pragma unroll 4
  for (int pair = first + threadIdx.x; pair < first + PAIRS / CLUSTER; pair += THREADS) {
    const shared_t at = pair_at(memory, pair);
    const double2 sum = CLUSTER > 1 ? sum_of_blocks(at) : sum_of_slices(at);
    const int y = own.first_row + pair / ROW_PAIRS, x = own.first_col + pair % ROW_PAIRS * 2;
    if (y >= own.row && y < given.m)
      store_columns(c + y * given.c.row, columns_at(x, own, given), sum.x, sum.y, given);
  }
  if (CLUSTER > 1)
    blocks_barrier(); /* others read this block's sums until here */
}

#if TSL_PARAM_CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

extern "C" __global__ void CLUSTERED __launch_bounds__(THREADS, GROUPS)
    tsl_gemm_cuda_dmma(const double *a, const double *b, double *c,
                       const __grid_constant__ cuda_dmma_arguments given) {
  extern __shared__ __align__(128) char memory[];
  warp_sums sums;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
  a += blockIdx.y * given.a_step;
  b += blockIdx.y * given.b_step;
  if (is_wide(given))
    multiply_panels<2>(sums, a, b, given, shared_address(memory));
  else
    multiply_panels<1>(sums, a, b, given, shared_address(memory));
  dependency_launch();
  if (SLICES * CLUSTER > 1)
    fold_sums(c, sums, given, shared_address(memory));
  else
    store_sums(c, sums, given);
}
