/* What the host gives cuda_whole's kernel: read by C and by CUDA C++. Everything counts elements, but pitches
 * and widths bytes. */
#ifndef TSL_CUDA_WHOLE_SHARED_H
#define TSL_CUDA_WHOLE_SHARED_H

/* A factor of the first product: `down` lines of `wide` elements each, of which a product multiplies 16 times
 * as many of k as `wide` or `down` says, rounded up; from line to line, from element to element, from product
 * to product; what is copied at once, 16, 8, 4 or 2 bytes; and how far lines lie apart in shared memory,
 * where they begin at `to`. */
typedef struct cuda_whole_factor {
  long long offset, line, step, apart;
  int down, wide, width, pitch, to;
} cuda_whole_factor;

/* Numbers of C; `dense`: those of a product lie side by side, row after row, and are not read. */
typedef struct cuda_whole_result {
  long long offset, row, col, apart;
  int dense;
} cuda_whole_result;

typedef struct cuda_whole_arguments {
  int m, n, k;
  int warps, warps_n; /* of a product, and of those beside one another */
  int together;       /* products of a block */
  int bytes;          /* of shared memory, of a product */
  long long products;
  cuda_whole_factor a, b;
  cuda_whole_result c;
  float alpha, beta;
} cuda_whole_arguments;

#endif
