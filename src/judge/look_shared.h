/* What judge/device_reference.cl is given, as host and kernels both know it. The includer has TSL_GEMM_SIZES
 * (strategy/gemm_shared.h) and TSL_INDEX, a signed 64-bit integer. */
#ifndef TSL_JUDGE_LOOK_SHARED_H
#define TSL_JUDGE_LOOK_SHARED_H

/* Elements of C along both sides that a work-group sums, and the terms that it keeps at once; elements of a
 * group that joins parts, and the items which share the parts of one; numbers that there are of an element:
 * both of a sum, the sum of magnitudes, and where the strategy flushes what is small, the largest magnitudes
 * of its terms in A and in B. */
#define TSL_DEVICE_REFERENCE_SIDE 16
#define TSL_DEVICE_REFERENCE_STEP 32
#define TSL_DEVICE_REFERENCE_ELEMENTS 16
#define TSL_DEVICE_REFERENCE_LANES 16
#define TSL_DEVICE_REFERENCE_NUMBERS 3
#define TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS 5

/* The product that ran, and its sample: rows x cols elements, whose terms are cut into so many parts of
 * `depth` each, a multiple of TSL_DEVICE_REFERENCE_STEP. In one buffer lie the sample's rows and columns,
 * from its start on, then its numbers, C's elements as they are and as they were, and the numbers of parts:
 * where, in numbers of 8 bytes, and in elements of C. */
typedef struct tsl_device_reference_arguments {
  TSL_GEMM_SIZES
  TSL_INDEX rows, cols, parts, depth;
  TSL_INDEX sums, partial, kept;
} tsl_device_reference_arguments;

#endif
