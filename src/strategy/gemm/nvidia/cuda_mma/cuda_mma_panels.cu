/* Panels of cuda_mma: a block's part of A and B, its layout in shared memory, and its copies. */
#include "cuda_mma_number.cu"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int DEPTH_BYTES = TSL_PARAM_DEPTH, DEPTH = DEPTH_BYTES / ELEMENT; /* of k in a panel */
constexpr int WARPS_N = TILE_N / WARP_N, THREADS = 32 * (TILE_M / WARP_M) * WARPS_N;
constexpr int BAND = 8; /* rows of tiles that are visited together, for L2 reuse */

#if ELEMENT == 1
typedef unsigned char element;
#elif ELEMENT == 2
typedef unsigned short element;
#else
typedef unsigned element;
#endif
constexpr int CHUNK = 16 / ELEMENT; /* elements of 16 bytes */

/* Lines that are read together and must be in different banks. FOLLOWING: consecutive lines. PAIRED: lines 0
 * 1 4 5 8 9 12 13 of sixteen. WORDS: four lines, two chunks each, read by words. */
enum { FOLLOWING, PAIRED, WORDS };
constexpr int A_KIND = !A_MN_MAJOR    ? FOLLOWING
                       : ELEMENT == 1 ? PAIRED
                       : ELEMENT == 2 ? FOLLOWING
                                      : WORDS,
              B_KIND = !B_MN_MAJOR                ? PAIRED
                       : A_MN_MAJOR == B_MN_MAJOR ? A_KIND
                       : ELEMENT == 1             ? PAIRED
                       : ELEMENT == 2             ? FOLLOWING
                                                  : WORDS;

/* Panel of LINES rows of A or columns of B: DOWN memory rows of PITCH bytes in ROW chunks, which are swizzled
 * by the row's number. PERIOD: rows after which the swizzle repeats. */
template <int MN_MAJOR, int LINES, int KIND>
struct panel {
  static constexpr int PITCH = MN_MAJOR ? LINES * ELEMENT : DEPTH_BYTES, ROW = PITCH / 16,
                       DOWN = MN_MAJOR ? DEPTH : LINES, BYTES = PITCH * DOWN,
                       MOST = ROW < 8 ? ROW : 8 /* chunks that are permuted */,
                       TOGETHER = 8 / MOST /* rows that share the 32 banks */,
                       PERIOD = KIND == FOLLOWING ? 8
                                : KIND == PAIRED  ? 16
                                                  : 4;
};
/* Returns the number that chunks' numbers of a memory row are xor-ed with; place(): a chunk's byte. */
template <int MN_MAJOR, int LINES, int KIND>
SM80_FUNCTION int swizzle_of(int row) {
  typedef panel<MN_MAJOR, LINES, KIND> panel_type;
  if (KIND == WORDS)
    return 2 * (row % 4 / panel_type::TOGETHER % (panel_type::MOST / 2 > 0 ? panel_type::MOST / 2 : 1));
  const int number = KIND == PAIRED ? row % 2 + row / 4 % 4 * 2 : row;
  return number / panel_type::TOGETHER % panel_type::MOST;
}
template <int MN_MAJOR, int LINES, int KIND>
SM80_FUNCTION int place(int row, int chunk) {
  return row * panel<MN_MAJOR, LINES, KIND>::PITCH + (chunk ^ swizzle_of<MN_MAJOR, LINES, KIND>(row)) * 16;
}

typedef panel<A_MN_MAJOR, TILE_M, A_KIND> a_panel;
typedef panel<B_MN_MAJOR, TILE_N, B_KIND> b_panel;
constexpr int A_BYTES = a_panel::BYTES, STAGE_BYTES = A_BYTES + b_panel::BYTES;
static_assert(A_BYTES % 128 == 0 && STAGE_BYTES % 128 == 0, "chunks are exchanged within 128 bytes");

struct work_tile {
  int row, col;             /* first element that the block stores */
  int first_row, first_col; /* first element that it computes: earlier at the end of C, for a whole tile */
  int part, first_k, end_k; /* split-k part, and its range of k */
};

/* Returns the first line of a tile: earlier where it would exceed the matrix, if chunks stay aligned. */
template <int LINES, int MN_MAJOR>
SM80_FUNCTION int first_of(int line, int count) {
  return line + LINES > count && count >= LINES && !(MN_MAJOR && count % CHUNK != 0) ? count - LINES : line;
}

SM80_FUNCTION bool is_wide(const cuda_mma_arguments &args) {
  return args.a.width == 16 && args.b.width == 16;
}

/* Computes this block's work tile, anew at each call: an opaque block index saves registers. */
SM80_FUNCTION work_tile get_work_tile(const cuda_mma_arguments &args) {
  const unsigned number = opaque_block_index(), tiles = args.tiles_m * args.tiles_n;
  unsigned part = 0, tile = number;
  if (args.parts > 1)
    part = number / tiles, tile = number % tiles;
  const unsigned band_tiles = BAND * args.tiles_n, band = args.tiles_m > BAND ? tile / band_tiles : 0,
                 beside = tile - band * band_tiles, left = (unsigned)args.tiles_m - band * BAND,
                 height = left < BAND ? left : BAND,
                 column = height == BAND ? beside / BAND
                          : height == 1  ? beside
                                         : beside / height;
  const int row = (int)(band * BAND + beside - column * height) * TILE_M, col = (int)column * TILE_N;
  const int longer = (int)part < args.longer_parts,
            first = (int)part * args.part_panels + (longer ? (int)part : args.longer_parts),
            end = (first + args.part_panels + longer) * DEPTH;
  return {row,
          col,
          first_of<TILE_M, A_MN_MAJOR>(row, args.m),
          first_of<TILE_N, B_MN_MAJOR>(col, args.n),
          (int)part,
          first * DEPTH,
          end < args.k ? end : args.k};
}

struct lines {
  const element *from; /* first element */
  long long line, k;   /* strides in elements: between lines and along k */
  int count, depth;    /* lines and k up to the end of the matrix or part */
  int width;           /* bytes of a copy; 0: elements one by one */
};

SM80_FUNCTION lines rows_of(const element *a, const work_tile &tile, const cuda_mma_arguments &args) {
  return {a + args.a.offset + tile.first_row * args.a.row + tile.first_k * args.a.col,
          args.a.row,
          args.a.col,
          args.m - tile.first_row,
          tile.end_k - tile.first_k,
          args.a.width};
}
SM80_FUNCTION lines columns_of(const element *b, const work_tile &tile, const cuda_mma_arguments &args) {
  return {b + args.b.offset + tile.first_col * args.b.col + tile.first_k * args.b.row,
          args.b.col,
          args.b.row,
          args.n - tile.first_col,
          tile.end_k - tile.first_k,
          args.b.width};
}

/* Copies of a thread, one chunk each; COUNT copies make a panel, APART memory rows from one to the next. */
template <int MN_MAJOR, int LINES, int KIND>
struct copies {
  typedef panel<MN_MAJOR, LINES, KIND> panel_type;
  static constexpr int CHUNKS = panel_type::ROW * panel_type::DOWN, APART = THREADS / panel_type::ROW,
                       COUNT = CHUNKS < THREADS ? 1 : CHUNKS / THREADS;
  static_assert(THREADS % panel_type::ROW == 0 &&
                    (COUNT == 1 || (APART % panel_type::PERIOD == 0 && CHUNKS % THREADS == 0)),
                "a thread's copies lie a constant apart");
};
typedef copies<A_MN_MAJOR, TILE_M, A_KIND> a_copies;
typedef copies<B_MN_MAJOR, TILE_N, B_KIND> b_copies;

struct copy_source {
  const element *from;  /* next source chunk */
  long long step, turn; /* elements to the next chunk, and from a panel's last chunk to the next panel */
  shared_t to;          /* bytes from the panel's start to its first chunk */
};

template <int MN_MAJOR, int LINES, int KIND>
SM80_FUNCTION copy_source get_copy_source(const lines &operand_lines) {
  typedef copies<MN_MAJOR, LINES, KIND> each;
  const int chunk = threadIdx.x % each::panel_type::ROW, row = threadIdx.x / each::panel_type::ROW;
  const int line = MN_MAJOR ? chunk * CHUNK : row, k = MN_MAJOR ? row : chunk * CHUNK;
  const long long step = each::APART * (MN_MAJOR ? operand_lines.k : operand_lines.line);
  return {operand_lines.from + line * operand_lines.line + k * operand_lines.k, step,
          DEPTH * operand_lines.k - (each::COUNT - 1) * step,
          (shared_t)place<MN_MAJOR, LINES, KIND>(row, chunk)};
}

template <int MN_MAJOR, int LINES, int KIND>
SM80_FUNCTION void copy_chunk(shared_t end, copy_source &source, int i, bool is_whole) {
  typedef copies<MN_MAJOR, LINES, KIND> each;
  const bool asked = each::CHUNKS < THREADS ? is_whole && threadIdx.x < each::CHUNKS : is_whole;
  cp_async_if<16>(asked, end + source.to + i * each::APART * each::panel_type::PITCH, source.from);
  source.from += i + 1 < each::COUNT ? source.step : source.turn;
  make_opaque(source.from); /* otherwise the compiler multiplies for each copy */
}

/* Loads a chunk of elements `step` apart, of which the first `there` exist; others are 0. */
SM80_FUNCTION void gather(unsigned (&words)[4], const element *from, long long step, int there) {
#pragma unroll
  for (int w = 0; w < 4; w++)
    words[w] = 0;
#pragma unroll
  for (int e = 0; e < CHUNK; e++)
    if (e < there)
      words[e * ELEMENT / 4] |= (unsigned)from[e * step] << e * ELEMENT % 4 * 8;
}

/* Copies a partial or unaligned panel from k = `depth` on, with zeros outside of the matrix. Memory checkers
 * would report cp.async's own zeros as copies of 16 bytes. */
template <int MN_MAJOR, int LINES, int KIND>
SM80_FUNCTION void copy_partial_panel(shared_t end, const lines &operand_lines, int depth) {
  typedef copies<MN_MAJOR, LINES, KIND> each;
#pragma unroll 1
  for (int i = threadIdx.x; i < each::CHUNKS; i += THREADS) {
    const int chunk = i % each::panel_type::ROW, row = i / each::panel_type::ROW,
              line = MN_MAJOR ? chunk * CHUNK : row, k = MN_MAJOR ? row : chunk * CHUNK;
    const int more_lines = operand_lines.count - line, more_depth = operand_lines.depth - depth - k,
              there = MN_MAJOR ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const element *from = operand_lines.from + line * operand_lines.line + (depth + k) * operand_lines.k;
    const shared_t at = end + place<MN_MAJOR, LINES, KIND>(row, chunk);
    if (there >= CHUNK && operand_lines.width == 16) {
      cp_async_if<16>(true, at, from);
    } else if (there >= CHUNK && operand_lines.width == 8) {
      cp_async_if<8>(true, at, from);
      cp_async_if<8>(true, at + 8, from + CHUNK / 2);
    } else if (there >= CHUNK && operand_lines.width == 4) {
#pragma unroll
      for (int w = 0; w < 4; w++)
        cp_async_if<4>(true, at + 4 * w, from + w * (CHUNK / 4));
    } else {
      unsigned words[4];
      gather(words, from, MN_MAJOR ? operand_lines.line : operand_lines.k, there);
      store_words(at, words);
    }
  }
}
