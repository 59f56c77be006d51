/* Element trait of cuda_mma: panels in shared memory, and their copies. */
#include "../sm80/sm80_number.cu"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int DEPTH_BYTES = TSL_PARAM_DEPTH, DEPTH = DEPTH_BYTES / ELEMENT; /* of k in a panel */
constexpr int WARPS_N = TILE_N / WARP_N, THREADS = 32 * (TILE_M / WARP_M) * WARPS_N, CLUSTER = 1;

typedef either<ELEMENT == 1, unsigned char, either<ELEMENT == 2, unsigned short, unsigned>::type>::type
    element;
constexpr int LINE_CHUNK = 16 / ELEMENT; /* elements of 16 bytes */

/* Tiles of MN-major lines begin at chunks. Whole panels are copied in chunks if both operands are aligned for
 * copies of A_COPY and B_COPY bytes. */
SM80_FUNCTION bool keeps_chunks(const sm80_arguments &) {
  return true;
}
SM80_FUNCTION bool copies_chunks(const sm80_arguments &args) {
  return args.a.width >= A_COPY && args.b.width >= B_COPY;
}

/* Lines that are read together and must be in different banks. FOLLOWING: consecutive lines. PAIRED: lines 0
 * 1 4 5 8 9 12 13 of sixteen. WORDS: four lines, two chunks each, read by words. */
enum { FOLLOWING, PAIRED, WORDS };
constexpr int MN_MAJOR_KIND = ELEMENT == 1   ? PAIRED
                              : ELEMENT == 2 ? FOLLOWING
                                             : WORDS,
              A_KIND = A_MN_MAJOR ? MN_MAJOR_KIND : FOLLOWING, B_KIND = B_MN_MAJOR ? MN_MAJOR_KIND : PAIRED;

/* Panel of LINES rows of A or columns of B, in chunks of 16 bytes, which are swizzled by the memory row's
 * number. */
template <int MN_MAJOR_, int LINES, int KIND_, bool IS_B_>
struct panel {
  static constexpr bool IS_B = IS_B_;
  static constexpr int MN_MAJOR = MN_MAJOR_, KIND = KIND_, CHUNK = LINE_CHUNK, COPY = IS_B ? B_COPY : A_COPY,
                       PITCH = MN_MAJOR ? LINES * ELEMENT : DEPTH_BYTES, ROW = PITCH / 16,
                       BYTES = PITCH * (MN_MAJOR ? DEPTH : LINES),
                       MOST = ROW < 8 ? ROW : 8 /* chunks that are permuted */,
                       TOGETHER = 8 / MOST /* rows that share the 32 banks */,
                       PERIOD = KIND == FOLLOWING ? 8
                                : KIND == PAIRED  ? 16
                                                  : 4;
  static_assert(BYTES % 128 == 0, "chunks are exchanged within 128 bytes");

  /* Returns the number that chunks' numbers of a memory row are xor-ed with; chunk_at(): a chunk's byte. */
  SM80_FUNCTION int swizzle_of(int row) {
    if (KIND == WORDS)
      return 2 * (row % 4 / TOGETHER % (MOST / 2 > 0 ? MOST / 2 : 1));
    const int number = KIND == PAIRED ? row % 2 + row / 4 % 4 * 2 : row;
    return number / TOGETHER % MOST;
  }
  /* Returns the bytes that the swizzle exchanges `rows` memory rows later, a multiple of a power of two above
   * the first row's number. */
  SM80_FUNCTION int turn_of(int rows) { return swizzle_of(rows) * 16; }
  SM80_FUNCTION int chunk_at(int row, int chunk) { return row * PITCH + (chunk ^ swizzle_of(row)) * 16; }
  SM80_FUNCTION int place(int line, int k) {
    return chunk_at(MN_MAJOR ? k : line, (MN_MAJOR ? line : k) / CHUNK);
  }
  /* Returns the panel address of this thread's line of the warp's first blocks. Blocks of A are rows 0 to 7,
   * 8 to 15, and both again 16 bytes further along k; of B, columns 0 to 7 at both k, then 8 to 15. */
  SM80_FUNCTION int first_place(int line, int) {
    const int row = threadIdx.x % 8, second = threadIdx.x / 8 % 2, fourth = threadIdx.x / 16 % 2,
              by_line = IS_B ? fourth : second, by_depth = IS_B ? second : fourth;
    if (!MN_MAJOR)
      return chunk_at(line + (KIND == PAIRED ? row / 2 * 4 + by_line * 2 + row % 2 : by_line * 8 + row),
                      by_depth);
    if (KIND == WORDS) /* for the first line and the first of four k */
      return chunk_at(threadIdx.x % 4, (line + threadIdx.x % 32 / 4) / 4) + threadIdx.x / 4 % 4 * 4;
    if (KIND == PAIRED)
      /* k 0 1 4 5 8 9 12 13 in one matrix, the others in the next: together four k of each line */
      return chunk_at(fourth * 16 + second * 2 + row % 2 + row / 2 * 4, line / LINE_CHUNK);
    return chunk_at(by_depth * 8 + row, by_line + line / LINE_CHUNK);
  }
};
typedef panel<A_MN_MAJOR, TILE_M, A_KIND, false> a_panel;
typedef panel<B_MN_MAJOR, TILE_N, B_KIND, true> b_panel;

#include "../sm80/sm80_panels.cu"

/* Adds a chunk of elements `step` apart, of which the first `there` exist, to words that are 0. */
SM80_FUNCTION void gather(unsigned (&words)[4], const element *from, long long step, int there) {
#pragma unroll
  for (int e = 0; e < LINE_CHUNK; e++)
    if (e < there)
      words[e * ELEMENT / 4] |= (unsigned)from[e * step] << e * ELEMENT % 4 * 8;
}

/* Copies a partial or unaligned panel from k = `depth` on, with zeros outside of the matrix. Memory checkers
 * would report cp.async's own zeros as copies of 16 bytes. Loads of GATHERED chunks overlap. */
template <class PANEL>
SM80_FUNCTION void copy_partial_panel(shared_t panel, const lines &operand, int depth) {
  constexpr int GATHERED = 2;
#pragma unroll 1
  for (int i = threadIdx.x; i < copies<PANEL>::CHUNKS; i += GATHERED * THREADS) {
    unsigned words[GATHERED][4];
    const element *from[GATHERED];
    shared_t to[GATHERED];
    int there[GATHERED]; /* elements to gather; -1: the chunk is copied, or outside of the panel */
#pragma unroll
    for (int g = 0; g < GATHERED; g++) {
      const int number = i + g * THREADS, chunk = number % PANEL::ROW, row = number / PANEL::ROW,
                line = PANEL::MN_MAJOR ? chunk * LINE_CHUNK : row,
                k = PANEL::MN_MAJOR ? row : chunk * LINE_CHUNK, more_lines = operand.count - line,
                more_depth = operand.depth - depth - k;
      const bool is_inside = more_lines > 0 && more_depth > 0;
      from[g] = operand.from + line * operand.line + (depth + k) * operand.k;
      to[g] = panel + PANEL::chunk_at(row, chunk);
      there[g] = is_inside ? PANEL::MN_MAJOR ? more_lines : more_depth : 0;
#pragma unroll
      for (int w = 0; w < 4; w++)
        words[g][w] = 0;
      if (number >= copies<PANEL>::CHUNKS) {
        there[g] = -1;
      } else if (there[g] >= LINE_CHUNK && operand.width >= 4) {
        there[g] = -1;
        if (operand.width == 16) {
          cp_async_if<16>(true, to[g], from[g]);
        } else if (operand.width == 8) {
          cp_async_if<8>(true, to[g], from[g]);
          cp_async_if<8>(true, to[g] + 8, from[g] + LINE_CHUNK / 2);
        } else {
#pragma unroll
          for (int w = 0; w < 4; w++)
            cp_async_if<4>(true, to[g] + 4 * w, from[g] + w * (LINE_CHUNK / 4));
        }
      }
    }
    if (there[0] > 0 || there[1] > 0)
#pragma unroll
      for (int g = 0; g < GATHERED; g++)
        gather(words[g], from[g], PANEL::MN_MAJOR ? operand.line : operand.k, there[g]);
#pragma unroll
    for (int g = 0; g < GATHERED; g++)
      if (there[g] >= 0)
        store_words(to[g], words[g]);
  }
}
