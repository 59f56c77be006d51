/* The types and capabilities of strategies, asked without a device: a device that can do everything
 * is assumed. */
#ifndef TSL_TOOL_INVENTORY_STRATEGY_LIMITS_H
#define TSL_TOOL_INVENTORY_STRATEGY_LIMITS_H

#include "strategy/params.h"
#include "strategy/strategy_list.h"

/* The value of k at which accuracies are shown. */
#define TSL_TERMS_K 1000

bool tsl_strategy_takes(const tsl_strategy *strategy, tesela_type type);
/* Returns the accuracy of the default config at k = TSL_TERMS_K. */
tsl_accuracy tsl_strategy_accuracy(const tsl_strategy *strategy);
/* Calls add() for each capability that the strategy needs. */
void tsl_strategy_each_need(const tsl_strategy *strategy, void (*add)(void *argument, const char *need),
                            void *argument);
/* Returns TESELA_UNSUPPORTED, with the available types, if no strategy of the operation computes in
 * `type`. */
tesela_status tsl_terms_check_type(tsl_op op, tesela_type type);
/* Returns TESELA_UNSUPPORTED, with the available types, if no strategy of the operation takes these
 * types of A, B and C. */
tesela_status tsl_terms_check_types(tsl_op op, const tsl_types *types);

#endif
