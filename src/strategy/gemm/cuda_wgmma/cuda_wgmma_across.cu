/* Idea: f32 as tf32, and 8-bit integers, which wgmma reads from shared memory only along k, where A lies across: its panels come as they lie, and each
 * warpgroup takes its rows of them to registers, from which wgmma takes A as well. Nothing is turned before; B, along k, is read from shared memory.
 * Row-major factors are the transposed product, B' A' (order=swapped), whose A is such a B.
 *
 * Which rows of A are which of a fragment is free: rows of C are in the same order. Of a slab of f32, 32 rows of A by 32 of k (128 bytes of each k, in
 * 16 bytes exchanged by k), a thread reads two rows that lie side by side at a time. A lane l = 4 r + q of warp w has
 *
 *   fragment's row 16 w + r + 8 h, k q  ->  row h + 2 (r & 1) + 4 (w & 1) + 8 (w >> 1) + 16 (r >> 1 & 1) + 32 (r >> 2)
 *
 * so that half a warp, two bits of r and both of q, reads all 32 banks: chunk 4 of 8 is another for r's second bit, chunks 0 to 3 for q, by
 * the exchange, and half a chunk for r's first bit.
 *
 * Of bytes, a slab is 128 rows by 128 of k, and warp w's 16 rows of a block are a chunk of each k. ldmatrix turns pairs of bytes, so a lane gets rows 2 r and
 * 2 r + 1 at two k, and of two such words two bytes each are four k of one row:
 *
 *   fragment's row 16 w + r + 8 h, k 4 q to 4 q + 3  ->  row 16 w + 2 r + h
 *
 * Eight lines of k that one load takes are to lie in different banks, so their numbers modulo 8 differ: k 4 q and 4 q + 1 of the lower two q beside
 * 4 q + 2 and 4 q + 3 of the upper two, and then the other way round.
 *
 * Registers that products under way read may not be written: fragments are two sets, one of the panel that is multiplied and one of
 * the next, read meanwhile.
 *
 * The rest is cuda_wgmma.cu's: stages, clusters, shares, boxes. C goes by a map where its rows are dense, or its columns (BY_COLUMNS),
 * whose boxes are 64 columns of 32 rows, by two.
 *
 * Parameters and what the host gives: cuda_wgmma.cu's; ELEMENT is 4 or, with tiles of 128 rows or more, 1; A_ACROSS 1, B_ACROSS and APART 0; elements of C have 4 bytes.
 * Limits: those of cuda_wgmma.cu. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, ROWS = TSL_PARAM_TILE_M / WARPGROUPS,
              BLOCKS = ROWS / 64;
#include "wgmma_panels.h"
constexpr int BOX_BYTES = 64 * 128;
constexpr int LOADING_REGISTERS = 40, MULTIPLYING_REGISTERS = 232;

/* --- shares and their panels, as in cuda_wgmma.cu --- */

struct share {
  int row, col, layer, first, end;
};

SM90_FUNCTION int shares_of(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n * args.parts * args.products;
}

SM90_FUNCTION share share_of(int number, unsigned rank, const cuda_wgmma_arguments &args) {
  const int tiles = args.tiles_m * args.tiles_n, tile = number % tiles, layer = number / tiles,
            part = SPLIT ? layer : 0;
  const int above = tile / (args.band * args.tiles_n) * args.band,
            place = tile % (args.band * args.tiles_n);
  const int height = min(args.tiles_m - above, args.band);
  return {((above + place % height) * CLUSTER + (int)rank) * TILE_M, place / height * TILE_N, layer,
          part_begins(args.k, part, args.parts), part_begins(args.k, part + 1, args.parts)};
}

SM90_FUNCTION void load_shares(const tensor_map *a, const tensor_map *b, const cuda_wgmma_arguments &args,
                               shared_t stages, shared_t full, shared_t empty, unsigned rank) {
  constexpr int OWN = TILE_N / CLUSTER;
  const int shares = shares_of(args);
  stage at = {0, 1};
  for (int number = blockIdx.x / CLUSTER; number < shares; number += gridDim.x / CLUSTER) {
    const share own = share_of(number, rank, args);
    const int a_layer = args.a_first + own.layer * args.a_layer,
              b_layer = args.b_first + own.layer * args.b_layer;
    for (int p = own.first; p < own.end; p++) {
      const shared_t to = stages + at.number * STAGE_BYTES, arrived = full + 8 * at.number;
      barrier_wait(empty + 8 * at.number, at.parity);
      barrier_arrive_expect(arrived, STAGE_BYTES);
      load_panel<A_ACROSS, TILE_M, false>(to, a, arrived, own.row, p * DEPTH, a_layer);
      load_panel<B_ACROSS, OWN, (CLUSTER > 1)>(to + A_BYTES + rank * (B_BYTES / CLUSTER), b, arrived,
                                               own.col + rank * OWN, p * DEPTH, b_layer);
      next_stage(at);
    }
  }
}

SM90_FUNCTION void release_stage(shared_t empty) {
  if (threadIdx.x % 128 < CLUSTER) {
    if (CLUSTER > 1)
      barrier_arrive_at(empty, threadIdx.x % 128);
    else
      barrier_arrive(empty);
  }
}

SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * ROWS;
}

/* --- multiplying --- */

typedef unsigned fragments[BLOCKS][STEPS][4];

#if ELEMENT == 4
/* The first of a thread's two rows of a block of 64: the other is the next. */
SM90_FUNCTION int own_row() {
  const int r = threadIdx.x % 32 / 4, w = threadIdx.x / 32 % 4;
  return 2 * (r & 1) + 4 * (w & 1) + 8 * (w >> 1) + 16 * (r >> 1 & 1) + 32 * (r >> 2);
}
/* Bit 1 of its number: rows 16 apart, which exchange what they store so that half a warp reaches all banks. */
SM90_FUNCTION bool is_other() {
  return threadIdx.x % 16 / 8 == 1;
}

/* Where a thread's rows lie in a panel of the warpgroup's, at its k of a product's first four. */
SM90_FUNCTION shared_t own_place() {
  const int row = own_row(), k = threadIdx.x % 4;
  return rows_above() / SLAB_LINES * SLAB_BYTES + row / SLAB_LINES * SLAB_BYTES +
         swizzled(k, row % SLAB_LINES * 4);
}

/* The four after these lie four lines below, in chunks that are exchanged by 4 more. */
SM90_FUNCTION void read_fragments(fragments fragments_in, shared_t place) {
  const shared_t second = (place ^ 64) + 4 * 128;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      const int below = i * (64 / SLAB_LINES) * SLAB_BYTES + s * 8 * 128;
      load_shared_pair(place + below, fragments_in[i][s][0], fragments_in[i][s][1]);
      load_shared_pair(second + below, fragments_in[i][s][2], fragments_in[i][s][3]);
    }
}
#else
SM90_FUNCTION int own_row() {
  return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4 * 2;
}
/* Rows of half a warp lie in different banks as they are. */
SM90_FUNCTION bool is_other() {
  return false;
}

/* The line of k whose address a thread gives to the loads of a product's, in a panel of the warpgroup's first 64 rows. */
SM90_FUNCTION shared_t own_place() {
  const int lane = threadIdx.x % 32, matrix = lane / 8, q = lane % 8 / 2, w = threadIdx.x / 32 % 4,
            k = 16 * (matrix >> 1) + 4 * q + 2 * ((matrix ^ q >> 1) & 1) + lane % 2;
  return rows_above() / SLAB_LINES * SLAB_BYTES + swizzled(k, rows_above() % SLAB_LINES + 16 * w);
}

SM90_FUNCTION void read_fragments(fragments fragments_in, shared_t place) {
  const unsigned first = threadIdx.x % 4 < 2 ? 0x6420 : 0x2064, second = first + 0x1111;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      unsigned pairs[4];
      load_matrices_transposed(pairs, (place ^ i * 64) + s * 32 * 128);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        fragments_in[i][s][2 * j] = __byte_perm(pairs[2 * j], pairs[2 * j + 1], first);
        fragments_in[i][s][2 * j + 1] = __byte_perm(pairs[2 * j], pairs[2 * j + 1], second);
      }
    }
}
#endif

SM90_FUNCTION void multiply_fragments(wgmma_sums sums[BLOCKS], fragments fragments_in, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int s = 0; s < STEPS; s++)
      WGMMA_PASTE(wgmma_registers_n, TSL_PARAM_TILE_N)
  ("m64n" WGMMA_TEXT(TSL_PARAM_TILE_N) WGMMA_DEPTH, WGMMA_SUM "." WGMMA_TEXT(A_TYPE) "." WGMMA_TEXT(B_TYPE),
   WGMMA_FLAGS, WGMMA_REGISTER, sums[i], fragments_in[i][s], factor_descriptor(b + s * 32, SLAB_BYTES, 1024),
   add || s > 0);
  wgmma_commit();
}

/* Where a warpgroup is among its panels. */
struct progress {
  int left;        /* panels of the share, the one under way among them */
  bool add;        /* not the share's first */
  stage at;        /* of the panel whose fragments are there */
  shared_t before; /* the stage whose products may be under way */
};

/* Multiplies the panel whose fragments are `fragments_in`; once the products before have ended, whose fragments `next` were, those of the panel after it
 * are read. False: it was the last. */
SM90_FUNCTION bool multiply_panel_at(wgmma_sums sums[BLOCKS], fragments fragments_in, fragments next, progress &now,
                                     shared_t stages, shared_t place, shared_t full, shared_t empty) {
  multiply_fragments(sums, fragments_in, stages + now.at.number * STAGE_BYTES + A_BYTES, now.add);
  wgmma_wait<1>();
  if (now.add)
    release_stage(now.before);
  now.before = empty + 8 * now.at.number;
  now.add = true;
  next_stage(now.at);
  if (--now.left == 0)
    return false;
  barrier_wait(full + 8 * now.at.number, now.at.parity);
  read_fragments(next, stages + now.at.number * STAGE_BYTES + place);
  return true;
}

SM90_FUNCTION void multiply_share(wgmma_sums sums[BLOCKS], const share &share_in, shared_t stages, shared_t place,
                                  shared_t full, shared_t empty, stage &stage_in) {
  progress now = {share_in.end - share_in.first, false, stage_in, 0};
  fragments even, odd;
  barrier_wait(full + 8 * stage_in.number, stage_in.parity);
  read_fragments(even, stages + stage_in.number * STAGE_BYTES + place);
  while (multiply_panel_at(sums, even, odd, now, stages, place, full, empty) &&
         multiply_panel_at(sums, odd, even, now, stages, place, full, empty))
    ;
  stage_in = now.at;
  wgmma_wait<0>();
  release_stage(now.before);
  wgmma_tile_hold(sums, BLOCKS);
}

/* --- C --- */

/* Columns 32 `box` and the next 31 (fewer where the tile is narrower) of 64 rows, times alpha. */
SM90_FUNCTION void put_rows(shared_t end, wgmma_sums sums, int box, cuda_wgmma_scalar alpha) {
  constexpr int PAIRS = TILE_N < 32 ? TILE_N / 8 : 4, OTHER = PAIRS == 4 ? 2 : 0;
  const int row = own_row();
  const bool other = is_other();
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

/* Columns 64 `pair` and the next 63, in two boxes of 32 rows. */
SM90_FUNCTION void put_columns(shared_t end, wgmma_sums sums, int pair, cuda_wgmma_scalar alpha) {
  const int row = own_row(), odd = is_other();
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

enum form { BY_THREADS, BY_ROWS, BY_COLUMNS }; /* given.by_map */

/* Boxes of a warpgroup's rows; and how many of them go out together. */
constexpr int ALL_BOXES = BLOCKS * (TILE_N < 32 ? 1 : TILE_N / 32);
template <form FORM>
constexpr int TOGETHER = BOXES < 2            ? 1
                         : FORM == BY_COLUMNS ? 2
                                              : BOXES / 2;

/* Box i of a warpgroup's, of columns by two; and where it begins in its rows. */
template <form FORM>
SM90_FUNCTION void box_at(int i, int &row, int &col) {
  constexpr int PAIRS = TILE_N < 64 ? 1 : TILE_N / 64, ACROSS = TILE_N < 32 ? 1 : TILE_N / 32;
  row = FORM == BY_COLUMNS ? i / 2 / PAIRS * 64 + i % 2 * 32 : i / ACROSS * 64;
  col = FORM == BY_COLUMNS ? i / 2 % PAIRS * 64 : i % ACROSS * 32;
}

template <form FORM>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const share &share_in, bool is_last,
                                const cuda_wgmma_arguments &args, shared_t stages, shared_t boxes) {
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
        tma_stores_read<BOXES / STEP - 1>();
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
    shared_writes_done();
    warpgroup_barrier(group);
    if (is_first) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < i + STEP; j++) {
        int row, col;
        box_at<FORM>(j, row, col);
        row += share_in.row + rows_above(), col += share_in.col;
        tma_store(c, boxes + (is_last ? j : j % BOXES) * BOX_BYTES, FORM == BY_COLUMNS ? row : col,
                  FORM == BY_COLUMNS ? col : row, share_in.layer);
      }
      tma_stores_commit();
    }
  }
}

/* As cuda_wgmma.cu's. */
SM90_FUNCTION void store_by_threads(c_element *c, wgmma_sums sums[BLOCKS], const share &share_in,
                                    const cuda_wgmma_arguments &args, shared_t boxes) {
  constexpr int WIDE = TILE_N < 32 ? TILE_N : 32, ACROSS = TILE_N / WIDE, ALL = BLOCKS * ACROSS,
                AT_ONCE = BOXES < ALL ? BOXES : ALL;
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const bool rows_first = args.c_row == 1 && args.c_col != 1;
  const int y = rows_first ? thread % 64 : thread / WIDE, x = rows_first ? thread / 64 : thread % WIDE,
            down = rows_first ? 2 : 128 / WIDE;
  const long long step = down * (rows_first ? args.c_col : args.c_row);
  c += args.c_offset + share_in.layer * args.c_part;
#pragma unroll
  for (int i = 0; i < ALL; i += AT_ONCE) {
    warpgroup_barrier(group);
#pragma unroll
    for (int j = i; j < i + AT_ONCE; j++)
      put_rows(boxes + (j - i) * BOX_BYTES, sums[j / ACROSS], j % ACROSS, args.alpha);
    warpgroup_barrier(group);
    for (int j = i; j < i + AT_ONCE; j++) {
      const int row = share_in.row + rows_above() + j / ACROSS * 64 + y, col = share_in.col + j % ACROSS * WIDE + x;
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

/* FORM is asked once, outside, as in cuda_wgmma.cu. */
template <form FORM>
SM90_FUNCTION void multiply_shares(const tensor_map *map, c_element *c, const cuda_wgmma_arguments &args,
                                   shared_t stages, shared_t boxes, shared_t full, shared_t empty,
                                   unsigned rank) {
  const int shares = shares_of(args), step = gridDim.x / CLUSTER;
  const shared_t place = own_place();
  stage at = {0, 0};
  boxes += (threadIdx.x / 128 - 1) * BOXES * BOX_BYTES;
  for (int number = blockIdx.x / CLUSTER; number < shares; number += step) {
    const share own = share_of(number, rank, args);
    const bool is_last = number + step >= shares;
    wgmma_sums sums[BLOCKS];
    multiply_share(sums, own, stages, place, full, empty, at);
    if (is_last)
      dependency_launch();
    if (FORM == BY_THREADS)
      store_by_threads(c, sums, own, args, boxes);
    else
      store_by_map<FORM>(map, sums, own, is_last, args, stages, boxes);
  }
  tma_stores_read<0>();
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
    tma_prefetch(&a);
    tma_prefetch(&b);
    tma_prefetch(&map);
    for (int s = 0; s < STAGES; s++) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    barriers_made_visible();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  dependency_wait();
  if (group == 0) {
    if (WARPGROUPS == 2)
      registers_give_back<LOADING_REGISTERS>();
    if (threadIdx.x == 0)
      load_shares(&a, &b, args, stages, full, empty, rank);
  } else {
    if (WARPGROUPS == 2)
      registers_take<MULTIPLYING_REGISTERS>();
    if (args.by_map == BY_COLUMNS && TILE_N >= 64)
      multiply_shares<BY_COLUMNS>(&map, c, args, stages, boxes, full, empty, rank);
    else if (args.by_map == BY_ROWS && TILE_N >= 32)
      multiply_shares<BY_ROWS>(&map, c, args, stages, boxes, full, empty, rank);
    else
      multiply_shares<BY_THREADS>(&map, c, args, stages, boxes, full, empty, rank);
  }
  if (CLUSTER > 1)
    cluster_barrier();
}
