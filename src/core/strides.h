#ifndef TSL_CORE_STRIDES_H
#define TSL_CORE_STRIDES_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

static inline void tsl_exchange(int64_t *a, int64_t *b) {
  const int64_t kept = *a;
  *a = *b;
  *b = kept;
}

static inline int64_t tsl_common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

/* Returns true if elements share an address: i row_stride = j col_stride, 0 < |i| < rows or 0 < |j| < cols.
 * The smallest such step is the strides over their greatest common divisor. No stride is INT64_MIN. */
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

/* Returns the real stride for the caller's value: 1 for 0, 0 for TESELA_STRIDE_ZERO. */
static inline int64_t tsl_stride_from_caller(int64_t value) {
  return value == 0 ? 1 : value == TESELA_STRIDE_ZERO ? 0 : value;
}

/* Computes real strides for `cols` stored columns. Two zeros mean dense and row-major. */
static inline void tsl_strides_from_caller(int64_t row_given, int64_t col_given, int64_t cols,
                                           int64_t *row_stride, int64_t *col_stride) {
  const bool is_dense = row_given == 0 && col_given == 0;
  *row_stride = is_dense ? cols : tsl_stride_from_caller(row_given);
  *col_stride = tsl_stride_from_caller(col_given);
}

/* Returns TESELA_BAD_CALL if one stride is 0 (meaning 1) and the other 1 or -1, which no caller intends. */
static inline tesela_status tsl_strides_check(int64_t row_given, int64_t col_given, int64_t rows,
                                              int64_t cols, const char *name) {
  const int64_t given = row_given == 0 ? col_given : row_given;
  if ((row_given != 0 && col_given != 0) || (given != 1 && given != -1) || rows <= 1 || cols <= 1)
    return TESELA_OK;
  const bool by_row = row_given == 0;
  return tsl_fail(TESELA_BAD_CALL,
                  "%s.%s_stride is %lld and %s.%s_stride is 0, which means 1, too; set %s_stride to the "
                  "distance between two %s (TESELA_STRIDE_ZERO: all %s are equal)",
                  name, by_row ? "col" : "row", (long long)given, name, by_row ? "row" : "col",
                  by_row ? "row" : "col", by_row ? "rows" : "columns", by_row ? "rows" : "columns");
}

#endif
