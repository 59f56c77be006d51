/* Conversion of a file's values to the requested type, with checks. */
#ifndef TSL_IO_CAST_H
#define TSL_IO_CAST_H

#include <stdbool.h>

#include "base/types.h"

/* Converts `count` consecutive elements into `target`, `step` elements apart, rounding to nearest.
 * Returns false, with the element's index in *bad and `target` partly written, if a value does not
 * fit. A finite number must stay finite, and a non-zero imaginary part needs a complex type. Integer
 * types must hold the number exactly. */
bool tsl_cast(tesela_type from, const void *source, tesela_type type, void *target, int64_t step,
              size_t count, size_t *bad);

/* Sets the message for a value that does not fit; TESELA_BAD_INPUT. Callers prepend the place by
 * tsl_fail_in(). */
tesela_status tsl_cast_fail(const double value[2], tesela_type type);

#endif
