/* What a plan's text settles, for plans of other sizes that are to be alike. */
#ifndef TSL_TOOL_PRODUCT_PLAN_CHOICE_H
#define TSL_TOOL_PRODUCT_PLAN_CHOICE_H

#include "base/text.h"

/* The strategy, with its parameters as they are, or by name alone; and the device. */
typedef struct tsl_plan_choice {
  tsl_text strategy, name, device;
} tsl_plan_choice;

/* Free it in any case. */
tesela_status tsl_settle(const tesela_plan *plan, tsl_plan_choice *out);
void tsl_plan_choice_free(tsl_plan_choice *choice);

#endif
