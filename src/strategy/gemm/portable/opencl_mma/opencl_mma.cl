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
 * Without IN_PLACE, operands have inner stride 1, and addresses and pitches are multiples of 16 bytes: others
 * are packed first. With IN_PLACE, a chunk is copied by 16 bytes, by 4, or element by element through
 * registers, as the operand's `width` says. Elements outside of the matrix become zeros. Where tiles are
 * fewer than resident groups, k is split (SPLIT): groups store each part's sums. A further launch adds them
 * in a fixed order, or with JOINS the group of a tile's last part. Parameters: TSL_PARAM_TILE_M, _TILE_N,
 * _WARP_M, _WARP_N, _DEPTH (bytes), _STAGES. Defines of the host: MMA_A, MMA_B (PTX types), C_FORM (0 f32, 1
 * f16, 2 bf16, 3 i32), A_MN_MAJOR, B_MN_MAJOR, SPLIT, JOINS, IN_PLACE. Limits: sm_80
 * or newer; any sizes, any strides of C. */

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
#define JOIN_ITEMS ITEMS
#define JOIN_BARRIER() TSL_BARRIER()
#include "ptx.h"

#include "mma_sums.h"

#define CHUNKS (DEPTH_BYTES / 16)
/* Returns the swizzle of a chunk's number in a K-major panel; phase_across(): in an MN-major one. */
TSL_FUNCTION int phase_along(int line) {
  return DEPTH_BYTES == 64 ? (line >> 1) & 3 : line & 7;
}
TSL_FUNCTION int phase_across(int depth) {
  return WHOLE ? (depth & 1) | ((depth >> 2) & 3) << 1 : depth & 7;
}

#define CHUNK_ELEMENTS (16 / SIZE)
/* Chunks of an item whose elements are gathered together, as registers allow. */
#define PANEL_CHUNKS ((TILE_M < TILE_N ? TILE_M : TILE_N) * CHUNKS / ITEMS)
#define GATHERED_MAX (IN_PLACE ? WARP_M * WARP_N <= 1024 ? 4 : 2 : 1)
#define GATHERED (PANEL_CHUNKS < GATHERED_MAX ? PANEL_CHUNKS : GATHERED_MAX)

#if SIZE == 1
#define MMA_ELEMENT unsigned char
#else
#define MMA_ELEMENT unsigned short
#endif

/* An operand in memory. Strides in bytes: from row to row of chunks, and between elements of a row. */
typedef struct mma_operand {
  TSL_GLOBAL const char *from; /* first element */
  TSL_INDEX pitch, step;
  int width; /* bytes of a copy, 16 or 4; 0: elements one by one */
} mma_operand;

/* State of an item's copies of one operand: its first chunk of each panel, and the steps to the next ones. */
typedef struct mma_copies {
  TSL_GLOBAL const char *from;
  TSL_INDEX pass, panel; /* bytes to the item's next chunk, and to its first chunk in the next panel */
  TSL_INDEX step;        /* bytes between elements of a chunk */
  unsigned int to;       /* bytes from a panel's start to the item's first chunk */
  int at;                /* K-major: first byte of the chunk along k; MN-major: its depth */
  int left;  /* K-major: lines from the chunk's line on; MN-major: bytes of the row from the chunk on */
  int whole; /* all lines of the tile are inside of the matrix, and are copied by 16 bytes */
  int width; /* bytes of a copy */
} mma_copies;

/* Initialises the state for `extent` lines from `line` on and depths from `depth` on; `lines`: lines to the
 * matrix's end. */
TSL_FUNCTION void copies_start(mma_copies *copies, int across, int extent, const mma_operand operand,
                               TSL_INDEX line, TSL_INDEX depth, TSL_INDEX lines) {
  const int row = TSL_ITEM(0) / (across ? 8 : CHUNKS), chunk = TSL_ITEM(0) % (across ? 8 : CHUNKS);
  const int left = lines < 1024 ? (int)lines : 1024; /* more than any tile has */
  const TSL_INDEX pitch = operand.pitch, step = IN_PLACE ? operand.step : SIZE;
  copies->from = operand.from + (((across ? depth : line) + row) * pitch +
                                 ((across ? line : depth) + chunk * CHUNK_ELEMENTS) * step);
  copies->pass = (across ? ITEMS / 8 : ITEMS / CHUNKS) * pitch;
  copies->panel = DEPTH * (across ? pitch : step);
  copies->step = step;
  copies->to = across ? row * 128 + ((chunk ^ phase_across(row)) << 4)
                      : row * DEPTH_BYTES + ((chunk ^ phase_along(row)) << 4);
  copies->at = across ? row : chunk * 16;
  copies->left = across ? left * SIZE - chunk * 16 : left - row;
  copies->width = IN_PLACE ? operand.width : 16;
  copies->whole = left >= extent && copies->width == 16;
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
    chunk.from = copies->from + block * (IN_PLACE ? BLOCK_LINES * copies->step : 128) + pass * copies->pass;
    chunk.bytes = copies->at + pass * (ITEMS / 8) < inside ? copies->left - block * 128 : 0;
  } else {
    chunk.to = end + copies->to + i * ITEMS * 16;
    chunk.from = copies->from + i * copies->pass;
    chunk.bytes = i * (ITEMS / CHUNKS) < copies->left ? inside * SIZE - copies->at : 0;
  }
  return chunk;
}

/* Starts the copy of a chunk by copies of `width` bytes, if all of it is inside of the matrix. Returns false
 * if its elements are to be gathered. */
TSL_FUNCTION bool copy_chunk(const mma_chunk *chunk, int width) {
  if (chunk->bytes < 16 || width == 0)
    return false;
  if (!IN_PLACE || width == 16) {
    tsl_ptx_copy(chunk->to, chunk->from);
  } else {
    TSL_UNROLL
    for (int w = 0; w < 4; w++)
      tsl_ptx_copy_number(chunk->to + 4 * w, chunk->from + 4 * w);
  }
  return true;
}

/* Copies `count` chunks from chunk `first` on, at the edge by elements: bytes outside of the matrix become
 * zeros. The elements of all chunks are loaded before any is stored, so that loads overlap. */
TSL_FUNCTION void copy_some(const mma_copies *copies, unsigned int end, int across, int first, int inside) {
  mma_chunk chunks[GATHERED];
  bool gathers[GATHERED];
  unsigned int words[GATHERED][4];
  TSL_UNROLL
  for (int g = 0; g < GATHERED; g++) {
    chunks[g] = chunk_of(copies, end, across, first + g, inside);
    gathers[g] = !copy_chunk(&chunks[g], copies->width);
    TSL_UNROLL
    for (int w = 0; w < 4; w++)
      words[g][w] = 0;
  }
  TSL_UNROLL
  for (int g = 0; g < GATHERED; g++) {
    TSL_UNROLL
    for (int e = 0; e < CHUNK_ELEMENTS; e++)
      if (gathers[g] && e * SIZE < chunks[g].bytes)
        words[g][e * SIZE / 4] |=
            (unsigned int)*(TSL_GLOBAL const MMA_ELEMENT *)(chunks[g].from + e * copies->step)
            << (8 * SIZE * (e % (4 / SIZE)));
  }
  TSL_UNROLL
  for (int g = 0; g < GATHERED; g++)
    if (gathers[g])
      tsl_ptx_store_16_bytes(chunks[g].to, words[g]);
}

/* Starts copying the next panel; its first `inside` depths (1 to DEPTH) are inside of the matrix. */
TSL_FUNCTION void copy_panel(mma_copies *copies, unsigned int end, int across, int lines, int inside) {
  if (copies->whole && inside == DEPTH) {
    TSL_UNROLL
    for (int i = 0; i < chunks_of(across, lines); i++) {
      const mma_chunk chunk = chunk_of(copies, end, across, i, DEPTH);
      tsl_ptx_copy(chunk.to, chunk.from);
    }
  } else {
    TSL_UNROLL_BY(1)
    for (int i = 0; i < chunks_of(across, lines); i += GATHERED)
      copy_some(copies, end, across, i, inside);
  }
  copies->from += copies->panel;
}

/* Sequence of panels of all tiles of this group; the next tile's panels are copied while a tile is stored. */
typedef struct mma_stream {
  mma_copies a, b;
  int tile, tiles; /* work tile whose panels are copied; number of work tiles */
  int panels;      /* panels of this work tile that are not issued yet */
  int last;        /* depths of its last panel */
} mma_stream;

TSL_FUNCTION void stream_tile(mma_stream *stream, TSL_GLOBAL const char *a, TSL_GLOBAL const char *b,
                              const opencl_mma_arguments args) {
  const tsl_gemm_arguments gemm = args.gemm;
  const mma_operand of_a = {a + SIZE * gemm.a_offset,
                            SIZE * (A_MN_MAJOR ? gemm.a_col_stride : gemm.a_row_stride),
                            SIZE * (A_MN_MAJOR ? gemm.a_row_stride : gemm.a_col_stride), (int)args.a_width};
  const mma_operand of_b = {b + SIZE * gemm.b_offset,
                            SIZE * (B_MN_MAJOR ? gemm.b_row_stride : gemm.b_col_stride),
                            SIZE * (B_MN_MAJOR ? gemm.b_col_stride : gemm.b_row_stride), (int)args.b_width};
  mma_work_tile work;
  get_work_tile(stream->tile, args, &work);
  const TSL_INDEX depth = (TSL_INDEX)work.first * DEPTH;
  copies_start(&stream->a, A_MN_MAJOR, TILE_M, of_a, work.row, depth, gemm.m - work.row);
  copies_start(&stream->b, B_MN_MAJOR, TILE_N, of_b, work.col, depth, gemm.n - work.col);
  stream->panels = work.end - work.first;
  stream->last = work.end < panels_of(args) ? DEPTH : (int)(gemm.k - (TSL_INDEX)(work.end - 1) * DEPTH);
}

/* Starts copying the next panel of both operands, if there is one. */
TSL_FUNCTION void stream_panel(mma_stream *stream, unsigned int end, TSL_GLOBAL const char *a,
                               TSL_GLOBAL const char *b, const opencl_mma_arguments args) {
  if (stream->panels == 0 && stream->tile < stream->tiles) {
    stream->tile += TSL_GROUPS(0);
    if (stream->tile < stream->tiles)
      stream_tile(stream, a, b, args);
  }
  if (stream->panels > 0) {
    const int inside = stream->panels > 1 ? DEPTH : stream->last;
    copy_panel(&stream->a, end, A_MN_MAJOR, TILE_M, inside);
    copy_panel(&stream->b, end + A_BYTES, B_MN_MAJOR, TILE_N, inside);
    stream->panels--;
  }
  tsl_ptx_copies_end(); /* also of nothing: waits count groups of copies */
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
                    TSL_GLOBAL MMA_RESULT *TSL_RESTRICT c,
#if SPLIT
                    TSL_GLOBAL char *scratch,
#endif
                    const opencl_mma_arguments args) {
  TSL_LOCAL_BYTES(panels, STAGES * STAGE_BYTES);
  const unsigned int base = tsl_ptx_local_address(panels);
  const int warp = TSL_ITEM(0) / 32, warp_row = warp % WARPS_M * WARP_M, warp_col = warp / WARPS_M * WARP_N;
  const unsigned int from_a = blocks_start(A_MN_MAJOR, 0, warp_row),
                     from_b = blocks_start(B_MN_MAJOR, 1, warp_col) + A_BYTES;
  mma_stream stream;
  stream.tile = TSL_GROUP(0);
  stream.tiles = count_work_tiles(args);
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
    mma_work_tile work;
    get_work_tile(tile, args, &work);
    clear_sums(sums);
    TSL_UNROLL_BY(1)
    for (int panel = work.first; panel < work.end; panel++) {
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
#if SPLIT
    const TSL_INDEX pitch = args.tiles_n * TILE_N;
    store_tile(c, (TSL_GLOBAL MMA_NUMBER *)(scratch + args.sums) + work.part * args.tiles_m * TILE_M * pitch,
               pitch, work.row + warp_row, work.col + warp_col, sums, args);
#if JOINS
    join_tile(c, scratch, work, args);
#endif
#else
    store_tile(c, 0, 0, work.row + warp_row, work.col + warp_col, sums, args);
#endif
  }
}
