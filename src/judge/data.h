#ifndef TSL_JUDGE_DATA_H
#define TSL_JUDGE_DATA_H

#include "core/random.h"
#include "problem/problem.h"

typedef enum tsl_data {
  TSL_DATA_NORMAL,  /* standard normal; of integers, all values alike */
  TSL_DATA_INTEGER, /* small integers: the result must be exact */
  TSL_DATA_GRADED,  /* normal over 24 binary orders of magnitude */
  TSL_DATA_SPECIAL, /* normal with NaN, infinities, zeros and subnormals */
  TSL_DATA_COUNT
} tsl_data;
const char *tsl_data_name(tsl_data data);

/* Fills the elements of `shape`, element (0, 0) at `address`, and no gaps. Special data have about one
 * infinity or NaN in four runs of `inner` elements, so that results are a mix. */
tesela_status tsl_data_fill(tsl_data data, uint64_t seed, const tsl_shape *shape, int64_t inner,
                            void *address);
/* Stores a value in each element, in both parts of complex elements. */
void tsl_data_fill_value(double value, const tsl_shape *shape, void *data);
/* Fills the elements of a structured matrix that must not be read. These are outside of the triangle, on a
 * unit diagonal, and imaginary parts of a hermitian diagonal. */
void tsl_data_fill_unread(double value, const tsl_shape *shape, void *data);

#endif
