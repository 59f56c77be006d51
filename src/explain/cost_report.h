/* Reports the cost of a strategy's run: bytes moved, division of work, the limiting resource, and the
 * comparison with the rung below. The source is the strategy's own count (strategy/cost_counts.h).
 * Output is text and JSON. */
#ifndef TSL_EXPLAIN_COST_REPORT_H
#define TSL_EXPLAIN_COST_REPORT_H

#include "base/json_writer.h"
#include "strategy/cost_counts.h"

typedef struct tsl_counted {
  const tsl_strategy *strategy;
  const tsl_device *device;
  /* seconds of a run on resident operands, by the model; a caller with better knowledge replaces it */
  double seconds;
  bool told; /* false: a vendor's library, which has no count */
  tsl_cost_counts account;
  tsl_bounds bounds;
} tsl_counted;

tsl_counted tsl_count(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                      const tsl_device *device);

/* Returns the rung below: the highest lower one on the same device; NULL: none. */
const tsl_counted *tsl_counted_below(const tsl_counted *all, int count, const tsl_counted *counted);
/* Appends one sentence: the bytes moved compared with the rung below (NULL: none) and the predicted
 * speed-up, or the reason of a slowdown. */
void tsl_counted_compare(const tsl_problem *problem, const tsl_counted *counted, const tsl_counted *below,
                         tsl_text *out);

/* Returns the occupied fraction of the device's work-items, units or threads, from 0 to 1. */
double tsl_counted_occupancy(const tsl_counted *counted);
/* Appends the division of work: "63 x 63 of 16 x 16", or "2 threads". */
void tsl_counted_groups(const tsl_counted *counted, tsl_text *out);
/* Returns true if the run has work-groups. */
bool tsl_counted_has_groups(const tsl_counted *counted);
/* Appends the size of the whole range of work-items: "1008 x 1008". */
void tsl_counted_range(const tsl_counted *counted, tsl_text *out);
/* Writes `account` as docs/JSON.md describes it; null if the strategy has no count. */
void tsl_counted_json(const tsl_problem *problem, const tsl_counted *counted, tsl_json *json);

#endif
