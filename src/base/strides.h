/* Elements of a matrix with two strides. */
#ifndef TSL_BASE_STRIDES_H
#define TSL_BASE_STRIDES_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t tsl_common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

/* Returns whether two elements of a rows x cols matrix share an address: i row_stride = j col_stride with 0 <
 * |i| < rows or 0 < |j| < cols. The smallest such step is the strides over their greatest common divisor. No
 * stride is INT64_MIN. */
static inline bool tsl_strides_overlap(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  const int64_t down = row_stride < 0 ? -row_stride : row_stride;
  const int64_t across = col_stride < 0 ? -col_stride : col_stride;
  if (rows == 0 || cols == 0)
    return false;
  if ((rows > 1 && down == 0) || (cols > 1 && across == 0))
    return true;
  if (rows == 1 || cols == 1)
    return false;
  const int64_t divisor = tsl_common_divisor(down, across);
  return across / divisor < rows && down / divisor < cols;
}

#endif
