#ifndef TSL_CUDA_WGMMA_SHARED_H
#define TSL_CUDA_WGMMA_SHARED_H

/* Bits of alpha or beta: f32, or i32 where C is i32. */
typedef union cuda_wgmma_scalar {
  float real;
  int integer;
} cuda_wgmma_scalar;

typedef struct cuda_wgmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n; /* tiles of C, in units of a cluster, whose tiles are neighbours along m or n */
  int raster_height;    /* rows of tiles that are visited together, for L2 reuse */
  int parts;            /* split-k parts; for form=flow, parts of k per block of a cluster */
  int products;         /* batch size; 1 with split-k */
  int a_first, a_layer, b_first, b_layer; /* layer of product p in the operand's map: first + p * layer */
  int ahead;                              /* panels that a block prefetches to L2 before it may start */
  int turns;          /* tiles begin at different panels of k: 0 none, 1 by rows of tiles, 2 by columns */
  int by_map;         /* output of C: 0 by threads, 1 by a tensor map */
  int a_tail, b_tail; /* lines that the last tile of a K-major operand loads */
  long long c_offset, c_row, c_col,
      c_part; /* in elements; c_part: stride between split-k parts or products */
  cuda_wgmma_scalar alpha, beta;
  int whole, owned, helped;  /* stream-k: tiles computed whole; panels of an owner; helper parts of a tile */
  long long flags, sums;     /* stream-k: byte offsets of flags and partial accumulators */
  unsigned long long ticket; /* stream-k: number of this run */
  cuda_wgmma_scalar one;     /* 1 in the type of sums */
  long long row_sums;        /* byte offset of the sums of C's rows (ROW_SUMS) */
} cuda_wgmma_arguments;

/* Split-k reduction: adds `parts` matrices to C. */
typedef struct cuda_wgmma_fold_arguments {
  long long m, n, pitch, part; /* pitch: elements between rows of sums; part: between matrices of sums */
  long long c_offset, c_row, c_col, c_step;
  int parts, products; /* parts = 0: sums are 0, because k is 0; then C of `products` products is written */
  cuda_wgmma_scalar alpha, beta;
} cuda_wgmma_fold_arguments;

/* Epilogue vector: C(i, j) uses the entry at offset + i row + j col + product step. */
typedef struct cuda_wgmma_vector {
  long long offset, row, col, step; /* first entry; strides in entries, of which row or col is 0 */
} cuda_wgmma_vector;
typedef struct cuda_wgmma_finish {
  cuda_wgmma_vector bias, scale_a, scale_b;
  float alpha; /* the kernel's own alpha is 1 then */
} cuda_wgmma_finish;

/* Row of the product table in device memory (cuda_wgmma_joined.cu). The row after the last product has only
 * `first`. The words from `first` on are copied to shared memory. */
#define TSL_CUDA_WGMMA_JOINED_MOST 128
#define TSL_CUDA_WGMMA_JOINED_WORDS 5
typedef struct cuda_wgmma_joined {
  unsigned long long maps[3][16]; /* tensor maps of A, B and C */
  int first, tiles_m, tiles_n, k; /* number of the first work tile; tiles_m: in units of a cluster */
  cuda_wgmma_scalar alpha;
  int unused[27]; /* maps lie at multiples of 128 bytes */
} cuda_wgmma_joined;

/* Lines of an operand that cuda_wgmma_lines.cu copies. A unit of work has CHUNKS chunks of 16 elements (BULK
 * for bulk copies), 2^shift chunks of each line. A transposed unit is a block of SIDE by SIDE. */
#define TSL_CUDA_WGMMA_LINES_CHUNKS 1024
#define TSL_CUDA_WGMMA_LINES_BULK 512
#define TSL_CUDA_WGMMA_LINES_SIDE 128
enum { TSL_CUDA_WGMMA_LINES_GATHERED, TSL_CUDA_WGMMA_LINES_BY_BULK, TSL_CUDA_WGMMA_LINES_TURNED };
/* Chunks of the shortest line for bulk copies, as a power of two: one warp issues a unit's 32 lines. */
#define TSL_CUDA_WGMMA_LINES_BULK_SHIFT 4
typedef struct cuda_wgmma_lines {
  long long lines, elements;    /* number of lines, elements of a line */
  long long offset, line, step; /* in elements: first line; strides between lines and within a line */
  long long end;                /* end of the operand: reads stay below it */
  long long to, pitch;          /* bytes: destination of the first line, between its lines */
  int units, shift, segments;   /* units of work; log2 of a line's chunks in a unit; units of a line */
  int is_e5m2, way;             /* type if e4m3 or e5m2 are widened to f16; method, of the enum above */
} cuda_wgmma_lines;
typedef struct cuda_wgmma_lines_arguments {
  cuda_wgmma_lines of[2]; /* A's, B's */
  int fits;               /* the copies fit in L2 */
} cuda_wgmma_lines_arguments;

#endif
