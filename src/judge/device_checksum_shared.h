/* Arguments of judge/device_checksum.cl. The includer defines TSL_GEMM_SIZES and TSL_INDEX (int64). */
#ifndef TSL_JUDGE_DEVICE_CHECKSUM_SHARED_H
#define TSL_JUDGE_DEVICE_CHECKSUM_SHARED_H

/* ROWS: rows of a work-group, of LANES x GROUP_ROWS items. VECTORS: vectors of a pass over A. NUMBERS:
 * doubles of a comparison: elements not checked, wrong segments, largest hidden error; row, segment, |d| and
 * T. */
#define TSL_DEVICE_CHECKSUM_ROWS 32
#define TSL_DEVICE_CHECKSUM_LANES 32
#define TSL_DEVICE_CHECKSUM_GROUP_ROWS 8
#define TSL_DEVICE_CHECKSUM_VECTORS 8
#define TSL_DEVICE_CHECKSUM_NUMBERS 7

/* Product, and one buffer with all sums: of B (segments x k), their magnitudes, and the bound (k). Sums of C
 * before and after the run (segments x m each), their magnitudes, and the comparisons follow. The `first_`
 * members count doubles; sums of integers take as much room. `limit`: T from which sums may overflow. */
typedef struct tsl_device_checksum_arguments {
  TSL_GEMM_SIZES
  TSL_INDEX segments, width;
  TSL_INDEX first_vector, first_size, first_bound, first_before, first_c, first_block;
  TSL_INDEX reads_c, reads_factors;
  double alpha, beta, relative, rounding, flushes, fixed, limit;
} tsl_device_checksum_arguments;

#endif
