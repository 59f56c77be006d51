/* Idea: for many small products the only cost is memory traffic. Read this file, then cuda_whole.c. Each
 * product is copied to shared memory whole, whatever its layout, and C leaves it whole. In between, each warp
 * multiplies a tile of C, while other blocks copy. Beyond cuda_mma: no panels and stages, which would be
 * partial; several products in a block; lines at odd addresses are copied by the words of contiguous lines;
 * and C is stored by 16 bytes.
 *
 *   shared memory: | product 0: lines of A, lines of B | product 1 | ...     at the end: | product 0: C | ...
 *
 *   a K-major line: | k elements | zeros to a multiple of 16 | padding against bank conflicts |.
 *   An MN-major operand: k lines | one line of zeros, which is read for lines past the last |
 *
 * A tile that exceeds C reads its last line again, and arbitrary elements past a line's end: C has no such
 * rows and columns. Parameters: TSL_PARAM_TILE_M, _TILE_N, of a warp. Defines of the host: THREADS_MOST (of a
 * block), RESIDENT (resident blocks of this size by registers), A_TYPE, B_TYPE (PTX types), A_MN_MAJOR,
 * B_MN_MAJOR, C_FORM (0 f32, 1 f16, 2 bf16). Limits: sm_80; elements of two bytes; products that fit in
 * shared memory. */
#define SPLIT 0
#include "../sm80/sm80_number.cu"
#include "cuda_whole_shared.h"

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N, BLOCKS_M = TILE_M / 16,
              BLOCKS_N = TILE_N / 8;

typedef unsigned short element;

/* Threads of one product, and the number of this thread among these. */
struct team {
  int thread, threads;
};

/* Synchronises the threads of a product. All products of a block have equally many warps. */
SM80_FUNCTION void product_barrier(const team &team_in) {
  if (team_in.threads == 32)
    __syncwarp();
  else
    __syncthreads();
}

/* Iteration of a team over lines of `wide` items. */
struct walk {
  int line, place, wide;   /* present line and item in it; items of a line */
  int by_lines, by_places; /* distance to the next item of this thread: lines, and items */
};
SM80_FUNCTION walk start_walk(int first, int by, int wide) {
  return {first / wide, first % wide, wide, by / wide, by % wide};
}
SM80_FUNCTION void advance_walk(walk &walk_in) {
  walk_in.line += walk_in.by_lines;
  walk_in.place += walk_in.by_places;
  if (walk_in.place >= walk_in.wide) {
    walk_in.place -= walk_in.wide;
    walk_in.line++;
  }
}

/* Writes zeros after the k of each line; MN-major: a line of zeros after the last one. */
template <int MN_MAJOR>
SM80_FUNCTION void clear_padding(shared_t end, const cuda_whole_factor &factor, const team &team) {
  const unsigned zeros[4] = {0, 0, 0, 0};
  if (MN_MAJOR) {
    for (int i = team.thread; i < factor.pitch / 16; i += team.threads)
      store_words(end + factor.line_count * factor.pitch + 16 * i, zeros);
    return;
  }
  const int first = factor.line_length / 8, chunks = (factor.line_length + 15) / 16 * 2 - first;
  if (chunks > 0)
    for (walk at = start_walk(team.thread, team.threads, chunks); at.line < factor.line_count;
         advance_walk(at))
      store_words(end + at.line * factor.pitch + (first + at.place) * 16, zeros);
}

/* Copies the elements from `first` on of each line, one by one, several loads in flight. */
SM80_FUNCTION void copy_elements(shared_t end, const element *from, const cuda_whole_factor &factor,
                                 int first, const team &team) {
  constexpr int AT_ONCE = 8;
  if (first >= factor.line_length)
    return;
  walk at = start_walk(team.thread, team.threads, factor.line_length - first);
  while (at.line < factor.line_count) {
    element held[AT_ONCE];
    shared_t place[AT_ONCE];
    bool is_there[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      is_there[i] = at.line < factor.line_count;
      place[i] = end + at.line * factor.pitch + (first + at.place) * 2;
      held[i] = is_there[i] ? from[at.line * factor.line + (first + at.place) * factor.step] : 0;
      advance_walk(at);
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      if (is_there[i])
        store_half(place[i], held[i]);
  }
}

/* Copies lines that begin at multiples of WIDTH bytes, by copies of WIDTH bytes. */
template <int WIDTH>
SM80_FUNCTION void copy_lines(shared_t end, const element *from, const cuda_whole_factor &factor,
                              const team &team) {
  constexpr int EACH = WIDTH / 2;
  const int chunks = factor.line_length / EACH;
  if (chunks > 0)
    for (walk at = start_walk(team.thread, team.threads, chunks); at.line < factor.line_count;
         advance_walk(at))
      cp_async_if<WIDTH>(true, end + at.line * factor.pitch + at.place * WIDTH,
                         from + at.line * factor.line + at.place * EACH);
  copy_elements(end, from, factor, chunks * EACH, team);
}

/* Copies contiguous lines as one line: reads aligned words, whose halves may belong to different lines. */
SM80_FUNCTION void copy_words(shared_t end, const element *from, const cuda_whole_factor &factor,
                              const team &team) {
  constexpr int AT_ONCE = 8;
  const int odd = (int)((unsigned long long)from / 2 % 2), all = factor.line_count * factor.line_length,
            words = (all - odd) / 2;
  if (team.thread == 0 && odd == 1)
    store_half(end, from[0]);
  if (team.thread == 0 && (all - odd) % 2 == 1)
    store_half(end + (factor.line_count - 1) * factor.pitch + (factor.line_length - 1) * 2, from[all - 1]);
  walk at = start_walk(odd + 2 * team.thread, 2 * team.threads, factor.line_length);
  const element *next = from + odd + 2 * team.thread;
  for (int i = team.thread; i < words;) {
    unsigned held[AT_ONCE];
    shared_t first[AT_ONCE], second[AT_ONCE];
    bool is_there[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      is_there[u] = i < words;
      held[u] = is_there[u] ? *(const unsigned *)next : 0;
      first[u] = end + at.line * factor.pitch + at.place * 2;
      second[u] = at.place + 1 == factor.line_length ? end + (at.line + 1) * factor.pitch : first[u] + 2;
      i += team.threads;
      next += 2 * team.threads;
      advance_walk(at);
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (is_there[u]) {
        store_half(first[u], (element)held[u]);
        store_half(second[u], (element)(held[u] >> 16));
      }
  }
}

SM80_FUNCTION void copy_factor(shared_t end, const element *from, const cuda_whole_factor &factor,
                               const team &team) {
  if (factor.width == 16)
    copy_lines<16>(end, from, factor, team);
  else if (factor.width == 8)
    copy_lines<8>(end, from, factor, team);
  else if (factor.step == 1 && factor.line == factor.line_length)
    copy_words(end, from, factor, team);
  else if (factor.width == 4)
    copy_lines<4>(end, from, factor, team);
  else
    copy_elements(end, from, factor, 0, team);
}

typedef float warp_sums[BLOCKS_M][BLOCKS_N][4];

/* Loads sixteen lines of an operand from `line` on, at k from `depth` on, for ldmatrix_x4(). Matrices of A
 * are lines 0 to 7, 8 to 15, and both again 8 further along k; of B, lines 0 to 7 at both k, then 8 to 15. */
template <int MN_MAJOR, bool IS_B>
SM80_FUNCTION void load_lines(unsigned (&to)[4], shared_t factor, const cuda_whole_factor &whole_factor,
                              int line, int depth) {
  const int row = threadIdx.x % 8, second = threadIdx.x / 8 % 2, fourth = threadIdx.x / 16 % 2,
            by_line = IS_B ? fourth : second, by_depth = IS_B ? second : fourth;
  if (MN_MAJOR)
    ldmatrix_x4_trans(to, factor +
                              min(depth + 8 * by_depth + row, whole_factor.line_count) * whole_factor.pitch +
                              (line + 8 * by_line) * 2);
  else
    ldmatrix_x4(to, factor + min(line + 8 * by_line + row, whole_factor.line_count - 1) * whole_factor.pitch +
                        (depth + 8 * by_depth) * 2);
}

/* Computes the sums of a warp's tile; blocks outside of C are skipped. */
SM80_FUNCTION void multiply(warp_sums sums, shared_t memory, int row, int col,
                            const cuda_whole_arguments &args) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
#pragma unroll 1
  for (int k = 0; k < args.k; k += 16) {
    unsigned a[BLOCKS_M][4], b[BLOCKS_N / 2][4];
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
      if (row + 16 * i < args.m)
        load_lines<A_MN_MAJOR, false>(a[i], memory + args.a.to, args.a, row + 16 * i, k);
#pragma unroll
    for (int j = 0; j < BLOCKS_N / 2; j++)
      if (col + 16 * j < args.n)
        load_lines<B_MN_MAJOR, true>(b[j], memory + args.b.to, args.b, col + 16 * j, k);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
        if (row + 16 * i < args.m && col + 8 * j < args.n)
          mma_16x8("m16n8k16", "f32", "f", MMA_TEXT(A_TYPE), MMA_TEXT(B_TYPE), sums[i][j], a[i],
                   b[j / 2] + j % 2 * 2);
  }
}

/* Stores two elements of C: by one store if `at_once`, otherwise the second to `next`, if it exists. */
template <class T>
SM80_FUNCTION void store_pair(T *c, T *next, float first, float second, bool at_once, bool has_second) {
  if constexpr (C_FORM == 0) {
    if (at_once) {
      *(float2 *)c = make_float2(first, second);
    } else {
      *c = first;
      if (has_second)
        *next = second;
    }
  } else {
    const unsigned pair = c_pair(first, second);
    if (at_once) {
      *(unsigned *)c = pair;
    } else {
      *c = (T)pair;
      if (has_second)
        *next = (T)(pair >> 16);
    }
  }
}

/* Calls `store` for each two adjacent elements of the tile, with row, first column, and how many C has. */
template <class STORE>
SM80_FUNCTION void each_pair(const warp_sums &sums, int row, int col, const cuda_whole_arguments &args,
                             STORE store) {
  const int line = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int y = row + 16 * i + line + 8 * h;
      if (y < args.m)
#pragma unroll
        for (int j = 0; j < BLOCKS_N; j++) {
          const int x = col + 8 * j + pair;
          if (x < args.n)
            store(y, x, args.n - x, args.alpha * sums[i][j][2 * h], args.alpha * sums[i][j][2 * h + 1]);
        }
    }
}

/* Writes a tile's elements to the image of C in shared memory. */
SM80_FUNCTION void put_image(c_number *image, const warp_sums &sums, int row, int col,
                             const cuda_whole_arguments &args) {
  const bool by_pairs = args.n % 2 == 0 && (unsigned long long)image % (2 * sizeof(c_number)) == 0;
  each_pair(sums, row, col, args, [&](int y, int x, int left, float first, float second) {
    c_number *to = image + y * args.n + x;
    store_pair(to, to + 1, first, second, by_pairs, left > 1);
  });
}

/* Copies `count` elements from the image to C; both have equal offsets modulo 16 bytes. */
SM80_FUNCTION void store_image(c_number *c, const char *image, int count, const team &team) {
  constexpr int SIZE = sizeof(c_number), CHUNK = 16 / SIZE;
  const int before = (int)((unsigned long long)c % 16 / SIZE), chunks = (before + count + CHUNK - 1) / CHUNK;
  c_number *first = c - before;
  const c_number *numbers = (const c_number *)image;
  for (int i = team.thread; i < chunks; i += team.threads) {
    const int begin = i * CHUNK - before;
    if (begin >= 0 && begin + CHUNK <= count)
      *(uint4 *)(first + i * CHUNK) = *(const uint4 *)(numbers + i * CHUNK);
    else
      for (int e = 0; e < CHUNK; e++)
        if (begin + e >= 0 && begin + e < count)
          first[i * CHUNK + e] = numbers[i * CHUNK + e];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS_MOST, RESIDENT)
    tsl_gemm_cuda_whole(const element *a, const element *b, c_number *c,
                        const __grid_constant__ cuda_whole_arguments args) {
  extern __shared__ __align__(128) char memory[];
  const int threads = 32 * args.warps, place = threadIdx.x / threads, warp = threadIdx.x / 32 % args.warps;
  const team own = {(int)threadIdx.x % threads, threads};
  const long long number = (long long)blockIdx.x * args.together + place,
                  product = min(number, args.products - 1); /* surplus teams compute the last product again */
  const int row = warp / args.warps_n * TILE_M, col = warp % args.warps_n * TILE_N;
  char *image = memory + place * args.bytes;
  warp_sums sums;
  a += args.a.offset + product * args.a.apart;
  b += args.b.offset + product * args.b.apart;
  c += args.c.offset + product * args.c.apart;
  const shared_t at = shared_address(image);
  grid_dependency_wait();
  if (args.k > 0) {
    clear_padding<A_MN_MAJOR>(at + args.a.to, args.a, own);
    clear_padding<B_MN_MAJOR>(at + args.b.to, args.b, own);
    product_barrier(own);
    copy_factor(at + args.a.to, a, args.a, own);
    copy_factor(at + args.b.to, b, args.b, own);
    cp_async_commit();
    cp_async_wait_group<0>();
  }
  grid_dependency_launch();
  product_barrier(own);
  multiply(sums, at, row, col, args);
  if (args.c.dense) {
    product_barrier(own); /* all threads have read the operands: the image may overwrite them */
    put_image((c_number *)(image + (unsigned long long)c % 16), sums, row, col, args);
    product_barrier(own);
    if (number == product)
      store_image(c, image, args.m * args.n, own);
  } else if (number == product) {
    each_pair(sums, row, col, args, [&](int y, int x, int left, float first, float second) {
      c_number *to = c + y * args.c.row + x * args.c.col, *next = to + args.c.col;
      if (args.beta != 0) {
        first = __fmaf_rn(args.beta, sum_of(*to), first);
        if (left > 1)
          second = __fmaf_rn(args.beta, sum_of(*next), second);
      }
      store_pair(to, next, first, second, false, left > 1);
    });
  }
}
