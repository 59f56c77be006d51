/* cuda_mma's panels: which of A and B a block multiplies, where it lies in shared memory, and the copies that bring it there
 * (cuda_mma.cu has the picture). */
#include "cuda_mma_number.cu"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int DEPTH_BYTES = TSL_PARAM_DEPTH, DEPTH = DEPTH_BYTES / ELEMENT; /* of a panel's k */
constexpr int WARPS_N = TILE_N / WARP_N, THREADS = 32 * (TILE_M / WARP_M) * WARPS_N;
constexpr int BAND = 8; /* rows of tiles that blocks take together */

#if ELEMENT == 1
typedef unsigned char element;
#elif ELEMENT == 2
typedef unsigned short element;
#else
typedef unsigned element;
#endif
constexpr int CHUNK = 16 / ELEMENT; /* elements of 16 bytes */

/* --- a panel in shared memory --- */

/* What is read together, eight lines of 16 bytes, and must lie in different banks: eight that follow each other; where columns are
 * taken by pairs, or bytes transposed, numbers 0 1 4 5 8 9 12 13 of sixteen; of words, four and two chunks of each. */
enum { FOLLOWING, PAIRED, WORDS };
constexpr int A_KIND = !A_MN_MAJOR      ? FOLLOWING
                       : ELEMENT == 1 ? PAIRED
                       : ELEMENT == 2 ? FOLLOWING
                                      : WORDS,
              B_KIND = !B_MN_MAJOR              ? PAIRED
                       : A_MN_MAJOR == B_MN_MAJOR ? A_KIND
                       : ELEMENT == 1         ? PAIRED
                       : ELEMENT == 2         ? FOLLOWING
                                              : WORDS;

/* A panel of LINES rows of A or columns of B: DOWN rows of memory, each PITCH bytes in ROW chunks, which are exchanged by the row's
 * number. PERIOD: rows after which these exchanges come again. */
template <int ACROSS, int LINES, int KIND>
struct panel {
  static constexpr int PITCH = ACROSS ? LINES * ELEMENT : DEPTH_BYTES, ROW = PITCH / 16,
                       DOWN = ACROSS ? DEPTH : LINES, BYTES = PITCH * DOWN,
                       MOST = ROW < 8 ? ROW : 8 /* chunks that are exchanged */,
                       TOGETHER = 8 / MOST /* rows that share the 32 banks */,
                       PERIOD = KIND == FOLLOWING ? 8
                                : KIND == PAIRED  ? 16
                                                  : 4;
};
template <int ACROSS, int LINES, int KIND>
SM80_FUNCTION int phase(int row) {
  typedef panel<ACROSS, LINES, KIND> panel_type;
  if (KIND == WORDS)
    return 2 * (row % 4 / panel_type::TOGETHER % (panel_type::MOST / 2 > 0 ? panel_type::MOST / 2 : 1));
  const int number = KIND == PAIRED ? row % 2 + row / 4 % 4 * 2 : row;
  return number / panel_type::TOGETHER % panel_type::MOST;
}
template <int ACROSS, int LINES, int KIND>
SM80_FUNCTION int place(int row, int chunk) {
  return row * panel<ACROSS, LINES, KIND>::PITCH + (chunk ^ phase<ACROSS, LINES, KIND>(row)) * 16;
}

typedef panel<A_MN_MAJOR, TILE_M, A_KIND> a_panel;
typedef panel<B_MN_MAJOR, TILE_N, B_KIND> b_panel;
constexpr int A_BYTES = a_panel::BYTES, STAGE_BYTES = A_BYTES + b_panel::BYTES;
static_assert(A_BYTES % 128 == 0 && STAGE_BYTES % 128 == 0, "chunks are exchanged within 128 bytes");

/* --- a block's share of the work --- */

/* Its tile of C, where the rows and columns that it multiplies start, and its part of k: a tile at the end of C starts further up,
 * where it is whole. */
struct own_tile {
  int row, col, first_row, first_col, part, first_k, end_k;
};

/* Where a tile's lines start: further up where it would end behind the last, if chunks stay aligned. */
template <int LINES, int ACROSS>
SM80_FUNCTION int first_of(int line, int count) {
  return line + LINES > count && count >= LINES && !(ACROSS && count % CHUNK != 0) ? count - LINES : line;
}

SM80_FUNCTION bool is_wide(const cuda_mma_arguments &args) {
  return args.a.width == 16 && args.b.width == 16;
}

/* What it says is found anew wherever it is asked, and takes no registers in between: the compiler does not know that it stays the
 * same. */
SM80_FUNCTION own_tile tile_of(const cuda_mma_arguments &args) {
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

/* LINES lines of a factor: element (0, 0) of the first of them, elements from a line and from a k to the next, how many lines and k
 * there are, and the bytes of a copy. */
struct lines {
  const element *from;
  long long line, k;
  int count, depth, width;
};

SM80_FUNCTION lines rows_of(const element *a, const own_tile &tile, const cuda_mma_arguments &args) {
  return {a + args.a.offset + tile.first_row * args.a.row + tile.first_k * args.a.col,
          args.a.row,
          args.a.col,
          args.m - tile.first_row,
          tile.end_k - tile.first_k,
          args.a.width};
}
SM80_FUNCTION lines columns_of(const element *b, const own_tile &tile, const cuda_mma_arguments &args) {
  return {b + args.b.offset + tile.first_col * args.b.col + tile.first_k * args.b.row,
          args.b.col,
          args.b.row,
          args.n - tile.first_col,
          tile.end_k - tile.first_k,
          args.b.width};
}

/* --- panels to shared memory --- */

/* A thread's copies of a chunk each, of which COUNT make a panel: each is APART rows of memory behind the one before. */
template <int ACROSS, int LINES, int KIND>
struct copies {
  typedef panel<ACROSS, LINES, KIND> panel_type;
  static constexpr int CHUNKS = panel_type::ROW * panel_type::DOWN, APART = THREADS / panel_type::ROW,
                       COUNT = CHUNKS < THREADS ? 1 : CHUNKS / THREADS;
  static_assert(THREADS % panel_type::ROW == 0 &&
                    (COUNT == 1 || (APART % panel_type::PERIOD == 0 && CHUNKS % THREADS == 0)),
                "a thread's copies lie a constant apart");
};
typedef copies<A_MN_MAJOR, TILE_M, A_KIND> a_copies;
typedef copies<B_MN_MAJOR, TILE_N, B_KIND> b_copies;

/* Where they come from and go to: the next one's chunk, elements from one to the next and from a panel's last to the next panel's
 * first, and the first one's place in a panel. */
struct feed {
  const element *from;
  long long step, turn;
  shared_t to;
};

template <int ACROSS, int LINES, int KIND>
SM80_FUNCTION feed feed_of(const lines &lines_in) {
  typedef copies<ACROSS, LINES, KIND> each;
  const int chunk = threadIdx.x % each::panel_type::ROW, row = threadIdx.x / each::panel_type::ROW;
  const int line = ACROSS ? chunk * CHUNK : row, k = ACROSS ? row : chunk * CHUNK;
  const long long step = each::APART * (ACROSS ? lines_in.k : lines_in.line);
  return {lines_in.from + line * lines_in.line + k * lines_in.k, step, DEPTH * lines_in.k - (each::COUNT - 1) * step,
          (shared_t)place<ACROSS, LINES, KIND>(row, chunk)};
}

/* Copy `i` of a panel's, where the panel is whole. */
template <int ACROSS, int LINES, int KIND>
SM80_FUNCTION void copy_chunk(shared_t end, feed &feed_in, int i, bool is_whole) {
  typedef copies<ACROSS, LINES, KIND> each;
  const bool asked = each::CHUNKS < THREADS ? is_whole && threadIdx.x < each::CHUNKS : is_whole;
  cp_async_if<16>(asked, end + feed_in.to + i * each::APART * each::panel_type::PITCH, feed_in.from);
  feed_in.from += i + 1 < each::COUNT ? feed_in.step : feed_in.turn;
  make_opaque(feed_in.from); /* or the compiler multiplies for each copy */
}

/* A chunk as words, element by element; zeros where there are none. */
SM80_FUNCTION void gather(unsigned (&words)[4], const element *from, long long step, int there) {
#pragma unroll
  for (int w = 0; w < 4; w++)
    words[w] = 0;
#pragma unroll
  for (int e = 0; e < CHUNK; e++)
    if (e < there)
      words[e * ELEMENT / 4] |= (unsigned)from[e * step] << e * ELEMENT % 4 * 8;
}

/* A panel of which less than all is there, or that is not aligned, from `depth` on, and zeros beyond. (A copy can leave out what is
 * not there and write zeros itself; memory checkers take such a copy for one of 16 bytes.) */
template <int ACROSS, int LINES, int KIND>
SM80_FUNCTION void copy_part(shared_t end, const lines &lines_in, int depth) {
  typedef copies<ACROSS, LINES, KIND> each;
#pragma unroll 1
  for (int i = threadIdx.x; i < each::CHUNKS; i += THREADS) {
    const int chunk = i % each::panel_type::ROW, row = i / each::panel_type::ROW, line = ACROSS ? chunk * CHUNK : row,
              k = ACROSS ? row : chunk * CHUNK;
    const int more_lines = lines_in.count - line, more_depth = lines_in.depth - depth - k,
              there = ACROSS ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const element *from = lines_in.from + line * lines_in.line + (depth + k) * lines_in.k;
    const shared_t at = end + place<ACROSS, LINES, KIND>(row, chunk);
    if (there >= CHUNK && lines_in.width == 16) {
      cp_async_if<16>(true, at, from);
    } else if (there >= CHUNK && lines_in.width == 8) {
      cp_async_if<8>(true, at, from);
      cp_async_if<8>(true, at + 8, from + CHUNK / 2);
    } else if (there >= CHUNK && lines_in.width == 4) {
#pragma unroll
      for (int w = 0; w < 4; w++)
        cp_async_if<4>(true, at + 4 * w, from + w * (CHUNK / 4));
    } else {
      unsigned words[4];
      gather(words, from, ACROSS ? lines_in.line : lines_in.k, there);
      store_words(at, words);
    }
  }
}
