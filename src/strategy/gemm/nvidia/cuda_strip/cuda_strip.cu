/* Idea: with a short k only C is large, so C must leave at memory's speed. Each warp computes 16 rows of a
 * strip of columns after the other. Fragments of A come straight from memory to registers, and fragments of B
 * stay in shared memory. The next rows' elements are loaded while these are multiplied and stored. Beyond
 * cuda_mma: no panels and barriers, blocks that go on to further rows, and C by 16 bytes at any address.
 *
 *   C:  | strip 0: TILE_N columns | strip 1 | ...       block `group` of a strip: 16 rows of each warp,
 *                                                       then those `groups` blocks further down
 *
 *   shared memory: | step 0: words of B's fragments, thread by thread | step 1 | ... | image of warp 0 | ...
 *
 * A warp's image has 16 rows of the strip, each at its address in C modulo 16 bytes: chunks are stored as
 * they are. Chunks that a strip shares with the next one are stored element by element.
 *
 * Parameter: TSL_PARAM_TILE_N. Defines of the host: RESIDENT (blocks of a multiprocessor by registers),
 * ELEMENT (bytes), A_TYPE, B_TYPE (PTX types), IS_EIGHT (8-bit floating point), C_FORM (0 f32, 1 f16, 2 bf16,
 * 3 i32). Limits: sm_80; 8-bit floating point sm_89; contiguous rows of C; B's fragments fit in shared
 * memory. */
#define SPLIT 0
#include "../sm80/sm80_number.cu"
#include "cuda_strip_shared.h"

constexpr int TILE_N = TSL_PARAM_TILE_N, WARPS = 4, ROWS = 16, BLOCKS_M = 1, BLOCKS_N = TILE_N / 8,
              GROUPS_N = TILE_N / 16;
#include "../cuda_mma/cuda_mma_products.cu"

typedef either<ELEMENT == 1, unsigned char, either<ELEMENT == 2, unsigned short, unsigned>::type>::type
    element;
/* Elements of k in a word and in a step. */
constexpr int WORD = 4 / ELEMENT, STEP = 32 / ELEMENT;
/* Elements of C in a chunk, in a row of an image, and chunks of such a row. */
constexpr int CHUNK = 16 / (int)sizeof(c_number), PITCH = TILE_N + 8, CHUNKS = TILE_N / CHUNK + 1;

/* A thread's elements of 16 lines in a step, word by word, not yet joined: joining waits for the loads. */
struct raw_words {
  unsigned part[4][WORD];
};

/* Loads this thread's elements of 16 lines from `line` on, and of k from `first` on; zeros outside. Words of
 * A are lines 0 to 7, 8 to 15, and both again 16 bytes further along k; of B, lines 0 to 7 at both k, then 8
 * to 15. */
template <bool IS_B>
SM80_FUNCTION void load_raw(raw_words &raw, const element *from, const cuda_strip_factor &factor, int line,
                            int lines, int first, int depth) {
  const int own = line + threadIdx.x % 32 / 4, k = first + threadIdx.x % 4 * WORD;
#pragma unroll
  for (int w = 0; w < 4; w++) {
    const int y = own + (IS_B ? w / 2 : w % 2) * 8, x = k + (IS_B ? w % 2 : w / 2) * (STEP / 2);
    const element *at = from + y * factor.line + x * factor.step;
    if (WORD > 1 && factor.words) {
      raw.part[w][0] = load_if<4>(y < lines && x < depth, at);
#pragma unroll
      for (int e = 1; e < WORD; e++)
        raw.part[w][e] = 0;
    } else {
#pragma unroll
      for (int e = 0; e < WORD; e++)
        raw.part[w][e] = load_if<ELEMENT>(y < lines && x + e < depth, at + e * factor.step);
    }
  }
}
SM80_FUNCTION void join_words(unsigned (&words)[4], const raw_words &from) {
#pragma unroll
  for (int w = 0; w < 4; w++) {
    words[w] = from.part[w][0];
#pragma unroll
    for (int e = 1; e < WORD; e++)
      words[w] |= from.part[w][e] << 8 * ELEMENT * e;
  }
  if (ELEMENT == 4)
    round_to_tf32(words);
}

/* Stores two adjacent elements to an image; BY_PAIRS: they are aligned together. */
template <bool BY_PAIRS>
SM80_FUNCTION void put_pair(c_number *place, sum_t first, sum_t second) {
  if constexpr (sizeof(c_number) == 2) {
    const unsigned pair = c_pair(first, second);
    if (BY_PAIRS)
      *(unsigned *)place = pair;
    else
      place[0] = (c_number)pair, place[1] = (c_number)(pair >> 16);
  } else {
    place[0] = first, place[1] = second;
  }
}

/* Returns the elements of C between the chunk that holds `c` and `c`. */
SM80_FUNCTION int elements_before(const c_number *c) {
  return (int)((unsigned long long)c % 16 / sizeof(c_number));
}

/* Writes 16 rows to the warp's image. `c`: C's element of the first row and the strip's first column. */
template <bool READS_C, bool BY_PAIRS>
SM80_FUNCTION void put_image(c_number *image, const c_number *c, const warp_sums &sums, int rows, int columns,
                             const cuda_strip_arguments &args) {
  const cuda_strip_scalar alpha = args.alpha, beta = args.beta;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int y = threadIdx.x % 32 / 4 + 8 * half, own = threadIdx.x % 4 * 2;
    const c_number *line = c + y * args.c_row;
    c_number *row = image + y * PITCH + elements_before(line);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++) {
      const int x = 8 * j + own;
      sum_t values[2];
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const sum_t before = READS_C && y < rows && x + e < columns ? sum_of(line[x + e]) : 0;
        values[e] = combined<sum_t>(sums[0][j][2 * half + e], before, alpha, beta);
      }
      put_pair<BY_PAIRS>(row + x, values[0], values[1]);
    }
  }
}

SM80_FUNCTION unsigned word_of(float value) {
  return __float_as_uint(value);
}
SM80_FUNCTION unsigned word_of(int value) {
  return (unsigned)value;
}
SM80_FUNCTION unsigned word_of(unsigned short value) {
  return value;
}

/* Copies the warp's image to C, chunk by chunk. */
SM80_FUNCTION void store_image(c_number *c, const c_number *image, int rows, int columns,
                               const cuda_strip_arguments &args) {
#pragma unroll 2
  for (int i = threadIdx.x % 32; i < rows * CHUNKS; i += 32) {
    const int y = i / CHUNKS, x = i % CHUNKS * CHUNK;
    c_number *line = c + y * args.c_row;
    const c_number *from = image + y * PITCH + x;
    const int begin = x - elements_before(line);
    if (begin >= 0 && begin + CHUNK <= columns)
      store_global_words(line + begin, *(const uint4 *)from);
    else
#pragma unroll
      for (int e = 0; e < CHUNK; e++)
        store_if<sizeof(c_number)>(begin + e >= 0 && begin + e < columns, line + begin + e, word_of(from[e]));
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    tsl_gemm_cuda_strip(const element *a, const element *b, c_number *c,
                        const __grid_constant__ cuda_strip_arguments args) {
  extern __shared__ __align__(128) char memory[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (args.k + STEP - 1) / STEP,
            col = blockIdx.x % args.strips * TILE_N, columns = min(args.n - col, TILE_N),
            stride = args.groups * WARPS * ROWS;
  uint4 *const fragments = (uint4 *)memory;
  c_number *const image = (c_number *)(memory + steps * TILE_N * 32) + warp * ROWS * PITCH;
  raw_words raw;
  a += args.a.offset;
  b += args.b.offset;
  c += args.c_offset + col;
  const bool has_pairs = args.c_row % 2 == 0 && elements_before(c) % 2 == 0;
  int first = blockIdx.x / args.strips * WARPS * ROWS; /* row of the block's first warp */
  grid_dependency_wait();
  load_raw<false>(raw, a, args.a, first + warp * ROWS, args.m, 0, args.k);
#pragma unroll 2
  for (int i = warp; i < steps * GROUPS_N; i += WARPS) {
    raw_words part;
    unsigned words[4];
    load_raw<true>(part, b, args.b, col + i % GROUPS_N * 16, args.n, i / GROUPS_N * STEP, args.k);
    join_words(words, part);
    fragments[i * 32 + lane] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  __syncthreads();
#pragma unroll 1
  for (; first < args.m; first += stride) {
    const int row = first + warp * ROWS, rows = max(0, min(args.m - row, ROWS));
    warp_sums sums;
    clear_sums(sums);
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
      const bool is_last = s + 1 == steps;
      factors held;
      join_words(held.a[0], raw);
      load_raw<false>(raw, a, args.a, is_last ? row + stride : row, args.m, is_last ? 0 : (s + 1) * STEP,
                      args.k);
#pragma unroll
      for (int j = 0; j < GROUPS_N; j++) {
        const uint4 words = fragments[(s * GROUPS_N + j) * 32 + lane];
        held.b[j][0] = words.x, held.b[j][1] = words.y, held.b[j][2] = words.z, held.b[j][3] = words.w;
      }
      multiply(sums, held, [](int) {});
    }
    if (first + stride >= args.m)
      grid_dependency_launch();
    c_number *own = c + row * args.c_row;
    __syncwarp(); /* all threads have read the image before */
    if (reads_c(args.beta))
      put_image<true, false>(image, own, sums, rows, columns, args);
    else if (has_pairs)
      put_image<false, true>(image, own, sums, rows, columns, args);
    else
      put_image<false, false>(image, own, sums, rows, columns, args);
    __syncwarp();
    store_image(own, image, rows, columns, args);
  }
}
