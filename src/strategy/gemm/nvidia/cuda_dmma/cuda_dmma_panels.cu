/* Panels of cuda_dmma: a block's part of A and B, and its copies to shared memory (picture: cuda_dmma.cu). */
#include "cuda_dmma_number.cu"
#include "cuda_dmma_shared.h"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int SLICES = TSL_PARAM_SLICES, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int SLICE = 16, DEPTH = SLICE * SLICES; /* elements of k in a slice, and in a panel */
constexpr int WARPS_N = TILE_N / WARP_N, WARPS = TILE_M / WARP_M * WARPS_N /* warps of a slice */,
              THREADS = 32 * WARPS * SLICES;
constexpr int BAND = 8; /* rows of tiles that are visited together, for L2 reuse */

/* Layout of a panel in shared memory, LINES rows of A or columns of B. PITCH: bytes between lines, or for an
 * MN-major panel between k, free of bank conflicts. place(): offset of an element. */
template <int MN_MAJOR, int LINES>
constexpr int PITCH = (MN_MAJOR ? LINES : DEPTH) * NUMBER_BYTES + (NUMBERS == 2 && !MN_MAJOR ? 64 : 32);
template <int MN_MAJOR, int LINES>
constexpr int PANEL_BYTES = PITCH<MN_MAJOR, LINES> *(MN_MAJOR ? DEPTH : LINES);
template <int MN_MAJOR, int LINES>
SM80_FUNCTION int place(int line, int k) {
  return MN_MAJOR ? k * PITCH<MN_MAJOR, LINES> + line * NUMBER_BYTES
                  : line * PITCH<MN_MAJOR, LINES> + k * NUMBER_BYTES;
}
constexpr int A_BYTES = PANEL_BYTES<A_MN_MAJOR, TILE_M>,
              STAGE_BYTES = A_BYTES + PANEL_BYTES<B_MN_MAJOR, TILE_N>;

struct work_tile {
  int row, col;             /* first element that the block stores */
  int first_row, first_col; /* first element that it computes: earlier at the end of C, for a whole tile */
  int part, first_k, end_k; /* split-k part, and its range of k */
};

/* Returns the first line of a tile: earlier where it would exceed the matrix, if pairs stay aligned. */
template <int LINES>
SM80_FUNCTION int first_of(int line, int count, bool by_pairs) {
  return line + LINES > count && count >= LINES && !(by_pairs && count % 2 != 0) ? count - LINES : line;
}

SM80_FUNCTION bool is_wide(const cuda_dmma_arguments &args) {
  return args.a.is_wide && args.b.is_wide;
}

/* Computes tile `number`: parts of a cluster are adjacent; others follow one after the other. */
SM80_FUNCTION work_tile compute_work_tile(unsigned number, const cuda_dmma_arguments &args) {
  const unsigned tiles = args.tiles_m * args.tiles_n;
  unsigned part = 0, tile = number;
  if (CLUSTER > 1)
    part = number % CLUSTER, tile = number / CLUSTER;
  else if (args.parts > 1)
    part = number / tiles, tile = number % tiles;
  /* Divisions take as long as a panel, so bands of full height divide by a constant. */
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

/* Computes this block's work tile, anew at each call: an opaque block index saves registers. */
SM80_FUNCTION work_tile get_work_tile(const cuda_dmma_arguments &args) {
  unsigned number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return compute_work_tile(number, args);
}
SM80_FUNCTION work_tile get_tile_recomputed(unsigned number, const cuda_dmma_arguments &args) {
  asm volatile("" : "+r"(number));
  return compute_work_tile(number, args);
}

struct lines {
  const number *from; /* first element */
  long long line, k;  /* strides in elements: between lines and along k */
  int count, depth;   /* lines and k up to the end of the matrix or part */
};

SM80_FUNCTION lines rows_of(const number *a, const work_tile &tile, const cuda_dmma_arguments &args) {
  return {a + args.a.offset + tile.first_row * args.a.row + tile.first_k * args.a.col, args.a.row, args.a.col,
          args.m - tile.first_row, tile.end_k - tile.first_k};
}
SM80_FUNCTION lines columns_of(const number *b, const work_tile &tile, const cuda_dmma_arguments &args) {
  return {b + args.b.offset + tile.first_col * args.b.col + tile.first_k * args.b.row, args.b.col, args.b.row,
          args.n - tile.first_col, tile.end_k - tile.first_k};
}

/* Copies of a thread, BYTES each; COUNT copies make a panel, APART lines (MN-major: k) from one to the next.
 * A complex element that is not aligned takes two copies of 8 bytes. */
template <int MN_MAJOR, int LINES, int BYTES>
struct copies {
  static constexpr int WIDE = BYTES > NUMBER_BYTES ? BYTES / NUMBER_BYTES : 1 /* elements */,
                       HALVES = BYTES < NUMBER_BYTES ? 2 : 1, ROW = (MN_MAJOR ? LINES : DEPTH) / WIDE,
                       APART = THREADS / ROW, COUNT = LINES * DEPTH / WIDE / THREADS;
  static_assert(THREADS % ROW == 0, "a thread's copies lie a constant apart");
};

struct copy_source {
  const number *from;   /* next source */
  long long step, turn; /* elements to the next copy, and from a panel's last copy to the next panel */
  shared_t to;          /* bytes from the panel's start to its first copy */
};

template <int MN_MAJOR, int LINES, int BYTES>
SM80_FUNCTION copy_source get_copy_source(const lines &operand_lines) {
  typedef copies<MN_MAJOR, LINES, BYTES> each;
  const int side = threadIdx.x % each::ROW * each::WIDE, row = threadIdx.x / each::ROW;
  const int line = MN_MAJOR ? side : row, k = MN_MAJOR ? row : side;
  const long long step = each::APART * (MN_MAJOR ? operand_lines.k : operand_lines.line);
  return {operand_lines.from + line * operand_lines.line + k * operand_lines.k, step,
          DEPTH * operand_lines.k - (each::COUNT - 1) * step, (shared_t)place<MN_MAJOR, LINES>(line, k)};
}

/* Issues fraction FIRST of OF of a panel's copies if the panel is whole. */
template <int MN_MAJOR, int LINES, int BYTES, int FIRST, int OF>
SM80_FUNCTION void issue_copies(shared_t panel, copy_source &source, bool is_whole) {
  typedef copies<MN_MAJOR, LINES, BYTES> each;
#pragma unroll
  for (int i = each::COUNT * FIRST / OF; i < each::COUNT * (FIRST + 1) / OF; i++) {
#pragma unroll
    for (int half = 0; half < each::HALVES; half++)
      cp_async_if<BYTES>(is_whole, panel + source.to + i * each::APART * PITCH<MN_MAJOR, LINES> + 8 * half,
                         (const char *)source.from + 8 * half);
    source.from += i + 1 < each::COUNT ? source.step : source.turn;
    asm("" : "+l"(source.from)); /* otherwise the compiler multiplies for each copy */
  }
}

/* Copies a partial panel from k = `depth` on, with zeros outside of the matrix. Memory checkers would report
 * cp.async's own zeros as copies of 16 bytes. */
template <int MN_MAJOR, int LINES, int BYTES>
SM80_FUNCTION void copy_partial_panel(shared_t panel, const lines &operand_lines, int depth) {
  typedef copies<MN_MAJOR, LINES, BYTES> each;
#pragma unroll 1
  for (int i = threadIdx.x; i < LINES * DEPTH / each::WIDE; i += THREADS) {
    const int side = i % each::ROW * each::WIDE, row = i / each::ROW, line = MN_MAJOR ? side : row,
              k = MN_MAJOR ? row : side;
    const int more_lines = operand_lines.count - line, more_depth = operand_lines.depth - depth - k,
              more = MN_MAJOR ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const number *from = operand_lines.from + line * operand_lines.line + (depth + k) * operand_lines.k;
    const shared_t to = panel + place<MN_MAJOR, LINES>(line, k);
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
