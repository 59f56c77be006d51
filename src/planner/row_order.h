/* Choice of the order of sums for bits=rows. All candidates have this order, so the choice moves no bit. */
#ifndef TSL_PLANNER_ROW_ORDER_H
#define TSL_PLANNER_ROW_ORDER_H

#include "strategy/strategy.h"

/* Order of sums on a device. */
typedef struct tsl_row_order {
  const char *name; /* NULL: no strategy of the device has an order, or bits=rows is not required */
  /* the epilogue is fused: a C narrower than its sums is rounded once, not before the epilogue, too */
  bool fuses;
} tsl_row_order;

/* Returns the order that types, k, structures and required accuracy select on a device. The last strategy of
 * the list that supports a dense product of 64 rows and columns decides; exact sums come last. */
tsl_row_order tsl_row_order_of(const tsl_problem *problem, const tsl_device *device);
/* Returns why a config, which is not refused otherwise, has other bits than `order`; NULL: it has these. */
const char *tsl_row_order_refuse(const tsl_row_order *order, const tsl_strategy *strategy,
                                 const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);

#endif
