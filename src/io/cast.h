#ifndef TSL_IO_CAST_H
#define TSL_IO_CAST_H

#include <stdbool.h>

#include "core/types.h"

/* Converts consecutive elements into `target`, `step` elements apart, rounding to nearest. Returns false if a
 * value does not fit, with its index in *bad and `target` partly written. A finite number must stay finite,
 * an imaginary part needs a complex type, and an integer must be exact. */
bool tsl_cast(tesela_type from, const void *source, tesela_type type, void *target, int64_t step,
              size_t count, size_t *bad);

/* Sets the message of a value that does not fit; TESELA_BAD_INPUT. tsl_fail_in() prepends the place. */
tesela_status tsl_cast_fail(const double value[2], tesela_type type);

#endif
