/* Idea: tensor cores from portable kernel text: NVIDIA's compilers for OpenCL C and CUDA C++ accept inline
 * PTX. Beyond register_tile: f16, bf16 and 8-bit integers by mma.sync, 16 x 8 x 16 (x 32) products with
 * 32-bit sums by all items of a warp; cp.async to local memory, which bypasses registers, several panels
 * ahead.
 *
 *   group's tile of C, TILE_M x TILE_N            panels in local memory, STAGES of each operand
 *   +--------+--------+                            stage 0 | stage 1 | ...
 *   | warp 0 | warp 2 | WARP_M                     one is multiplied, while the others are in flight
 *   +--------+--------+
 *   | warp 1 | warp 3 |   a warp's tile: 16 x 8 sums at a time, four sums in each item
 *   +--------+--------+
 *      WARP_N
 *
 * A line is a row of A or a column of B. A panel is DEPTH_BYTES of each line along k, in chunks of 16 bytes:
 *
 *   K-major (A_MN_MAJOR, B_MN_MAJOR 0)            MN-major (1)
 *   line 0   | chunk 0 | chunk 1 | ...            blocks of 128 bytes of adjacent lines, one below the other:
 *   line 1   | chunk 1 | chunk 0 | ...            depth 0  | lines 0-63 of 16 bits, 0-127 of 8 |
 *                                                 depth 1  | ...
 *
 * Chunks are swizzled by the line's number: any 8 chunks that are read together are in different banks.
 * MN-major blocks are transposed by ldmatrix as they are read, in pairs of bytes. For 8-bit elements, two
 * transposed blocks of interleaved depths are recombined bytewise. That leaves the lines of a 16-line tile in
 * the order 0 2 4 ... 1 3 5 ..., in which C is stored.
 *
 * Operands have inner stride 1 here, and addresses and pitches are multiples of 16 bytes: others are packed
 * first. Elements outside of the matrix become zeros. Parameters: TSL_PARAM_TILE_M, _TILE_N, _WARP_M,
 * _WARP_N, _DEPTH (bytes), _STAGES. Defines of the host: MMA_A, MMA_B (PTX types), C_FORM (0 f32, 1 f16, 2
 * bf16, 3 i32), A_MN_MAJOR, B_MN_MAJOR. Limits: sm_80 or newer; any sizes, any strides of C. */

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define WARP_M TSL_PARAM_WARP_M
#define WARP_N TSL_PARAM_WARP_N
#define DEPTH_BYTES TSL_PARAM_DEPTH
#define STAGES TSL_PARAM_STAGES
#define WARPS_M (TILE_M / WARP_M)
#define ITEMS (32 * WARPS_M * (TILE_N / WARP_N))
#define TILES_M (WARP_M / 16)
#define TILES_N (WARP_N / 8)
#include "ptx.h"
#include "raster.h"

#include "mma_sums.h"

#define CHUNKS (DEPTH_BYTES / 16)
/* Returns the swizzle of a chunk's number in a K-major panel; phase_across(): in an MN-major one. */
TSL_FUNCTION int phase_along(int line) {
  return DEPTH_BYTES == 64 ? (line >> 1) & 3 : line & 7;
}
TSL_FUNCTION int phase_across(int depth) {
  return WHOLE ? (depth & 1) | ((depth >> 2) & 3) << 1 : depth & 7;
}

#if SIZE == 1
#define MMA_ELEMENT unsigned char
#else
#define MMA_ELEMENT unsigned short
#endif

/* State of an item's copies of one operand: its first chunk of each panel, and the steps to the next ones. */
typedef struct mma_copies {
  TSL_GLOBAL const char *from;
  TSL_INDEX pass, panel; /* bytes to the item's next chunk, and to its first chunk in the next panel */
  unsigned int to;       /* bytes from a panel's start to the item's first chunk */
  int at;                /* K-major: first byte of the chunk along k; MN-major: its depth */
  int left;  /* K-major: lines from the chunk's line on; MN-major: bytes of the row from the chunk on */
  int whole; /* all lines of the tile are inside of the matrix */
} mma_copies;

/* Initialises the state. `from`: first of `extent` lines at depth 0; `lines`: lines to the matrix's end. */
TSL_FUNCTION void copies_start(mma_copies *copies, int across, int extent, TSL_GLOBAL const char *from,
                               TSL_INDEX pitch, TSL_INDEX lines) {
  const int row = TSL_ITEM(0) / (across ? 8 : CHUNKS), chunk = TSL_ITEM(0) % (across ? 8 : CHUNKS);
  const int left = lines < 1024 ? (int)lines : 1024; /* more than any tile has */
  copies->from = from + (row * pitch + chunk * 16);
  copies->pass = (across ? ITEMS / 8 : ITEMS / CHUNKS) * pitch;
  copies->panel = across ? DEPTH * pitch : DEPTH_BYTES;
  copies->to = across ? row * 128 + ((chunk ^ phase_across(row)) << 4)
                      : row * DEPTH_BYTES + ((chunk ^ phase_along(row)) << 4);
  copies->at = across ? row : chunk * 16;
  copies->left = across ? left * SIZE - chunk * 16 : left - row;
  copies->whole = left >= extent;
}

/* Chunk `i` of an item's copies of a panel: target, source, and its bytes inside of the matrix. */
typedef struct mma_chunk {
  unsigned int to;
  TSL_GLOBAL const char *from;
  int bytes;
} mma_chunk;

TSL_FUNCTION int chunks_of(int across, int lines) {
  return across ? lines / BLOCK_LINES * (DEPTH * 8 / ITEMS) : lines * CHUNKS / ITEMS;
}

TSL_FUNCTION mma_chunk chunk_of(const mma_copies *copies, unsigned int end, int across, int i, int inside) {
  mma_chunk chunk;
  if (across) {
    const int down = DEPTH * 8 / ITEMS, block = i / down, pass = i % down;
    chunk.to = end + copies->to + block * BLOCK_BYTES + pass * ITEMS * 16;
    chunk.from = copies->from + block * 128 + pass * copies->pass;
    chunk.bytes = copies->at + pass * (ITEMS / 8) < inside ? copies->left - block * 128 : 0;
  } else {
    chunk.to = end + copies->to + i * ITEMS * 16;
    chunk.from = copies->from + i * copies->pass;
    chunk.bytes = i * (ITEMS / CHUNKS) < copies->left ? inside * SIZE - copies->at : 0;
  }
  return chunk;
}

/* Copies a chunk at the edge by elements; bytes outside of the matrix become zeros. */
TSL_FUNCTION void copy_some(const mma_chunk *chunk) {
  unsigned int words[4] = {0, 0, 0, 0};
  if (chunk->bytes >= 16) {
    tsl_ptx_copy(chunk->to, chunk->from);
    return;
  }
  TSL_UNROLL
  for (int e = 0; e < 16 / SIZE; e++)
    if (e * SIZE < chunk->bytes)
      words[e * SIZE / 4] |= (unsigned int)((TSL_GLOBAL const MMA_ELEMENT *)chunk->from)[e]
                             << (8 * SIZE * (e % (4 / SIZE)));
  tsl_ptx_store_16_bytes(chunk->to, words);
}

/* Starts copying the next panel; its first `inside` depths (0 to DEPTH) are inside of the matrix. */
TSL_FUNCTION void copy_panel(mma_copies *copies, unsigned int end, int across, int lines, int inside) {
  if (copies->whole && inside == DEPTH) {
    TSL_UNROLL
    for (int i = 0; i < chunks_of(across, lines); i++) {
      const mma_chunk chunk = chunk_of(copies, end, across, i, DEPTH);
      tsl_ptx_copy(chunk.to, chunk.from);
    }
  } else {
    TSL_UNROLL_BY(1)
    for (int i = 0; i < chunks_of(across, lines); i++) {
      const mma_chunk chunk = chunk_of(copies, end, across, i, inside);
      copy_some(&chunk);
    }
  }
  copies->from += copies->panel;
}

/* Sequence of panels of all tiles of this group; the next tile's panels are copied while a tile is stored. */
typedef struct mma_stream {
  mma_copies a, b;
  int tile, tiles; /* tile whose panels are copied; number of tiles */
  int panels;      /* panels of this tile that are not issued yet */
} mma_stream;

TSL_FUNCTION void stream_tile(mma_stream *stream, TSL_GLOBAL const char *a, TSL_GLOBAL const char *b,
                              const opencl_mma_arguments args) {
  const TSL_INDEX a_pitch = SIZE * (A_MN_MAJOR ? args.gemm.a_col_stride : args.gemm.a_row_stride);
  const TSL_INDEX b_pitch = SIZE * (B_MN_MAJOR ? args.gemm.b_row_stride : args.gemm.b_col_stride);
  TSL_INDEX row, col;
  tsl_raster_tile(stream->tile, args.tiles_m, args.tiles_n, args.band, &row, &col);
  row *= TILE_M;
  col *= TILE_N;
  copies_start(&stream->a, A_MN_MAJOR, TILE_M,
               a + SIZE * args.gemm.a_offset + row * (A_MN_MAJOR ? SIZE : a_pitch), a_pitch,
               args.gemm.m - row);
  copies_start(&stream->b, B_MN_MAJOR, TILE_N,
               b + SIZE * args.gemm.b_offset + col * (B_MN_MAJOR ? SIZE : b_pitch), b_pitch,
               args.gemm.n - col);
  stream->panels = panels_of(args);
}

/* Starts copying the next panel of both operands; zeros after the last one. */
TSL_FUNCTION void stream_panel(mma_stream *stream, unsigned int end, TSL_GLOBAL const char *a,
                               TSL_GLOBAL const char *b, const opencl_mma_arguments args) {
  if (stream->panels == 0 && stream->tile < stream->tiles) {
    stream->tile += TSL_GROUPS(0);
    if (stream->tile < stream->tiles)
      stream_tile(stream, a, b, args);
  }
  const int last = (int)(args.gemm.k - (TSL_INDEX)(panels_of(args) - 1) * DEPTH);
  const int inside = stream->panels > 1 ? DEPTH : stream->panels == 1 ? last : 0;
  copy_panel(&stream->a, end, A_MN_MAJOR, TILE_M, inside);
  copy_panel(&stream->b, end + A_BYTES, B_MN_MAJOR, TILE_N, inside);
  stream->panels -= stream->panels > 0;
  tsl_ptx_copies_end();
}

/* Returns the panel position of this item's line of the warp's first blocks. A's registers are rows 0-7, rows
 * 8-15, and both again for the second half of depths; B's are both halves of columns 0-7, then 8-15. */
TSL_FUNCTION unsigned int blocks_start(int across, int is_b, int line) {
  const int row = TSL_ITEM(0) & 7, second = (TSL_ITEM(0) >> 3) & 1, fourth = (TSL_ITEM(0) >> 4) & 1;
  const int by_line = is_b ? fourth : second, by_depth = is_b ? second : fourth;
  if (!across) {
    const int own = by_line * 8 + row;
    return (line + own) * DEPTH_BYTES + ((by_depth ^ phase_along(own)) << 4);
  }
  /* For 8-bit elements, depths 0 1 4 5 8 9 12 13 are in one block, the others in the next: 4 of each line. */
  const int depth = WHOLE ? fourth * 16 + second * 2 + (row & 1) + (row >> 1) * 4 : by_depth * 8 + row;
  const int chunk = (WHOLE ? 0 : by_line) + line % BLOCK_LINES * SIZE / 16;
  return line / BLOCK_LINES * BLOCK_BYTES + depth * 128 + ((chunk ^ phase_across(depth)) << 4);
}

/* Loads the registers of 16 lines from line `tile` * 16 on, in step `step` of the panel at `start`. */
TSL_FUNCTION void read_blocks(unsigned int start, int across, int is_b, int step, int tile,
                              unsigned int *out) {
  if (!across) {
    tsl_ptx_load_blocks((start ^ (step * 32)) + tile * 16 * DEPTH_BYTES, out);
    return;
  }
  const int chunks = tile * SIZE;
  const unsigned int at = (start ^ (chunks % 8 << 4)) + chunks / 8 * BLOCK_BYTES + step * STEP_DEPTH * 128;
  if (!WHOLE) {
    tsl_ptx_load_blocks_transposed(at, out);
    return;
  }
  unsigned int transposed[4];
  tsl_ptx_load_blocks_transposed(at, transposed);
  out[0] = tsl_ptx_pick_bytes(transposed[0], transposed[1], 0x6420);
  out[is_b ? 2 : 1] = tsl_ptx_pick_bytes(transposed[0], transposed[1], 0x7531);
  out[is_b ? 1 : 2] = tsl_ptx_pick_bytes(transposed[2], transposed[3], 0x6420);
  out[3] = tsl_ptx_pick_bytes(transposed[2], transposed[3], 0x7531);
}

typedef struct mma_factors {
  unsigned int a[TILES_M * 4], b[TILES_N * 2];
} mma_factors;

TSL_FUNCTION void read_step(unsigned int a, unsigned int b, int step, mma_factors *out) {
  TSL_UNROLL
  for (int i = 0; i < TILES_M; i++)
    read_blocks(a, A_MN_MAJOR, 0, step, i, out->a + 4 * i);
  TSL_UNROLL
  for (int j = 0; j < TILES_N / 2; j++)
    read_blocks(b, B_MN_MAJOR, 1, step, j, out->b + 4 * j);
}

/* Multiplies a step. Columns alternate direction, so that successive products share registers. */
TSL_FUNCTION void multiply_step(MMA_NUMBER sums[TILES_M][TILES_N][4], const mma_factors *factors) {
  TSL_UNROLL
  for (int i = 0; i < TILES_M; i++) {
    TSL_UNROLL
    for (int j = 0; j < TILES_N; j++) {
      const int col = i % 2 == 0 ? j : TILES_N - 1 - j;
      TSL_PTX_MULTIPLY(MMA_SHAPE, MMA_SUM, MMA_REGISTER, MMA_A, MMA_B, sums[i][col], factors->a + 4 * i,
                       factors->b + 2 * col);
    }
  }
}

TSL_KERNEL(ITEMS, 1, 1)
tsl_gemm_opencl_mma(TSL_GLOBAL const char *TSL_RESTRICT a, TSL_GLOBAL const char *TSL_RESTRICT b,
                    TSL_GLOBAL MMA_RESULT *TSL_RESTRICT c, const opencl_mma_arguments args) {
  TSL_LOCAL_BYTES(panels, STAGES * STAGE_BYTES);
  const unsigned int base = tsl_ptx_local_address(panels);
  const int warp = TSL_ITEM(0) / 32, warp_row = warp % WARPS_M * WARP_M, warp_col = warp / WARPS_M * WARP_N;
  const unsigned int from_a = blocks_start(A_MN_MAJOR, 0, warp_row),
                     from_b = blocks_start(B_MN_MAJOR, 1, warp_col) + A_BYTES;
  mma_stream stream;
  stream.tile = TSL_GROUP(0);
  stream.tiles = (int)(args.tiles_m * args.tiles_n);
  stream_tile(&stream, a, b, args);
  TSL_UNROLL
  for (int s = 0; s < STAGES; s++)
    stream_panel(&stream, base + s * STAGE_BYTES, a, b, args);
  MMA_NUMBER sums[TILES_M][TILES_N][4];
  mma_factors factors[2]; /* of this step and of the next */
  unsigned int stage = base;
  tsl_ptx_copies_wait(STAGES - 1);
  TSL_BARRIER();
  read_step(stage + from_a, stage + from_b, 0, &factors[0]);
  TSL_UNROLL_BY(1)
  for (int tile = TSL_GROUP(0); tile < stream.tiles; tile += TSL_GROUPS(0)) {
    clear_sums(sums);
    TSL_UNROLL_BY(1)
    for (int panel = panels_of(args); panel > 0; panel--) {
      TSL_UNROLL
      for (int s = 0; s < STEPS; s++) {
        if (s == STEPS - 1) {
          /* all warps have read this panel: its stage is free, and the next panel has arrived */
          const unsigned int done = stage;
          stage = stage == base + (STAGES - 1) * STAGE_BYTES ? base : stage + STAGE_BYTES;
          tsl_ptx_copies_wait(STAGES - 2);
          TSL_BARRIER();
          stream_panel(&stream, done, a, b, args);
        }
        read_step(stage + from_a, stage + from_b, (s + 1) % STEPS, &factors[(s + 1) % 2]);
        multiply_step(sums, &factors[s % 2]);
      }
    }
    TSL_INDEX row, col;
    tsl_raster_tile(tile, args.tiles_m, args.tiles_n, args.band, &row, &col);
    store_tile(c, 0, 0, row * TILE_M + warp_row, col * TILE_N + warp_col, sums, args);
  }
  tsl_ptx_copies_wait(0); /* waits for the copies of zeros: none may arrive after the group has ended */
}
