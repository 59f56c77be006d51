/* Values of a file into the type asked for, refusing what does not fit. */
#ifndef TSL_IO_CAST_H
#define TSL_IO_CAST_H

#include <stdbool.h>

#include "base/types.h"

/* Converts `count` elements that lie one after the other into `target`, `step` elements apart. Rounding to
 * nearest is fine. False, with the element's index in *bad, when a finite number would become infinite, a
 * number would change in an integer type, or an imaginary part that is not zero would be lost; `target` is
 * then partly written. */
bool tsl_cast(tesela_type from, const void *source, tesela_type type, void *target, int64_t step,
              size_t count, size_t *bad);

/* TESELA_BAD_INPUT's sentence for one value that does not fit, for tsl_fail_in() to put the place before. */
tesela_status tsl_cast_fail(const double value[2], tesela_type type);

#endif
