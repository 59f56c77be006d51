/* Cut of k for bits=rows on devices: a sum of few rows needs more parallel work than n alone gives. Each part
 * is summed from 0 on, and the sums of the parts are added in order. The cut depends on k alone, so splits of
 * k and groups that add part after part have equal bits. */
#ifndef TSL_STRATEGY_ROW_PARTS_H
#define TSL_STRATEGY_ROW_PARTS_H

#include "problem/problem.h"

/* Order of sums: fused multiply-adds along each part. */
#define TSL_ROW_PARTS "fma in parts of k"

/* Steps of k of the shortest part but the last, of f64 and of other types (measured on an H200). Panels of
 * all configs of this order divide TSL_ROW_PART_STEP. */
enum { TSL_ROW_PART_MIN_F64 = 896, TSL_ROW_PART_MIN = 256, TSL_ROW_PART_STEP = 64 };
/* Maximal number of parts. The number is a power of two, which configs have as a value of `split`. */
enum { TSL_ROW_PARTS_MAX = 128 };

/* count - 1 parts of `depth` steps of k, then a last part, which has at least one step unless k is 0. */
typedef struct tsl_row_parts {
  int64_t count, depth;
} tsl_row_parts;

/* Returns the cut; one part with all of k unless bits=rows fixes sums in floating point. */
tsl_row_parts tsl_row_parts_of(const tsl_problem *problem);

#endif
