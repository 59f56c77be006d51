/* What operands of a case are filled with. */
#ifndef TSL_JUDGE_DATA_H
#define TSL_JUDGE_DATA_H

#include "judge/check.h"

/* Fills the elements of `shape`, element (0, 0) at `at`, and nothing between them. Special data have about one
 * infinity or NaN in four runs of `inner` elements, so that results stay a mix of all kinds. */
tesela_status tsl_data_fill(tsl_data data, uint64_t seed, const tsl_shape *shape, int64_t inner, void *at);
/* The same value everywhere. */
void tsl_data_fill_value(double value, const tsl_shape *shape, void *at);

#endif
