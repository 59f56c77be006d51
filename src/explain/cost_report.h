/* Report of a run's cost by the strategy's own count (strategy/cost_counts.h), as text and JSON. */
#ifndef TSL_EXPLAIN_COST_REPORT_H
#define TSL_EXPLAIN_COST_REPORT_H

#include "core/json_writer.h"
#include "strategy/cost_counts.h"

typedef struct tsl_counted {
  const tsl_strategy *strategy;
  const tsl_device *device;
  double seconds; /* seconds on resident operands, by the model (NaN: none) or a better value of the caller */
  bool told;      /* false: a vendor's library, which has no count */
  tsl_cost_counts account;
  tsl_bounds bounds;
} tsl_counted;

/* Counts the cost of a run on resident operands. */
tsl_counted tsl_count(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                      const tsl_device *device);

/* Returns the highest lower rung on the same device; NULL: none. */
const tsl_counted *tsl_counted_below(const tsl_counted *all, int count, const tsl_counted *counted);
/* Appends a sentence: bytes and speed-up against the rung below (NULL: none), or a slowdown's reason. */
void tsl_counted_compare(const tsl_problem *problem, const tsl_counted *counted, const tsl_counted *below,
                         tsl_text *out);

/* Returns the occupied fraction of the device's work-items, units or threads, 0 to 1. */
double tsl_counted_occupancy(const tsl_counted *counted);
/* Appends the division of work: "63 x 63 of 16 x 16", or "2 threads". */
void tsl_counted_groups(const tsl_counted *counted, tsl_text *out);
bool tsl_counted_has_groups(const tsl_counted *counted);
/* Appends the whole range of work-items: "1008 x 1008". */
void tsl_counted_range(const tsl_counted *counted, tsl_text *out);
/* Writes `account` of docs/JSON.md; null without a count. */
void tsl_counted_json(const tsl_problem *problem, const tsl_counted *counted, tsl_json *json);

#endif
