/* Report of a run's cost by the strategy's own count (strategy/cost_counts.h), as text and JSON. */
#ifndef TSL_EXPLAIN_COST_REPORT_H
#define TSL_EXPLAIN_COST_REPORT_H

#include "core/json_writer.h"
#include "strategy/cost_counts.h"

/* Measured seconds of a run; NaN: not measured. */
typedef struct tsl_cost_measured {
  double seconds, first_quartile, third_quartile;
} tsl_cost_measured;

typedef struct tsl_cost_report {
  const tsl_strategy *strategy;
  const tsl_device *device;
  double seconds; /* seconds on resident operands, by the model (NaN: none) or a better value of the caller */
  tsl_cost_measured measured; /* set by a caller that measured the run */
  bool has_counts;            /* false: a vendor's library, which has no count */
  tsl_cost_counts account;
  tsl_bounds bounds;
} tsl_cost_report;

/* Counts the cost of a run on resident operands. */
tsl_cost_report tsl_cost_report_make(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, const tsl_device *device);

/* Returns the partner's report (strategy.h). If it is not in the list, returns the partner's partner's, and
 * so on; the same device comes before others. NULL: none. */
const tsl_cost_report *tsl_cost_report_partner(const tsl_cost_report *all, int count,
                                               const tsl_cost_report *counted);

/* Agreement of the predicted factor over the partner with the measured one. X(NAME, name) */
#define TSL_AGREEMENT_LIST(X)                                                                                \
  X(UNKNOWN, unknown)     /* no partner, or no model and no measurement */                                   \
  X(PREDICTED, predicted) /* not measured */                                                                 \
  X(MEASURED, measured)   /* no model */                                                                     \
  X(AGREES, agrees)       /* one direction and within TSL_AGREEMENT_FACTOR, or nearly equal */               \
  X(NOISE, noise)         /* agrees for some measured times between the quartiles only */                    \
  X(WRONG, model wrong)

typedef enum tsl_agreement {
#define TSL_AGREEMENT_MEMBER(name, text) TSL_AGREEMENT_##name,
  TSL_AGREEMENT_LIST(TSL_AGREEMENT_MEMBER)
#undef TSL_AGREEMENT_MEMBER
} tsl_agreement;
const char *tsl_agreement_name(tsl_agreement agreement);

/* Largest ratio of a measured factor to a predicted one for which a reason is given. */
#define TSL_AGREEMENT_FACTOR 2.0

/* Comparison of a run with its partner's. Factors: seconds of the partner over seconds of the run. */
typedef struct tsl_cost_comparison {
  const tsl_cost_report *partner; /* NULL: none */
  double predicted, measured;     /* NaN: unknown */
  double low, high;               /* range of `measured`, from the quartiles of both runs */
  tsl_agreement agreement;
  /* the limit that explains the difference; TSL_BOUND_COUNT: none, as where the model is wrong */
  tsl_bound reason;
} tsl_cost_comparison;

/* Compares with a partner (NULL: none). A reason accounts for a quarter of the difference in time or more,
 * and takes no longer than the measured runs. */
tsl_cost_comparison tsl_cost_report_compare(const tsl_cost_report *counted, const tsl_cost_report *partner);
/* Appends the factors and the reason: "measured 1.9 times as fast, predicted 2: ..."; or "the model is wrong
 * here: it expected 0.67, measured 1.27". Nothing if nothing is known. */
void tsl_cost_comparison_factors(const tsl_cost_report *counted, const tsl_cost_comparison *comparison,
                                 tsl_text *out);
/* Appends both, "...; predicted 1.9 times as fast: ...". Nothing without a count. */
void tsl_cost_comparison_print(const tsl_problem *problem, const tsl_cost_report *counted,
                               const tsl_cost_comparison *comparison, tsl_text *out);
/* Writes the members `partner` to `comparison` of docs/JSON.md. */
void tsl_cost_comparison_json(const tsl_problem *problem, const tsl_cost_report *counted,
                              const tsl_cost_comparison *comparison, tsl_json *json);

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
