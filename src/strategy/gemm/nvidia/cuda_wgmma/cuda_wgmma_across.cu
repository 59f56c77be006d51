/* Idea: wgmma reads f32 (as tf32) and 8-bit integers from shared memory K-major only. Here A is MN-major: its
 * panels are copied unchanged, and each warpgroup loads its rows to registers, from which wgmma takes A as
 * well. B is K-major and read from shared memory. Row-major operands are computed as B' A' (order=swapped),
 * whose A is MN-major. A fragment may have the rows of A in any order: rows of C have the same order. A slab
 * of f32 is 32 rows of A by 32 of k (128 bytes of each k, whose chunks of 16 bytes are swizzled by k). A
 * thread reads two adjacent rows at a time. Lane l = 4 r + q of warp w has
 *   fragment row 16 w + r + 8 h, k q
 *     ->  row h + 2 (r & 1) + 4 (w & 1) + 8 (w >> 1) + 16 (r >> 1 & 1) + 32 (r >> 2)
 * so that half a warp (two bits of r, both of q) reads all 32 banks. Chunk 4 of 8 differs by r's second bit,
 * chunks 0 to 3 by q through the swizzle, and half a chunk by r's first bit. A slab of bytes is 128 rows by
 * 128 of k, and the 16 rows of warp w are one chunk of each k. By ldmatrix, which transposes pairs of bytes,
 * a lane gets rows 2 r and 2 r + 1 at two k. Two bytes of each of two words are four k of a row:
 *   Fragment row 16 w + r + 8 h, k 4 q to 4 q + 3  ->  row 16 w + 2 r + h.
 * The eight lines of k of one load must lie in different banks, so their numbers modulo 8 differ. Lines 4 q
 * and 4 q + 1 of the lower two q are paired with 4 q + 2 and 4 q + 3 of the upper two, and then the other way
 * round. Registers that wgmma still reads must not be written, so there are two sets of fragments: of this
 * panel and of the next one. Stages, clusters, work tiles and boxes are as in cuda_wgmma.cu. C is stored by
 * TMA where its rows are dense, or its columns (BY_COLUMNS); boxes of columns are 64 columns of 32 rows, in
 * pairs. Parameters, defines and limits: see cuda_wgmma.cu. ELEMENT is 4 or, with tiles of 128 rows or more,
 * 1; A_MN_MAJOR is 1, B_MN_MAJOR and SPLIT_ACCUMULATORS are 0; elements of C have 4 bytes. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, ROWS = TSL_PARAM_TILE_M / WARPGROUPS,
              BLOCKS = ROWS / 64;
#include "wgmma_panels.h"
constexpr int BOX_BYTES = 64 * 128;
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;

/* Tile of C in one layer (a part of k, or a product of a batch), and its panels [first, end) along k. */
struct work_tile {
  int row, col, layer, first, end;
};

SM90_FUNCTION int count_work_tiles(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n * args.parts * args.products;
}

SM90_FUNCTION work_tile get_work_tile(int number, unsigned rank, const cuda_wgmma_arguments &args) {
  const int tiles = args.tiles_m * args.tiles_n, tile = number % tiles, layer = number / tiles,
            part = SPLIT ? layer : 0;
  const int above = tile / (args.raster_height * args.tiles_n) * args.raster_height,
            place = tile % (args.raster_height * args.tiles_n);
  const int height = min(args.tiles_m - above, args.raster_height);
  return {((above + place % height) * CLUSTER + (int)rank) * TILE_M, place / height * TILE_N, layer,
          part_begins(args.k, part, args.parts), part_begins(args.k, part + 1, args.parts)};
}

SM90_FUNCTION void run_producer(const tensor_map *a, const tensor_map *b, const cuda_wgmma_arguments &args,
                                shared_t stages, shared_t full, shared_t empty, unsigned rank) {
  constexpr int OWN = TILE_N / CLUSTER;
  const int work_tiles = count_work_tiles(args);
  pipeline_state pipe = {0, 1};
  for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += gridDim.x / CLUSTER) {
    const work_tile tile = get_work_tile(number, rank, args);
    const int a_layer = args.a_first + tile.layer * args.a_layer,
              b_layer = args.b_first + tile.layer * args.b_layer;
    for (int p = tile.first; p < tile.end; p++) {
      const shared_t to = stages + pipe.number * STAGE_BYTES, arrived = full + 8 * pipe.number;
      mbarrier_wait_parity(empty + 8 * pipe.number, pipe.parity);
      mbarrier_arrive_expect_tx(arrived, STAGE_BYTES);
      load_panel<A_MN_MAJOR, TILE_M, false>(to, a, arrived, tile.row, p * DEPTH, a_layer);
      load_panel<B_MN_MAJOR, OWN, (CLUSTER > 1)>(to + A_BYTES + rank * (B_BYTES / CLUSTER), b, arrived,
                                                 tile.col + rank * OWN, p * DEPTH, b_layer);
      advance(pipe);
    }
  }
}

SM90_FUNCTION void release_stage(shared_t empty) {
  if (threadIdx.x % 128 < CLUSTER) {
    if (CLUSTER > 1)
      mbarrier_arrive_remote(empty, threadIdx.x % 128);
    else
      mbarrier_arrive(empty);
  }
}

SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * ROWS;
}

typedef unsigned fragments[BLOCKS][STEPS][4];

#if ELEMENT == 4
/* Returns the first of a thread's two adjacent rows of a block of 64. */
SM90_FUNCTION int fragment_row() {
  const int r = threadIdx.x % 32 / 4, w = threadIdx.x / 32 % 4;
  return 2 * (r & 1) + 4 * (w & 1) + 8 * (w >> 1) + 16 * (r >> 1 & 1) + 32 * (r >> 2);
}
/* Returns bit 1 of r: rows 16 apart swap the chunks that they store, to use all banks. */
SM90_FUNCTION bool swaps_chunks() {
  return threadIdx.x % 16 / 8 == 1;
}

/* Returns the offset of the thread's rows in a panel, at its k of the first four. */
SM90_FUNCTION shared_t fragment_offset() {
  const int row = fragment_row(), k = threadIdx.x % 4;
  return rows_above() / SLAB_LINES * SLAB_BYTES + row / SLAB_LINES * SLAB_BYTES +
         swizzled(k, row % SLAB_LINES * 4);
}

/* Loads a panel's fragments. The next four k lie four lines below, in chunks whose number differs by 4. */
SM90_FUNCTION void read_fragments(fragments current, shared_t thread_offset) {
  const shared_t second = (thread_offset ^ 64) + 4 * 128;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      const int below = i * (64 / SLAB_LINES) * SLAB_BYTES + s * 8 * 128;
      load_shared_pair(thread_offset + below, current[i][s][0], current[i][s][1]);
      load_shared_pair(second + below, current[i][s][2], current[i][s][3]);
    }
}
#else
SM90_FUNCTION int fragment_row() {
  return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4 * 2;
}
/* Returns false: rows of half a warp already lie in different banks. */
SM90_FUNCTION bool swaps_chunks() {
  return false;
}

/* Returns the offset of the k line that the thread passes to ldmatrix, for the warpgroup's first 64 rows. */
SM90_FUNCTION shared_t fragment_offset() {
  const int lane = threadIdx.x % 32, matrix = lane / 8, q = lane % 8 / 2, w = threadIdx.x / 32 % 4,
            k = 16 * (matrix >> 1) + 4 * q + 2 * ((matrix ^ q >> 1) & 1) + lane % 2;
  return rows_above() / SLAB_LINES * SLAB_BYTES + swizzled(k, rows_above() % SLAB_LINES + 16 * w);
}

SM90_FUNCTION void read_fragments(fragments current, shared_t thread_offset) {
  const unsigned first = threadIdx.x % 4 < 2 ? 0x6420 : 0x2064, second = first + 0x1111;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      unsigned pairs[4];
      ldmatrix_x4_trans(pairs, (thread_offset ^ i * 64) + s * 32 * 128);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        current[i][s][2 * j] = __byte_perm(pairs[2 * j], pairs[2 * j + 1], first);
        current[i][s][2 * j + 1] = __byte_perm(pairs[2 * j], pairs[2 * j + 1], second);
      }
    }
}
#endif

SM90_FUNCTION void multiply_fragments(wgmma_sums sums[BLOCKS], fragments current, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++)
      WGMMA_PASTE(wgmma_registers_n, TSL_PARAM_TILE_N)
  ("m64n" WGMMA_TEXT(TSL_PARAM_TILE_N) WGMMA_DEPTH, WGMMA_SUM "." WGMMA_TEXT(A_TYPE) "." WGMMA_TEXT(B_TYPE),
   WGMMA_FLAGS, WGMMA_REGISTER, sums[i], current[i][s], smem_descriptor(b + s * 32, SLAB_BYTES, 1024),
   add || s > 0);
  wgmma_commit_group();
}

struct progress {
  int left;            /* panels of the work tile that are not finished */
  bool add;            /* false for the work tile's first panel */
  pipeline_state pipe; /* stage of the panel whose fragments are loaded */
  shared_t before;     /* "empty" mbarrier of the stage whose products may be in flight */
};

/* Multiplies the panel whose fragments are `current`. Waits for the previous products, which read `next`,
 * then loads the next panel's fragments to `next`. Returns false after the last panel. */
SM90_FUNCTION bool multiply_and_prefetch(wgmma_sums sums[BLOCKS], fragments current, fragments next,
                                         progress &now, shared_t stages, shared_t thread_offset,
                                         shared_t full, shared_t empty) {
  multiply_fragments(sums, current, stages + now.pipe.number * STAGE_BYTES + A_BYTES, now.add);
  wgmma_wait_group<1>();
  if (now.add)
    release_stage(now.before);
  now.before = empty + 8 * now.pipe.number;
  now.add = true;
  advance(now.pipe);
  if (--now.left == 0)
    return false;
  mbarrier_wait_parity(full + 8 * now.pipe.number, now.pipe.parity);
  read_fragments(next, stages + now.pipe.number * STAGE_BYTES + thread_offset);
  return true;
}

SM90_FUNCTION void consumer_mainloop(wgmma_sums sums[BLOCKS], const work_tile &tile, shared_t stages,
                                     shared_t thread_offset, shared_t full, shared_t empty,
                                     pipeline_state &pipe) {
  progress now = {tile.end - tile.first, false, pipe, 0};
  fragments even, odd;
  mbarrier_wait_parity(full + 8 * pipe.number, pipe.parity);
  read_fragments(even, stages + pipe.number * STAGE_BYTES + thread_offset);
  while (multiply_and_prefetch(sums, even, odd, now, stages, thread_offset, full, empty) &&
         multiply_and_prefetch(sums, odd, even, now, stages, thread_offset, full, empty))
    ;
  pipe = now.pipe;
  wgmma_wait_group<0>();
  release_stage(now.before);
  wgmma_fence_sums(sums, BLOCKS);
}

/* Writes 64 rows of columns from 32 `box` on, at most 32, times alpha. */
SM90_FUNCTION void put_rows(shared_t end, wgmma_sums sums, int box, cuda_wgmma_scalar alpha) {
  constexpr int PAIRS = TILE_N < 32 ? TILE_N / 8 : 4, OTHER = PAIRS == 4 ? 2 : 0;
  const int row = fragment_row();
  const bool other = swaps_chunks();
#pragma unroll
  for (int x = 0; x < PAIRS; x++) {
    const sum_t *one = sums[4 * box + x], *two = sums[4 * box + (x ^ OTHER)];
    const int byte = 32 * (other ? x ^ OTHER : x) + threadIdx.x % 4 * 8;
#pragma unroll
    for (int h = 0; h < 2; h++)
      store_pair(end + swizzled(row + h, byte), scaled(other ? two[2 * h] : one[2 * h], alpha),
                 scaled(other ? two[2 * h + 1] : one[2 * h + 1], alpha));
  }
}

/* Writes columns 64 `pair` to 64 `pair` + 63, as two boxes of 32 rows. */
SM90_FUNCTION void put_columns(shared_t end, wgmma_sums sums, int pair, cuda_wgmma_scalar alpha) {
  const int row = fragment_row(), odd = swaps_chunks();
  const shared_t box = end + row / 32 * BOX_BYTES;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const sum_t *own = sums[8 * pair + j];
#pragma unroll
    for (int e = 0; e < 2; e++)
      store_pair(box + swizzled(8 * j + 2 * (threadIdx.x % 4) + (e ^ odd), row % 32 * 4),
                 scaled(odd ? own[1 - e] : own[e], alpha), scaled(odd ? own[3 - e] : own[2 + e], alpha));
  }
}

enum form { BY_THREADS, BY_ROWS, BY_COLUMNS }; /* values of args.by_map */

/* ALL_BOXES: boxes of a warpgroup's rows. TOGETHER: boxes of one TMA store group. */
constexpr int ALL_BOXES = BLOCKS * (TILE_N < 32 ? 1 : TILE_N / 32);
template <form FORM>
constexpr int TOGETHER = BOXES < 2            ? 1
                         : FORM == BY_COLUMNS ? 2
                                              : BOXES / 2;

/* Computes the first row and column of box i of a warpgroup; boxes of columns come in pairs. */
template <form FORM>
SM90_FUNCTION void box_at(int i, int &row, int &col) {
  constexpr int PAIRS = TILE_N < 64 ? 1 : TILE_N / 64, ACROSS = TILE_N < 32 ? 1 : TILE_N / 32;
  row = FORM == BY_COLUMNS ? i / 2 / PAIRS * 64 + i % 2 * 32 : i / ACROSS * 64;
  col = FORM == BY_COLUMNS ? i / 2 % PAIRS * 64 : i % ACROSS * 32;
}

template <form FORM>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const work_tile &tile,
                                bool is_last, const cuda_wgmma_arguments &args, shared_t stages,
                                shared_t boxes) {
  constexpr int STEP = TOGETHER<FORM>;
  const int group = threadIdx.x / 128 - 1;
  const bool is_first = threadIdx.x % 128 == 0;
  if (is_last) {
    named_barrier<WARPGROUPS + 1>(128 * WARPGROUPS);
    boxes = stages + group * ALL_BOXES * BOX_BYTES;
  }
#pragma unroll
  for (int i = 0; i < ALL_BOXES; i += STEP) {
    const shared_t to = boxes + (is_last ? i : i % BOXES) * BOX_BYTES;
    if (!is_last) {
      if (is_first)
        tma_store_wait_read<BOXES / STEP - 1>();
      warpgroup_barrier(group);
    }
#pragma unroll
    for (int j = i; j < i + STEP; j += FORM == BY_COLUMNS ? 2 : 1) {
      int row, col;
      box_at<FORM>(j, row, col);
      if (FORM == BY_COLUMNS)
        put_columns(to + (j - i) * BOX_BYTES, sums[row / 64], col / 64, args.alpha);
      else
        put_rows(to + (j - i) * BOX_BYTES, sums[row / 64], col / 32, args.alpha);
    }
    if (is_last && i + STEP < ALL_BOXES)
      continue;
    fence_proxy_async();
    warpgroup_barrier(group);
    if (is_first) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < i + STEP; j++) {
        int row, col;
        box_at<FORM>(j, row, col);
        row += tile.row + rows_above(), col += tile.col;
        tma_store(c, boxes + (is_last ? j : j % BOXES) * BOX_BYTES, FORM == BY_COLUMNS ? row : col,
                  FORM == BY_COLUMNS ? col : row, tile.layer);
      }
      tma_store_commit();
    }
  }
}

/* Stores accumulators to C element by element, through shared memory. */
SM90_FUNCTION void store_by_threads(c_element *c, wgmma_sums sums[BLOCKS], const work_tile &tile,
                                    const cuda_wgmma_arguments &args, shared_t boxes) {
  constexpr int WIDE = TILE_N < 32 ? TILE_N : 32, ACROSS = TILE_N / WIDE, ALL = BLOCKS * ACROSS,
                AT_ONCE = BOXES < ALL ? BOXES : ALL;
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const bool rows_first = args.c_row == 1 && args.c_col != 1;
  const int y = rows_first ? thread % 64 : thread / WIDE, x = rows_first ? thread / 64 : thread % WIDE,
            down = rows_first ? 2 : 128 / WIDE;
  const long long step = down * (rows_first ? args.c_col : args.c_row);
  c += args.c_offset + tile.layer * args.c_part;
#pragma unroll
  for (int i = 0; i < ALL; i += AT_ONCE) {
    warpgroup_barrier(group);
#pragma unroll
    for (int j = i; j < i + AT_ONCE; j++)
      put_rows(boxes + (j - i) * BOX_BYTES, sums[j / ACROSS], j % ACROSS, args.alpha);
    warpgroup_barrier(group);
    for (int j = i; j < i + AT_ONCE; j++) {
      const int row = tile.row + rows_above() + j / ACROSS * 64 + y, col = tile.col + j % ACROSS * WIDE + x;
      const shared_t from = boxes + (j - i) * BOX_BYTES;
      const int left = rows_first ? (row < args.m ? (args.n - col + down - 1) / down : 0)
                                  : (col < args.n ? (args.m - row + down - 1) / down : 0);
      c_element *to = c + row * args.c_row + col * args.c_col;
#pragma unroll 8
      for (int e = 0; e < WIDE / 2; e++, to += step)
        if (e < left)
          wgmma_tile_store(to,
                           load_shared(from + (rows_first ? swizzled(y, 4 * (x + e * down))
                                                          : swizzled(y + e * down, 4 * x))),
                           args.beta);
    }
  }
}

/* Computes and stores all work tiles of this block; FORM is a template parameter as in cuda_wgmma.cu. */
template <form FORM>
SM90_FUNCTION void run_consumers(const tensor_map *map, c_element *c, const cuda_wgmma_arguments &args,
                                 shared_t stages, shared_t boxes, shared_t full, shared_t empty,
                                 unsigned rank) {
  const int work_tiles = count_work_tiles(args), step = gridDim.x / CLUSTER;
  const shared_t thread_offset = fragment_offset();
  pipeline_state pipe = {0, 0};
  boxes += (threadIdx.x / 128 - 1) * BOXES * BOX_BYTES;
  for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += step) {
    const work_tile tile = get_work_tile(number, rank, args);
    const bool is_last = number + step >= work_tiles;
    wgmma_sums sums[BLOCKS];
    consumer_mainloop(sums, tile, stages, thread_offset, full, empty, pipe);
    if (is_last)
      grid_dependency_launch();
    if (FORM == BY_THREADS)
      store_by_threads(c, sums, tile, args, boxes);
    else
      store_by_map<FORM>(map, sums, tile, is_last, args, stages, boxes);
  }
  tma_store_wait_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma_across(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                               const __grid_constant__ tensor_map map, c_element *c,
                               const __grid_constant__ cuda_wgmma_arguments args) {
  extern __shared__ char memory[];
  const shared_t stages = (shared_address(memory) + 1023) / 1024 * 1024,
                 boxes = stages + STAGES * STAGE_BYTES, full = boxes + WARPGROUPS * BOXES * BOX_BYTES,
                 empty = full + 8 * STAGES;
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    tma_prefetch_map(&a);
    tma_prefetch_map(&b);
    tma_prefetch_map(&map);
    for (int s = 0; s < STAGES; s++) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    fence_mbarrier_init();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  grid_dependency_wait();
  if (group == 0) {
    if (WARPGROUPS == 2)
      setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      run_producer(&a, &b, args, stages, full, empty, rank);
  } else {
    if (WARPGROUPS == 2)
      setmaxnreg_inc<CONSUMER_REGISTERS>();
    if (args.by_map == BY_COLUMNS && TILE_N >= 64)
      run_consumers<BY_COLUMNS>(&map, c, args, stages, boxes, full, empty, rank);
    else if (args.by_map == BY_ROWS && TILE_N >= 32)
      run_consumers<BY_ROWS>(&map, c, args, stages, boxes, full, empty, rank);
    else
      run_consumers<BY_THREADS>(&map, c, args, stages, boxes, full, empty, rank);
  }
  if (CLUSTER > 1)
    cluster_barrier();
}
