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
 * Elements come by 16 bytes where pairs of them are aligned (is_wide), else one by one, from any strides. What lies beyond the
 * matrix is written as zeros.
 *
 * Few tiles and a long k: `parts` of k are summed apart, to a matrix each, and cuda_dmma_fold.cu adds them up, always in the same
 * order.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N. From the host: STAGES, WARP_M, WARP_N, GROUPS (blocks that share a multiprocessor), A_ACROSS, B_ACROSS.
 * Limits: sm_80; m, n and k below 2^31. */
#include "cuda_dmma_shared.h"
#include "sm80.h"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int DEPTH = 16, STEP = 8; /* of k: a panel, and what is multiplied at a time */
constexpr int WARPS_N = TILE_N / WARP_N, THREADS = 32 * (TILE_M / WARP_M) * WARPS_N;
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
  int number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  const int tiles = given.tiles_m * given.tiles_n, tile = number % tiles, part = number / tiles;
  const int above = tile / (BAND * given.tiles_n) * BAND, beside = tile % (BAND * given.tiles_n),
            height = min(given.tiles_m - above, BAND);
  const int panels = (given.k + DEPTH - 1) / DEPTH;
  const int row = (above + beside % height) * TILE_M, col = beside / height * TILE_N;
  return {row,
          col,
          first_of<TILE_M>(row, given.m, A_ACROSS && is_wide(given)),
          first_of<TILE_N>(col, given.n, B_ACROSS && is_wide(given)),
          part,
          (int)((long long)panels * part / given.parts) * DEPTH,
          min(given.k, (int)((long long)panels * (part + 1) / given.parts) * DEPTH)};
}

/* LINES lines of a factor: element (0, 0) of the first of them, elements from a line and from a k to the next, and how many lines and
 * k there are. */
struct lines {
  const double *from;
  long long line, k;
  int count, depth;
};

SM80_FUNCTION lines rows_of(const double *a, const cuda_dmma_arguments &given) {
  const own_tile own = tile_of(given);
  return {a + given.a.offset + own.first_row * given.a.row + own.first_k * given.a.col, given.a.row,
          given.a.col, given.m - own.first_row, own.end_k - own.first_k};
}
SM80_FUNCTION lines columns_of(const double *b, const cuda_dmma_arguments &given) {
  const own_tile own = tile_of(given);
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

/* A panel that ends early, from `depth` on: element by element, and zeros. */
template <int ACROSS, int LINES>
SM80_FUNCTION void copy_part(shared_t panel, const lines &own, int depth) {
#pragma unroll 1
  for (int i = threadIdx.x; i < LINES * DEPTH; i += THREADS) {
    const int line = ACROSS ? i % LINES : i / DEPTH, k = ACROSS ? i / LINES : i % DEPTH;
    const bool is_there = line < own.count && depth + k < own.depth;
    const shared_t to = panel + place<ACROSS, LINES>(line, k);
    if (is_there)
      copy_async_if<8>(true, to, own.from + line * own.line + (depth + k) * own.k);
    else
      store_double(to, 0);
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

/* This thread's row and column of its warp's first block, in the tile. */
SM80_FUNCTION int own_row() {
  return threadIdx.x / 32 / WARPS_N * WARP_M + threadIdx.x % 32 / 4;
}
SM80_FUNCTION int own_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N;
}

/* Stages in turn. */
SM80_FUNCTION shared_t next_stage(shared_t stage, shared_t first) {
  return stage == first + (STAGES - 1) * STAGE_BYTES ? first : stage + STAGE_BYTES;
}

/* The sums of all panels. A stage is filled again one panel after it was read, which the barrier between says of all warps. */
template <int WIDE>
SM80_FUNCTION void multiply_panels(warp_sums sums, const double *a, const double *b,
                                   const cuda_dmma_arguments &given, shared_t stages) {
  const lines rows = rows_of(a, given), columns = columns_of(b, given);
  const int panels = (rows.depth + DEPTH - 1) / DEPTH,
            whole = rows.count >= TILE_M && columns.count >= TILE_N ? rows.depth / DEPTH : 0;
  feed feed_a = feed_of<A_ACROSS, TILE_M, WIDE>(rows), feed_b = feed_of<B_ACROSS, TILE_N, WIDE>(columns);
  const shared_t from_a = place<A_ACROSS, TILE_M>(own_row(), threadIdx.x % 4),
                 from_b =
                     A_BYTES + place<B_ACROSS, TILE_N>(own_col() + threadIdx.x % 32 / 4, threadIdx.x % 4);
  shared_t fill = stages, use = stages;
  int filled = 0; /* panels that were asked for */
  const auto copy_last = [&]() {
    if (filled >= whole && filled < panels) {
      copy_part<A_ACROSS, TILE_M>(fill, rows_of(a, given), filled * DEPTH);
      copy_part<B_ACROSS, TILE_N>(fill + A_BYTES, columns_of(b, given), filled * DEPTH);
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

SM80_FUNCTION void store_sums(double *c, warp_sums sums, const cuda_dmma_arguments &given) {
  const own_tile own = tile_of(given);
  const int row = own.first_row + own_row(), col = own.first_col + own_col() + threadIdx.x % 4 * 2;
  const bool by_pairs = given.c.is_wide && own.first_col % 2 == 0;
  c += given.c.offset + own.part * given.c_part;
#pragma unroll
  for (int i = 0; i < 2 * BLOCKS_M; i++) {
    const int y = row + 8 * i;
    if (y < own.row || y >= given.m)
      continue;
    double *line = c + y * given.c.row;
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++) {
      const int x = col + 8 * j;
      const double *sum = sums[i / 2][j] + i % 2 * 2, first = given.alpha * sum[0],
                   second = given.alpha * sum[1];
      const bool is_first = x >= own.col && x < given.n, is_second = x + 1 >= own.col && x + 1 < given.n;
      if (by_pairs && is_first && is_second) {
        store_pair(line + x, first, second, given.beta);
      } else {
        if (is_first)
          store_one(line + x * given.c.col, first, given.beta);
        if (is_second)
          store_one(line + (x + 1) * given.c.col, second, given.beta);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, GROUPS)
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
  dependency_wait();
  if (is_wide(given))
    multiply_panels<2>(sums, a, b, given, shared_address(memory));
  else
    multiply_panels<1>(sums, a, b, given, shared_address(memory));
  dependency_launch();
  store_sums(c, sums, given);
}
