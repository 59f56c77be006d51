/* What blocks that stay do of a tile: who of them takes which, its panels, its products, and C. Of cuda_wgmma.cu, which has the parameters, and
 * cuda_wgmma_joined.cu. */
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

/* All panels of a share, by one thread. */
SM90_FUNCTION void load_share(const tensor_map *a, const tensor_map *b, const share &own, int a_layer,
                              int b_layer, shared_t stages, shared_t full, shared_t empty, unsigned rank,
                              stage &at) {
  constexpr int OWN = TILE_N / CLUSTER; /* columns of B that this block loads */
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
template <class ALPHA>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const share &own, bool is_last,
                                ALPHA alpha, shared_t stages, shared_t boxes) {
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
      wgmma_tile_put(to + (j - i) * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES, alpha);
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

/* Of an element of C that is not read, its bits, from the word of its sum. */
SM90_FUNCTION unsigned element_of(unsigned word, int row, int col, int product, const finish_vectors &with) {
#if FINISH
  const float x = finish_element(wgmma_tile_sum(word), 0, row, col, product, with, 0);
  word = __float_as_uint(x);
#endif
#if !SPLIT && (C_FORM == 1 || C_FORM == 2)
  return c_pair(__uint_as_float(word), 0) & 0xffff;
#else
  return word;
#endif
}

/* A chunk of 16 bytes of a row of C that begins at `line`: its elements from `first` on, of which those from 0 to `end` are of this tile. */
constexpr int CHUNK = 16 / (int)sizeof(c_element);
struct c_chunk {
  c_element *line;
  int first, end;
  unsigned elements[CHUNK];
};

SM90_FUNCTION void store_chunk(const c_chunk &own) {
  c_element *line = own.line;
  const unsigned *elements = own.elements;
  if (own.first >= own.end)
    return;
  if (own.first >= 0 && own.first + CHUNK <= own.end) {
    uint4 chunk;
    if (CHUNK == 4)
      chunk = {elements[0], elements[1], elements[2], elements[3]};
    else
      chunk = {elements[0] | elements[1] << 16, elements[2] | elements[3] << 16,
               elements[CHUNK - 4] | elements[CHUNK - 3] << 16,
               elements[CHUNK - 2] | elements[CHUNK - 1] << 16};
    *(uint4 *)(line + own.first) = chunk;
  } else {
#pragma unroll
    for (int e = 0; e < CHUNK; e++)
      if (own.first + e >= 0 && own.first + e < own.end) {
        if (CHUNK == 4)
          ((unsigned *)line)[own.first + e] = elements[e];
        else
          ((unsigned short *)line)[own.first + e] = (unsigned short)elements[e];
      }
  }
}

/* 64 rows of ACROSS_WORDS boxes of words, to rows of C that begin at any address: each by chunks of 16 bytes that are aligned there, whole
 * ones at once, and what is left at both ends by elements. A thread gathers AT_ONCE of them before it stores one.
 *
 *   16 bytes:      |        |        |        |        |
 *   a row of C:        x x x x x x x x x x x x x x         a thread for each chunk that it touches
 */
template <int ACROSS_WORDS>
SM90_FUNCTION void store_chunks(c_element *c, shared_t boxes, int first_row, int first_col, int product,
                                const finish_vectors &with, const cuda_wgmma_arguments &given) {
  constexpr int WIDTH = 32 * ACROSS_WORDS, CHUNKS = WIDTH / CHUNK + 1, AT_ONCE = 2;
  const int end = min(WIDTH, given.n - first_col), rows = min(64, given.m - first_row);
  if (end <= 0)
    return;
  for (int i = threadIdx.x % 128; i < rows * CHUNKS; i += 128 * AT_ONCE) {
    c_chunk own[AT_ONCE];
#pragma unroll
    for (int o = 0; o < AT_ONCE; o++) {
      const int number = i + 128 * o, y = min(number / CHUNKS, rows - 1);
      own[o].line = c + (first_row + y) * given.c_row + first_col;
      own[o].first =
          number % CHUNKS * CHUNK - (int)((unsigned long long)own[o].line / sizeof(c_element) % CHUNK);
      own[o].end = number < rows * CHUNKS ? end : own[o].first;
#pragma unroll
      for (int e = 0; e < CHUNK; e++) {
        const int x = min(max(own[o].first + e, 0), end - 1);
        own[o].elements[e] = element_of(load_shared(boxes + x / 32 * BOX_BYTES + swizzled(y, 4 * (x % 32))),
                                        first_row + y, first_col + x, product, with);
      }
    }
#pragma unroll
    for (int o = 0; o < AT_ONCE; o++)
      store_chunk(own[o]);
  }
}

/* C without a map, in boxes of 32 columns of sums, as many at once as there is room for: rows by chunks where nothing of C is read, else element by
 * element. */
SM90_FUNCTION void store_by_threads(c_element *c, wgmma_sums sums[BLOCKS], const share &own,
                                    const finish_vectors &with, const cuda_wgmma_arguments &given,
                                    shared_t boxes) {
  constexpr int WIDE = TILE_N < 32 ? TILE_N : 32, ACROSS = TILE_N / WIDE, ALL = BLOCKS * ACROSS,
                AT_ONCE = BOXES < ALL ? BOXES : ALL, LEAST = AT_ONCE < ACROSS ? AT_ONCE : ACROSS,
                TOGETHER_ACROSS = AT_ONCE % LEAST || ACROSS % LEAST ? 1 : LEAST; /* boxes of the same rows */
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const bool by_chunks = !SPLIT && WIDE == 32 && given.c_col == 1 && given.beta.integer == 0;
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
    if (by_chunks) {
      for (int j = i; j < i + AT_ONCE; j += TOGETHER_ACROSS)
        store_chunks<TOGETHER_ACROSS>(c, boxes + (j - i) * BOX_BYTES,
                                      own.row + rows_above() + j / ACROSS * 64, own.col + j % ACROSS * WIDE,
                                      own.layer, with, given);
      continue;
    }
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

/* --- a block's memory and barriers --- */

/* Where they lie; the first thread makes the barriers, and a barrier of the cluster is behind them. */
struct place {
  shared_t stages, boxes, full, empty, beside; /* what else there is */
};

SM90_FUNCTION place begin_block(const char *memory) {
  place at;
  at.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  at.boxes = at.stages + STAGES * STAGE_BYTES;
  at.full = at.boxes + WARPGROUPS * BOXES * BOX_BYTES;
  at.empty = at.full + 8 * STAGES;
  at.beside = at.empty + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(at.full + 8 * s, 1);
      barrier_init(at.empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    barriers_made_visible();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  return at;
}
