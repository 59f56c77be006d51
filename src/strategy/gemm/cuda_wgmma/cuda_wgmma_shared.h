/* What the host gives cuda_wgmma's kernels: read by C and by CUDA C++. */
#ifndef TSL_CUDA_WGMMA_SHARED_H
#define TSL_CUDA_WGMMA_SHARED_H

/* Scalars are f32, or i32 where C is; their bits travel. Strides of C count elements. */
typedef union cuda_wgmma_scalar {
  float real;
  int integer;
} cuda_wgmma_scalar;

typedef struct cuda_wgmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;                   /* of a cluster: CLUSTER tiles one below the other are one here */
  int band;                               /* rows of those that blocks take together */
  int parts;                              /* of k; of each of them, a cluster's blocks have parts (flow) */
  int products;                           /* of a batch, which has one part */
  int a_first, a_layer, b_first, b_layer; /* product p has layer first + p * layer of its factor's map */
  int ahead;                              /* panels that are brought to the last cache early (flow) */
  int by_map; /* C goes by its map, of rows (1) or of columns (2, across alone); 0: by these */
  long long c_offset, c_row, c_col,
      c_part; /* c_part: from the sums of one part of k to the next's; from product to product */
  cuda_wgmma_scalar alpha, beta;
  int whole, owned,
      helped; /* tiles of one block each; of others, panels of the owner, and parts (cuda_wgmma_stream.cu) */
  long long flags, sums;     /* where parts' flags and sums begin, in bytes */
  unsigned long long ticket; /* this run's */
  cuda_wgmma_scalar one;
} cuda_wgmma_arguments;

/* Sums of `parts` parts, each `pitch` elements a row and `part` elements apart, to C; of no parts, to as many
 * products' C. */
typedef struct cuda_wgmma_fold_arguments {
  long long m, n, pitch, part;
  long long c_offset, c_row, c_col, c_step;
  int parts, products;
  cuda_wgmma_scalar alpha, beta;
} cuda_wgmma_fold_arguments;

/* The last step's vectors, where kernels have it: element (i, j) of C gets what lies at offset + i row + j
 * col, of which a stride at least is 0; `step` is from product to product. In elements. */
typedef struct cuda_wgmma_vector {
  long long offset, row, col, step;
} cuda_wgmma_vector;
typedef struct cuda_wgmma_finish {
  cuda_wgmma_vector bias, scale_a, scale_b;
  float alpha; /* the launch's own is 1 then */
} cuda_wgmma_finish;

/* One of products whose sizes differ, as a table in device memory has them (cuda_wgmma_joined.cu): maps of A,
 * B and C; the shares of those before it; tiles, of clusters along m; and k. Behind the last is one that has
 * only `first`. Its words go to shared memory. */
#define TSL_CUDA_WGMMA_JOINED_MOST 128
#define TSL_CUDA_WGMMA_JOINED_WORDS 5
typedef struct cuda_wgmma_joined {
  unsigned long long maps[3][16];
  int first, tiles_m, tiles_n, k;
  cuda_wgmma_scalar alpha;
  int unused[27]; /* maps lie at multiples of 128 bytes */
} cuda_wgmma_joined;

/* Lines of a factor that cuda_wgmma_lines.cu copies: `units` of work (0: none). Elements, all of them, of a
 * byte; where they go and how far apart lines are there in bytes. A unit has CHUNKS chunks of 16 elements, of
 * lines that have 2^shift of them: of lines whose elements lie side by side and that are not short, by bulk
 * copies, half as many; or a block of SIDE by SIDE, turned. */
#define TSL_CUDA_WGMMA_LINES_CHUNKS 1024
#define TSL_CUDA_WGMMA_LINES_BULK 512
#define TSL_CUDA_WGMMA_LINES_SIDE 128
enum { TSL_CUDA_WGMMA_LINES_GATHERED, TSL_CUDA_WGMMA_LINES_BY_BULK, TSL_CUDA_WGMMA_LINES_TURNED };
/* Chunks of the shortest line that comes by a bulk copy, as a power of two: a unit's 32 lines are a warp's.
 */
#define TSL_CUDA_WGMMA_LINES_BULK_SHIFT 4
typedef struct cuda_wgmma_lines {
  long long lines, elements;
  long long offset, line, step; /* to the first; from line to line; within one */
  long long end;                /* behind the one that lies last */
  long long to, pitch;
  int units, shift, segments; /* of a line, which that many units have a part of */
  int is_e5m2, way;
} cuda_wgmma_lines;
typedef struct cuda_wgmma_lines_arguments {
  cuda_wgmma_lines of[2]; /* A's, B's */
  int fits;               /* the copies, in the last cache */
} cuda_wgmma_lines_arguments;

#endif
