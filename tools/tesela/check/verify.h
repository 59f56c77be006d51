/* Verifies a result: compares a plan's result, in host memory, with a reference in higher
 * precision. */
#ifndef TSL_TOOL_CHECK_VERIFY_H
#define TSL_TOOL_CHECK_VERIFY_H

#include "judge/judge.h"

#include <jansson.h>

/* By the bound that the plan's strategy guarantees. `before` is C before the run; NULL where it is not read,
 * as are operands that take no part; vectors of the last step have no data where the plan has none. */
tesela_status tsl_verify(const tesela_plan *plan, const void *a, const void *b, const void *before,
                         const tesela_epilogue *last, const void *c, tsl_verdict *verdict);

json_t *tsl_json_verdict(const tsl_verdict *verdict);

#endif
