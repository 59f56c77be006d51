/* Arguments of judge/device_reference.cl. The includer defines TSL_GEMM_SIZES and TSL_INDEX (int64). */
#ifndef TSL_JUDGE_DEVICE_REFERENCE_SHARED_H
#define TSL_JUDGE_DEVICE_REFERENCE_SHARED_H

/* SIDE: edge of a work-group's block of C. STEP: terms in local memory. ELEMENTS: elements of a group that
 * joins parts. LANES: items for the parts of one element. NUMBERS: doubles of an element: sum (high, low),
 * sum of magnitudes; FLUSHED_NUMBERS: and the largest magnitudes of its terms in A and B. */
#define TSL_DEVICE_REFERENCE_SIDE 16
#define TSL_DEVICE_REFERENCE_STEP 32
#define TSL_DEVICE_REFERENCE_ELEMENTS 16
#define TSL_DEVICE_REFERENCE_LANES 16
#define TSL_DEVICE_REFERENCE_NUMBERS 3
#define TSL_DEVICE_REFERENCE_FLUSHED_NUMBERS 5

/* Product and sample: rows x cols elements, with terms in `parts` parts of `depth`, a multiple of
 * TSL_DEVICE_REFERENCE_STEP. One buffer has the sample's rows and columns, the sums, C's elements after and
 * before the run, and the partial sums. The `first_` members count doubles, first_saved_c elements. */
typedef struct tsl_device_reference_arguments {
  TSL_GEMM_SIZES
  TSL_INDEX rows, cols, parts, depth;
  TSL_INDEX first_sum, first_partial_sum, first_saved_c;
} tsl_device_reference_arguments;

#endif
