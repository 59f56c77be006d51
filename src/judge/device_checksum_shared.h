/* Arguments of judge/device_checksum_*.cl. The includer defines TSL_GEMM_SIZES and TSL_INDEX (int64). */
#ifndef TSL_JUDGE_DEVICE_CHECKSUM_SHARED_H
#define TSL_JUDGE_DEVICE_CHECKSUM_SHARED_H

/* A work-group has ITEMS items. ROWS: rows of a group where the elements of a row are contiguous, and of a
 * comparison. LANES x 16 bytes: rows of a group where columns are contiguous. BLOCK: a multiple of the
 * elements that 32 items load at once. NUMBERS: doubles of a comparison: elements not checked, wrong
 * segments, largest hidden error; row, segment, |d| and T. */
#define TSL_DEVICE_CHECKSUM_ITEMS 256
#define TSL_DEVICE_CHECKSUM_ROWS 32
#define TSL_DEVICE_CHECKSUM_LANES 8
#define TSL_DEVICE_CHECKSUM_BLOCK 512
#define TSL_DEVICE_CHECKSUM_NUMBERS 7

/* Product, and one buffer with all sums. Complex types have two vectors and two sums for a segment. */
typedef struct tsl_device_checksum_arguments {
  TSL_GEMM_SIZES
  /* pitch: numbers of a vector. chunk: components of A. at_once: A's components in 16 bytes. Vectors and the
   * bound are multiplied by 2^vector_scale. */
  TSL_INDEX segments, width, pitch, chunk, chunks, passes, at_once, vector_scale;
  /* Places in doubles, also where numbers are smaller. Vector, size: sums of B and of its magnitudes, by
   * segments. Vectors of zeros complete the last pass over A. Product: m numbers for A times each vector,
   * then times the bound, of each chunk of k and each pass. C, before: sums of C after and before the run,
   * and of its magnitudes, m numbers each. Block: comparisons. */
  TSL_INDEX first_vector, first_size, first_bound, first_product, first_before, first_c, first_block;
  /* Bit i of wide is set if operand i (A, B, C) can be read by 16 bytes. A sum in c has c_width columns,
   * which divides width if there is more than one segment. The address of host memory for comparisons is
   * host_block, or 0. */
  TSL_INDEX reads_c, reads_factors, conjugate_a, conjugate_b, wide, c_width, host_block;
  /* alpha1 is |re| + |im|. c_error: error of the sums in c and of rounding C, relative to the sum of C's
   * magnitudes. From T = limit on sums may overflow. */
  double alpha[2], beta[2], alpha1, beta1, relative, rounding, c_error, flushes, fixed, limit;
} tsl_device_checksum_arguments;

#endif
