/* Idea: sm_90's tensor cores as their makers meant them: a warpgroup multiplies what lies in shared memory, one thread copies
 * whole panels there by tensor maps that the host made, and thread blocks stay and take tile after tile.
 * What it adds to opencl_mma_group.cl: maps from the host instead of some that each block writes for itself; panels of B that
 * the two blocks of a cluster share, each loading half for both; registers that the loading warps hand to the multiplying ones;
 * C by copies of boxes that go on while the next tile is multiplied; and launches that begin while the one before them ends.
 *
 *   tile of C, TILE_M x TILE_N             warpgroup 0 loads (one thread; its registers go to the others)
 *   +------------------------+             warpgroup 1 multiplies ROWS rows by TILE_N columns
 *   | warpgroup 1            | ROWS        warpgroup 2 the next ROWS rows
 *   +------------------------+
 *   | warpgroup 2            |             CLUSTER = 2: two blocks, one tile below the other, share columns of B
 *   +------------------------+
 *
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | boxes of C, by warpgroup | barriers "full", "empty" of stages |
 *
 * A stage is full when its bytes have come, and empty when all warpgroups that read it have said so, in both blocks of a
 * cluster: either of them writes to both.
 *
 * C: a warpgroup puts boxes of 64 rows by 128 bytes into shared memory and lets them be copied (by_map), or, where C's rows do not
 * lie as maps need them, where C is read (beta), or where the tile is narrower than a box, writes their elements itself.
 *
 * Few tiles and a long k: `parts` of k are summed apart, to a matrix each of sums as they are (SPLIT), and cuda_wgmma_fold.cu adds them
 * up, always in the same order.
 *
 * A bias, an activation and scales are applied to sums in registers where C goes by its map, and else where an element is stored (FINISH,
 * cuda_wgmma_finish.cu).
 *
 * Products of a batch are layers of the maps: a block takes the tiles of one after those of another.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _CLUSTER. From the host: STAGES, BOXES, ELEMENT (bytes of A's and B's elements), A_TYPE, B_TYPE
 * (PTX's words), C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), A_ACROSS, B_ACROSS, SPLIT,
 * APART (panels whose sums are their own; 0), RESIDENT (blocks of a multiprocessor), WHOLE_SUMS, FINISH and what goes with it.
 * Limits: sm_90a; k at least 1 (without products there is cuda_wgmma_fold.cu alone); m, n and k below 2^31; A and B where maps take them (pitches and addresses multiples of 16 bytes). */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, ROWS = TSL_PARAM_TILE_M / WARPGROUPS,
              BLOCKS = ROWS / 64;
#include "wgmma_panels.h"
#if FINISH
#define FINISH_IN_REGISTERS
#include "cuda_wgmma_finish.cu"
constexpr int FINISH_BYTES = FINISH_COLUMNS * TILE_N * 4; /* of a warpgroup */
#else
struct finish_vectors {};
constexpr int FINISH_BYTES = 0;
#endif
constexpr int BOX_BYTES = 64 * 128;
constexpr int LOADING_REGISTERS = 40, MULTIPLYING_REGISTERS = 232;

/* What a block does at a time: a tile of a layer (a part of k, or a product of a batch), and of its panels along k the first and the
 * one behind the last. */
struct share {
  int row, col, layer, first, end;
};

SM90_FUNCTION int shares_of(const cuda_wgmma_arguments &given) {
  return given.tiles_m * given.tiles_n * given.parts * given.products;
}

SM90_FUNCTION share share_of(int number, unsigned rank, const cuda_wgmma_arguments &given) {
  const int tiles = given.tiles_m * given.tiles_n, tile = number % tiles, layer = number / tiles,
            part = SPLIT ? layer : 0;
  const int above = tile / (given.band * given.tiles_n) * given.band,
            place = tile % (given.band * given.tiles_n);
  const int height = min(given.tiles_m - above, given.band);
  return {((above + place % height) * CLUSTER + (int)rank) * TILE_M, place / height * TILE_N, layer,
          part_begins(given.k, part, given.parts), part_begins(given.k, part + 1, given.parts)};
}

/* --- loading --- */

/* All panels of all of this block's shares, by one thread. */
SM90_FUNCTION void load_shares(const tensor_map *a, const tensor_map *b, const cuda_wgmma_arguments &given,
                               shared_t stages, shared_t full, shared_t empty, unsigned rank) {
  constexpr int OWN = TILE_N / CLUSTER; /* columns of B that this block loads */
  const int shares = shares_of(given);
  stage at = {0, 1}; /* all are empty at first */
  for (int number = blockIdx.x / CLUSTER; number < shares; number += gridDim.x / CLUSTER) {
    const share own = share_of(number, rank, given);
    const int a_layer = given.a_first + own.layer * given.a_layer,
              b_layer = given.b_first + own.layer * given.b_layer;
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

/* --- multiplying --- */

/* This warpgroup has read a stage: says so here and to the other block of the cluster. */
SM90_FUNCTION void release_stage(shared_t empty) {
  if (threadIdx.x % 128 < CLUSTER) {
    if (CLUSTER > 1)
      barrier_arrive_at(empty, threadIdx.x % 128);
    else
      barrier_arrive(empty);
  }
}

/* Rows of a block's tile above this warpgroup's. */
SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * ROWS;
}

/* The sums of a share: ROWS rows by TILE_N columns. */
SM90_FUNCTION void multiply_share(wgmma_sums sums[BLOCKS], const share &own, shared_t stages, shared_t full,
                                  shared_t empty, stage &at) {
  const shared_t from_a = A_ACROSS ? rows_above() / 64 * SLAB_BYTES : rows_above() * PANEL_BYTES;
#if APART
  multiply_apart(sums, own.end - own.first, stages, from_a, full, empty, at,
                 [](shared_t stage) { release_stage(stage); });
#else
  shared_t before = 0; /* the stage whose products may be under way when the next ones start */
  for (int p = own.first; p < own.end; p++) {
    const shared_t panel = stages + at.number * STAGE_BYTES;
    barrier_wait(full + 8 * at.number, at.parity);
    multiply_panel(sums, panel + from_a, panel + A_BYTES, p > own.first);
    wgmma_wait<1>();
    if (p > own.first)
      release_stage(before);
    before = empty + 8 * at.number;
    next_stage(at);
  }
  wgmma_wait<0>();
  release_stage(before);
  wgmma_tile_hold(sums, BLOCKS);
#endif
}

/* --- C --- */

/* Boxes of a warpgroup's rows, and how many of them go out together. */
constexpr int BOX_N = 128 / (SPLIT || C_FORM == 0 || C_FORM == 3 ? 4 : 2),
              ACROSS_BOXES = TILE_N < BOX_N ? 1 : TILE_N / BOX_N, ALL_BOXES = BLOCKS * ACROSS_BOXES,
              TOGETHER = BOXES < 2 ? 1 : BOXES / 2;

/* C's columns of a share, by copies of boxes from `boxes`, the warpgroup's own. After the block's last share the stages' memory is free, and takes them all at once. */
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const share &own, bool is_last,
                                const cuda_wgmma_arguments &given, shared_t stages, shared_t boxes) {
  const int group = threadIdx.x / 128 - 1;
  const bool is_first = threadIdx.x % 128 == 0;
  if (is_last) {
    named_barrier<WARPGROUPS + 1>(128 * WARPGROUPS);
    boxes = stages + group * ALL_BOXES * BOX_BYTES;
  }
#pragma unroll
  for (int i = 0; i < ALL_BOXES; i += TOGETHER) {
    const shared_t to = boxes + (is_last ? i : i % BOXES) * BOX_BYTES;
    if (!is_last) {
      if (is_first)
        tma_stores_read<BOXES / TOGETHER - 1>();
      warpgroup_barrier(group);
    }
#pragma unroll
    for (int j = i; j < i + TOGETHER; j++)
      wgmma_tile_put(to + (j - i) * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES, given.alpha);
    if (is_last && i + TOGETHER < ALL_BOXES)
      continue;
    shared_writes_done();
    warpgroup_barrier(group);
    if (is_first) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < i + TOGETHER; j++)
        tma_store(c, boxes + (is_last ? j : j % BOXES) * BOX_BYTES, own.col + j % ACROSS_BOXES * BOX_N,
                  own.row + rows_above() + j / ACROSS_BOXES * 64, own.layer);
      tma_stores_commit();
    }
  }
}

/* The same, element by element, in boxes of 32 columns of sums, as many at once as there is room for. */
SM90_FUNCTION void store_by_threads(c_element *c, wgmma_sums sums[BLOCKS], const share &own,
                                    const finish_vectors &with, const cuda_wgmma_arguments &given,
                                    shared_t boxes) {
  constexpr int WIDE = TILE_N < 32 ? TILE_N : 32, ACROSS = TILE_N / WIDE, ALL = BLOCKS * ACROSS,
                AT_ONCE = BOXES < ALL ? BOXES : ALL;
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const bool rows_first = given.c_row == 1 && given.c_col != 1;
  /* A thread's first element of a box, and from one to the next: rows, or columns. */
  const int y = rows_first ? thread % 64 : thread / WIDE, x = rows_first ? thread / 64 : thread % WIDE,
            down = rows_first ? 2 : 128 / WIDE;
  const long long step = down * (rows_first ? given.c_col : given.c_row);
  c += given.c_offset + own.layer * given.c_part;
#pragma unroll
  for (int i = 0; i < ALL; i += AT_ONCE) {
    warpgroup_barrier(group);
#pragma unroll
    for (int j = i; j < i + AT_ONCE; j++)
      wgmma_tile_put_words(boxes + (j - i) * BOX_BYTES, sums[j / ACROSS], j % ACROSS, given.alpha);
    warpgroup_barrier(group);
    for (int j = i; j < i + AT_ONCE; j++) {
      const int row = own.row + rows_above() + j / ACROSS * 64 + y, col = own.col + j % ACROSS * WIDE + x;
      const shared_t from = boxes + (j - i) * BOX_BYTES;
      const int left = rows_first ? (row < given.m ? (given.n - col + down - 1) / down : 0)
                                  : (col < given.n ? (given.m - row + down - 1) / down : 0);
      c_element *to = c + row * given.c_row + col * given.c_col;
#pragma unroll 8
      for (int e = 0; e < WIDE / 2; e++, to += step)
        if (e < left) {
          const unsigned word = load_shared(
              from + (rows_first ? swizzled(y, 4 * (x + e * down)) : swizzled(y + e * down, 4 * x)));
#if FINISH
          finish_store(to, wgmma_tile_sum(word), row + (rows_first ? 0 : e * down),
                       col + (rows_first ? e * down : 0), own.layer, with, given.beta);
#else
          wgmma_tile_store(to, word, given.beta);
#endif
        }
    }
  }
}

/* BY_MAP is asked once, outside: where paths meet between shares, the compiler loses sight of what is in registers. */
template <bool BY_MAP>
SM90_FUNCTION void multiply_shares(const tensor_map *map, c_element *c, const finish_vectors &with,
                                   const cuda_wgmma_arguments &given, shared_t stages, shared_t boxes,
                                   shared_t full, shared_t empty, unsigned rank) {
  const int shares = shares_of(given), step = gridDim.x / CLUSTER;
  stage at = {0, 0};
  const int group = threadIdx.x / 128 - 1;
  const shared_t vectors = empty + 8 * STAGES + group * FINISH_BYTES;
  boxes += group * BOXES * BOX_BYTES;
  for (int number = blockIdx.x / CLUSTER; number < shares; number += step) {
    const share own = share_of(number, rank, given);
    const bool is_last = number + step >= shares;
    wgmma_sums sums[BLOCKS];
#if FINISH
    finish_held held;
    if (BY_MAP && !APART) /* on their way while products are; of sums that are apart there are too many registers */
      finish_bring(held, with, own.row + rows_above(), own.col, own.layer, given);
#endif
    multiply_share(sums, own, stages, full, empty, at);
    if (is_last)
      dependency_launch();
    if (BY_MAP) {
#if FINISH
      if (APART)
        finish_bring(held, with, own.row + rows_above(), own.col, own.layer, given);
      finish_sums(sums, held, vectors, group, with.steps->alpha);
#endif
      store_by_map(map, sums, own, is_last, given, stages, boxes);
    } else {
      store_by_threads(c, sums, own, with, given, boxes);
    }
  }
  tma_stores_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                        const __grid_constant__ tensor_map map, c_element *c,
                        const __grid_constant__ cuda_wgmma_arguments given
#if FINISH
                        ,
                        const finish_bias *bias, const float *scale_a, const float *scale_b,
                        const __grid_constant__ cuda_wgmma_finish steps
#endif
    ) {
#if FINISH
  const finish_vectors with = {bias, scale_a, scale_b, &steps};
#else
  const finish_vectors with = {};
#endif
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
      load_shares(&a, &b, given, stages, full, empty, rank);
  } else {
    if (WARPGROUPS == 2)
      registers_take<MULTIPLYING_REGISTERS>();
    if (given.by_map)
      multiply_shares<true>(&map, c, with, given, stages, boxes, full, empty, rank);
    else
      multiply_shares<false>(&map, c, with, given, stages, boxes, full, empty, rank);
  }
  if (CLUSTER > 1) /* a block that has gone takes no copies and no arrivals any more */
    cluster_barrier();
}
