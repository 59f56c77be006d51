/* What a plan's text settles, for plans of other sizes that are to be alike. */
#ifndef TSL_TOOL_PRODUCT_SETTLED_H
#define TSL_TOOL_PRODUCT_SETTLED_H

#include "base/text.h"

/* The strategy, with its parameters as they are, or by name alone; and the device. */
typedef struct tsl_settled {
  tsl_text strategy, name, device;
} tsl_settled;

/* Free it in any case. */
tesela_status tsl_settle(const tesela_plan *plan, tsl_settled *out);
void tsl_settled_free(tsl_settled *of);

#endif
