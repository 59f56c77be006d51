/* cuda_dmma's panels: which of A and B a block multiplies, and the copies that
 * bring it to shared memory (cuda_dmma.cu has the picture). */
#include "cuda_dmma_number.cu"
#include "cuda_dmma_shared.h"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int SLICES = TSL_PARAM_SLICES, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int SLICE = 16, DEPTH = SLICE * SLICES; /* of k: a warp's share, and a panel */
constexpr int WARPS_N = TILE_N / WARP_N, WARPS = TILE_M / WARP_M * WARPS_N /* of a slice */,
              THREADS = 32 * WARPS * SLICES;
constexpr int BAND = 8; /* rows of tiles that blocks take together */

/* A panel in shared memory, LINES rows of A or columns of B: bytes from a line,
 * or from a k, to the next, such that threads that read together meet in no
 * bank; all of it; where a number lies. */
template <int ACROSS, int LINES>
constexpr int PITCH = (ACROSS ? LINES : DEPTH) * NUMBER_BYTES + (NUMBERS == 2 && !ACROSS ? 64 : 32);
template <int ACROSS, int LINES>
constexpr int PANEL_BYTES = PITCH<ACROSS, LINES> *(ACROSS ? DEPTH : LINES);
template <int ACROSS, int LINES>
SM80_FUNCTION int place(int line, int k) {
  return ACROSS ? k * PITCH<ACROSS, LINES> + line * NUMBER_BYTES
                : line * PITCH<ACROSS, LINES> + k * NUMBER_BYTES;
}
constexpr int A_BYTES = PANEL_BYTES<A_MN_MAJOR, TILE_M>, STAGE_BYTES = A_BYTES + PANEL_BYTES<B_MN_MAJOR, TILE_N>;

/* --- a block's share of the work --- */

/* Its tile of C, where the rows and columns that it multiplies start, and its
 * part of k: a tile at the end of C starts further up, where it is whole. */
struct own_tile {
  int row, col, first_row, first_col, part, first_k, end_k;
};

/* Where a tile's lines start: further up where it would end behind the last.
 * Pairs stay aligned. */
template <int LINES>
SM80_FUNCTION int first_of(int line, int count, bool by_pairs) {
  return line + LINES > count && count >= LINES && !(by_pairs && count % 2 != 0) ? count - LINES : line;
}

SM80_FUNCTION bool is_wide(const cuda_dmma_arguments &args) {
  return args.a.is_wide && args.b.is_wide;
}

SM80_FUNCTION own_tile tile_at(unsigned number, const cuda_dmma_arguments &args) {
  const unsigned tiles = args.tiles_m * args.tiles_n;
  unsigned part = 0, tile = number;
  if (CLUSTER > 1)
    part = number % CLUSTER, tile = number / CLUSTER;
  else if (args.parts > 1)
    part = number / tiles, tile = number % tiles;
  /* Divisions take as long as a panel does: there is one where the band is
   * whole. */
  const unsigned band_tiles = BAND * args.tiles_n, band = args.tiles_m > BAND ? tile / band_tiles : 0,
                 beside = tile - band * band_tiles,
                 height = min((unsigned)args.tiles_m - band * BAND, (unsigned)BAND),
                 column = height == BAND ? beside / BAND
                          : height == 1  ? beside
                                         : beside / height;
  const int row = (int)(band * BAND + beside - column * height) * TILE_M, col = (int)column * TILE_N;
  const int first = (int)part * args.part_panels + min((int)part, args.longer_parts),
            panels = args.part_panels + ((int)part < args.longer_parts);
  return {row,
          col,
          first_of<TILE_M>(row, args.m, NUMBERS == 1 && A_MN_MAJOR && is_wide(args)),
          first_of<TILE_N>(col, args.n, NUMBERS == 1 && B_MN_MAJOR && is_wide(args)),
          (int)part,
          first * DEPTH,
          min(args.k, (first + panels) * DEPTH)};
}

/* What they say is found anew wherever it is asked, and takes no registers in
 * between: the compiler does not know that it stays the same. */
SM80_FUNCTION own_tile tile_of(const cuda_dmma_arguments &args) {
  unsigned number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return tile_at(number, args);
}
SM80_FUNCTION own_tile tile_anew(unsigned number, const cuda_dmma_arguments &args) {
  asm volatile("" : "+r"(number));
  return tile_at(number, args);
}

/* LINES lines of a factor: number (0, 0) of the first of them, numbers from a
 * line and from a k to the next, and how many lines and k there are. */
struct lines {
  const number *from;
  long long line, k;
  int count, depth;
};

SM80_FUNCTION lines rows_of(const number *a, const own_tile &tile, const cuda_dmma_arguments &args) {
  return {a + args.a.offset + tile.first_row * args.a.row + tile.first_k * args.a.col, args.a.row,
          args.a.col, args.m - tile.first_row, tile.end_k - tile.first_k};
}
SM80_FUNCTION lines columns_of(const number *b, const own_tile &tile, const cuda_dmma_arguments &args) {
  return {b + args.b.offset + tile.first_col * args.b.col + tile.first_k * args.b.row, args.b.col,
          args.b.row, args.n - tile.first_col, tile.end_k - tile.first_k};
}

/* --- panels to shared memory --- */

/* A thread's copies of BYTES bytes each, of which COUNT make a panel: each is
 * APART lines (across: k) behind the one before. A complex number that is not
 * aligned takes two of 8 bytes. */
template <int ACROSS, int LINES, int BYTES>
struct copies {
  static constexpr int WIDE = BYTES > NUMBER_BYTES ? BYTES / NUMBER_BYTES : 1 /* numbers */,
                       HALVES = BYTES < NUMBER_BYTES ? 2 : 1, ROW = (ACROSS ? LINES : DEPTH) / WIDE,
                       APART = THREADS / ROW, COUNT = LINES * DEPTH / WIDE / THREADS;
  static_assert(THREADS % ROW == 0, "a thread's copies lie a constant apart");
};

/* Where they come from and go to: the next one's number, numbers from one to
 * the next and from a panel's last to the next panel's first, and the first
 * one's place in a panel. */
struct feed {
  const number *from;
  long long step, turn;
  shared_t to;
};

template <int ACROSS, int LINES, int BYTES>
SM80_FUNCTION feed feed_of(const lines &lines_in) {
  typedef copies<ACROSS, LINES, BYTES> each;
  const int side = threadIdx.x % each::ROW * each::WIDE, row = threadIdx.x / each::ROW;
  const int line = ACROSS ? side : row, k = ACROSS ? row : side;
  const long long step = each::APART * (ACROSS ? lines_in.k : lines_in.line);
  return {lines_in.from + line * lines_in.line + k * lines_in.k, step, DEPTH * lines_in.k - (each::COUNT - 1) * step,
          (shared_t)place<ACROSS, LINES>(line, k)};
}

/* The share FIRST / OF of a panel's copies, where `is_whole`. */
template <int ACROSS, int LINES, int BYTES, int FIRST, int OF>
SM80_FUNCTION void copy_share(shared_t panel, feed &feed_in, bool is_whole) {
  typedef copies<ACROSS, LINES, BYTES> each;
#pragma unroll
  for (int i = each::COUNT * FIRST / OF; i < each::COUNT * (FIRST + 1) / OF; i++) {
#pragma unroll
    for (int half = 0; half < each::HALVES; half++)
      cp_async_if<BYTES>(is_whole, panel + feed_in.to + i * each::APART * PITCH<ACROSS, LINES> + 8 * half,
                           (const char *)feed_in.from + 8 * half);
    feed_in.from += i + 1 < each::COUNT ? feed_in.step : feed_in.turn;
    asm("" : "+l"(feed_in.from)); /* or the compiler multiplies for each copy */
  }
}

/* A panel of which less than all is there, from `depth` on, and zeros beyond. (A copy can leave out what is not there and write zeros
 * itself; memory checkers take such a copy for one of 16 bytes.) */
template <int ACROSS, int LINES, int BYTES>
SM80_FUNCTION void copy_part(shared_t panel, const lines &lines_in, int depth) {
  typedef copies<ACROSS, LINES, BYTES> each;
#pragma unroll 1
  for (int i = threadIdx.x; i < LINES * DEPTH / each::WIDE; i += THREADS) {
    const int side = i % each::ROW * each::WIDE, row = i / each::ROW, line = ACROSS ? side : row,
              k = ACROSS ? row : side;
    const int more_lines = lines_in.count - line, more_depth = lines_in.depth - depth - k,
              more = ACROSS ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const number *from = lines_in.from + line * lines_in.line + (depth + k) * lines_in.k;
    const shared_t to = panel + place<ACROSS, LINES>(line, k);
    if (BYTES == 16 && more >= each::WIDE) {
      cp_async_if<16>(true, to, from);
      continue;
    }
#pragma unroll
    for (int half = 0; half < (BYTES == 16 ? 2 : each::HALVES); half++)
      if (more > (NUMBERS == 2 ? 0 : half))
        cp_async_if<8>(true, to + 8 * half, (const char *)from + 8 * half);
      else
        store_double(to + 8 * half, 0);
  }
}
