/* Arguments of transpose kernels, in elements, after the two pointers; scaling. C is m x n, A is n x m. */
#ifndef TSL_KERNEL_KERNEL_TRANSPOSE_H
#define TSL_KERNEL_KERNEL_TRANSPOSE_H

#include "dialect.h"

typedef struct tsl_transpose_arguments {
  TSL_INDEX m, n;
  TSL_INDEX a_offset, a_row_stride, a_col_stride;
  TSL_INDEX c_offset, c_row_stride, c_col_stride;
#ifdef TSL_REAL
  TSL_REAL alpha;
#endif
} tsl_transpose_arguments;

/* Element type; without alpha an integer of its size, which keeps all bits of a NaN. */
#ifdef TSL_REAL
typedef TSL_REAL tsl_element;
#elif TSL_MOVED_BYTES == 1
typedef char tsl_element;
#elif TSL_MOVED_BYTES == 2
typedef short tsl_element;
#elif TSL_MOVED_BYTES == 4
typedef int tsl_element;
#elif TSL_MOVED_BYTES == 8
typedef TSL_INDEX tsl_element;
#else
typedef TSL_VECTOR(TSL_INDEX, 2) tsl_element;
#endif

/* TSL_MOVED(x): x, scaled; alpha = 0 gives zero for any x. */
#ifdef TSL_REAL
#define TSL_MOVED(x) (g.alpha == 0 ? (TSL_REAL)0 : g.alpha * (x))
#else
#define TSL_MOVED(x) (x)
#endif

#endif
