/* A block's tile of C, its parts of A and B, and the copies of panels to shared memory.
 *
 *   a K-major panel:    | row 0: k 0, k 1 ... | row 1 | ...
 *   an MN-major panel:  | k 0: row 0, row 1 ... | k 1 | ...       B: columns instead of rows
 *
 * A panel keeps the layout of memory. The element trait, text of the strategy, defines before:
 *   element                  type of A and B
 *   TILE_M, TILE_N, DEPTH    tile of C, and k of a panel, in elements
 *   THREADS, CLUSTER         threads of a block, and blocks of a cluster, which split k
 *   keeps_chunks()           true if tiles of MN-major lines begin at multiples of LINE_CHUNK
 *   PANEL classes            LINES rows of A or columns of B in shared memory:
 *     MN_MAJOR, CHUNK        layout, and elements of a copy
 *     ROW, PITCH, BYTES      chunks of a memory row, bytes between memory rows, bytes in all
 *     PERIOD                 memory rows after which the layout repeats
 *     place()                byte of an element that begins a chunk
 * Defines of the host: PARTIAL, tiles may have lines outside of the matrix, which change no sum that is
 * stored. Copies of these lines are left out. A chunk at the end of an MN-major line may read the line's
 * padding. SHORT, k is at most a panel, and copies beyond k are left out, too. */
#include "sm80_shared.h"

constexpr int BAND = 8;       /* rows of tiles that are visited together, for L2 reuse */
constexpr int ALL_SLOTS = -1; /* of issue_copies() */

struct work_tile {
  int row, col;             /* first element that the block stores */
  int first_row, first_col; /* first element that it computes: earlier at the end of C, for a whole tile */
  int part, first_k, end_k; /* split-k part, and its range of k */
};

/* Returns the first line of a tile: earlier where it would exceed the matrix, if copies stay aligned. */
template <int LINES>
SM80_FUNCTION int first_of(int line, int count, bool by_chunks) {
  return line + LINES > count && count >= LINES && !(by_chunks && count % LINE_CHUNK != 0) ? count - LINES
                                                                                           : line;
}

/* Computes tile `number`: parts of a cluster are adjacent; others follow one after the other. An opaque
 * number saves registers where a tile is computed again. */
SM80_FUNCTION work_tile get_tile(unsigned number, const sm80_arguments &args) {
  const unsigned tiles = args.tiles_m * args.tiles_n;
  unsigned part = 0, tile = number;
  if (CLUSTER > 1)
    part = number % CLUSTER, tile = number / CLUSTER;
  else if (args.parts > 1)
    part = number / tiles, tile = number % tiles;
  /* Divisions take as long as a panel, so bands of full height divide by a constant. */
  const unsigned band_tiles = BAND * args.tiles_n, band = args.tiles_m > BAND ? tile / band_tiles : 0,
                 inside = tile - band * band_tiles,
                 height = min((unsigned)args.tiles_m - band * BAND, (unsigned)BAND),
                 column = height == BAND ? inside / BAND
                          : height == 1  ? inside
                                         : inside / height;
  const int row = (int)(band * BAND + inside - column * height) * TILE_M, col = (int)column * TILE_N;
  const int first = (int)part * args.part_panels + min((int)part, args.longer_parts),
            panels = args.part_panels + ((int)part < args.longer_parts);
  return {row,
          col,
          first_of<TILE_M>(row, args.m, A_MN_MAJOR && keeps_chunks(args)),
          first_of<TILE_N>(col, args.n, B_MN_MAJOR && keeps_chunks(args)),
          (int)part,
          first * DEPTH,
          min(args.k, (first + panels) * DEPTH)};
}
SM80_FUNCTION work_tile get_own_tile(const sm80_arguments &args) {
  return get_tile(opaque_block_index(), args);
}

struct lines {
  const element *from; /* first element */
  long long line, k;   /* strides in elements: between lines and along k */
  int count, depth;    /* lines and k up to the end of the matrix or part */
  int width;           /* bytes of a copy; 0: elements one by one */
};

SM80_FUNCTION lines rows_of(const element *a, const work_tile &tile, const sm80_arguments &args) {
  return {a + args.a.offset + tile.first_row * args.a.row + tile.first_k * args.a.col,
          args.a.row,
          args.a.col,
          args.m - tile.first_row,
          tile.end_k - tile.first_k,
          args.a.width};
}
SM80_FUNCTION lines columns_of(const element *b, const work_tile &tile, const sm80_arguments &args) {
  return {b + args.b.offset + tile.first_col * args.b.col + tile.first_k * args.b.row,
          args.b.col,
          args.b.row,
          args.n - tile.first_col,
          tile.end_k - tile.first_k,
          args.b.width};
}

/* Copies of a thread, one chunk each; COUNT copies make a panel, APART memory rows from one to the next. */
template <class PANEL>
struct copies {
  static constexpr int CHUNKS = PANEL::BYTES / PANEL::PITCH * PANEL::ROW, APART = THREADS / PANEL::ROW,
                       COUNT = CHUNKS < THREADS ? 1 : CHUNKS / THREADS;
  static_assert(THREADS % PANEL::ROW == 0 &&
                    (COUNT == 1 ||
                     ((APART % PANEL::PERIOD == 0 || (APART & (APART - 1)) == 0) && CHUNKS % THREADS == 0)),
                "a thread's copies lie a constant apart, or differ in the swizzle of their distance");
};

struct copy_source {
  const element *from;  /* next source chunk */
  long long step, turn; /* elements to the next chunk, and from a panel's last chunk to the next panel */
  shared_t to;          /* bytes from the panel's start to its first chunk */
  int left;             /* PARTIAL: lines from the first chunk's line to the end of the matrix */
  int depth;            /* SHORT: elements of k from the first chunk on */
};

/* Returns the number of panels that are copied in whole chunks. The last line along k of a matrix may have no
 * padding to read. */
template <class PANEL, int LINES>
SM80_FUNCTION int count_whole_panels(const lines &operand) {
  if (operand.count >= LINES)
    return operand.depth / DEPTH;
  const bool reads_padding = PANEL::MN_MAJOR && operand.count % PANEL::CHUNK != 0;
  return PARTIAL ? (operand.depth - reads_padding) / DEPTH : 0;
}

/* Returns true if the line of the thread's copy number `i` is within the matrix; with SHORT, its k, too. */
template <class PANEL>
SM80_FUNCTION bool is_within(const copy_source &source, int i) {
  const int row = i * copies<PANEL>::APART;
  return (!PARTIAL || (PANEL::MN_MAJOR ? 0 : row) < source.left) &&
         (!SHORT || (PANEL::MN_MAJOR ? row : 0) < source.depth);
}

template <class PANEL>
SM80_FUNCTION copy_source get_copy_source(const lines &operand) {
  typedef copies<PANEL> each;
  const int side = threadIdx.x % PANEL::ROW * PANEL::CHUNK, row = threadIdx.x / PANEL::ROW;
  const int line = PANEL::MN_MAJOR ? side : row, k = PANEL::MN_MAJOR ? row : side;
  const long long step = each::APART * (PANEL::MN_MAJOR ? operand.k : operand.line);
  return {operand.from + line * operand.line + k * operand.k,
          step,
          DEPTH * operand.k - (each::COUNT - 1) * step,
          (shared_t)PANEL::place(line, k),
          operand.count - line,
          operand.depth - k};
}
