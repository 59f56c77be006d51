/* The choices of a plan that plans of other sizes shall repeat. */
#ifndef TSL_TOOL_PRODUCT_PLAN_CHOICE_H
#define TSL_TOOL_PRODUCT_PLAN_CHOICE_H

#include "core/text.h"

/* The strategy with its parameters, the strategy's name alone, and the device. */
typedef struct tsl_plan_choice {
  tsl_text strategy, name, device;
} tsl_plan_choice;

/* Reads the choices from a plan's text. The caller frees *out by tsl_plan_choice_free(), also after
 * a failure. */
tesela_status tsl_settle(const tesela_plan *plan, tsl_plan_choice *out);
void tsl_plan_choice_free(tsl_plan_choice *choice);

#endif
