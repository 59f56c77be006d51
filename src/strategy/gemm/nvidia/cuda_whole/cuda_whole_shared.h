/* Arguments of cuda_whole's kernel. Pitches and widths are in bytes, others in elements. */
#ifndef TSL_CUDA_WHOLE_SHARED_H
#define TSL_CUDA_WHOLE_SHARED_H

/* Operand. Products round the dimension that is k up to a multiple of 16. */
typedef struct cuda_whole_factor {
  long long offset, line, step, apart; /* first element; strides between lines, in a line, between products */
  int line_count, line_length, width;  /* lines; elements of a line; bytes of a copy, 16, 8, 4 or 2 */
  int pitch, to;                       /* shared memory: bytes between lines, byte of the first line */
} cuda_whole_factor;

typedef struct cuda_whole_result {
  long long offset, row, col, apart; /* apart: stride between products */
  int dense; /* elements of a product are contiguous, row after row, and are not read */
} cuda_whole_result;

typedef struct cuda_whole_arguments {
  int m, n, k;
  int warps, warps_n; /* warps of a product, and of a row of its tiles */
  int together;       /* products of a block */
  int bytes;          /* shared memory of a product */
  long long products;
  cuda_whole_factor a, b;
  cuda_whole_result c;
  float alpha, beta;
} cuda_whole_arguments;

#endif
