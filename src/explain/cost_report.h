/* What a strategy's run moves, how it is shared out, what bounds it, and why that is better or worse than the
 * rung below: a strategy's own account (strategy/cost_counts.h), in words and as JSON. */
#ifndef TSL_EXPLAIN_COST_REPORT_H
#define TSL_EXPLAIN_COST_REPORT_H

#include "base/text.h"
#include "strategy/cost_counts.h"

#include <jansson.h>

typedef struct tsl_counted {
  const tsl_strategy *strategy;
  const tsl_device *device;
  double seconds; /* of a run on operands that are there: the model's; a caller who knows better puts it in */
  bool told;      /* false: a vendor's library, which does not tell */
  tsl_cost_counts account;
  tsl_bounds bounds;
} tsl_counted;

tsl_counted tsl_count(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                      const tsl_device *device);

/* The rung below one of them: of those on the same device, the highest that is lower. NULL: there is none. */
const tsl_counted *tsl_counted_below(const tsl_counted *all, int count, const tsl_counted *counted);
/* One sentence: what it moves beside the rung below (NULL: none), how much faster it should be, and where
 * that is not so, why. */
void tsl_counted_compare(const tsl_problem *problem, const tsl_counted *counted, const tsl_counted *below,
                         tsl_text *out);

/* Share of the device's room for work-items, or of its units or threads, that is in use. */
double tsl_counted_occupancy(const tsl_counted *counted);
/* "63 x 63 of 16 x 16", or "2 threads". */
void tsl_counted_groups(const tsl_counted *counted, tsl_text *out);
/* Whether it has work-groups, and then all of their items: "1008 x 1008". */
bool tsl_counted_has_groups(const tsl_counted *counted);
void tsl_counted_range(const tsl_counted *counted, tsl_text *out);
/* `account` as docs/JSON.md has it; null where it does not tell. */
json_t *tsl_json_counted(const tsl_problem *problem, const tsl_counted *counted);

#endif
