/* Report of a run's cost by the strategy's own count (strategy/cost_counts.h), as text and JSON. */
#ifndef TSL_EXPLAIN_COST_REPORT_H
#define TSL_EXPLAIN_COST_REPORT_H

#include "core/json_writer.h"
#include "strategy/cost_counts.h"

typedef struct tsl_cost_report {
  const tsl_strategy *strategy;
  const tsl_device *device;
  double seconds; /* seconds on resident operands, by the model (NaN: none) or a better value of the caller */
  bool has_counts; /* false: a vendor's library, which has no count */
  tsl_cost_counts account;
  tsl_bounds bounds;
} tsl_cost_report;

/* Counts the cost of a run on resident operands. */
tsl_cost_report tsl_cost_report_make(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, const tsl_device *device);

/* Returns the highest lower rung on the same device; NULL: none. */
const tsl_cost_report *tsl_cost_report_rung_below(const tsl_cost_report *all, int count,
                                                  const tsl_cost_report *counted);
/* Appends a sentence: bytes and speed-up against the rung below (NULL: none), or a slowdown's reason. */
void tsl_cost_report_compare(const tsl_problem *problem, const tsl_cost_report *counted,
                             const tsl_cost_report *below, tsl_text *out);

/* Returns the occupied fraction of the device's work-items, units or threads, 0 to 1. */
double tsl_cost_report_occupancy(const tsl_cost_report *counted);
/* Appends work-groups and their items, "63 x 63 of 16 x 16", or without groups "2 threads". */
void tsl_cost_report_groups(const tsl_cost_report *counted, tsl_text *out);
bool tsl_cost_report_has_groups(const tsl_cost_report *counted);
/* Appends the work-items of all groups: "1008 x 1008". */
void tsl_cost_report_range(const tsl_cost_report *counted, tsl_text *out);
/* Writes `account` of docs/JSON.md; null without a count. */
void tsl_cost_report_json(const tsl_problem *problem, const tsl_cost_report *counted, tsl_json *json);

#endif
