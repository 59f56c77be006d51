/* Shared parts of the opencl_mma kernels: types, arguments, and the epilogue from registers to C.
 *
 * An item has four numbers of each 16 x 8 block of a warp's tile: columns 2 (item % 4) and the next, of rows
 * item / 4 and item / 4 + 8. Neighbours exchange pairs, so that each stores four contiguous columns. Needs
 * ptx.h, C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), A_MN_MAJOR, B_MN_MAJOR and the blocks TILES_M x TILES_N.
 * TILE_M, TILE_N and DEPTH_BYTES (of a line) are the sizes of panels. With JOINS (split-k, the last part's
 * group adds the parts), JOIN_ITEMS items have the sums and meet at JOIN_BARRIER(). */
#ifndef TSL_KERNEL_MMA_SUMS_H
#define TSL_KERNEL_MMA_SUMS_H

#include "kernel_gemm.h"
#include "raster.h"

#define WHOLE (C_FORM == 3)
#define SIZE (WHOLE ? 1 : 2)
#if WHOLE
#define MMA_NUMBER int
#define MMA_RESULT int
#define MMA_REGISTER "r"
#define MMA_SHAPE "m16n8k32"
#define MMA_SUM "s32"
#else
#define MMA_NUMBER float
#if C_FORM == 0
#define MMA_RESULT float
#else
#define MMA_RESULT unsigned short
#endif
#define MMA_REGISTER "f"
#define MMA_SHAPE "m16n8k16"
#define MMA_SUM "f32"
#endif

/* Sizes of panels: products along k, steps of 32 bytes, bytes of A's and of both, and MN-major blocks. */
#define DEPTH (DEPTH_BYTES / SIZE)
#define STEPS (DEPTH_BYTES / 32)
#define STEP_DEPTH (32 / SIZE)
#define A_BYTES (TILE_M * DEPTH_BYTES)
#define STAGE_BYTES (A_BYTES + TILE_N * DEPTH_BYTES)
#define BLOCK_BYTES (DEPTH * 128)
#define BLOCK_LINES (128 / SIZE)

/* Kernel arguments; opencl_mma_run.c has the same struct for the host. */
typedef struct opencl_mma_arguments {
  tsl_gemm_arguments gemm;
  TSL_INDEX band, tiles_m, tiles_n; /* tile rows of a raster band; numbers of tiles */
  TSL_INDEX split_k, sums;          /* parts of k, and the byte of scratch memory where their sums begin */
  TSL_INDEX a_width, b_width;       /* bytes of a copy; 0: elements one by one */
  TSL_INDEX flags, ticket; /* byte of the parts' flags, and their value after a part has stored its sums */
} opencl_mma_arguments;

TSL_FUNCTION int panels_of(const opencl_mma_arguments args) {
  return (int)((args.gemm.k + DEPTH - 1) / DEPTH);
}

/* Tile of C, its split-k part, and its panels [first, end). */
typedef struct mma_work_tile {
  TSL_INDEX row, col, part;
  int first, end;
} mma_work_tile;

TSL_FUNCTION int count_work_tiles(const opencl_mma_arguments args) {
  return (int)(args.tiles_m * args.tiles_n * args.split_k);
}

TSL_FUNCTION void get_work_tile(int number, const opencl_mma_arguments args, mma_work_tile *share) {
  const int tiles = (int)(args.tiles_m * args.tiles_n), panels = panels_of(args);
  const int part = number / tiles, split_k = (int)args.split_k;
  tsl_raster_tile(number % tiles, args.tiles_m, args.tiles_n, args.band, &share->row, &share->col);
  share->row *= TILE_M;
  share->col *= TILE_N;
  share->part = part;
  share->first = (int)((TSL_INDEX)panels * part / split_k);
  share->end = (int)((TSL_INDEX)panels * (part + 1) / split_k);
}

/* Arguments of kernels in which four warps multiply together. Offsets are bytes in scratch memory. */
typedef struct opencl_mma_group_arguments {
  opencl_mma_arguments whole;
  TSL_INDEX maps,           /* offset of tensor maps */
      wanted, wanted_above, /* offset of an int, -1: none; no work if it is <= wanted_above */
      rests, rests_row;     /* offset of C mod p, 0: none; bytes of a row */
  unsigned int p, magic, bias, none;
} opencl_mma_group_arguments;

#if WHOLE
TSL_FUNCTION int times_alpha(int sum, const opencl_mma_arguments args) {
  return (int)((unsigned int)args.gemm.alpha * (unsigned int)sum);
}
TSL_FUNCTION int plus_beta_c(int sum, TSL_GLOBAL const int *c, const opencl_mma_arguments args) {
  return (int)((unsigned int)sum + (unsigned int)args.gemm.beta * (unsigned int)*c);
}
#else
TSL_FUNCTION float times_alpha(float sum, const opencl_mma_arguments args) {
  return args.gemm.alpha * sum;
}
TSL_FUNCTION float plus_beta_c(float sum, TSL_GLOBAL const MMA_RESULT *c, const opencl_mma_arguments args) {
#if C_FORM == 0
  const float before = *c;
#elif C_FORM == 1
  const float before = tsl_ptx_from_f16(*c);
#else
  const float before = tsl_ptx_from_bf16(*c);
#endif
  return TSL_FMA(args.gemm.beta, before, sum);
}
#endif

#if C_FORM == 1 || C_FORM == 2
TSL_FUNCTION unsigned int narrow_two(float first, float second) {
  return C_FORM == 1 ? tsl_ptx_f16_pair(first, second) : tsl_ptx_bf16_pair(first, second);
}
#endif

TSL_FUNCTION void store_four(TSL_GLOBAL MMA_RESULT *c, const MMA_NUMBER *sums,
                             const opencl_mma_arguments args) {
  MMA_NUMBER out[4];
  TSL_UNROLL
  for (int e = 0; e < 4; e++)
    out[e] = times_alpha(sums[e], args);
  if (args.gemm.beta != 0) {
    TSL_UNROLL
    for (int e = 0; e < 4; e++)
      out[e] = plus_beta_c(out[e], c + e, args);
  }
#if C_FORM == 1 || C_FORM == 2
  TSL_VECTOR(int, 2) whole;
  TSL_LANE(whole, 0) = (int)narrow_two(out[0], out[1]);
  TSL_LANE(whole, 1) = (int)narrow_two(out[2], out[3]);
  TSL_STORE_ALIGNED(int, 2, (TSL_GLOBAL int *)c, whole);
#else
  TSL_VECTOR(MMA_RESULT, 4) whole;
  TSL_LANE(whole, 0) = out[0];
  TSL_LANE(whole, 1) = out[1];
  TSL_LANE(whole, 2) = out[2];
  TSL_LANE(whole, 3) = out[3];
  TSL_STORE_WHOLE(MMA_RESULT, 4, c, whole);
#endif
}

/* Stores the first `inside` (any number) of four, one by one. */
TSL_FUNCTION void store_inside(TSL_GLOBAL MMA_RESULT *c, TSL_INDEX step, int inside, const MMA_NUMBER *sums,
                               const opencl_mma_arguments args) {
  TSL_UNROLL
  for (int e = 0; e < 4; e++, c += step)
    if (e < inside) {
      MMA_NUMBER out = times_alpha(sums[e], args);
      if (args.gemm.beta != 0)
        out = plus_beta_c(out, c, args);
#if C_FORM == 1 || C_FORM == 2
      *c = (unsigned short)narrow_two(out, out);
#else
      *c = out;
#endif
    }
}

/* Gathers four columns of row `lower` * 8 of a 16-line block from two neighbouring blocks. Item and item ^ 1
 * have adjacent numbers; one takes both pairs of the first block, the other of the second. With transposed
 * bytes each item has four columns already. */
TSL_FUNCTION void gather_columns(MMA_NUMBER first[4], MMA_NUMBER second[4], int lower, MMA_NUMBER *line) {
  TSL_UNROLL
  for (int e = 0; e < 2; e++) {
    const MMA_NUMBER left = first[2 * lower + e], right = second[2 * lower + e];
    if (WHOLE && B_MN_MAJOR) {
      line[2 * e] = left;
      line[2 * e + 1] = right;
    } else {
      const bool is_odd = TSL_ITEM(0) % 2 == 1;
      const MMA_NUMBER given = is_odd ? left : right;
      MMA_NUMBER taken;
      TSL_PTX_EXCHANGE(MMA_REGISTER, taken, given);
      line[e] = is_odd ? taken : left;
      line[2 + e] = is_odd ? right : taken;
    }
  }
}

TSL_FUNCTION void store_four_sums(TSL_GLOBAL MMA_NUMBER *dst, const MMA_NUMBER *line) {
  TSL_VECTOR(MMA_NUMBER, 4) whole;
  TSL_LANE(whole, 0) = line[0];
  TSL_LANE(whole, 1) = line[1];
  TSL_LANE(whole, 2) = line[2];
  TSL_LANE(whole, 3) = line[3];
  TSL_STORE_WHOLE(MMA_NUMBER, 4, dst, whole);
}

/* Stores the item's sums of a warp's tile, which begins at (row, col), to C; or unscaled to the row-major
 * matrix `separate`, unless NULL, which holds the whole tile. */
TSL_FUNCTION void store_tile(TSL_GLOBAL MMA_RESULT *c, TSL_GLOBAL MMA_NUMBER *separate,
                             TSL_INDEX separate_pitch, TSL_INDEX row, TSL_INDEX col,
                             MMA_NUMBER sums[TILES_M][TILES_N][4], const opencl_mma_arguments args) {
  const int own_row = TSL_ITEM(0) % 32 / 4, own_col = TSL_ITEM(0) % 4;
  const TSL_INDEX step = args.gemm.c_col_stride;
  const bool is_wide = step == 1 && (args.gemm.c_offset | args.gemm.c_row_stride) % 4 == 0;
  c += args.gemm.c_offset;
  col += WHOLE && B_MN_MAJOR ? 4 * own_col : own_col % 2 * 8 + own_col / 2 * 4;
  const int columns = args.gemm.n - col < 1024 ? (int)(args.gemm.n - col) : 1024; /* more than a tile has */
  TSL_UNROLL
  for (int i = 0; i < 2 * TILES_M; i++) {
    const TSL_INDEX at = row + i / 2 * 16 + (WHOLE && A_MN_MAJOR ? 2 * own_row + i % 2 : own_row + i % 2 * 8);
    TSL_GLOBAL MMA_RESULT *to = c + (at * args.gemm.c_row_stride + col * step);
    TSL_GLOBAL MMA_NUMBER *to_separate = separate + (at * separate_pitch + col);
    const int inside = at < args.gemm.m ? columns : 0;
    TSL_UNROLL
    for (int j = 0; j < TILES_N; j += 2) {
      MMA_NUMBER line[4];
      gather_columns(sums[i / 2][j], sums[i / 2][j + 1], i % 2, line);
      if (separate != 0)
        store_four_sums(to_separate + j * 8, line);
      else if (is_wide && inside >= j * 8 + 4)
        store_four(to + j * 8, line, args);
      else
        store_inside(to + j * 8 * step, step, inside - j * 8, line, args);
    }
  }
}

#if JOINS
#define JOIN_PARTS 8 /* parts of a round; the host counts rounds, too */
/* Adds the sums of all parts of a tile, in their order, and stores C. The group of the last part calls this
 * after the other parts' flags, of groups that began before it. */
TSL_FUNCTION void join_parts(TSL_GLOBAL MMA_RESULT *c, TSL_GLOBAL const MMA_NUMBER *separate, TSL_INDEX pitch,
                             TSL_INDEX step, TSL_INDEX row, TSL_INDEX col, const opencl_mma_arguments args) {
  const int rows = args.gemm.m - row < TILE_M ? (int)(args.gemm.m - row) : TILE_M,
            columns = args.gemm.n - col < TILE_N ? (int)(args.gemm.n - col) : TILE_N;
  const int split_k = (int)args.split_k, fours = (columns + 3) / 4;
  const bool is_wide = args.gemm.c_col_stride == 1 && (args.gemm.c_offset | args.gemm.c_row_stride) % 4 == 0;
  TSL_UNROLL_BY(1)
  for (int i = TSL_ITEM(0); i < rows * fours; i += JOIN_ITEMS) {
    const int y = i / fours, x = i % fours * 4;
    TSL_GLOBAL const MMA_NUMBER *from = separate + (row + y) * pitch + col + x;
    TSL_GLOBAL MMA_RESULT *to =
        c + args.gemm.c_offset + (row + y) * args.gemm.c_row_stride + (col + x) * args.gemm.c_col_stride;
    MMA_NUMBER sums[4] = {0, 0, 0, 0};
    TSL_UNROLL_BY(1)
    for (int first = 0; first < split_k; first += JOIN_PARTS) {
      MMA_NUMBER parts[JOIN_PARTS][4]; /* all loads are in flight at once */
      TSL_UNROLL
      for (int p = 0; p < JOIN_PARTS; p++) {
        const int part = first + p < split_k ? first + p : split_k - 1;
        TSL_PTX_LOAD_FOUR(MMA_REGISTER, parts[p], from + part * step);
      }
      TSL_UNROLL
      for (int p = 0; p < JOIN_PARTS; p++) {
        TSL_UNROLL
        for (int e = 0; e < 4; e++)
          if (first + p < split_k)
            sums[e] = first + p == 0 ? parts[p][e] : sums[e] + parts[p][e];
      }
    }
    if (is_wide && x + 4 <= columns)
      store_four(to, sums, args);
    else
      store_inside(to, args.gemm.c_col_stride, columns - x, sums, args);
  }
}

/* Publishes the sums of a part, or adds all parts' if it is the last part of its tile. Each group has one
 * work tile, and groups begin in the order of their numbers, so the other parts' groups have begun. */
TSL_FUNCTION void join_tile(TSL_GLOBAL MMA_RESULT *c, TSL_GLOBAL char *scratch, const mma_work_tile work,
                            const opencl_mma_arguments args) {
  const int tiles = (int)(args.tiles_m * args.tiles_n), split_k = (int)args.split_k;
  const TSL_INDEX pitch = args.tiles_n * TILE_N;
  TSL_GLOBAL TSL_UINT64 *flags = (TSL_GLOBAL TSL_UINT64 *)(scratch + args.flags) + TSL_GROUP(0) % tiles;
  tsl_ptx_fence();
  JOIN_BARRIER();
  if (work.part < split_k - 1) {
    if (TSL_ITEM(0) == 0)
      tsl_ptx_set_flag(flags + work.part * tiles, (TSL_UINT64)args.ticket);
    return;
  }
  for (int p = TSL_ITEM(0); p < split_k - 1; p += JOIN_ITEMS)
    tsl_ptx_wait_flag(flags + p * tiles, (TSL_UINT64)args.ticket);
  JOIN_BARRIER();
  join_parts(c, (TSL_GLOBAL const MMA_NUMBER *)(scratch + args.sums), pitch, args.tiles_m * TILE_M * pitch,
             work.row, work.col, args);
}
#endif

#if WHOLE && !A_MN_MAJOR && !B_MN_MAJOR
TSL_FUNCTION unsigned int sum_modulo_p(int sum, const opencl_mma_group_arguments args) {
  const unsigned int x = (unsigned int)sum + args.bias;
  return x - (unsigned int)((TSL_UINT64)x * args.magic >> 39) * args.p;
}
TSL_FUNCTION void store_residues_of_tile(TSL_GLOBAL char *rests, TSL_INDEX row, TSL_INDEX col,
                                         MMA_NUMBER sums[TILES_M][TILES_N][4],
                                         const opencl_mma_group_arguments args) {
  const int own_row = TSL_ITEM(0) % 32 / 4, own_col = TSL_ITEM(0) % 4;
  col += own_col % 2 * 8 + own_col / 2 * 4;
  const TSL_INDEX columns = args.whole.gemm.n - col;
  TSL_UNROLL
  for (int i = 0; i < 2 * TILES_M; i++) {
    const TSL_INDEX at = row + i / 2 * 16 + own_row + i % 2 * 8;
    TSL_GLOBAL char *to = rests + (at * args.rests_row + col);
    const bool is_inside = at < args.whole.gemm.m;
    TSL_UNROLL
    for (int j = 0; j < TILES_N; j += 2) {
      MMA_NUMBER line[4];
      gather_columns(sums[i / 2][j], sums[i / 2][j + 1], i % 2, line);
      if (is_inside && j * 8 < columns)
        *(TSL_GLOBAL unsigned int *)(to + j * 8) =
            sum_modulo_p(line[0], args) | sum_modulo_p(line[1], args) << 8 |
            sum_modulo_p(line[2], args) << 16 | sum_modulo_p(line[3], args) << 24;
    }
  }
}
#endif

TSL_FUNCTION void clear_sums(MMA_NUMBER sums[TILES_M][TILES_N][4]) {
  TSL_UNROLL
  for (int i = 0; i < TILES_M; i++) {
    TSL_UNROLL
    for (int j = 0; j < TILES_N; j++) {
      TSL_UNROLL
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
    }
  }
}

#endif
