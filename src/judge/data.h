/* What operands of a case are filled with. */
#ifndef TSL_JUDGE_DATA_H
#define TSL_JUDGE_DATA_H

#include "base/random.h"
#include "strategy/problem.h"

/* What data a case is made of. X(NAME, name, what) */
#define TSL_DATA_LIST(X)                                                                                     \
  X(NORMAL, normal, "standard normal; of integers, all values alike")                                        \
  X(INTEGER, integer, "small integers: the result must be exact")                                            \
  X(GRADED, graded, "normal over 24 binary orders of magnitude")                                             \
  X(SPECIAL, special, "normal with NaN, infinities, zeros and subnormals")

typedef enum tsl_data {
#define TSL_DATA_MEMBER(name, text, what) TSL_DATA_##name,
  TSL_DATA_LIST(TSL_DATA_MEMBER)
#undef TSL_DATA_MEMBER
      TSL_DATA_COUNT
} tsl_data;
const char *tsl_data_name(tsl_data data);

/* Fills the elements of `shape`, element (0, 0) at `address`, and nothing between them. Special data have
 * about one infinity or NaN in four runs of `inner` elements, so that results stay a mix of all kinds. */
tesela_status tsl_data_fill(tsl_data data, uint64_t seed, const tsl_shape *shape, int64_t inner,
                            void *address);
/* The same value everywhere. */
void tsl_data_fill_value(double value, const tsl_shape *shape, void *data);
/* The same value in what nobody may read of a matrix with a structure or a triangle: beside the triangle, on
 * a diagonal of ones, and in imaginary parts of a hermitian diagonal. */
void tsl_data_fill_unread(double value, const tsl_shape *shape, void *data);

#endif
